"""The plan and the session in a message history: read, edited, never mistaken; what 0.2.0 saved."""

import asyncio
import shutil
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from pydantic_ai import Agent
from pydantic_ai.capabilities import ReinjectSystemPrompt
from pydantic_ai.messages import (
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    TextPart,
    UserPromptPart,
)
from pydantic_ai.models.function import FunctionModel
from support.cut_off import Cut, CutMemory
from support.editing import TWO, Editing
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
from support.strategies import full_plans

from todoplan import (
    Accepted,
    AsyncPlanner,
    FileStore,
    MemoryStore,
    Plan,
    Planner,
    Policy,
    Rejected,
    Task,
    TodoplanError,
    Toolbox,
    commands,
    plan_of,
    replay,
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
from todoplan.codec import documents, entry_from_data
from todoplan.dialogue import Memory, Settings, tasks
from todoplan.errors import CodecError, PlanError
from todoplan.stores.memory import MemoryHold

# -------- history --------


QUIET = Settings(plan_lost=False, unfinished=0)
WROTE = wrote(("A", "in_progress"), ("B", "pending"))
TASKS = Toolbox(tasks())
EDIT = commands.CreateTask("Tell Ann")


def history():
    """Return the result of a run that wrote two tasks."""
    return run(planner(Script(WROTE, "ok"), Planning(settings=QUIET)))


@given(full_plans)
def test_a_seeded_plan_is_read_back(plan):
    """Any plan, in a history that was empty or not, after a way through JSON."""
    for messages in ([], [ModelResponse(parts=[TextPart("x")], metadata={"own": 1})]):
        text = ModelMessagesTypeAdapter.dump_json(seed_plan(Planning(), messages, plan))
        assert plan_of_state(ModelMessagesTypeAdapter.validate_json(text)) == plan


def test_the_next_run_goes_on_from_saved_messages():
    """Ids, revision and all; and the plan is the result's as it is the messages'."""
    assert plan_of_state([]) == Plan()
    assert plan_of_state([ModelRequest(parts=[], metadata={"own": 1})]) == Plan()
    more = Script(wrote(("B", "completed"), ("C", "pending"), call_id="w2"), "ok")
    second = run(planner(more, Planning(settings=QUIET)), message_history=saved(history()))
    assert [(task.id, task.subject) for task in plan_of_state(second)] == [("2", "B"), ("3", "C")]
    assert plan_of_state(second) == plan_of_state(saved(second))


def test_a_return_tells_what_happened():
    """Its metadata has the journal's entry, which leads to the plan beside it."""
    result = history()
    (part,) = returns(saved(result))
    entry = entry_from_data(part.metadata[KEY]["entry"])
    assert entry.cause == "write_todos"
    assert replay(Plan(), entry.events) == plan_of_state(result)
    assert part.metadata[KEY]["plan"]["revision"] == entry.revision


def test_what_changes_nothing_holds_nothing():
    """Reads, refusals and repeated writes are light."""
    twice = wrote(("A", "in_progress"), ("B", "pending"), call_id="again")
    script = Script(WROTE, use("read_todos", {}, "r"), use("write_todos", {}, "bad"), twice, "ok")
    result = run(planner(script, Planning(settings=QUIET)))
    assert [bool(part.metadata) for part in returns(result.all_messages())] == [1, 0, 0, 0]


@pytest.mark.parametrize("note", ["gone", {"plan": {"tasks": []}}, {"plan": None}, 7, None])
def test_a_damaged_plan_is_an_error(note):
    """Never an empty plan; neither to the application nor to a run."""
    broken = [ModelRequest(parts=[], metadata={KEY: note})]
    with pytest.raises(CodecError):
        plan_of_state(broken)
    with pytest.raises(CodecError):
        run(planner(Script("x"), Planning()), message_history=broken)


@pytest.mark.parametrize("whole", [True, False])
def test_a_plan_that_a_store_keeps_is_not_in_the_messages(whole):
    """It is neither read, edited nor seeded there, and no run goes on without the store."""
    store, script = MemoryStore(), Script(WROTE, "ok")
    if whole:
        agent = planner(script, Planning(settings=QUIET, store=store))
    else:
        agent = Agent(script.model, toolsets=[make_tools(store=store)])
    messages = saved(run(agent, conversation_id="c"))
    for act in (
        lambda: plan_of_state(messages),
        lambda: edit_plan(Planning(), messages, commands.CreateTask("C")),
        lambda: seed_plan(Planning(), messages, Plan()),
        lambda: run(planner(Script("no"), Planning()), message_history=messages),
    ):
        with pytest.raises(PlanError, match=r"AsyncPlanner\(store, conversation_id\)"):
            act()
    added = AsyncPlanner(store, "c").apply(commands.CreateTask("C"))
    assert [task.subject for task in asyncio.run(added).plan] == ["A", "B", "C"]


def test_a_store_may_keep_what_the_messages_held():
    """From then on the messages hold an old plan, and say so."""
    first, store = history(), MemoryStore()
    asyncio.run(AsyncPlanner(store, "c").restore(plan_of_state(first)))
    agent = planner(Script(use("read_todos", {}, "r"), "ok"), Planning(settings=QUIET, store=store))
    result = run(agent, message_history=saved(first), conversation_id="c")
    assert "A" in returns(result.all_messages())[-1].content
    with pytest.raises(PlanError, match="a store keeps the plan"):
        plan_of_state(saved(result))


@pytest.mark.parametrize("reinject", [True, False])
def test_a_seeded_conversation_has_the_instructions(reinject):
    """A system prompt only with Pydantic AI's own capability, as the documentation says."""
    capabilities = [*([ReinjectSystemPrompt()] if reinject else []), Planning(settings=QUIET)]
    script = Script("ok")
    agent = Agent(script.model, system_prompt="S", instructions="I", capabilities=capabilities)
    run(agent, message_history=seed_plan(Planning(), [], TWO))
    assert script.infos[0].instructions.startswith("I\n\n")
    parts = [part for message in script.requests[0] for part in message.parts]
    assert sum(part.part_kind == "system-prompt" for part in parts) == reinject


def test_an_application_edits_the_plan():
    """The model goes on with it; what is refused or changes nothing leaves the history as it is."""
    first = history().all_messages()
    decision, messages = edit_plan(Planning(), first, commands.UpdateTask("1", subject="A!"))
    assert decision.events
    assert [plan_of_state(each)["1"].subject for each in (messages, first)] == ["A!", "A"]
    refused, same = edit_plan(Planning(), first, commands.DeleteTask("9"))
    assert isinstance(refused, Rejected)
    assert same == first
    assert edit_plan(Planning(), first, commands.UpdateTask("1", subject="A"))[1] == first
    script = Script(use("read_todos", {}, "r"), "ok")
    result = run(planner(script, Planning(settings=QUIET)), message_history=messages)
    assert "A!" in returns(result.all_messages())[-1].content


def test_what_guidance_remembers_stays_where_the_plan_is_put():
    """Both stand under one key of the response."""
    first = history().all_messages()
    kept = record_of(first).memory
    assert record_of(seed_plan(Planning(), first, Plan())).memory == kept != Memory()


@pytest.mark.parametrize("note", [7, {"edits": "x"}, {"entry": {}}])
def test_a_damaged_journal_is_an_error(note):
    """It is never an empty one."""
    with pytest.raises(CodecError):
        history_of([ModelRequest(parts=[], metadata={KEY: note})])


@pytest.mark.parametrize("make", [Planning, make_tools])
def test_an_edit_of_messages_whose_agent_has_a_store_is_refused(make):
    """No run would ever read it there (law 16), not even where the conversation is new."""
    planning = make(store=MemoryStore())
    for change, value in ((edit_plan, EDIT), (seed_plan, TWO)):
        with pytest.raises(PlanError, match=r"AsyncPlanner\(store, conversation_id\)"):
            change(planning, [], value)


def test_an_undo_never_goes_over_lost_entries(monkeypatch):
    """The message keeps only the latest edits: a plan from before the lost ones is no start."""
    monkeypatch.setattr(documents, "RECENT", 3)
    planning = Planning(TASKS, QUIET)
    script = Script(use("TaskCreate", {"subject": "0"}, "1"), "ok")
    messages = run(planner(script, planning)).all_messages()
    for name in "abc":
        _, messages = edit_plan(planning, messages, commands.CreateTask(name))
    _, messages = undo_plan(planning, messages)
    assert [task.subject for task in plan_of_state(messages)] == ["0", "a", "b"]
    with pytest.raises(PlanError, match="cannot be undone"):
        undo_plan(planning, messages)


OTHERS = (None, {}, "7", 7, ["text"], Agent("test"), Planning(), {"conversation_id": "c"})
WRONG = [
    lambda: Planning(tasks()),
    lambda: Planning(settings=0),
    lambda: Planning(clock="now"),
    lambda: make_tools(tasks()),
    lambda: make_tools(clock=7),
    lambda: seed_plan([], Planning(), TWO),
    lambda: seed_plan(Planning(), [], []),
    lambda: edit_plan([], EDIT, "strict"),
    lambda: edit_plan(Planning(), [], EDIT, policy="strict"),
    *(lambda other=other: plan_of_state(other) for other in OTHERS),
    *(lambda other=other: history_of(other) for other in OTHERS),
    *(lambda other=other: edit_plan(Planning(), other, EDIT) for other in OTHERS),
]


@pytest.mark.parametrize("wrong", WRONG)
def test_a_developers_mistake_is_an_error_at_once(wrong):
    """It says what was seen and what to write; a plan is never invented."""
    with pytest.raises(TodoplanError, match="was given; give"):
        wrong()


def test_an_edit_while_a_run_goes_on_is_refused_and_taken_afterwards():
    """It would be lost (law 16); another conversation may be edited, and a failed run is over."""
    planning, refused = Planning(settings=QUIET), []

    def meanwhile(messages, info):
        for change in (
            lambda: edit_plan(planning, earlier, EDIT),
            lambda: seed_plan(planning, earlier, Plan()),
        ):
            with pytest.raises(PlanError, match="a run of this conversation goes on"):
                change()
        refused.append(edit_plan(planning, other, EDIT)[0])
        msg = "no network"
        raise OSError(msg)

    agent = Agent(FunctionModel(meanwhile), capabilities=[planning])
    first = Agent(FunctionModel(lambda *_: ModelResponse(parts=[TextPart("hi")])))
    earlier = run(first, conversation_id="1").all_messages()
    other = run(first, conversation_id="2").all_messages()
    with pytest.raises(OSError, match="no network"):
        run(agent, message_history=earlier, conversation_id="1")
    assert isinstance(refused[0], Accepted)
    assert isinstance(edit_plan(planning, earlier, EDIT)[0], Accepted)


def test_a_change_is_taken_back_also_if_the_first_messages_are_gone():
    """The history that was given is not changed."""
    planning = Planning(TASKS, QUIET)
    script = Script(use("TaskCreate", {"subject": "a"}, "1"), "ok", "ok")
    edited = run(planner(script, planning)).all_messages()
    for name in "bc":
        _, edited = edit_plan(planning, edited, commands.CreateTask(name), actor="ann")
    decision, undone = undo_plan(planning, edited[2:], actor="bo")
    assert isinstance(decision, Accepted)
    found = [[task.subject for task in plan_of_state(each)] for each in (undone, edited)]
    assert found == [["a", "b"], ["a", "b", "c"]]
    with pytest.raises(PlanError, match="with store="):
        undo_plan(planning, edited[-1:])


# -------- session --------


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

    def _changed(self, change, *given, **how):
        decision, messages = change(self.planning, self.messages, *given, **how)
        text = ModelMessagesTypeAdapter.dump_json([*messages])
        self.messages = ModelMessagesTypeAdapter.validate_json(text)
        return decision

    def edit(self, command, actor="ann", **how):
        """What somebody else does."""
        if self.store:
            return Planner(self.store, self.name).apply(command, actor=actor)
        return self._changed(edit_plan, command, actor=actor, **how)

    def undo(self, **how):
        """Take the last change back."""
        return self._changed(undo_plan, **how)

    def history(self):
        """The journal."""
        return history_of(self.messages)

    def create(self, subject):
        """Have the model create a task."""
        self.go(created(subject))

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


class TestEditing(Editing):
    def begin(self, toolbox):
        return Talk(Planning, {"toolbox": toolbox, "settings": SILENT})


class TestEditingWithToolsAlone(Editing):
    def begin(self, toolbox):
        return Talk(make_tools, {"toolbox": toolbox})


SILENT = Settings(plan_lost=False, unfinished=0, changed=False)
TOLD = Settings(plan_lost=False, unfinished=0)
DIG = ("Dig", "in_progress")
SOW = ("Sow", "pending")


def talking(*, make=Planning, **options):
    """A conversation of an agent with a list of todos, by default without reminders."""
    return Talk(make, {"settings": SILENT, **options} if make is Planning else options)


@pytest.mark.parametrize("store", [None, MemoryStore()])
def test_equal_calls_of_one_response_are_carried_out_each(store):
    """Only a call that a run makes again is the same call, and each has an id of its own."""
    talk = talking(store=store, toolbox=Toolbox(tasks(), Policy()))
    talk.go(created("Dig", "Dig"))
    assert talk.subjects == ["Dig", "Dig"]


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
