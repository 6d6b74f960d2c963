"""Law 1: the transition table is one dict, total over status and action."""

from itertools import product

import pytest
from hypothesis import given
from support import strategies as some

from todoplan.core.commands import UpdateTask
from todoplan.core.decide import decide, plan_of
from todoplan.core.events.types import StatusChanged
from todoplan.core.plan.model import Status, Task
from todoplan.core.rules import ACTION_TO, TABLE, Action, Kind, Policy

PAIRS = list(product(Status, Action))


def test_table_is_total():
    """Every pair of status and action has one cell, and nothing else has."""
    assert set(TABLE) == set(PAIRS)


@pytest.mark.parametrize(("status", "action"), PAIRS)
def test_action_leads_to_the_same_status_from_everywhere(status, action):
    """An action names where it leads; only a task that is there already stays."""
    cell = TABLE[status, action]
    assert ACTION_TO[cell.target] is action
    assert (cell.kind is Kind.STAY) == (cell.target is status)
    assert (cell.kind is Kind.REOPEN) == (status.closed and cell.target is not status)


def test_only_completing_from_pending_jumps():
    """A jump is a completion without a start; a way back is a reset of what was started."""
    kinds = {kind: {pair for pair, move in TABLE.items() if move.kind is kind} for kind in Kind}
    assert kinds[Kind.JUMP] == {(Status.PENDING, Action.COMPLETE)}
    assert kinds[Kind.BACK] == {(Status.IN_PROGRESS, Action.RESET)}


@pytest.mark.parametrize(("old", "new"), list(product(Status, Status)))
def test_decide_moves_as_the_table_says(old, new):
    """Through `decide` every cell of the table holds, and a task that stays makes no event."""
    plan = plan_of([Task("1", "a", status=old)])
    answer = decide(plan, UpdateTask("1", status=new), Policy())
    cell = TABLE[old, ACTION_TO[new]]
    moved = () if cell.kind is Kind.STAY else (StatusChanged("1", old, cell.target),)
    assert answer.events == moved
    assert answer.plan["1"].status is new


@given(some.plans, some.aware_times)
def test_times_follow_the_status(plan, at):
    """A start is stamped once; an end is stamped when it comes and goes when the task reopens."""
    for task in plan:
        start, end = (UpdateTask(task.id, status=s) for s in ("in_progress", "completed"))
        held = {task.id: task.claims}
        moved = decide(plan, start, Policy(), at=at).plan
        done = decide(moved, end, Policy(), at=at, fences=held).plan
        assert moved[task.id].completed_at is None
        if task.status is not Status.IN_PROGRESS:
            assert moved[task.id].started_at == (task.started_at or at)
        assert done[task.id].completed_at == at
        assert done[task.id].started_at == moved[task.id].started_at
