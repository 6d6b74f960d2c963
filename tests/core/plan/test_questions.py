from hypothesis import given
from hypothesis import strategies as st

from todoplan.core.commands import UpdateTask
from todoplan.core.decide import Accepted, decide, plan_of
from todoplan.core.events.apply import apply
from todoplan.core.events.types import PlanRestored
from todoplan.core.plan import questions
from todoplan.core.plan.model import Status, Task, Waiting
from todoplan.core.plan.plan import Plan
from todoplan.core.rules import STRICT, Policy

PLAN = plan_of(
    [
        Task("1", "a", status="completed", blocks=("3",)),
        Task("2", "b", blocks=("3", "4", "5"), estimate=5.0),
        Task("3", "c", blocked_by=("1", "2"), estimate=1.0),
        Task("4", "d", blocked_by=("2", "6")),
        Task("5", "e", status="in_progress", blocked_by=("2",)),
        Task("6", "f", blocks=("4",)),
    ]
)


def ids(tasks):
    """Return the ids of tasks."""
    return [task.id for task in tasks]


def test_ready_and_open():
    """Ready: pending and nothing to wait for. Open: pending and in progress."""
    assert ids(questions.ready(PLAN)) == ["2", "6"]
    assert ids(questions.open_tasks(PLAN)) == ["2", "3", "4", "5", "6"]


def test_next_task_is_the_running_one_or_the_first_ready():
    """First what was begun; then what can be; nothing when nothing can."""
    assert questions.next_task(PLAN).id == "5"
    assert questions.next_task(plan_of([Task("1", "a")])).id == "1"
    assert questions.next_task(Plan()) is None


def test_blocked_tells_the_unresolved_blockers():
    """Resolved blockers stay edges and are filtered from the view."""
    assert questions.blocked(PLAN) == {"3": ("2",), "4": ("2", "6"), "5": ("2",)}
    assert questions.unresolved_blockers(PLAN, PLAN["3"]) == ("2",)
    assert questions.unresolved_blockers(PLAN, PLAN["2"]) == ()


def test_an_edge_to_no_task_holds_nothing_up():
    """A journal replays unchecked: the questions are answered, and the rules ask them."""
    tasks = Task("1", "a", blocks=("2",)), Task("2", "b", blocked_by=("9", "1"))
    loose = apply(Plan(), PlanRestored(tasks))
    assert questions.blocked(loose) == {"2": ("1",)}
    (problem,) = decide(loose, UpdateTask("2", status="in_progress"), STRICT).problems
    assert (problem.code, problem.seen) == ("blocked_start", "#1")


def test_progress_is_the_resolved_share():
    """From nothing to all; an empty plan has got nowhere."""
    assert questions.progress(PLAN) == 1 / 6
    assert questions.progress(Plan()) == 0.0
    assert questions.progress(plan_of([Task("1", "a", status="cancelled")])) == 1.0


TREE = plan_of(
    [
        Task("1", "a"),
        Task("2", "b", parent="1"),
        Task("3", "c", parent="2", status="completed"),
        Task("4", "d", parent="2", status="failed"),
        Task("5", "e", parent="1", status="cancelled"),
        Task("6", "f"),
    ]
)


def test_the_tree_is_asked_for():
    """Up and down from a task, in the plan's order; from an unknown one nothing."""
    assert questions.children(TREE, "1") == ("2", "5")
    assert questions.descendants(TREE, "1") == ("2", "3", "4", "5")
    assert questions.ancestors(TREE, "3") == ("2", "1")
    for ask in (questions.children, questions.descendants, questions.ancestors):
        assert ask(TREE, "99") == ()
    assert questions.children(TREE, "6") == questions.ancestors(TREE, "1") == ()


def test_leaves_are_what_contains_nothing():
    """Whatever their status."""
    assert ids(questions.leaves(TREE)) == ["3", "4", "5", "6"]
    assert ids(questions.leaves(PLAN)) == ids(PLAN)


def test_depth_counts_levels():
    """From 1 at the top."""
    assert [questions.depth(TREE, i) for i in ("1", "2", "3", "99")] == [1, 2, 3, 0]


def test_progress_of_a_parent_is_that_of_its_leaves():
    """Its own status counts for nothing, nor do those between; failed is not resolved."""
    assert questions.progress(TREE, "1") == 2 / 3
    assert questions.progress(TREE, "2") == 1 / 2
    leaves = [questions.progress(TREE, task_id) for task_id in ("3", "4", "6", "99")]
    assert leaves == [1.0, 0.0, 0.0, 0.0]


def test_order_and_critical_path():
    """The order is of all tasks, the critical path of the open ones."""
    assert questions.topological_order(PLAN) == ("1", "2", "3", "5", "6", "4")
    assert questions.critical_path(PLAN) == (("2", "3"), 6.0)


def test_unblocked_by_tells_what_completing_would_make_ready():
    """Only pending tasks that wait for this one alone."""
    assert questions.unblocked_by(PLAN, "2") == ("3",)
    assert questions.unblocked_by(PLAN, "1") == ()
    assert questions.unblocked_by(PLAN, "6") == ()
    assert questions.unblocked_by(PLAN, "99") == ()


@st.composite
def trees(draw):
    """
    Draw a plan of tasks with edges, parents, waits and failures; what would be no plan is left out.
    """
    size = draw(st.integers(1, 9))
    tasks = {}
    for number in range(1, size + 1):
        above = draw(st.none() | st.integers(1, number - 1)) if number > 1 else None
        status = draw(st.sampled_from(Status))
        waits = Waiting("ann") if status is Status.PENDING and draw(st.booleans()) else None
        parent = None if above is None else str(above)
        tasks[number] = Task(str(number), "a", status=status, waiting=waits, parent=parent)
    plan = plan_of(tasks.values())
    pairs = st.tuples(st.integers(1, size), st.integers(1, size))
    for blocker, blocked in draw(st.lists(pairs, max_size=8)):
        answer = decide(plan, UpdateTask(str(blocked), add_blocked_by=(str(blocker),)), Policy())
        plan = answer.plan if isinstance(answer, Accepted) else plan
    return plan


def above(plan, task):
    """Return what contains a task, and the task itself."""
    return [task, *(above(plan, plan[task.parent]) if task.parent else [])]


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
    assert not questions.stuck(PLAN)
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
