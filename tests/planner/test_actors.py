"""Law 15 in a planner: an actor undoes nothing that it has not listed, and is told of it."""

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.talk import texts_of

from todoplan import TASKS
from todoplan.core.commands import CreateTask, RecordEvidence, UpdateTask
from todoplan.core.events.base import Base
from todoplan.core.plan.plan import Plan
from todoplan.core.rules import DEFAULT, Policy, normalised
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import LEAN, TODOS, WRITE_TODOS
from todoplan.planner import Planner
from todoplan.planner.planner import ActorSight
from todoplan.stores.file import FileStore
from todoplan.stores.memory import MemoryStore
from todoplan.stores.sqlite import SqliteStore
from todoplan.testing.strategies.text import titles
from todoplan.testing.strategies.values import STATUSES

BOX = Toolbox(TODOS, Policy())
ASKING = DEFAULT.but(evidence_required="error")


class Counted(MemoryStore):
    """A store that counts how often its journal was read."""

    read = 0

    def entries(self, plan_id):
        self.read += 1
        return super().entries(plan_id)


def lines(*texts):
    return {"todos": [{"content": text, "status": "pending"} for text in texts]}


def write(planner, *texts, actor=None):
    call = "write_todos", lines(*texts)
    if planner.toolbox.toolset is LEAN:
        call = "plan", {"write": [*texts]}
    reply = planner.call(*call, actor=actor)
    assert not reply.is_error, reply.text
    return reply.text


def new(store):
    return Planner(store, "p", toolbox=BOX)


@pytest.mark.parametrize("actor", [None, "bot"])
@pytest.mark.parametrize("restarted", [False, True])
def test_what_a_verifier_found_for_a_refused_call_is_no_news_to_its_actor(
    actor, restarted, tmp_path
):
    """Its answer said so; what others did meanwhile is told, also to who goes on elsewhere."""
    store, box = FileStore(tmp_path / "plans.json"), Toolbox(TASKS, ASKING)

    def planner():
        return Planner(store, "p", toolbox=box, verify=lambda *_: (False, "2 failed"))

    bot = planner()
    bot.call("TaskCreate", {"subject": "Dig"}, actor=actor)
    bot.apply(UpdateTask("1", check="it holds"))
    bot.call("TaskUpdate", {"taskId": "1", "owner": "bot"}, actor=actor)
    done = {"taskId": "1", "status": "completed"}
    assert bot.call("TaskUpdate", done, actor=actor).is_error
    bot = planner() if restarted else bot
    assert "since you last" not in bot.call("TaskList", actor=actor).text
    bot.apply(CreateTask("Tell Bo"), actor="ann")
    assert bot.call("TaskUpdate", done, actor=actor).is_error
    bot = planner() if restarted else bot
    if restarted and actor is None:  # nobody can say who it is: all is new to it, and no news
        assert bot.base_of(actor) is None
        return
    base = bot.base_of(actor)
    assert base is not None
    assert [one.task.id for one in base.unseen(bot.plan)] == ["2"]
    told, *_ = bot.call("TaskList", actor=actor).text.splitlines()
    assert told == "since you last looked: #2 Tell Bo created by ann"


def test_what_a_program_recorded_is_news_and_so_is_what_was_found_for_another_actor():
    """No reply to this actor has reported it."""
    planner = Planner(toolbox=Toolbox(TASKS, ASKING), verify=lambda *_: (False, "2 failed"))
    planner.apply(CreateTask("Dig", check="it holds", status="in_progress"))
    planner.call("TaskUpdate", {"taskId": "1", "owner": "a"}, actor="a")
    planner.apply(RecordEvidence("1", passed=False, summary="red", by="ci"), actor="ci")
    assert "#1 Dig updated by ci" in planner.call("TaskList", actor="a").text
    planner.call("TaskList", actor="b")
    planner.call("TaskUpdate", {"taskId": "1", "status": "completed"}, actor="b")
    assert "#1 Dig updated by b" in planner.call("TaskList", actor="a").text


@pytest.mark.parametrize("actor", [None, "bot"])
def test_what_others_did_since_stays_and_is_told_once(made, actor):
    """A person's edit is kept by the next write, which says so, and by all after it."""
    planner = made(toolbox=BOX)
    write(planner, "Dig", "Lay", actor=actor)
    planner.apply(CreateTask("Tell Ann"), actor="ann")
    planner.apply(UpdateTask("2", status="completed"), actor="bo")
    base = planner.base_of(actor)
    assert (texts_of(base.plan), dict(base.actors)) == (["Dig", "Lay"], {"3": "ann", "2": "bo"})
    told = write(planner, "Dig", "Lay", actor=actor)
    assert planner.base_of(actor) is None
    assert "#3 Tell Ann created by ann" in told
    assert "#2 Lay completed by bo" in told
    assert texts_of(planner.plan) == ["Dig", "Lay", "Tell Ann"]
    assert planner.plan["2"].status.value == "completed"
    for _ in range(2):
        assert "ann" not in write(planner, "Dig", actor=actor).lower()
        assert texts_of(planner.plan) == ["Dig", "Lay", "Tell Ann"]


def test_a_read_tells_and_lists_nothing():
    """The read tells of what others added; leaving that out removes nothing, naming it does."""
    planner = Planner(toolbox=BOX)
    write(planner, "Dig")
    planner.apply(CreateTask("Tell Ann"), actor="ann")
    assert "created by ann" in planner.call("read_todos", {}).text
    assert "not on your list, kept: #2 Tell Ann" in write(planner, "Dig")
    assert texts_of(planner.plan) == ["Dig", "Tell Ann"]
    write(planner, "Dig", "Tell Ann")
    write(planner, "Dig")
    assert texts_of(planner.plan) == ["Dig"]


def test_a_refusal_and_an_edit_by_apply_are_no_look():
    """They show the model nothing, also if the edit is in its name: the call after them tells."""
    planner = Planner(toolbox=BOX)
    write(planner, "Dig", actor="bot")
    planner.apply(CreateTask("Tell Ann"), actor="ann")
    assert planner.call("write_todos", {"todos": 7}, actor="bot").is_error
    planner.apply(UpdateTask("1", owner="bo"), actor="bot")
    assert "created by ann" in write(planner, "Dig", actor="bot")
    assert texts_of(planner.plan) == ["Dig", "Tell Ann"]


@pytest.mark.parametrize("actor", [None, "bot"])
def test_after_a_restart_an_actor_has_listed_nothing(tmp_path, actor):
    """By its name the journal says what it had seen: old words mean that, and news are told."""
    store = FileStore(tmp_path / "plans.json")
    write(new(store), "Dig", "Lay", actor=actor)
    person = new(store)
    person.apply(CreateTask("Tell Ann"), actor="ann")
    person.apply(UpdateTask("1", subject="Dig deep"), actor="ann")
    person.apply(UpdateTask("2", status="completed"), actor="ann")
    person.apply(UpdateTask("1", owner="bo"), actor=actor)  # an edit in its name is no call
    again = new(FileStore(tmp_path / "plans.json"))
    told = write(again, "Dig", actor=actor)
    if actor:
        assert "#3 Tell Ann created by ann" in told
        assert texts_of(again.plan) == ["Dig deep", "Lay", "Tell Ann"]
    else:
        assert "not on your list, kept: #1 Dig deep, #3 Tell Ann" in told
        assert {*texts_of(again.plan)} == {"Dig deep", "Lay", "Tell Ann", "Dig"}
    write(again, "Dig", "Lay", actor=actor)  # nor does it know who has closed what
    assert again.plan["2"].status.value == "completed"


def test_the_journal_is_read_only_after_others():
    """While nobody else writes, a call costs what it did: one look at the plan."""
    store = Counted()
    planner = new(store)
    for _ in range(3):
        write(planner, "Dig", "Lay")
        planner.call("write_todos", {"todos": 7})
    assert planner.base_of() is None
    assert store.read == 0
    planner.apply(CreateTask("Tell Ann"))
    write(planner, "Dig", "Lay")
    write(planner, "Dig", "Lay", "Tell Ann")
    assert store.read == 1


def test_who_lost_a_race_has_not_seen_who_won():
    """If another writer was faster, the repeated attempt reports the other writer's change."""

    class Overtaken(MemoryStore):
        armed = False

        def append(self, plan_id, expected, entries, plan):
            if self.armed:
                self.armed = False
                new(self).apply(CreateTask("Tell Ann"), actor="ann")
            return super().append(plan_id, expected, entries, plan)

    store = Overtaken()
    planner = new(store)
    write(planner, "Dig", "Lay")
    store.armed = True
    assert "#3 Tell Ann created by ann" in write(planner, "Dig")
    assert texts_of(planner.plan) == ["Dig", "Tell Ann"]


def test_who_is_forgotten_is_found_in_the_journal(monkeypatch):
    """Of more actors than are remembered, the one that called longest ago is forgotten."""
    monkeypatch.setattr("todoplan.planner.planner._MOST_ACTORS", 2)
    planner = Planner(toolbox=BOX)
    write(planner, "Dig", actor="bot")
    for number in range(3):
        planner.call("read_todos", {}, actor=str(number))
    planner.apply(CreateTask("Tell Ann"), actor="ann")
    assert dict((planner.base_of("bot") or Base(Plan())).actors) == {"2": "ann"}


def test_the_later_of_two_calls_counts():
    """Whichever of two calls at once is noted last."""
    old, later = Plan(), Planner().apply(CreateTask("Dig")).unwrap()
    sight = ActorSight(TODOS, "bot")
    for plan in (later, old):
        sight.knows(Base(plan))
    assert sight.since(later, None) is None


STORES = {"memory": MemoryStore, "file": FileStore, "sqlite": SqliteStore}
ACTORS = pytest.mark.parametrize("actors", [(None, None), ("bot", "bot"), ("a", "b")], ids=str)


@pytest.fixture(params=STORES)
def store(request, tmp_path):
    kind = STORES[request.param]
    return kind() if kind is MemoryStore else kind(tmp_path / "plans")


@pytest.fixture(params=["write_todos", "todos", "lean"])
def toolbox(request):
    return Toolbox({"write_todos": WRITE_TODOS, "todos": TODOS, "lean": LEAN}[request.param])


@ACTORS
def test_the_first_list_of_a_newcomer_removes_nothing(store, toolbox, actors):
    """By whatever planner, of whatever name; the reply says what stays and how to remove it."""
    person, bot = (Planner(store, "p", toolbox=toolbox) for _ in range(2))
    person.apply(CreateTask("Ann's task"), actor="ann")
    assert bot.base_of(actors[0]) is None  # nothing is news to it
    text = write(bot, "Fix", "Release", actor=actors[0])
    assert "not on your list, kept: #1 Ann's task (to remove one, list it as cancelled)" in text
    assert "removed" not in text
    assert "Ann's" not in write(bot, "Fix", "Release", actor=actors[0])
    assert {*texts_of(store.load("p"))} == {"Ann's task", "Fix", "Release"}


@ACTORS
def test_two_agents_on_one_plan_do_not_delete_each_others_tasks(store, toolbox, actors):
    """Our own recipe for DeepAgents: each writes its list, again and again."""
    one, two = (Planner(store, "p", toolbox=toolbox) for _ in range(2))
    for _ in range(3):
        write(one, "Fix", "Release", actor=actors[0])
        write(two, "Tell Ann", "Tell Bob", actor=actors[1])
    assert {*texts_of(store.load("p"))} == {"Fix", "Release", "Tell Ann", "Tell Bob"}


@pytest.mark.parametrize("actor", [None, "bot"])
def test_a_restart_after_compaction_removes_nothing(tmp_path, toolbox, actor):
    """The journal does not say any more what the agent had seen."""
    store = SqliteStore(tmp_path / "plans.db")
    write(Planner(store, "p", toolbox=toolbox), "Fix", actor=actor)
    Planner(store, "p").apply(CreateTask("Ann's task"), actor="ann")
    store.compact("p", keep=0)
    text = write(Planner(store, "p", toolbox=toolbox), "Fix", actor=actor)
    assert "removed" not in text
    assert {*texts_of(store.load("p"))} == {"Fix", "Ann's task"}


@attrs.frozen
class Rewrite:
    """
    How an actor rewrites the list that it last saw.

    `lines` has a status for each task, "" to leave it unchanged, or `None` to omit it. Tasks beyond
    the last of `lines` are unchanged. `new` has the titles of new entries at the end.
    """

    lines: tuple[str | None, ...] = ()
    new: tuple[str, ...] = ()

    def of(self, seen):
        """Return the todos to send, each existing task with its id."""
        lines = (*self.lines, *[""] * len(seen))
        kept = [
            {"id": task.id, "content": task.subject, "status": status or task.status.value}
            for task, status in zip(seen, lines, strict=False)
            if status is not None
        ]
        return [*kept, *({"content": title, "status": "pending"} for title in self.new)]


# Drawn before the plan is known: several actors take turns, and what each has seen depends on what
# the others did.
LINE = st.sampled_from(["", "", None]) | STATUSES.map(lambda status: status.value)
REWRITES = st.builds(
    Rewrite, st.lists(LINE, max_size=6).map(tuple), st.lists(titles(), max_size=2).map(tuple)
)
MOVES = st.tuples(st.sampled_from(["ann", "bo"]), REWRITES, st.booleans())


@given(st.lists(MOVES, max_size=8))
def test_what_one_actor_did_and_the_other_did_not_touch_is_in_the_plan(moves):
    """For any two actors, by turns, over restarts: a list drops what its actor has listed alone."""
    store = MemoryStore()
    planner, seen, journaled, listed = new(store), {}, {}, {}
    for actor, rewrite, restart in moves:
        if restart:  # a call that changed nothing is in no journal: one before it counts again
            planner, seen, listed = new(store), {**journaled}, {}
        before, known = planner.plan, seen.get(actor)
        todos = rewrite.of(before if known is None else known)
        reply = planner.call("write_todos", {"todos": todos, "clear": True}, actor=actor)
        if reply.is_error:
            assert reply.plan == before
            continue
        after, named = planner.plan, {todo.get("id") for todo in todos}
        # A text without an id names its task as well, however it is spelled (law 8).
        texts = {normalised(todo["content"]) for todo in todos if not todo.get("id")}
        told = "since you last looked" in reply.text
        # Tasks that were only put in another order are no news: that undoes nothing.
        assert told is (known is not None and {*known} != {*before})
        own = listed.setdefault(actor, set())
        assert {task.id for task in before if task.id not in after} <= own
        own |= {one.id for one in after if one.id in named or normalised(one.subject) in texts}
        for task in before:
            named_by_text = normalised(task.subject) in texts
            is_named = task.id in named or named_by_text
            if known is not None and known.get(task.id) != task and not is_named:
                now = after[task.id]
                assert (now.subject, now.status, now.owner) == (
                    task.subject,
                    task.status,
                    task.owner,
                )
        seen[actor] = after
        if reply.events:
            journaled[actor] = after
