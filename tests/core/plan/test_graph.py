from itertools import pairwise

import pytest
from hypothesis import given
from support import strategies as some

from todoplan.core.decide import plan_of
from todoplan.core.plan.model import Task
from todoplan.core.plan.plan import (
    Plan,
    ancestors,
    critical_path,
    may_block,
    may_contain,
    path_between,
    topological_order,
    tree_order,
)


def tasks(edges, count=6, **estimates):
    """Return tasks 1 to `count` with edges such as "1>2", and estimates such as _1=5."""
    pairs = [edge.split(">") for edge in edges.split()]
    return [
        Task(
            str(n),
            f"t{n}",
            blocks=tuple(b for a, b in pairs if a == str(n)),
            blocked_by=tuple(a for a, b in pairs if b == str(n)),
            estimate=estimates.get(f"_{n}"),
        )
        for n in range(1, count + 1)
    ]


@pytest.mark.parametrize(
    ("ends", "way"),
    [
        ("14", "1 2 3 4"),
        ("11", "1"),
        ("99", "9"),
        *((ends, "") for ends in ["41", "16", "56", "91", "19"]),
    ],
)
def test_path_between(ends, way):
    """The way along the edges, both ends included; nothing where there is none."""
    plan = plan_of(tasks("1>2 2>3 3>4 5>2"))
    assert path_between(plan, *ends) == tuple(way.split())


def test_topological_order_keeps_the_given_order_where_it_can():
    """Blockers come first; what does not depend stays where it stands, 10 behind 2."""
    assert topological_order(tasks("6>1 3>2", 12)) == tuple(
        map(str, (3, 2, 4, 5, 6, 1, *range(7, 13)))
    )
    assert topological_order([]) == ()


def test_cycles_and_what_waits_for_them_are_left_out():
    """A result shorter than the input tells of a cycle."""
    assert topological_order(tasks("1>2 2>1 2>3")) == ("4", "5", "6")


def test_edges_out_of_the_given_tasks_do_not_count():
    """A part of a plan can be sorted by itself."""
    assert topological_order(tasks("1>2 2>3")[1:]) == ("2", "3", "4", "5", "6")


def test_critical_path_is_the_longest_by_estimate():
    """Minutes decide, then the number of tasks; no estimate counts nothing."""
    given_tasks = tasks("1>2 2>3 1>4", _1=5.0, _2=1.0, _4=30.0, _6=10.0)
    assert critical_path(given_tasks) == (("1", "4"), 35.0)
    assert critical_path(tasks("1>2 2>3")) == (("1", "2", "3"), 0.0)
    assert critical_path(tasks("1>3 2>3", 3, _2=4.0)) == (("2", "3"), 4.0)
    assert critical_path([]) == ((), 0.0)
    assert critical_path(Plan()) == ((), 0.0)


@given(some.full_plans)
def test_critical_path_is_a_chain(plan):
    """Its tasks follow or contain each other, and its length is the sum of what they take."""
    way, minutes = critical_path(plan)
    leaves = {task.id: task.estimate or 0 for task in plan if not plan.children(task.id)}
    assert minutes == sum(leaves.get(task_id, 0) for task_id in way)
    assert all(b in (*plan[a].blocks, *plan.children(a)) for a, b in pairwise(way))
    assert all(minutes >= estimate for estimate in leaves.values())


def nested(lines, edges=""):
    """Return a plan of tasks such as "1" or "2<1" (2 lies in 1), with edges such as "1>2"."""
    parents = dict(line.partition("<")[::2] for line in lines.split())
    made = {task.id: task for task in tasks(edges, max(map(int, parents)))}
    return plan_of([made[i].but(parent=parent or None) for i, parent in parents.items()])


def test_a_way_leads_down_into_what_a_task_contains():
    """What blocks a task holds up its subtasks as well; from a subtask no way leads up."""
    plan = nested("1 2 3<2 4<3 5", "1>2 4>5")
    assert path_between(plan, "1", "5") == ("1", "2", "3", "4", "5")
    assert path_between(plan, "4", "2") == ()


def test_ancestors_are_named_from_the_nearest_on():
    """An unknown task, and one at the top, has none."""
    plan = nested("1 2<1 3<2")
    assert [list(ancestors(plan, i)) for i in ("3", "1", "9")] == [["2", "1"], [], []]


@pytest.mark.parametrize(
    ("blocker", "blocked", "may"),
    [("1", "3", False), ("3", "1", False), ("4", "3", True), ("3", "4", True), ("5", "4", False)],
)
def test_who_may_block_whom(blocker, blocked, may):
    """Neither what contains a task nor what lies in it, nor what waits for it."""
    assert may_block(nested("1 2<1 3<2 4 5", "4>5"), blocker, blocked) is may


@pytest.mark.parametrize(
    ("parent", "child", "may"),
    [*(("4", "5", False), ("5", "4", False), ("4", "6", False)), *(("6", i, True) for i in "419")],
)
def test_who_may_contain_whom(parent, child, may):
    """Not where an edge would then join a task with what contains it; 7 lies in 6, 4 blocks it."""
    assert may_contain(nested("1 4 5 6 7<6 3", "4>5 4>7"), parent, child) is may


def test_a_task_stands_before_what_it_contains_in_topological_order():
    """As what blocks it does."""
    plan = nested("2 3<2 1", "1>2")
    assert topological_order(plan) == ("1", "2", "3")
    assert topological_order([plan["3"]]) == ("3",)


def test_what_a_task_contains_is_what_it_takes():
    """Its own estimate does not count beside theirs, and what blocks it blocks them."""
    plan = nested("1 2 3<2 4<3", "1>2")
    timed = [t.but(estimate=m) for t, m in zip(plan, (10, 99, 20, None), strict=True)]
    assert critical_path(timed) == (("1", "2", "3", "4"), 10.0)
    assert critical_path([t.but(estimate=m) for t, m in zip(plan, (1, 1, 1, 5), strict=True)]) == (
        ("1", "2", "3", "4"),
        6.0,
    )


def test_tree_order_is_total():
    """A parent that is not there, or that lies in its own subtask, is taken away."""
    made = [Task("1", "a", parent="2"), Task("2", "b", parent="1"), Task("3", "c", parent="9")]
    assert [(t.id, t.parent) for t in tree_order(made)] == [("3", None), ("1", None), ("2", "1")]
    assert [t.id for t in tree_order([Task("1", "a", parent="1")])] == ["1"]


def test_a_deep_tree_neither_recurses_nor_is_quadratic():
    """20,000 tasks, each in the one before it: one walk, and no recursion."""
    made = [Task(str(n), "x", parent=str(n - 1) if n > 1 else None) for n in range(1, 20_001)]
    assert [task.id for task in tree_order(made[::-1])] == [task.id for task in made]
    plan = plan_of(made[::-1])
    assert sum(1 for _ in ancestors(plan, "20000")) == 19_999
    assert [task.id for task in plan.ready()] == ["20000"]
    assert len(topological_order(plan)) == 20_000
