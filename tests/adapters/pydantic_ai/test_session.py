"""Law 15 in a real agent, with the plan in messages or a store; what 0.2.0 saved."""

import shutil
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import (
    ModelMessagesTypeAdapter,
    ModelRequest,
    UserPromptPart,
)
from support.cut_off import Cut, CutMemory
from support.law_15 import Situations
from support.pydantic_ai_agent import (
    Script,
    created,
    planner,
    record_of,
    response,
    returns,
    run,
    saved,
    use,
    wrote,
)

from todoplan import (
    FileStore,
    MemoryStore,
    Planner,
    Task,
    Toolbox,
    commands,
    plan_of,
)
from todoplan.adapters.pydantic_ai import (
    KEY,
    Planning,
    edit_plan,
    history_of,
    make_tools,
    plan_of_state,
    seed_plan,
    undo_plan,
)
from todoplan.dialogue import Settings, tasks
from todoplan.errors import CodecError
from todoplan.stores.memory import MemoryHold


class Talk:
    """A conversation whose history goes through JSON at every turn."""

    def __init__(self, make, options, messages=()):
        self.make, self.options, self.messages = make, options, [*messages]
        self.store, self.name = options.get("store"), options.get("plan_id", "1")
        given = {key: options[key] for key in options.keys() - {"plan_id"}}
        self.planning = make(**given)

    def again(self):
        """The same conversation in another process."""
        return Talk(self.make, self.options, self.messages)

    def saved(self):
        """What the latest message keeps of it."""
        notes = [m.metadata[KEY] for m in self.messages if KEY in (m.metadata or {})]
        parts = [p.metadata[KEY] for p in returns(self.messages) if p.metadata]
        return [*parts, *notes][-1]

    def plan(self):
        """The plan, wherever it is."""
        return self.store.load(self.name) if self.store else plan_of_state(self.messages)

    @property
    def subjects(self):
        """Its tasks' texts."""
        return [task.subject for task in self.plan()]

    def edit(self, command, actor="ann"):
        """What somebody else does."""
        if self.store:
            Planner(self.store, self.name).apply(command, actor=actor).unwrap()
        else:
            _, edited = edit_plan(self.planning, self.messages, command, actor=actor)
            text = ModelMessagesTypeAdapter.dump_json([*edited])
            self.messages = ModelMessagesTypeAdapter.validate_json(text)

    def seed(self, plan, actor=None):
        """A plan that a program puts in place."""
        if self.store:
            Planner(self.store, self.name).restore(plan)
        else:
            self.messages = seed_plan(self.planning, self.messages, plan, actor=actor)

    def go(self, *steps):
        """Run once; return what the tools answered, and the script."""
        script, kind = Script(*steps, "ok"), "toolsets"
        if isinstance(self.planning, Planning):
            kind = "capabilities"
        agent = Agent(script.model, **{kind: [self.planning]})
        result = run(agent, message_history=self.messages, conversation_id=self.name)
        self.messages = saved(result)
        return [part.content for part in returns(result.new_messages())], script

    def turn(self, *calls):
        """Have the model make calls, whose ids come again with every turn."""
        return self.go([use(*call, str(n)) for n, call in enumerate(calls)])[0]

    def tail(self):
        """Have it answer at once; the end of the request."""
        return self.go()[1].tails[0]


class TestGuided(Situations):
    def begin(self, **options):
        return Talk(Planning, options)


class TestToolsAlone(Situations):
    test_what_a_reminder_told_of_stays = None  # there are none

    def begin(self, settings, **options):
        return Talk(make_tools, options)


SILENT = Settings(plan_lost=False, unfinished=0, changed=False)
TOLD = Settings(plan_lost=False, unfinished=0)
EDIT = commands.CreateTask("Tell Ann")
DIG = ("Dig", "in_progress")
SOW = ("Sow", "pending")


def talking(*, make=Planning, **options):
    """A conversation of an agent with a list of todos, by default without reminders."""
    return Talk(make, {"settings": SILENT, **options} if make is Planning else options)


@pytest.fixture(params=["messages", "tools alone", "store"])
def talk(request):
    """One of each kind."""
    if request.param == "tools alone":
        return talking(make=make_tools)
    return talking(store=MemoryStore() if request.param == "store" else None)


def test_calls_of_one_turn_share_what_the_session_knew(talk):
    """A list beside a read is compared with what was known before both; it is told once."""
    talk.go(wrote(DIG, call_id="a"))
    talk.edit(EDIT)
    told, _ = talk.go([use("read_todos", {}, "b"), wrote(DIG, call_id="c")])
    assert ["created by ann" in text for text in told] == [True, False]
    assert talk.subjects == ["Dig", "Tell Ann"]


def test_a_history_without_a_record_has_listed_nothing():
    """A new history on the plan of a store is a new session, though it has the same id."""
    store = MemoryStore()
    talking(store=store).go(wrote(DIG, call_id="a"))
    anew = talking(store=store)
    (text,), _ = anew.go(wrote(SOW, call_id="b"))
    assert "#1 Dig" in text
    assert sorted(anew.subjects) == ["Dig", "Sow"]


def test_a_plan_that_moves_into_a_store_is_no_longer_wrote():
    """The record of the messages was about another plan, whatever its revision."""
    talk, store = talking(), MemoryStore()
    talk.go(wrote(DIG, SOW, call_id="a"))
    Planner(store, "1").apply(commands.CreateTasks([EDIT, commands.CreateTask("Lay")]))
    assert store.load("1").revision == talk.plan().revision
    talk = Talk(Planning, {"settings": SILENT, "store": store}, talk.messages)
    talk.go(wrote(DIG, call_id="b"))
    assert sorted(talk.subjects) == ["Dig", "Lay", "Tell Ann"]


@pytest.mark.parametrize("make", [Planning, make_tools])
def test_a_seeded_plan_is_not_dropped(make):
    """What a program puts in place, the model has not listed: before a conversation or in it."""
    seeded = plan_of([Task("1", "Tell Ann"), Task("2", "Lay")], revision=2)
    fresh, look = talking(make=make), [use("read_todos", {}, "r")] * (make is make_tools)
    fresh.seed(seeded, actor="cron")
    fresh.go([*look, wrote(DIG, call_id="a")])
    assert sorted(fresh.subjects) == ["Dig", "Lay", "Tell Ann"]
    for first in ((DIG, SOW), (DIG,)):  # with the revision of the seeded plan, and with another
        later = talking(make=make)
        later.go(wrote(*first, call_id="a"))
        later.seed(seeded, actor="cron")
        (text,), _ = later.go(wrote(DIG, call_id="b"))
        assert "Tell Ann" in text
        assert {"Lay", "Tell Ann"} <= {*later.subjects}


def test_a_plan_that_is_taken_along_is_still_wrote():
    """Where an application cuts messages away and seeds what they held, nothing is news."""
    talk = talking(settings=TOLD)
    talk.go(wrote(DIG, call_id="a"))
    plan, talk.messages = talk.plan(), talk.messages[-1:]
    assert talk.subjects == []
    talk.seed(plan)
    (text,), script = talk.go(wrote(SOW, call_id="b"))
    assert script.tails[0] == "go"
    assert "since" not in text
    assert talk.subjects == ["Sow"]


def test_the_record_stands_with_the_plan_where_messages_are_cut_away():
    """A run that has lost the plan writes both anew, and what it has not heard of is still news."""

    class Cut(Planning):
        async def prepare_model_request(self, ctx, request_context):
            del ctx.messages[:-1]
            ctx.messages[0] = replace(ctx.messages[0], metadata=None)
            return await super().prepare_model_request(ctx, request_context)

    talk = talking()
    talk.go(wrote(DIG, call_id="a"))
    talk.edit(EDIT)
    talk.planning = Cut(settings=SILENT)
    talk.go()
    talk.planning, talk.messages = Planning(settings=SILENT), talk.messages[-1:]
    assert talk.subjects == ["Dig", "Tell Ann"]
    (text,), _ = talk.go(wrote(SOW, call_id="b"))
    assert "#2 Tell Ann created by ann" in text
    assert sorted(talk.subjects) == ["Sow", "Tell Ann"]


def test_call_ids_that_come_again_are_other_turns():
    """Some providers number the calls of each response anew; each turn has its own base."""
    talk = talking(make=make_tools)
    talk.go([use("read_todos", {}, "c0"), wrote(DIG, call_id="c1")])
    talk.edit(EDIT)
    first, _ = talk.go([use("read_todos", {}, "c0"), wrote(DIG, call_id="c1")])
    second, _ = talk.go([use("read_todos", {}, "c0"), wrote(SOW, call_id="c1")])
    assert ["by ann" in text for text in (*first, *second)] == [True, False, False, False]
    assert sorted(talk.subjects) == ["Sow", "Tell Ann"]


@pytest.mark.parametrize("damage", [7, {"version": 1}, {"version": 2, "id": "a", "revision": 1}])
def test_a_damaged_record_is_an_error(damage):
    """It is never a new session."""
    talk = talking()
    talk.go(wrote(DIG, call_id="a"))
    talk.messages[-1].metadata[KEY]["session"] = damage
    with pytest.raises(CodecError, match="session"):
        talk.go()


SAVED = Path(__file__).with_name("saved_by_0_2")
PLANT = ("Plant", "pending")


def messages(name):
    """Return a history as code of 0.2.0 saved it, by Pydantic AI's own adapter."""
    return ModelMessagesTypeAdapter.validate_json((SAVED / f"{name}.json").read_bytes())


def of_0_2(name, **options):
    """Return a conversation that goes on from it."""
    return Talk(Planning, {"settings": TOLD, **options}, messages(name))


@pytest.mark.parametrize("name", ["written", "tools_alone"])
def test_its_own_list_is_still_wrote(name):
    """With and without the capability, whose memory tells of the session, and goes on."""
    talk = of_0_2(name)
    assert talk.subjects == ["Dig", "Plant"]
    turns = record_of(talk.messages).memory.turn
    assert turns == 2 * (name == "written")
    (text,), _ = talk.go(wrote(DIG, call_id="v"))
    assert talk.subjects == ["Dig"]
    assert "since" not in text
    assert talk.messages[-1].metadata[KEY].keys() == {"session"}
    assert record_of(talk.messages).memory.turn == turns + 2


@pytest.mark.parametrize(
    ("name", "lines", "before", "after"),
    [
        # The base stood in the edited message, or in the response of a run that had lost the plan.
        ("edited", [DIG, PLANT], ["Dig", "Plant bulbs", "Tell Ann"], None),
        ("cut", [DIG, PLANT], ["Dig", "Plant bulbs", "Tell Ann"], None),
        # The model had seen nothing of a seeded plan.
        ("seeded", [DIG], ["Tell Ann"], ["Dig", "Tell Ann"]),
    ],
)
def test_what_a_person_did_unseen_is_still_news(name, lines, before, after):
    """And stays."""
    talk = of_0_2(name)
    assert talk.subjects == before
    (text,), _ = talk.go(wrote(*lines, call_id="v"))
    assert "Tell Ann" in text
    assert after or ("Plant" in text and "by bo" in text and "created by ann" in text)
    assert talk.subjects == (after or before)


def test_with_a_store_the_messages_tell_what_was_seen(tmp_path):
    """The plan is in the store's file; what came since is told, and kept."""
    shutil.copy(SAVED / "plans.json", tmp_path)
    talk = of_0_2("stored", store=FileStore(tmp_path / "plans.json"))
    (text,), _ = talk.go(wrote(DIG, call_id="v"))
    assert "#3 Tell Ann created by ann" in text
    assert talk.subjects == ["Dig", "Tell Ann"]
    assert talk.messages[-1].metadata[KEY].keys() == {"session", "stored"}
    talk.go(use("read_todos", {}, "r"))


def test_its_journal_is_read_and_taken_back():
    """Who did what, and what was before."""
    causes = [(entry.cause, entry.actor) for entry in history_of(messages("edited"))]
    assert causes == [("write_todos", None), ("CreateTask", "ann"), ("UpdateTask", "bo")]
    _, undone = undo_plan(Planning(), messages("edited"))
    assert [task.subject for task in plan_of_state(undone)] == ["Dig", "Plant", "Tell Ann"]


@pytest.mark.parametrize("damage", [{"memory": 7}, {"memory": {"turn": "x"}}, {"base": 7}])
def test_what_is_damaged_is_an_error(damage):
    """It is never taken for nothing."""
    talk = of_0_2("edited")
    talk.messages[-1].metadata[KEY].update(damage)
    with pytest.raises(CodecError):
        talk.go()


def go(store, messages, *script, **options):
    """Run from messages whose last response has calls that nobody has answered."""
    planning = Planning(Toolbox(tasks()), settings=SILENT, store=store, **options)
    agent = planner(Script(*script), planning)
    return run(agent, None, message_history=messages, conversation_id="1")


def asked(*subjects):
    """Return a conversation in which the model has just made calls."""
    return [ModelRequest([UserPromptPart("go")]), response(created(*subjects))]


def test_calls_whose_answers_were_lost_are_answered_again_and_not_done_again():
    """The first was carried out, the second never came to it; what others did is told."""
    store, messages = CutMemory(), asked("a", "b")
    with pytest.raises(Cut):
        go(store, messages)
    assert len(store.load("1")) == 1
    Planner(store, "1").apply(commands.CreateTask("c"), actor="ann")
    result = go(store, messages, "ok")
    assert [task.subject for task in store.load("1")] == ["a", "c", "b"]
    first, second = (part.content for part in returns(result.all_messages()))
    assert first.endswith("0/1: #1 created")
    assert second.endswith("0/3: #3 created")


def test_the_clock_is_the_stores(monkeypatch):
    """
    Law 19: leases run by one clock for all; one that was given is meant. The same calls of another
    response are other ones: some providers number the calls of each response anew.
    """
    times = [datetime(2026, 1, number, tzinfo=UTC) for number in (1, 2)]
    monkeypatch.setattr(MemoryHold, "now", lambda _: times[0])
    store = MemoryStore()
    go(store, asked("a"), "ok")
    go(store, asked("a"), "ok", clock=lambda: times[1])
    assert [entry.at for entry in store.entries("1")] == times
    assert [task.subject for task in store.load("1")] == ["a", "a"]
