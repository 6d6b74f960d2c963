"""Laws of seeding and editing: by plans and commands, seen by the next call, ids go on."""

from agentscope.state import AgentState
from support.agentscope_agent import Desk, theirs

from todoplan.adapters.agentscope import edit_plan, plan_of_state, seed_plan
from todoplan.core.commands import ClearPlan, CreateTask, UpdateTask
from todoplan.core.decide import Accepted, Rejected, plan_of
from todoplan.core.plan.model import Priority, Task
from todoplan.core.rules import STRICT

PLAN = plan_of(
    [Task("3", "a", priority=Priority.LOW, blocks=("5",)), Task("5", "b", blocked_by=("3",))]
)


def test_a_plan_is_seeded():
    """Tasks, edges and what AgentScope has no field for; the next id is the plan's."""
    desk = Desk()
    seed_plan(desk.state, PLAN)
    assert tuple(plan_of_state(desk.state)) == tuple(PLAN)
    assert "#6" in desk.do("TaskCreate", subject="c")
    assert all(task.created_at for task in desk.tasks)


def test_seeding_replaces_also_what_is_broken():
    """A list that no call accepts goes; the ids that were given do not come back."""
    desk = Desk()
    for subject in "abcdefgh":
        desk.do("TaskCreate", subject=subject)
    desk.tasks[:] = [theirs("a", id="1", blocks=["2"]), theirs("b", id="2", blocks=["1"])]
    desk.fail("TaskList")
    seed_plan(desk.state, PLAN)
    assert "#9" in desk.do("TaskCreate", subject="c")


def test_commands_change_the_state():
    """What is accepted stands in AgentScope's tasks; the plan goes on from there."""
    state = AgentState()
    assert isinstance(edit_plan(state, CreateTask("a")), Accepted)
    edit_plan(state, UpdateTask("1", status="in_progress"))
    assert [(task.id, task.state) for task in state.tasks_context.tasks] == [("1", "in_progress")]
    edit_plan(state, ClearPlan())
    assert state.tasks_context.tasks == []
    assert plan_of_state(state).next_id == 2


def test_a_refused_command_changes_nothing():
    """The problems are returned."""
    state = AgentState()
    decision = edit_plan(state, CreateTask("a"), policy=STRICT)
    assert isinstance(decision, Rejected)
    assert (decision.problems != (), state.tasks_context.tasks) == (True, [])
    assert isinstance(edit_plan(state, ClearPlan()), Accepted)
