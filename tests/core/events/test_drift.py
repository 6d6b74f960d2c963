"""How a plan differs from what a person agreed to."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.documents import full_task

from todoplan import Plan, Planner, Policy, Task, decide, plan_of
from todoplan.core import commands
from todoplan.core.events.apply import Entry
from todoplan.core.events.base import differences
from todoplan.core.events.drift import Drift, drift
from todoplan.core.events.types import TaskCreated
from todoplan.core.plan.model import TASK_FIELDS, Approval, Waiting
from todoplan.errors import PlanError

AT = datetime(2026, 1, 5, 9, tzinfo=UTC)
FIRST = commands.CreateTasks(
    (
        commands.CreateTask("Draft", check="it is read"),
        commands.CreateTask("Review", blocked_by=("#0",)),
        commands.CreateTask("Send", blocked_by=("#1",)),
    )
)
APPROVE = commands.ApprovePlan("ann")


def lived(*steps, plan=None):
    """Return a plan and its history: each step a command, or (command, actor)."""
    plan, history = Plan() if plan is None else plan, []
    for step in steps:
        command, actor = step if isinstance(step, tuple) else (step, None)
        decision = decide(plan, command, Policy(), at=AT, actor=actor)
        plan = decision.unwrap()
        history.append(Entry(plan.revision, decision.events, AT, actor))
    return plan, tuple(history)


def ids(found):
    """Return whose differences these are."""
    return [each.task.id for each in found]


def test_what_came_went_and_changed_is_told_with_who_did_it():
    """Since the approval, and nothing from before it."""
    plan, history = lived(
        FIRST,
        (commands.CreateTask("Before"), "bob"),
        (APPROVE, "ann"),
        (commands.CreateTask("Translate"), "model"),
        (commands.DeleteTask("4"), "bob"),
        (commands.UpdateTask("3", subject="Send it all"), "model"),
    )
    found = drift(plan, history)
    assert found.approval == plan.approved == Approval(7, "ann", AT)
    assert (ids(found.came), ids(found.went), ids(found.changed)) == (["5"], ["4"], ["3"])
    assert [each.actor for each in (*found.came, *found.went, *found.changed)] == [
        *("model", "bob", "model")
    ]
    assert found.changed[0].was.subject == "Send"
    assert bool(found)


def test_working_a_plan_off_is_no_drift():
    """Tasks are started, wait, are answered, verified and done, and change hands."""
    plan, history = lived(
        FIRST,
        APPROVE,
        commands.UpdateTask("1", status="in_progress", owner="bob", metadata={"k": 1}),
        commands.RecordEvidence("1", passed=True),
        commands.UpdateTask("1", status="completed", active_form="Drafting"),
        commands.UpdateTask("2", waiting=Waiting("Bob", question="Good?")),
        commands.AnswerTask("2", "yes"),
        commands.UpdateTask("3", status="failed"),
    )
    assert drift(plan, history) == Drift(plan.approved)
    assert not drift(plan, history)


def test_a_task_that_was_cancelled_since_is_a_change():
    """It was agreed to and is not done; one that was cancelled already is none."""
    cancel = commands.UpdateTask("1", status="cancelled")
    plan, history = lived(FIRST, APPROVE, cancel)
    assert [Drift.fields(each) for each in drift(plan, history).changed] == [("status",)]
    assert not drift(*lived(FIRST, cancel, APPROVE, commands.UpdateTask("2", status="in_progress")))


PROGRESS = {"status", "active_form", "owner", "blocks", "metadata", "waiting", "answer"}
PROGRESS |= {"evidence", "claim", "claims", "failed_attempts"}
PROGRESS |= {"created_at", "updated_at", "started_at", "completed_at"}
FULL = full_task()


@pytest.mark.parametrize("name", [name for name in TASK_FIELDS if name != "id"])
def test_what_was_agreed_to_is_told_from_progress(name):
    """Every field of a task is one or the other: a new one is drift until it is called progress."""
    task = Task(FULL.id, "a")
    (found,) = differences(Wrapped(task), Wrapped(task.but(**{name: getattr(FULL, name)})))
    assert Drift.fields(found) == (() if name in PROGRESS else (name,))


class Wrapped:
    """A plan of one task, whatever that holds."""

    def __init__(self, task):
        self.get = {task.id: task}.get
        self._task = task

    def __iter__(self):
        return iter((self._task,))

    def __contains__(self, task_id):
        return self.get(task_id) is not None


def test_an_undo_brings_the_approval_back_with_the_tasks():
    """Drift is since the approval that the plan has."""
    once, history = lived(FIRST, APPROVE)
    restore = commands.RestorePlan(tuple(once), once.next_id, once.approved)
    plan, later = lived(commands.ClearPlan(), APPROVE, restore, plan=once)
    assert plan.approved == once.approved
    assert drift(plan, (*history, *later)) == Drift(once.approved)
    more, latest = lived(commands.CreateTask("More"), plan=plan)
    assert ids(drift(more, (*history, *later, *latest)).came) == ["4"]


@pytest.mark.parametrize(
    "known", [commands.RestorePlan((Task("1", "a"),), 9), commands.ClearPlan()]
)
def test_a_history_may_begin_where_all_tasks_are_known(known):
    """At an entry that restores the plan, or clears it, whatever was before."""
    plan, history = lived(FIRST, known, commands.CreateTask("b"), APPROVE, commands.CreateTask("c"))
    assert drift(plan, history[1:]) == drift(plan, history)
    assert [each.task.subject for each in drift(plan, history[1:]).came] == ["c"]


def test_a_plan_that_was_never_approved_has_no_drift():
    """The error says how to approve one."""
    plan, history = lived(FIRST)
    with pytest.raises(PlanError, match=r"at revision 5, was never approved.*ApprovePlan\(by\)"):
        drift(plan, history)


def test_a_history_that_does_not_reach_the_approval_is_refused():
    """One that ends before it, begins after it, or begins where the tasks are not known."""
    plan, history = lived(FIRST, APPROVE, commands.CreateTask("a"), commands.CreateTask("b"))
    for part, held in (
        ((), "nothing"),
        (history[:1], "revision 1 to 5"),
        (history[1:], "revision 6 to 8"),
        (history[2:], "revision 7 to 8"),
    ):
        with pytest.raises(
            PlanError, match=f"approved revision 6: it has {held}. It must"
        ) as caught:
            drift(plan, part)
        assert caught.value.data["approved"] == 6


def test_a_history_with_a_gap_is_refused():
    """Before the approval an entry that is missing may be what was agreed to; behind it, not."""
    plan, history = lived(FIRST, commands.CreateTask("a"), APPROVE, commands.CreateTask("b"))
    with pytest.raises(PlanError, match="from revision 6 to 7, and the one before it to 5"):
        drift(plan, (history[0], *history[2:]))
    with pytest.raises(PlanError, match="oldest first"):
        drift(plan, history[::-1])
    assert ids(drift(plan, history[:3]).came) == ["5"]


def test_the_history_of_another_plan_is_refused():
    """A plan that is brought elsewhere keeps its approval, whose number says nothing there."""
    approved, history = lived(FIRST, APPROVE)
    seed = commands.RestorePlan(tuple(approved), approved.next_id, approved.approved)
    more = [commands.CreateTask(text) for text in "abcde"]
    plan, elsewhere = lived(seed, *more)
    assert plan.approved == approved.approved
    with pytest.raises(PlanError, match="revision 6 of the history is not the approval"):
        drift(plan, elsewhere)
    # What came at the same number, by somebody else, is another approval.
    other, _ = lived(FIRST, commands.ApprovePlan("bob"))
    with pytest.raises(PlanError, match="approve it again"):
        drift(other, history)
    assert drift(*lived(seed, APPROVE)) == Drift(Approval(2, "ann", AT))


@pytest.mark.parametrize("history", ["entries", None, [1], [TaskCreated(Task("1", "a"))]])
def test_a_history_is_made_of_entries(history):
    """Anything else is a developer's mistake."""
    with pytest.raises(PlanError, match=r"planner.history\(\)"):
        drift(plan_of([], approved=Approval(0)), history)
    with pytest.raises(PlanError, match=r"planner.plan"):
        drift(history, ())


STEPS = st.sampled_from(
    [
        FIRST,
        commands.CreateTask("a"),
        commands.UpdateTask("1", subject="b"),
        commands.UpdateTask("2", status="completed"),
        commands.DeleteTask("1"),
        commands.ClearPlan(),
        APPROVE,
    ]
)


@given(st.lists(STEPS, max_size=8))
def test_drift_is_the_difference_to_the_plan_that_was_approved(steps):
    """Whatever happened before and since."""
    plan, history, approved = Plan(), [], None
    for step in steps:
        decision = decide(plan, step, Policy(), at=AT)
        if hasattr(decision, "events"):
            plan = decision.plan
            history.append(Entry(plan.revision, decision.events))
            approved = plan if step is APPROVE else approved
    if approved is None:
        with pytest.raises(PlanError, match="never approved"):
            drift(plan, history)
        return
    found, every = drift(plan, history), differences(approved, plan)
    assert ids(found.came) == [task.id for task in plan if task.id not in approved]
    assert ids(found.went) == [task.id for task in approved if task.id not in plan]
    assert {*found.came, *found.went, *found.changed} <= {*every}
    assert ids(found.changed) == [
        task.id
        for task in plan
        if task.id in approved and agreed(task) != agreed(approved[task.id])
    ]


def agreed(task):
    """Return what was agreed to of a task, in these steps."""
    return task.subject, task.blocked_by


def test_an_undo_names_nobody_for_the_work_of_another():
    """What somebody else took back leaves each change with who made it."""
    planner = Planner(clock=lambda: AT)
    planner.apply(FIRST)
    planner.apply(commands.CreateTask("Before"), actor="bob")
    planner.apply(APPROVE)
    planner.apply(commands.CreateTask("Translate"), actor="ann")
    planner.apply(commands.UpdateTask("1", subject="Draft it"), actor="bob")
    planner.apply(commands.UpdateTask("1", subject="Redraft"), actor="cid")
    planner.apply(commands.UpdateTask("2", subject="Review it"), actor="cid")
    for _ in range(2):
        planner.undo(actor="dan")
    found = drift(planner.plan, planner.history())
    assert [(each.task.id, each.actor) for each in found.came] == [("5", "ann")]
    assert [(each.task.id, each.actor) for each in found.changed] == [("1", "bob")]


def test_an_undo_of_what_was_approved_is_the_work_of_who_undid_it():
    """Its author changed nothing since; the changes of others are still theirs."""
    planner = Planner(clock=lambda: AT)
    planner.apply(FIRST)
    planner.apply(APPROVE)
    plan = planner.plan
    planner.apply(commands.UpdateTask("3", subject="Send it"), actor="ann")
    planner.restore(plan_of([plan["1"].but(blocks=())], approved=plan.approved), actor="dan")
    planner.apply(commands.CreateTask("Late"), actor="bob")
    found = drift(planner.plan, planner.history())
    assert {each.task.id: each.actor for each in found.went} == {"2": "dan", "3": "dan"}
    assert [each.actor for each in found.came] == ["bob"]


def test_what_stands_in_one_entry_with_the_approval_counts_from_there():
    """What came before it was agreed to, what came after it is drift."""
    both = commands.Batch(
        (commands.CreateTask("Agreed"), APPROVE, commands.CreateTask("Not agreed"))
    )
    plan, history = lived(FIRST, (both, "bob"))
    found = drift(plan, history)
    assert [(each.task.subject, each.actor) for each in found.came] == [("Not agreed", "bob")]
