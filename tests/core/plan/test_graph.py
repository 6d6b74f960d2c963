from itertools import pairwise

import pytest
from hypothesis import given
from support import strategies as some

from todoplan.core.decide.assembly import plan_of
from todoplan.core.plan.graph import critical_path, path_between, topological_order
from todoplan.core.plan.model import Task
from todoplan.core.plan.plan import Plan


def tasks(edges, count=6, **estimates):
    """
    Return tasks 1 to `count` with edges such as "1>2", and estimates such as _1=5.
    """
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
    ("start", "goal", "way"),
    [
        ("1", "4", "1 2 3 4"),
        ("1", "1", "1"),
        ("4", "1", ""),
        ("1", "6", ""),
        ("5", "6", ""),
        ("9", "1", ""),
        ("1", "9", ""),
        ("9", "9", "9"),
    ],
)
def test_path_between(start, goal, way):
    """The way along the edges, both ends included; nothing where there is none."""
    plan = plan_of(tasks("1>2 2>3 3>4 5>2"))
    assert path_between(plan, start, goal) == tuple(way.split())


def test_no_way_out_of_a_diamond():
    """A task that two ways lead to is looked at once."""
    plan = plan_of(tasks("1>2 1>3 2>4 3>4 5>7 6>7 7>8", 8))
    assert path_between(plan, "1", "8") == ()


def test_path_of_a_diamond_is_one_way():
    """Where two ways meet, one of them is told."""
    plan = plan_of(tasks("1>2 1>3 2>4 3>4 4>5"))
    assert path_between(plan, "1", "5") in {("1", "2", "4", "5"), ("1", "3", "4", "5")}


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
    """Its tasks follow each other, and its length is the sum of theirs."""
    way, minutes = critical_path(plan)
    assert minutes == sum(plan[task_id].estimate or 0 for task_id in way)
    assert all(b in plan[a].blocks for a, b in pairwise(way))
    assert all(minutes >= (task.estimate or 0) for task in plan)
