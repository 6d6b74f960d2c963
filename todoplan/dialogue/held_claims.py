"""
The claims of a session: its fencing tokens, and the renewal of claims by each call (law 19).

A fencing token belongs to a claim and not to an actor's name. So the code that serves a session
stores the tokens that the session's own calls received: a planner stores them by actor, an adapter
in the framework's state. The model never has to repeat a token. A planning call shows that its
author is still at work, so it extends the lease of the session's claims.
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
"""The fencing tokens of a session's claims, by task id."""

NO_FENCES: Fences = MappingProxyType({})


def fences_after(fences: Fences, events: Iterable[Event]) -> Fences:
    """Return a session's fencing tokens after the events of its own calls."""
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
    Return the ids of the tasks that other sessions work on.

    Such a task has a live claim whose fencing token is not among those of this session. Guidance
    uses this to leave out the tasks of others from reminders.
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
    Return the reply with the session's claims renewed for `lease` seconds from `at`.

    Only claims that the session still holds are renewed, and never to an earlier time.
    """
    # A refused call changes nothing, and without a time claims do not expire.
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
