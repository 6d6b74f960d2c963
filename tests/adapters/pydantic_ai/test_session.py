"""Law 15 in a real agent: nobody's work is undone unseen, with the plan in messages or a store."""

import asyncio
from dataclasses import replace

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessagesTypeAdapter, ToolReturnPart
from support.law_15 import Situations
from support.pydantic_ai_agent import Script, planner, record_of, returns, run, saved, use, wrote

from todoplan import Plan, Planner
from todoplan.adapters.pydantic_ai import (
    KEY,
    Planning,
    edit_plan,
    make_tools,
    plan_of_state,
    seed_plan,
)
from todoplan.core import commands
from todoplan.core.decide import plan_of
from todoplan.core.plan.model import Task
from todoplan.dialogue.guidance import TAG, Settings
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import TODOS
from todoplan.errors import CodecError
from todoplan.planner import AsyncPlanner
from todoplan.stores import SqliteStore
from todoplan.stores.memory import MemoryStore


class Talk:
    """
    A conversation whose history goes through JSON at every turn.
    """

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

    def edit(self, command, actor):
        """What somebody else does."""
        if self.store:
            Planner(self.store, self.name).apply(command, actor=actor).unwrap()
        else:
            _, self.messages = edit_plan(self.planning, self.messages, command, actor=actor)

    def seed(self, plan):
        """A plan that a program puts in place."""
        if self.store:
            Planner(self.store, self.name).restore(plan)
        else:
            self.messages = seed_plan(self.planning, self.messages, plan)

    def _run(self, *steps):
        script = Script(*steps)
        given = {
            "capabilities" if isinstance(self.planning, Planning) else "toolsets": [self.planning]
        }
        agent = Agent(script.model, **given)
        result = run(agent, message_history=self.messages, conversation_id=self.name)
        self.messages = saved(result)
        return script, [part.content for part in returns(result.new_messages())]

    def turn(self, *calls):
        """Have the model make calls, whose ids come again with every turn."""
        return self._run([use(*call, str(n)) for n, call in enumerate(calls)], "ok")[1]

    def tail(self):
        """Have it answer at once; the end of the request."""
        return self._run("ok")[0].tails[0]


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


class Conversation:
    """
    One conversation; a person edits its plan between runs, where that is kept.
    """

    def __init__(self, planning, store=None, name="1"):
        self.planning, self.store, self.name = planning, store, name
        self.messages = []

    def go(self, *steps):
        """Run once through saved messages; return what the tools answered, and the script."""
        script = Script(*steps, "ok")
        if isinstance(self.planning, Planning):
            agent = planner(script, self.planning)
        else:
            agent = Agent(script.model, toolsets=[self.planning])
        result = run(agent, message_history=self.messages, conversation_id=self.name)
        self.messages = saved(result)
        return [part.content for part in returns(result.new_messages())], script

    def person(self, command, actor="ann"):
        """Edit the plan, and go through JSON."""
        if self.store is not None:
            Planner(self.store, self.name).apply(command, actor=actor)
            return
        _, edited = edit_plan(self.planning, self.messages, command, actor=actor)
        text = ModelMessagesTypeAdapter.dump_json([*edited])
        self.messages = ModelMessagesTypeAdapter.validate_json(text)

    @property
    def plan(self):
        """The plan, wherever it is."""
        return plan_of_state(self.messages) if self.store is None else self.store.load(self.name)

    @property
    def subjects(self):
        """Its tasks' texts."""
        return [task.subject for task in self.plan]


@pytest.fixture(params=["messages", "tools alone", "store", "TODOS", "TODOS in a store"])
def talk(request, tmp_path):
    """A conversation of an agent with a list of todos, without reminders."""
    box = Toolbox(TODOS) if "TODOS" in request.param else Toolbox()
    if "store" in request.param:
        with SqliteStore(tmp_path / "plans.db") as store:
            yield Conversation(Planning(box, SILENT, store=store), store)
    elif request.param == "tools alone":
        yield Conversation(make_tools(box))
    else:
        yield Conversation(Planning(box, SILENT))


def listed(*todos, call_id):
    return wrote(*todos, call_id=call_id)


def test_what_a_person_added_stays_until_it_is_removed_by_name(talk):
    """However often the list leaves it out; it is news once, with the actor."""
    talk.go(listed(DIG, call_id="a"))
    talk.person(EDIT)
    talk.person(commands.UpdateTask("1", owner="bo"), actor="bo")
    told = [talk.go(listed(DIG, call_id=call_id))[0][0] for call_id in "bcd"]
    assert "#2 Tell Ann created by ann" in told[0]
    assert "#1 Dig updated by bo" in told[0]
    assert not any("by ann" in text for text in told[1:])
    assert talk.subjects == ["Dig", "Tell Ann"]
    talk.go(listed(DIG, ("Tell Ann", "cancelled"), call_id="e"))
    assert talk.plan["2"].status == "cancelled"


def test_a_read_is_a_look_and_a_refused_call_is_none(talk):
    """News are told by the first answer that is no error, once; what was read is not listed."""
    talk.planning.toolbox.toolset.find("read_todos")
    talk.go(listed(DIG, call_id="a"))
    talk.person(EDIT)
    (refused,), _ = talk.go(use("write_todos", {"todos": 7}, "x"))
    assert "by ann" not in refused
    (read,), _ = talk.go(use("read_todos", {}, "y"))
    assert read.startswith("since you last looked: ")
    talk.go(listed(DIG, call_id="b"))
    assert talk.subjects == ["Dig", "Tell Ann"]


def test_calls_of_one_turn_share_what_the_session_knew(talk):
    """A list beside a read is compared with what was known before both; it is told once."""
    talk.go(listed(DIG, call_id="a"))
    talk.person(EDIT)
    told, _ = talk.go([use("read_todos", {}, "b"), listed(DIG, call_id="c")])
    assert ["created by ann" in text for text in told] == [True, False]
    assert talk.subjects == ["Dig", "Tell Ann"]


@pytest.mark.parametrize("kept", ["messages", "store"])
def test_what_a_reminder_told_of_stays(kept):
    """A reminder informs, at the tail and unsaved; it never moves the base."""
    store = MemoryStore() if kept == "store" else None
    talk = Conversation(Planning(settings=TOLD, store=store), store)
    talk.go(listed(DIG, call_id="a"))
    talk.person(EDIT)
    _, script = talk.go()
    assert "#2 Tell Ann created by ann" in script.tails[0]
    assert script.tails[0].startswith(f"<{TAG}>")
    assert TAG not in ModelMessagesTypeAdapter.dump_json(talk.messages).decode()
    for call_id in "bc":
        told, script = talk.go(listed(DIG, call_id=call_id))
        assert ("by ann" in told[0]) is (call_id == "b")
        assert talk.subjects == ["Dig", "Tell Ann"]
    assert script.tails[0] == "go"


def test_a_history_without_a_record_has_listed_nothing():
    """A new history on the plan of a store is a new session, though it has the same id."""
    store = MemoryStore()
    planning = Planning(settings=SILENT, store=store)
    Conversation(planning, store).go(listed(DIG, call_id="a"))
    anew = Conversation(planning, store)
    (text,), _ = anew.go(listed(SOW, call_id="b"))
    assert "#1 Dig" in text
    assert sorted(anew.subjects) == ["Dig", "Sow"]


def test_a_plan_that_moves_into_a_store_is_no_longer_listed():
    """The record of the messages was about another plan, whatever its revision."""
    talk = Conversation(Planning(settings=SILENT))
    talk.go(listed(DIG, SOW, call_id="a"))
    store = MemoryStore()
    Planner(store, "1").apply(commands.CreateTasks([EDIT, commands.CreateTask("Lay")]))
    assert store.load("1").revision == talk.plan.revision
    talk.planning, talk.store = Planning(settings=SILENT, store=store), store
    talk.go(listed(DIG, call_id="b"))
    assert sorted(talk.subjects) == ["Dig", "Lay", "Tell Ann"]


def test_a_seeded_plan_is_not_dropped():
    """What a program puts in place, the model has not listed: before a conversation or in it."""
    seeded = plan_of([Task("1", "Tell Ann"), Task("2", "Lay")], revision=2)
    fresh, later = Conversation(Planning(settings=SILENT)), Conversation(Planning(settings=SILENT))
    fresh.messages = seed_plan(fresh.planning, [], seeded, actor="cron")
    fresh.go(listed(DIG, call_id="a"))
    assert sorted(fresh.subjects) == ["Dig", "Lay", "Tell Ann"]
    alone = Conversation(make_tools())
    alone.messages = seed_plan(alone.planning, [], seeded)
    alone.go([use("read_todos", {}, "r"), listed(DIG, call_id="a")])
    assert sorted(alone.subjects) == ["Dig", "Lay", "Tell Ann"]
    for first in ((DIG, SOW), (DIG,)):  # with the revision of the seeded plan, and with another
        later.messages = []
        later.go(listed(*first, call_id="a"))
        later.messages = seed_plan(later.planning, later.messages, seeded, actor="cron")
        (text,), _ = later.go(listed(DIG, call_id="b"))
        assert "Tell Ann" in text
        assert {"Lay", "Tell Ann"} <= {*later.subjects}


def test_a_plan_that_is_taken_along_is_still_listed():
    """Where an application cuts messages away and seeds what they held, nothing is news."""
    talk = Conversation(Planning(settings=TOLD))
    talk.go(listed(DIG, call_id="a"))
    talk.messages = seed_plan(talk.planning, talk.messages[-1:], talk.plan)
    (text,), script = talk.go(listed(SOW, call_id="b"))
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

    talk = Conversation(Planning(settings=SILENT))
    talk.go(listed(DIG, call_id="a"))
    talk.person(EDIT)
    talk.planning = Cut(settings=SILENT)
    talk.go()
    talk.planning, talk.messages = Planning(settings=SILENT), talk.messages[-1:]
    assert talk.subjects == ["Dig", "Tell Ann"]
    (text,), _ = talk.go(listed(SOW, call_id="b"))
    assert "#2 Tell Ann created by ann" in text
    assert sorted(talk.subjects) == ["Sow", "Tell Ann"]


def test_call_ids_that_come_again_are_other_turns():
    """Some providers number the calls of each response anew; each turn has its own base."""
    talk = Conversation(make_tools())
    talk.go([use("read_todos", {}, "c0"), listed(DIG, call_id="c1")])
    talk.person(EDIT)
    first, _ = talk.go([use("read_todos", {}, "c0"), listed(DIG, call_id="c1")])
    second, _ = talk.go([use("read_todos", {}, "c0"), listed(SOW, call_id="c1")])
    assert ["by ann" in text for text in (*first, *second)] == [True, False, False, False]
    assert sorted(talk.subjects) == ["Sow", "Tell Ann"]


@pytest.mark.parametrize("damage", [7, {"version": 1}, {"version": 2, "id": "a", "revision": 1}])
def test_a_damaged_record_is_an_error(damage):
    """It is never a new session."""
    talk = Conversation(Planning(settings=SILENT))
    talk.go(listed(DIG, call_id="a"))
    talk.messages[-1].metadata[KEY]["session"] = damage
    with pytest.raises(CodecError, match="session"):
        talk.go()


def test_the_record_of_an_agent_alone_is_small():
    """It does not grow with the plan, nor with the conversation."""
    talk = Conversation(Planning(settings=SILENT))
    for turn in range(5):
        talk.go(
            listed(*((f"Task {n}", "pending") for n in range(20 * turn + 1)), call_id=f"{turn}")
        )
    record = talk.messages[-1].metadata[KEY]["session"]
    assert record_of(talk.messages).listed is None
    assert len(str(record)) < 300


def test_another_agent_on_the_plan_of_a_store_is_another_session():
    """Its calls have no name either: what it did since an earlier run is not undone."""
    store = MemoryStore()
    talk = Conversation(Planning(Toolbox(TODOS), SILENT, store=store), store)
    talk.go(listed(DIG, call_id="a"))
    other = AsyncPlanner(store, "1", toolbox=Toolbox(TODOS))
    todos = [{"content": name, "status": "pending"} for name in ("Dig", "Lay")]
    asyncio.run(other.call("write_todos", {"todos": todos}))
    (text,), _ = talk.go(listed(DIG, call_id="v"))
    assert "#2 Lay created" in text
    assert talk.subjects == ["Dig", "Lay"]


def test_what_is_seen_by_a_reminder_is_told_by_no_tool_result():
    """A change that others made and took back is no news."""
    store = MemoryStore()
    talk = Conversation(Planning(settings=TOLD, store=store), store)
    talk.go(listed(DIG, call_id="a"))
    talk.person(EDIT)
    Planner(store, "1").undo(actor="ann")
    told, script = talk.go(listed(DIG, call_id="b"))
    assert script.tails[0] == "go"
    assert "ann" not in told[0]
    assert not any("ann" in p.content for m in talk.messages for p in m.parts if _is_return(p))
    assert talk.plan != Plan()


def _is_return(part):
    return isinstance(part, ToolReturnPart)
