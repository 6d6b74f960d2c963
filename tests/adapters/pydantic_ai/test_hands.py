"""A plan with several hands: who did what is known; an edit that nobody would read is refused."""

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart
from pydantic_ai.models.function import FunctionModel
from support.policies import strict_for
from support.pydantic_ai_agent import Script, planner, run, saved, use

from todoplan import LEAN, STRICT, Plan, plan_of
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
from todoplan.core import commands
from todoplan.core.decide import Accepted, Rejected
from todoplan.core.events.apply import replay
from todoplan.core.plan.model import Task
from todoplan.dialogue.guidance import Settings
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import tasks
from todoplan.errors import CodecError, PlanError, TodoplanError
from todoplan.stores.memory import MemoryStore

QUIET = Settings(plan_lost=False, unfinished=0)
TASKS = Toolbox(tasks())
TWO = plan_of([Task("1", "a"), Task("2", "b")])
EDIT = commands.CreateTask("Tell Ann")


def test_the_journal_says_who_did_what_and_when():
    """
    Seeds, calls and edits, also several upon one message; folded it is the plan, and it goes
    through JSON with the messages.
    """
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
    """
    It is never an empty one.
    """
    with pytest.raises(CodecError):
        history_of([ModelRequest(parts=[], metadata={KEY: note})])


@pytest.mark.parametrize("make", [Planning, make_tools])
def test_an_edit_is_judged_by_the_plannings_policy_unless_another_is_given(make):
    """
    The capability's, or that of the tools alone.
    """
    planning = make(Toolbox(tasks(), STRICT))
    lenient = strict_for(LEAN)
    assert isinstance(edit_plan(planning, [], EDIT)[0], Rejected)
    decision, messages = edit_plan(planning, [], EDIT, policy=lenient)
    assert isinstance(decision, Accepted)
    assert [task.subject for task in plan_of_state(messages)] == ["Tell Ann"]


@pytest.mark.parametrize("make", [Planning, make_tools])
def test_an_edit_of_messages_whose_agent_has_a_store_is_refused(make):
    """
    No run would ever read it there (law 16), not even where the conversation is new.
    """
    planning = make(store=MemoryStore())
    for change, given in ((edit_plan, EDIT), (seed_plan, TWO)):
        with pytest.raises(PlanError, match=r"AsyncPlanner\(store, conversation_id\)"):
            change(planning, [], given)


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
    """
    It says what was seen and what to write; a plan is never invented.
    """
    with pytest.raises(TodoplanError, match="was given; give"):
        wrong()


def test_an_edit_while_a_run_goes_on_is_refused_and_taken_afterwards():
    """
    The run's messages are its own, and whoever goes on with them would go on without the edit (law
    16). Another conversation may be edited meanwhile, and a run that failed is over.
    """
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
    """
    Also where the messages that began the plan are gone: one that has it is enough. The history
    that was given is as it was.
    """
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
