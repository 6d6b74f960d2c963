from hypothesis import given
from hypothesis import strategies as st

from todoplan.core.commands import UpdateTask
from todoplan.core.decide import Accepted, decide, plan_of
from todoplan.core.events.apply import apply
from todoplan.core.events.types import PlanRestored
from todoplan.core.plan import questions
from todoplan.core.plan.model import OPEN, RESOLVED, Status, Task, Waiting
from todoplan.core.plan.plan import Plan, critical_path
from todoplan.core.rules import STRICT, Policy


def ids(tasks):
    """Return the ids of tasks."""
    return [task.id for task in tasks]


def test_an_edge_to_no_task_holds_nothing_up():
    """A journal replays unchecked: the questions are answered, and the rules ask them."""
    tasks = Task("1", "a", blocks=("2",)), Task("2", "b", blocked_by=("9", "1"))
    loose = apply(Plan(), PlanRestored(tasks))
    assert questions.blocked(loose) == {"2": ("1",)}
    (problem,) = decide(loose, UpdateTask("2", status="in_progress"), STRICT).problems
    assert (problem.code, problem.seen) == ("blocked_start", "#1")


@st.composite
def trees(draw):
    """
    Draw a plan of tasks with edges, parents, waits and failures; what would be no plan is left out.
    """
    size = draw(st.integers(4, 9))
    tasks = {}
    for number in range(1, size + 1):
        above = draw(st.none() | st.integers(1, number - 1)) if number > 1 else None
        status = draw(st.sampled_from([*Status, Status.PENDING, Status.PENDING]))
        waits = Waiting("ann") if status is Status.PENDING and not draw(st.integers(0, 3)) else None
        parent = None if above is None else str(above)
        tasks[number] = Task(str(number), "a", status=status, waiting=waits, parent=parent)
    plan = plan_of(tasks.values())
    pairs = st.tuples(st.integers(1, size), st.integers(1, size))
    for blocker, blocked in draw(st.lists(pairs, min_size=4, max_size=16)):
        answer = decide(plan, UpdateTask(str(blocked), add_blocked_by=(str(blocker),)), Policy())
        plan = answer.plan if isinstance(answer, Accepted) else plan
    return plan


def above(plan, task):
    """Return what contains a task, and the task itself."""
    return [task, *(above(plan, plan[task.parent]) if task.parent else [])]


def resolved_share(tasks):
    """Return the share of these tasks that is resolved."""
    return sum(task.status.resolved for task in tasks) / len(tasks) if tasks else 0.0


@given(trees())
def test_questions_are_answered_as_by_looking_at_all_tasks(plan):
    """In the plan's order; a resolved blocker stays an edge, and holds nothing up (law 7)."""
    opened = [task for task in plan if task.status in OPEN]
    active = [task for task in plan if task.status is Status.IN_PROGRESS]
    assert list(questions.open_tasks(plan)) == opened
    assert list(questions.ready(plan)) == list(plan.ready())
    assert questions.next_task(plan) == next(iter((*active, *plan.ready())), None)
    blockers = {
        t.id: tuple(i for i in t.blocked_by if plan[i].status not in RESOLVED) for t in plan
    }
    assert all(questions.unresolved_blockers(plan, task) == blockers[task.id] for task in plan)
    assert questions.blocked(plan) == {t.id: blockers[t.id] for t in opened if blockers[t.id]}
    inner = {task.parent for task in plan}
    leaves = [task for task in plan if task.id not in inner]
    assert list(questions.leaves(plan)) == leaves
    assert questions.progress(plan) == resolved_share(list(plan))
    order = questions.topological_order(plan)
    assert sorted(order) == sorted(ids(plan))
    for task in plan:
        path = [each.id for each in above(plan, task)]
        below = [each for each in plan if task in above(plan, each)]
        assert questions.ancestors(plan, task.id) == tuple(path[1:])
        assert questions.depth(plan, task.id) == len(path)
        assert questions.children(plan, task.id) == tuple(t.id for t in plan if t.parent == task.id)
        assert questions.descendants(plan, task.id) == tuple(ids(below)[1:])
        assert questions.progress(plan, task.id) == resolved_share(
            [t for t in below if t in leaves]
        )
        before = {*task.blocked_by, *path[1:]}
        assert before.isdisjoint(order[order.index(task.id) :])
    asked = questions.children, questions.descendants, questions.ancestors, questions.unblocked_by
    assert [ask(plan, "99") for ask in asked] == [()] * 4
    assert questions.depth(plan, "99") == questions.progress(plan, "99") == 0
    assert questions.critical_path(plan) == critical_path(opened)


def test_an_empty_plan_answers_as_well():
    """There is nothing to do, and nothing is done."""
    assert (questions.next_task(Plan()), questions.progress(Plan())) == (None, 0.0)
    assert questions.critical_path(Plan()) == ((), 0.0)
    assert not questions.stuck(plan_of([Task("1", "a"), Task("2", "b", status="completed")]))


def vain(plan, task):
    """Return, by recursion, the failed tasks that a pending one is behind."""
    return held_by(plan, task) if task.status is Status.PENDING else set()


def held_by(plan, task):
    """Return those that hold a task up, or what contains it, be that started all the same."""
    found = held_by(plan, plan[task.parent]) if task.parent else set()
    for each in map(plan.get, task.blocked_by):
        found |= {each.id} if each.status is Status.FAILED else vain(plan, each)
    return found


@given(trees())
def test_what_can_never_start_is_behind_what_failed(plan):
    """Through blockers and through what contains it; with every failed task that is in the way."""
    found = questions.stuck(plan)
    naive = {task.id: vain(plan, task) for task in plan if vain(plan, task)}
    assert {task_id: set(causes) for task_id, causes in found.items()} == naive
    assert list(found) == [task.id for task in plan if task.id in found]
    assert not set(found) & {task.id for task in plan.ready()}


@given(trees())
def test_one_task_is_ready_as_all_are_asked_for(plan):
    """`is_ready` and `ready` agree; so do they once a blocker is completed."""
    ready = {task.id for task in plan.ready()}
    assert {task.id for task in plan if questions.is_ready(plan, task.id)} == ready
    assert not questions.is_ready(plan, "99")
    for task in plan:
        after = {
            each.id
            for each in decide(plan, UpdateTask(task.id, status="completed"), Policy()).plan.ready()
        }
        assert set(questions.unblocked_by(plan, task.id)) == (after - ready) & set(task.blocks)


def test_a_task_that_blocks_parent_and_child_frees_the_child():
    """Completing it frees both at once, unless the parent waits for something else."""
    tasks = [
        Task("1", "a", blocks=("2", "3")),
        Task("2", "b", blocked_by=("1",)),
        Task("3", "c", parent="2", blocked_by=("1",)),
    ]
    assert questions.unblocked_by(plan_of(tasks), "1") == ("3",)
    waiting = [tasks[0], tasks[1].but(waiting=Waiting("ann")), tasks[2]]
    assert questions.unblocked_by(plan_of(waiting), "1") == ()


def on_hold(plan):
    """Return, by going round until nothing changes, the open tasks that nobody can go on with."""
    held = {task.id for task in plan.waiting()}
    while True:
        more = set()
        for task in plan:
            inner = [plan[each] for each in plan.children(task.id) if not plan[each].status.closed]
            before_it = {*task.blocked_by, task.parent}
            after_held = task.status is Status.PENDING and held & before_it
            only_held = inner and all(each.id in held for each in inner)
            if not task.status.closed and (after_held or only_held):
                more.add(task.id)
        if more <= held:
            return held
        held |= more


@given(trees())
def test_within_reach_is_what_neither_waits_nor_comes_after_what_waits(plan):
    """Nor holds nothing open but that; an agent is not asked about the rest."""
    held = on_hold(plan)
    reach = ids(questions.within_reach(plan))
    assert reach == [task.id for task in questions.open_tasks(plan) if task.id not in held]


def chain(size, link, **last):
    """Return a plan of tasks in one row; `link` gives the fields of a task that has a number."""
    tasks = [Task(str(n), "a", **link(n)) for n in range(1, size)]
    return plan_of([*tasks, Task(str(size), "a", **{**link(size), **last})])


def test_a_long_chain_behind_a_failure_is_walked_without_recursion():
    """In linear time: of many failed tasks in the way twenty are named."""
    size = 20_000
    plan = chain(
        size,
        lambda n: {
            "status": "pending" if n > 1 else "failed",
            "blocks": (str(n + 1),),
            "blocked_by": (str(n - 1),) if n > 1 else (),
        },
        blocks=(),
    )
    found = questions.stuck(plan)
    assert len(found) == size - 1
    assert set(found.values()) == {("1",)}
    many = [Task(str(n), "a", status="failed", blocks=("99",)) for n in range(1, 60)]
    last = Task("99", "b", blocked_by=tuple(task.id for task in many))
    assert len(questions.stuck(plan_of([*many, last]))["99"]) == 20


def test_a_long_chain_behind_a_wait_is_walked_without_recursion():
    """So is one of tasks that lie in each other: the deepest waits, and all of them are held up."""
    plan = chain(5_000, lambda n: {"parent": str(n - 1) if n > 1 else None}, waiting=Waiting("ann"))
    assert questions.within_reach(plan) == ()


def test_a_parent_is_within_reach_while_one_of_its_subtasks_is():
    """Only once all that is open in it waits there is nothing to go on with."""
    tasks = [Task("1", "a", status="in_progress"), *(Task(n, n, parent="1") for n in "234")]
    plan = plan_of(tasks)
    for task_id, left in (("2", ["1", "3", "4"]), ("3", ["1", "4"]), ("4", [])):
        plan = decide(plan, UpdateTask(task_id, waiting=Waiting("ann"))).plan
        assert ids(questions.within_reach(plan)) == left
