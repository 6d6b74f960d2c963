"""Law 18: what contains and what is contained; and that its tests can fail."""

import attrs
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from support import strategies as some

from todoplan.core.commands import ClaimTask, DeleteTask, StartNext, UpdateTask
from todoplan.core.decide import Accepted, decide, plan_of
from todoplan.core.plan.model import Status, Task
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.questions import progress, unresolved_blockers
from todoplan.core.rules import Policy

SCRIPTS = st.lists(
    some.legal_lists | some.links | some.nests | some.moves | some.commands, max_size=10
)
# Half of them begin with a tree: by scripts alone a seeded fault took up to 2,000 of them.
PLANS = st.just(Plan()) | some.full_plans
FOUND = settings(max_examples=2_000, database=None, derandomize=True, phases=[Phase.generate])


def above(plan, task):
    """Return what a task lies in, from the nearest on."""
    found = []
    while task.parent is not None:
        task = plan[task.parent]
        assert task not in found
        found.append(task)
    return found


def is_held(plan, task):
    """Say whether a task is blocked or waits."""
    return task.waiting is not None or bool(unresolved_blockers(plan, task))


def check_plan(plan):
    """
    Assert what holds of every plan: a tree, in its order, without edges within; leaves are ready.
    """
    path = []
    for task in plan:
        inside = [each.id for each in above(plan, task)]
        # In order a task is followed by all that it contains: its parent is still open here.
        del path[len(inside) :]
        assert path == inside[::-1]
        path.append(task.id)
        assert not set(inside) & {*task.blocks, *task.blocked_by}
        assert [*plan.children(task.id)] == [t.id for t in plan if t.parent == task.id]
    free = [
        task
        for task in plan
        if task.status is Status.PENDING and not plan.children(task.id)
        if not any(is_held(plan, each) for each in (task, *above(plan, task)))
    ]
    assert [*plan.ready()] == free
    whole = plan_of(tuple(plan), next_id=plan.next_id, revision=plan.revision)
    assert tuple(whole) == tuple(plan)


def check_offers(plan, decided):
    """
    Assert that what is started or claimed next has no children, and that completing is not refused.
    """
    for command in (StartNext(), ClaimTask("w1")):
        after = decided(plan, command)
        fresh = [t for t in after.plan if plan[t.id].status is not t.status]
        assert not any(plan.children(task.id) for task in fresh)
    for task in plan:
        named = decided(plan, ClaimTask("w1", task_id=task.id))
        assert not (isinstance(named, Accepted) and plan.children(task.id))
        # Law 18: an ancestor that is blocked or waits is no reason against completing.
        if task.claim is None:
            assert isinstance(decided(plan, UpdateTask(task.id, status="completed")), Accepted)
        leaves = [t for t in plan if task in (t, *above(plan, t)) and not plan.children(t.id)]
        share = sum(leaf.status.resolved for leaf in leaves) / len(leaves)
        assert progress(plan, task.id) == pytest.approx(share)


def run(script, decided, plan):
    """Take a plan through a script by a way of deciding, and check what comes of each command."""
    for command in script:
        answer = decided(plan, command)
        if isinstance(answer, Accepted):
            plan = answer.plan
            check_plan(plan)
    check_offers(plan, decided)


def free(plan, command):
    """Decide under no rules."""
    return decide(plan, command, Policy())


@given(SCRIPTS, PLANS)
def test_containment_is_kept(script, plan):
    """
    Whatever is created, linked, moved, written or deleted: a tree whose tasks neither block nor
    wait for what they lie in, of which only leaves are ready, offered and claimed.
    """
    run(script, free, plan)


@given(some.full_plans, st.sampled_from(["lift", "remove"]))
def test_deleting_a_parent_keeps_the_tree(plan, children):
    """What it contained goes up, or goes as well; unless it is said which, nothing goes."""
    for task in plan:
        inner = [t.id for t in plan if task in above(plan, t)]
        after = free(plan, DeleteTask(task.id, children)).plan
        check_plan(after)
        gone = {task.id, *inner} if children == "remove" else {task.id}
        assert [t.id for t in after] == [t.id for t in plan if t.id not in gone]
        assert isinstance(free(plan, DeleteTask(task.id)), Accepted) == (not inner)


def spoilt(change):
    """Return a way of deciding that changes what comes of it."""

    def decided(plan, command):
        answer = free(plan, command)
        return change(plan, command, answer) if isinstance(answer, Accepted) else answer

    return decided


def _offers_parents(plan, command, answer):
    first = next((t for t in plan if t.status is Status.PENDING), None)
    if not isinstance(command, StartNext) or first is None:
        return answer
    return free(plan, UpdateTask(first.id, status="in_progress", fence=None))


def _takes_any(plan, command):
    answer = free(plan, command)
    parent = isinstance(command, ClaimTask) and command.task_id and plan.children(command.task_id)
    return Accepted(plan, ()) if parent else answer


def _waits_for_the_parent(plan, command):
    done = isinstance(command, UpdateTask) and command.status is Status.COMPLETED
    task = plan.get(command.task_id) if done else None
    if task and any(is_held(plan, each) for each in above(plan, task)):
        return free(plan, UpdateTask(task.id, status="completed", fence=9))
    return free(plan, command)


def _leaves_orphans_ready(plan, command, answer):
    return attrs.evolve(answer, plan=attrs.evolve(answer.plan, _children={}))


FAULTS = {
    "offers what contains others": spoilt(_offers_parents),
    "claims what contains others": _takes_any,
    "refuses to complete below what waits": _waits_for_the_parent,
    "knows no tree": spoilt(_leaves_orphans_ready),
}


@pytest.mark.slow
@pytest.mark.parametrize("decided", FAULTS.values(), ids=FAULTS)
def test_a_seeded_fault_breaks_the_law(decided):
    """Each is found by the scripts that the law is tested with."""

    @given(SCRIPTS, PLANS)
    @FOUND
    def law(script, plan):
        run(script, decided, plan)

    with pytest.raises((AssertionError, KeyError)):
        law()


def test_an_edge_within_breaks_the_law():
    """And so does a task that stands apart from what contains it."""
    plan = plan_of([Task("1", "a"), Task("2", "b", parent="1"), Task("3", "c")])
    check_plan(plan)
    (first, inner, last) = plan
    object.__setattr__(inner, "blocked_by", ("1",))
    with pytest.raises(AssertionError):
        check_plan(plan)
    object.__setattr__(inner, "blocked_by", ())
    check_plan(plan)
    object.__setattr__(last, "parent", "2")
    with pytest.raises(AssertionError):
        check_plan(plan)
    assert first.parent is None
