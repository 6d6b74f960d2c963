"""Every contender carries out its operations, repeatedly."""

import json

import pytest

from benchmarks.contenders import contenders
from benchmarks.floors import Floor
from benchmarks.measure import once
from benchmarks.ours import Ours, plan_with_edges
from benchmarks.suites.operations import OPERATIONS
from benchmarks.workload import edges, entries, listed
from todoplan import Status
from todoplan.core.plan.questions import ready

SIZE = 7
CASES = [
    pytest.param(kind, name, id=f"{kind.name}-{name}")
    for kind in contenders()
    for name in OPERATIONS
    if getattr(kind, name, None)
]


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_a_case_does_what_it_is_named_for(kind, name, runner):
    """The result of each call shows that the operation was done, also when it is repeated."""
    call = getattr(kind(SIZE), name)()
    for _ in range(2):
        assert call.holds(once(call, runner)[1])
        assert call.holds(once(call, runner)[1])
        call.tidy()


@pytest.mark.parametrize("name", OPERATIONS)
def test_floor_and_ours_take_part_in_everything(name):
    """The floor and todoplan have every operation, so that each has a ratio."""
    assert hasattr(Floor, name)
    assert hasattr(Ours, name)


def test_everyone_gets_the_same_plan():
    """In every plan, the first half is completed, one task is in progress, the rest are pending."""
    assert [status for _, _, status in entries(5)] == [
        "completed",
        "completed",
        "in_progress",
        "pending",
        "pending",
    ]
    told = json.loads(listed(5, moved=1))["todos"]
    assert [each["status"] for each in told] == [
        "completed",
        "completed",
        "completed",
        "in_progress",
        "pending",
    ]
    assert [task.status.value for task in Ours(5).plan] == [status for _, _, status in entries(5)]
    assert [task.status for task in Floor(5).tasks.values()] == [s for _, _, s in entries(5)]


@pytest.mark.parametrize("shape", ["chain", "wide", "dense"])
def test_plans_have_the_edges_of_their_shape(shape):
    """A plan has exactly the edges of its shape, without those of tasks before `begin`."""
    plan = plan_with_edges(30, shape)
    found = {(int(end), int(task.id)) for task in plan for end in task.blocked_by}
    assert found == set(edges(30, shape))
    half = plan_with_edges(30, "chain", begin=15)
    assert [task.id for task in ready(half)] == ["15"]
    assert half["14"].status is Status.COMPLETED


def test_the_floor_keeps_accounts():
    """The floor updates its counters and its journal, and refuses wrong arguments."""
    floor = Floor(3)
    assert floor.update('{"task_id": "3", "status": "completed"}') == "2/3: #3 completed"
    assert floor.add('{"subject": "One more"}') == "2/4: #4 created"
    assert (floor.counts["completed"], floor.counts["pending"], len(floor.journal)) == (2, 1, 2)
    assert floor.update('{"task_id": "9", "status": "completed"}') == "error"
    assert floor.update('{"task_id": "3", "status": "done"}') == "error"
    assert floor.add('{"subject": " "}') == "error"
