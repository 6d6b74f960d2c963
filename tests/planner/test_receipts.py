"""A call with a key happens once, whoever makes it again, and gives the same answer."""

import subprocess
import sys

import attrs
import pytest

from todoplan.core.commands import CreateTask, UpdateTask
from todoplan.core.decide import Accepted, Rejected, decide
from todoplan.core.events.apply import Entry
from todoplan.core.rules import Policy
from todoplan.dialogue.calls import Call
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import TODOS, tasks
from todoplan.errors import PlanError, StoreError
from todoplan.planner import Planner
from todoplan.stores.base import ALL, Key
from todoplan.stores.file import FileStore
from todoplan.stores.memory import MemoryHold, MemoryStore
from todoplan.stores.sqlite import SqliteHold, SqliteStore

BOX = Toolbox(tasks())
DIG = {"subject": "Dig"}


@pytest.fixture(params=[MemoryStore, SqliteStore])
def store(request, tmp_path):
    return MemoryStore() if request.param is MemoryStore else SqliteStore(tmp_path / "plans.db")


def new(store, **options):
    return Planner(store, "a", toolbox=BOX, **options)


def test_a_call_that_is_made_again_changes_nothing(store):
    """The same reply, events and all, by this planner or another; one entry in the journal."""
    first = new(store).call("TaskCreate", DIG, actor="m", key="k")
    planner = new(store)
    assert planner.call("TaskCreate", DIG, actor="m", key="k") == first
    again = planner.call("TaskCreate", DIG, actor="m", key="k")
    assert (again, again.repeat_of, again.revision) == (first, 1, 1)
    assert len(planner.history()) == 1
    assert len(planner.call("TaskCreate", DIG, actor="m", key="l").plan) == 2


def test_a_call_that_is_made_again_reads_no_journal(monkeypatch):
    """What the caller knows is in the journal, perhaps of years, and is not needed again."""
    store, read, entries_since = MemoryStore(), [], MemoryHold.entries_since
    first = new(store).call("TaskCreate", DIG, actor="m", key="k")
    new(store).apply(CreateTask("Sow"))

    def recorded(self, revision):
        read.append(revision)
        return entries_since(self, revision)

    monkeypatch.setattr(MemoryHold, "entries_since", recorded)
    again = new(store).call("TaskCreate", DIG, actor="m", key="k")
    assert (again.text, read) == (first.text, [1])
    new(store).call("TaskCreate", DIG, actor="m", key="l")
    assert ALL in read


def test_it_is_the_same_across_processes(tmp_path):
    """A process that died after its append: the one that takes over is given the answer."""
    path = tmp_path / "plans.db"
    lines = (
        "from todoplan import Planner, Toolbox, TASKS",
        "from todoplan.stores import SqliteStore",
        f"planner = Planner(SqliteStore({str(path)!r}), 'a', toolbox=Toolbox(TASKS))",
        "print(planner.call('TaskCreate', {'subject': 'Dig'}, key='k').text)",
    )
    once, twice = (
        subprocess.run(
            [sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    )
    assert once == twice
    assert len(SqliteStore(path).entries("a")) == 1


@pytest.mark.parametrize(
    "again",
    [
        lambda planner: planner.call("TaskCreate", {"subject": "Lay"}, actor="m", key="k"),
        lambda planner: planner.call("TaskCreate", DIG, actor="ann", key="k"),
        lambda planner: planner.apply(CreateTask("Dig"), actor="m", key="k"),
    ],
)
def test_another_request_under_the_same_key_is_an_error(store, again):
    """Other arguments, another actor, a command instead of a call: nothing is carried out."""
    planner = new(store)
    planner.call("TaskCreate", DIG, actor="m", key="k")
    with pytest.raises(StoreError, match="'k' was already used for another request") as caught:
        again(planner)
    assert (caught.value.data["problem"], caught.value.data["key"]) == ("key_reused", "k")
    assert len(planner.history()) == 1


def test_a_turn_is_given_again_as_a_whole():
    """Texts, errors, repairs and warnings of each call, and the ids that the calls have now."""
    box = Toolbox(tasks(), Policy().but(duplicate_content="warn"))
    planner = Planner(toolbox=box)
    asked = [
        Call("TaskCreate", '{"subject": "Dig",}', "1"),
        Call("TaskCreate", DIG, "2"),
        Call("TaskGet", {"taskId": "9"}, "3"),
        Call("TaskList", {}, "4"),
    ]
    first = planner.turn(asked, key="k")
    renamed = [attrs.evolve(call, call_id=f"x{call.call_id}") for call in asked]
    again = planner.turn(renamed, key="k")
    assert first.replies[0].repairs
    assert first.replies[1].warnings
    assert first.replies[2].problems
    as_first = [
        attrs.evolve(reply, call_id=reply.call_id[1:], plan=then.plan)
        for reply, then in zip(again.replies, first.replies, strict=True)
    ]
    assert (tuple(as_first), again.plan) == (first.replies, first.plan)
    assert len(planner.history()) == 2


def test_calls_with_a_key_each_are_given_again_beside_those_that_are_new():
    """In other groups than they came in first: a framework need not repeat a turn as it was."""
    planner = Planner(toolbox=BOX)
    one, two, three = (Call("TaskCreate", {"subject": name}, name) for name in ("a", "b", "c"))
    first = planner.turn([one], key=planner.keys_of([one], "thread", 1))
    third = planner.turn([three], key=planner.keys_of([three], "thread", 1))
    all_three = [one, two, three]
    turn = planner.turn(all_three, key=planner.keys_of(all_three, "thread", 1))
    assert [reply.text for reply in turn.replies] == [
        first.replies[0].text,
        "0/3: #3 created",
        third.replies[0].text,
    ]
    assert [reply.revision for reply in turn.replies] == [1, 3, 2]
    assert [reply.plan for reply in turn.replies] == [planner.plan] * 3
    assert planner.turn(all_three, key=planner.keys_of(all_three, "thread", 1)) == turn
    assert len(planner.history()) == 3


@pytest.mark.parametrize(
    ("calls", "scope"),
    [
        ([Call("TaskCreate", DIG, "1")], ("thread", 2)),
        ([Call("TaskCreate", {"subject": "Lay"}, "1")], ("thread", 1)),
        ([Call("TaskCreate", DIG, "2")], ("thread", 1)),
        ([Call("TaskUpdate", DIG, "1")], ("thread", 1)),
    ],
)
def test_what_differs_in_anything_is_another_call(calls, scope):
    """Its scope, what it asks for, its id: neither is ever taken for the other."""
    planner = Planner(toolbox=BOX)
    known = planner.keys_of([Call("TaskCreate", DIG, "1")], "thread", 1)
    assert planner.keys_of(calls, *scope) != known


def test_calls_without_ids_have_keys_by_their_places():
    """Gemini's calls need none: equal ones beside each other are two."""
    planner = Planner(toolbox=BOX)
    twice = [Call("TaskCreate", DIG), Call("TaskCreate", DIG)]
    for _ in range(2):
        planner.turn(twice, key=planner.keys_of(twice, "thread", 1))
    assert len(planner.plan) == 2


def test_what_others_did_since_a_call_is_told_where_the_caller_knows_what_was_seen():
    """The repeated call's own change is no news; a refused call has shown its caller nothing."""
    planner = Planner(toolbox=BOX)
    calls = [Call("TaskCreate", DIG, "1"), Call("TaskGet", {"taskId": "9"}, "2")]
    keys = planner.keys_of(calls, "thread")
    planner.turn(calls, key=keys)
    planner.apply(CreateTask("Lay"), actor="ann")
    _, base = planner.look(0)
    again = planner.turn(calls[:1], base=base, key=keys[:1])
    assert again.replies[0].text.splitlines() == [
        "since you last looked: #2 Lay created by ann",
        "0/1: #1 created",
    ]
    both = planner.turn(calls, base=base, key=keys)
    assert both.replies[1].is_error
    assert both.replies[0].text == again.replies[0].text


@pytest.mark.parametrize(
    ("key", "remedy"),
    [
        *((key, "a key is the name of one call") for key in ("", 7, b"k", ["k", ""])),
        # Fewer, or one that stands twice, would leave a call without its promise.
        *((key, "or one for each of its 2 calls") for key in (["k"], ["k", "k"], ["k", "l", "m"])),
    ],
)
def test_there_is_a_key_for_each_call_or_one_for_all(key, remedy):
    """Anything else is refused before anything is done."""
    planner = Planner(toolbox=BOX)
    with pytest.raises(PlanError, match=remedy):
        planner.turn([Call("TaskCreate", DIG), Call("TaskCreate", DIG)], key=key)
    if not isinstance(key, list):
        with pytest.raises(PlanError, match=remedy):
            planner.apply(CreateTask("Dig"), key=key)
    assert planner.history() == ()


def test_the_plan_of_an_answer_that_is_given_again_is_the_plan_as_it_stands(store):
    """An older plan would undo what came since, which the actor has not seen yet."""
    planner = Planner(store, "a", toolbox=Toolbox(TODOS, Policy()))
    lines = {"todos": [{"content": "Dig", "status": "pending"}]}
    first = planner.call("write_todos", lines, actor="m", key="k")
    planner.apply(CreateTask("Lay"), actor="ann")
    again = planner.call("write_todos", lines, actor="m", key="k")
    assert (again.text, again.events) == (first.text, first.events)
    assert again.plan == planner.plan
    assert "#2 Lay created by ann" in planner.call("write_todos", lines, actor="m", key="l").text
    assert len(planner.plan) == 2


def test_a_command_is_given_again(store):
    """Events, warnings and the plan as it stands; but a refusal has nothing in it to do twice."""
    policy = Policy().but(duplicate_content="warn")
    planner = new(store)
    assert isinstance(planner.apply(UpdateTask("1", subject="Lay"), key="k"), Rejected)
    assert planner.call("TaskList", key="l").text == planner.call("TaskList").text
    planner.apply(CreateTask("Dig"))
    assert "Dig" in planner.call("TaskList", key="l").text  # nor has a read
    first = planner.apply(CreateTask("Dig"), policy=policy, key="k")
    assert isinstance(first, Accepted)
    assert first.warnings
    assert planner.apply(CreateTask("Dig"), policy=policy, key="k") == first
    assert len(planner.history()) == 2


@pytest.mark.parametrize(
    "arguments", [{"subject": "Dig", "metadata": {1: "a", "b": {3}}}, '{"subject": ', "\ud800"]
)
def test_whatever_a_model_sends_has_a_key(arguments):
    """What is no JSON, and half a character: made again it is the same request."""
    planner = Planner(toolbox=BOX)
    calls = [Call("TaskCreate", DIG), Call("TaskCreate", arguments)]
    assert planner.turn(calls, key="k").events == planner.turn(calls, key="k").events
    assert len(planner.plan) <= 2
    assert len({entry.revision for entry in planner.history()}) == len(planner.history())


def test_a_store_without_keys_says_so(tmp_path):
    """Nothing is carried out: the caller relies on its happening once."""
    store = FileStore(tmp_path / "plans.json")
    with pytest.raises(StoreError, match=r"FileStore keeps no keys, .* take a Sqlite") as caught:
        new(store).call("TaskCreate", DIG, key="k")
    assert caught.value.data["problem"] == "no_keys"
    assert new(store).keys_of([Call("TaskCreate", DIG, "1")], "thread") is None
    assert new(store).call("TaskCreate", DIG).plan.revision == 1


@pytest.mark.parametrize("hold", [MemoryHold, SqliteHold])
def test_a_receipt_is_looked_up_once(hold, tmp_path, monkeypatch):
    """The append need not look again for what was not there a moment ago, under the same lock."""
    store = MemoryStore() if hold is MemoryHold else SqliteStore(tmp_path / "plans.db")
    looked, look = [], hold._receipt

    def recorded(self, key):
        looked.append(key.name)
        return look(self, key)

    monkeypatch.setattr(hold, "_receipt", recorded)
    new(store).apply(CreateTask("Dig"), key="k")
    assert looked == ["k"]
    with store.hold("a") as held:
        assert held.receipt(Key("l")) is None
        sown = decide(store.load("a"), CreateTask("Sow"))
        entries = (Entry(sown.plan.revision, sown.events),)
        for _ in range(2):
            assert held.append(1, entries, sown.plan, key=Key("l")) == entries
    assert looked == ["k", "l", "l"]
