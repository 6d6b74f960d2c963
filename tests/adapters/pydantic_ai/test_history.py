"""The plan in a message history: there after any way through JSON, edited, and never mistaken."""

import asyncio

import pytest
from hypothesis import given
from pydantic_ai import Agent
from pydantic_ai.capabilities import ReinjectSystemPrompt
from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelRequest, ModelResponse, TextPart
from pydantic_ai.models.function import FunctionModel
from support.policies import strict_for
from support.pydantic_ai_agent import Script, planner, record_of, returns, run, saved, use, wrote
from support.strategies import full_plans

from todoplan import (
    LEAN,
    STRICT,
    Accepted,
    AsyncPlanner,
    MemoryStore,
    Plan,
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
from todoplan.codec import entry_from_data
from todoplan.dialogue import Memory, Settings, tasks
from todoplan.errors import CodecError, PlanError

QUIET = Settings(plan_lost=False, unfinished=0)
WROTE = wrote(("A", "in_progress"), ("B", "pending"))
TASKS = Toolbox(tasks())
TWO = plan_of([Task("1", "a"), Task("2", "b")])
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


def test_the_journal_says_who_did_what_and_when():
    """Seeds, calls and edits, also several upon one message; replayed, it is the plan."""
    planning = Planning(TASKS, QUIET)
    messages = seed_plan(planning, [], TWO, actor="cron")
    script = Script(use("TaskCreate", {"subject": "c"}, "1"), "ok")
    result = run(planner(script, planning), message_history=messages)
    _, messages = edit_plan(planning, result, commands.UpdateTask("1", owner="ann"), actor="bob")
    _, messages = edit_plan(planning, messages, commands.DeleteTask("2"), actor="eve")
    refused, messages = edit_plan(planning, messages, commands.DeleteTask("9"), actor="eve")
    assert isinstance(refused, Rejected)
    history = history_of(messages)
    assert [(entry.cause, entry.actor) for entry in history] == [
        ("seed_plan", "cron"),
        ("TaskCreate", None),
        ("UpdateTask", "bob"),
        ("DeleteTask", "eve"),
    ]
    assert all(entry.at is not None for entry in history)
    folded = replay(Plan(), [event for entry in history for event in entry.events])
    assert tuple(folded) == tuple(plan_of_state(messages))
    again = run(planner(Script("ok"), planning), message_history=messages)
    # Pydantic AI puts an empty first request, which only held the seed, into the next one.
    assert history_of(saved(again))[-3:] == history[-3:]
    assert history_of([]) == ()


@pytest.mark.parametrize("note", [7, {"edits": "x"}, {"entry": {}}])
def test_a_damaged_journal_is_an_error(note):
    """It is never an empty one."""
    with pytest.raises(CodecError):
        history_of([ModelRequest(parts=[], metadata={KEY: note})])


@pytest.mark.parametrize("make", [Planning, make_tools])
def test_an_edit_is_judged_by_the_plannings_policy_unless_another_is_given(make):
    """The capability's, or that of the tools alone."""
    planning = make(Toolbox(tasks(), STRICT))
    lenient = strict_for(LEAN)
    assert isinstance(edit_plan(planning, [], EDIT)[0], Rejected)
    decision, messages = edit_plan(planning, [], EDIT, policy=lenient)
    assert isinstance(decision, Accepted)
    assert [task.subject for task in plan_of_state(messages)] == ["Tell Ann"]


@pytest.mark.parametrize("make", [Planning, make_tools])
def test_an_edit_of_messages_whose_agent_has_a_store_is_refused(make):
    """No run would ever read it there (law 16), not even where the conversation is new."""
    planning = make(store=MemoryStore())
    for change, value in ((edit_plan, EDIT), (seed_plan, TWO)):
        with pytest.raises(PlanError, match=r"AsyncPlanner\(store, conversation_id\)"):
            change(planning, [], value)


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


def test_the_last_change_is_taken_back_whoever_made_it():
    """Also if the first messages are gone; the history that was given is not changed."""
    planning = Planning(TASKS, QUIET)
    script = Script(use("TaskCreate", {"subject": "a"}, "1"), "ok", "ok")
    messages = run(planner(script, planning)).all_messages()
    _, edited = edit_plan(planning, messages, commands.CreateTask("b"), actor="ann")
    _, edited = edit_plan(planning, edited, commands.CreateTask("c"), actor="ann")
    for cut in (0, 2):
        decision, undone = undo_plan(planning, edited[cut:], actor="bo")
        assert isinstance(decision, Accepted)
        assert [task.subject for task in plan_of_state(undone)] == ["a", "b"]
    assert [task.subject for task in plan_of_state(edited)] == ["a", "b", "c"]
    assert [(entry.cause, entry.actor) for entry in history_of(undone)][-1] == ("undo", "bo")
    _, undone = undo_plan(planning, edited)
    for left in (["a"], []):
        _, undone = undo_plan(planning, undone)
        assert [task.subject for task in plan_of_state(undone)] == left
    decision, same = undo_plan(planning, undone)
    assert isinstance(decision, Rejected)
    assert same == undone
    with pytest.raises(PlanError, match="with store="):
        undo_plan(planning, edited[-1:])
