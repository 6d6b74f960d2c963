"""The laws stand in `tests/laws/test_edge_laws.py`; here is what one call gives."""

from todoplan.core.commands import CreateTask, CreateTasks
from todoplan.core.decide import closing_edges, decide
from todoplan.core.plan.plan import Draft, Plan
from todoplan.core.rules import Policy


def linked(number, edges):
    """Return a draft of so many tasks with these edges, also such as close a cycle."""
    draft = Draft(
        decide(Plan(), CreateTasks(tuple(CreateTask("x") for _ in range(number))), Policy()).plan
    )
    for blocker, blocked in edges:
        draft.link(blocker, blocked, None)
    return draft


def found(number, edges, added):
    """Return what is found of these edges, of which some were added."""
    return closing_edges(linked(number, edges), dict.fromkeys(added))


def test_one_edge_is_named_with_its_way_round():
    """From the blocked task to its blocker, and to the blocked task again; else nothing."""
    chain = [("1", "2"), ("2", "3")]
    assert found(3, [*chain, ("3", "1")], [("3", "1")]) == {("3", "1"): ("1", "2", "3", "1")}
    assert found(3, chain, [("2", "3")]) == {}


def test_the_last_added_edge_of_a_cycle_is_the_one_that_closes_it():
    """Whatever the order of the walk; each cycle has one."""
    edges = [("1", "2"), ("2", "3"), ("3", "1")]
    for added in ([edges[0], edges[1]], [edges[2], edges[1]], edges):
        assert [*found(3, edges, added)] == [added[-1]]


def test_a_cycle_of_old_edges_is_not_named_again():
    """An earlier check of the same command has named it."""
    edges = [("1", "2"), ("2", "1"), ("2", "3"), ("3", "4")]
    assert found(4, edges, edges[2:]) == {}
    assert [*found(3, [*edges[:3], ("3", "1")], [("2", "3"), ("3", "1")])] == [("3", "1")]
    assert found(5, [*edges, ("4", "3"), ("1", "5")], [("1", "5"), ("4", "3")]) == {
        ("4", "3"): ("3", "4", "3")
    }


def test_ways_round_together_are_bounded_by_what_was_walked():
    """In a knot where everything waits for everything many are named, and not all of them."""
    tasks = [str(number) for number in range(1, 61)]
    edges = [(a, b) for a in tasks for b in tasks if a != b]
    ways = found(60, edges, edges)
    assert len(ways) > 20
    assert sum(map(len, ways.values())) <= 3 * (60 + len(edges))
    for (blocker, blocked), way in ways.items():
        assert (way[0], way[-2], way[-1]) == (blocked, blocker, blocked)
