"""
The claims of a hand: which fences it holds, and that each of its calls keeps them alive (law 19).

A fence belongs to a claim and not to a name, so whoever speaks for a hand keeps what its own calls
were given: a planner by actor, an adapter in the framework's state. A model never has to repeat
one. A planning call says that its author is still at work, so it puts off the end of its claims.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from types import MappingProxyType

import attrs

from todoplan.core.events.apply import replay
from todoplan.core.events.types import (
    ClaimRenewed,
    Event,
    PlanCleared,
    PlanRestored,
    StatusChanged,
    TaskClaimed,
    TaskDeleted,
)
from todoplan.core.plan.model import Status
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.validation import in_utc
from todoplan.dialogue.calls import Reply

__all__ = ["NO_FENCES", "Fences", "claimed_by_others", "fences_after", "keeping_claims"]

Fences = Mapping[str, int]
"""The fences of the claims that a hand holds, by task id."""

NO_FENCES: Fences = MappingProxyType({})


def fences_after(fences: Fences, events: Iterable[Event]) -> Fences:
    """
    Return the fences that a hand holds once its own calls have had these events.
    """
    held = dict(fences)
    for event in events:
        if isinstance(event, TaskClaimed):
            held[event.task_id] = event.claim.fence
        elif isinstance(event, PlanCleared | PlanRestored):
            held.clear()
        elif isinstance(event, TaskDeleted) or (
            isinstance(event, StatusChanged) and event.new is not Status.IN_PROGRESS
        ):
            held.pop(event.task_id, None)
    return held


def claimed_by_others(plan: Plan, fences: Fences, at: datetime | None) -> frozenset[str]:
    """
    Return the ids of the tasks that others work on: under a live claim whose fencing token is not
    among those of this session. For guidance, which reminds nobody of what others do.
    """
    return frozenset(
        task.id
        for task in plan.active()
        if task.claim is not None
        and task.claim.is_live(at)
        and fences.get(task.id) != task.claim.fence
    )


def keeping_claims(reply: Reply, fences: Fences, lease: float, at: datetime | None) -> Reply:
    """
    Return the reply to a hand's call, by which the end of its claims is put off to `lease` seconds
    from now: of those that still hold, and never to an earlier time.
    """
    # A refused call changes nothing, and without a time claims do not end.
    if reply.is_error or at is None:
        return reply
    plan, at = reply.plan, in_utc(at)
    until = at + timedelta(seconds=lease)
    events = tuple(
        ClaimRenewed(task_id, until, at)
        for task_id, fence in fences.items()
        if (task := plan.get(task_id)) is not None
        and task.claim is not None
        and task.claim.fence == fence
        and task.claim.until is not None
        and task.claim.until < until
    )
    if not events:
        return reply
    return attrs.evolve(reply, plan=replay(plan, events), events=(*reply.events, *events))
