"""Laws 4, 5 and 7: edges mirror, make no cycle, and block only while the blocker is unresolved."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from support import strategies as some

from todoplan.core.commands import Batch, CreateTask, CreateTasks, UpdateTask
from todoplan.core.decide.decide import Accepted, Rejected, decide
from todoplan.core.plan.graph import critical_path, path_between, topological_order
from todoplan.core.plan.model import Status
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.questions import unresolved_blockers
from todoplan.core.rules.policy import Policy

LONG = 100_000


class Counting:
    """
    Tasks that count how often one of them is asked for.
    """

    def __init__(self, plan):
        self.plan, self.asked = plan, 0

    def get(self, task_id):
        """
        Return the task, and count.
        """
        self.asked += 1
        return self.plan.get(task_id)


def ends(plan):
    """
    Return the edges as each side tells them.
    """
    ahead = sorted((task.id, end) for task in plan for end in task.blocks)
    behind = sorted((end, task.id) for task in plan for end in task.blocked_by)
    return ahead, behind


@given(some.scripts)
def test_blocks_and_blocked_by_mirror_each_other(script):
    """Law 4: after every command both sides tell the same edges, each once, to tasks that exist."""
    for plan in some.run(script):
        ahead, behind = ends(plan)
        assert ahead == behind
        assert len(set(ahead)) == len(ahead)
        assert all(end in plan for edge in ahead for end in edge)


@given(some.full_plans, some.ids, some.ids)
def test_an_edge_is_taken_or_is_a_named_problem(plan, blocker, blocked):
    """Law 5: self-edge, missing task and cycle are refused, and the problem names the tasks."""
    answer = decide(plan, UpdateTask(blocked, add_blocked_by=(blocker,)), Policy())
    missing = tuple(end for end in (blocked, blocker) if end not in plan)
    way = path_between(plan, blocked, blocker)
    if missing:
        assert {p.code for p in answer.problems} == {"unknown_task"}
        assert answer.problems[0].task_ids[0] in missing
    elif blocker == blocked:
        assert [(p.code, p.task_ids) for p in answer.problems] == [("self_edge", (blocked,))]
    elif way:
        assert [(p.code, p.task_ids) for p in answer.problems] == [("cycle", (*way, blocked))]
        assert answer.problems[0].seen == " -> ".join((*way, blocked))
    else:
        assert blocked in answer.plan[blocker].blocks
        assert blocker in answer.plan[blocked].blocked_by


@given(some.scripts)
def test_no_plan_has_a_cycle(script):
    """Law 5: every plan can be sorted so that blockers come first."""
    for plan in some.run(script):
        order = topological_order(plan)
        place = {task_id: n for n, task_id in enumerate(order)}
        assert sorted(order) == sorted(task.id for task in plan)
        assert all(place[a] < place[b] for a, b in ends(plan)[0])


@given(some.full_plans, some.ids, some.ids)
def test_path_is_a_way_along_the_edges(plan, start, goal):
    """A path begins and ends where asked, each step is an edge, and it is found if there is one."""
    way = path_between(plan, start, goal)
    edges = set(ends(plan)[0])
    reached = {start}
    for _ in plan:
        reached |= {b for a, b in edges if a in reached}
    assert bool(way) == (goal in reached)
    if way:
        assert (way[0], way[-1]) == (start, goal)
        assert set(pairwise(way)) <= edges


def chain(length):
    """
    Return a plan in which each task waits for the one before.
    """
    items = (CreateTask("1"), *(CreateTask("x", blocked_by=(f"#{n}",)) for n in range(length - 1)))
    answer = decide(Plan(), CreateTasks(items), Policy())
    assert isinstance(answer, Accepted)
    return answer.plan


def test_a_chain_of_100_000_neither_recurses_nor_is_quadratic():
    """Law 5: walks ask for each task about once; a task at the chain's end costs two questions."""
    plan = chain(LONG)
    counting = Counting(plan)
    assert len(path_between(counting, "1", str(LONG))) == LONG
    assert counting.asked <= LONG + 2
    counting = Counting(plan)
    assert path_between(counting, str(LONG), "1") == ()
    assert counting.asked <= 2
    assert topological_order(plan)[-1] == str(LONG)
    assert len(critical_path(plan)[0]) == LONG
    loop = decide(plan, UpdateTask("1", add_blocked_by=(str(LONG),)), Policy())
    assert isinstance(loop, Rejected)
    assert len(loop.problems[0].task_ids) == LONG + 1
    assert [task.id for task in plan.ready()] == ["1"]


def test_many_ways_are_not_walked_one_by_one():
    """Law 5: 30 diamonds in a row have 2^30 ways; each task is asked for once at most."""
    items = [CreateTask("start")]
    for place in range(0, 90, 3):
        sides = [CreateTask("side", blocked_by=(f"#{place}",)) for _ in range(2)]
        items += [*sides, CreateTask("end", blocked_by=(f"#{place + 1}", f"#{place + 2}"))]
    items += [
        CreateTask("apart") if n == 91 else CreateTask("x", blocked_by=(f"#{n - 1}",))
        for n in range(91, 191)
    ]
    counting = Counting(decide(Plan(), CreateTasks(tuple(items)), Policy()).plan)
    assert path_between(counting, "1", "191") == ()
    assert counting.asked <= 2 * 91


def test_building_a_chain_asks_for_each_task_a_fixed_number_of_times(monkeypatch):
    """Law 5: the cycle check does not walk the whole chain for a task at its end."""
    asked = []
    real = path_between

    def counted(tasks, start, goal):
        counting = Counting(tasks)
        way = real(counting, start, goal)
        asked.append(counting.asked)
        return way

    monkeypatch.setattr("todoplan.core.decide.tasks.path_between", counted)
    chain(2_000)
    assert len(asked) == 1_999
    assert max(asked) <= 2


@given(some.full_plans, st.sampled_from(sorted(Status)))
def test_resolved_blocker_stays_an_edge_and_blocks_again_when_reopened(plan, status):
    """Law 7: whatever a blocker's status, its edges stand; only unresolved ones are waited for."""
    for task in plan:
        moved = decide(plan, UpdateTask(task.id, status=status), Policy()).plan
        assert ends(moved) == ends(plan)
        for end in task.blocks:
            assert (task.id in unresolved_blockers(moved, moved[end])) == (not status.resolved)
            reopened = decide(moved, UpdateTask(task.id, status="pending"), Policy()).plan
            assert task.id in unresolved_blockers(reopened, reopened[end])


@given(some.full_plans, some.ids, some.ids)
def test_completed_blocker_does_not_block(plan, blocker, blocked):
    """Law 7: an edge from a task that is completed already leaves the other as ready as it was."""
    parts = UpdateTask(blocker, status="completed"), UpdateTask(blocked, add_blocked_by=(blocker,))
    first = decide(plan, parts[0], Policy())
    both = decide(plan, Batch(parts), Policy())
    if isinstance(both, Accepted):
        assert blocked in both.plan[blocker].blocks
        assert both.plan.waits_for(blocked) == first.plan.waits_for(blocked)
        assert [t.id for t in both.plan.ready()] == [t.id for t in first.plan.ready()]
