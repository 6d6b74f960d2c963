"""
Build plans from events. Every event is accepted and no rule is checked, so an old journal replays
under any policy.

Theory. `decide` checks once whether a command is allowed, at the time of the command. Its events
are facts, and are applied here whenever a plan is built from its history. So nothing is refused
here: an event that does not fit the plan (its task was deleted, its edge exists already) does
nothing, in every version of todoplan. A check could refuse plans that were valid when they were
saved.

Law: replaying the events of a decision gives the plan of that decision. replay(a + b) equals
replaying b on the result of replaying a. Each event increments the revision, even one that does
nothing: the revision is a position in the history.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import attrs

from todoplan.core.events import types
from todoplan.core.events.types import EVENT_TYPES, Event
from todoplan.core.plan.model import instance_of, short_repr
from todoplan.core.plan.plan import Draft, Plan
from todoplan.errors import PlanError


def apply(plan: Plan, event: Event) -> Plan:
    """
    Return the plan after one event.

    Raises:
        PlanError: an argument is not a plan, or not an event.
    """
    return replay(plan, (event,))


def replay(plan: Plan, events: Iterable[Event]) -> Plan:
    """
    Return the plan after these events. Replaying a + b equals replaying b on the result of a.

    Raises:
        PlanError: `plan` is not a plan, or an item of `events` is not an event.
    """
    if type(plan) is not Plan:
        instance_of(plan, Plan, "a plan: replay(plan, events)")
    given: object = events
    if not hasattr(given, "__iter__"):
        msg = f"{short_repr(given)} are no events; write replay(plan, accepted.events)"
        raise PlanError(msg, seen=given)
    draft = Draft(plan)
    for event in events:
        if type(event) not in EVENT_TYPES:
            msg = (
                f"{short_repr(event)} is no event; give events, such as those of a decision:"
                " replay(plan, accepted.events)"
            )
            raise PlanError(msg, seen=event)
        draft.revision += 1
        event.apply_to(draft)
    return draft.freeze()


# -------- touched --------
# Find the tasks that events affect.


_OF_THE_PLAN = (
    types.ParentChanged
    | types.TaskDeleted
    | types.TasksReordered
    | types.PlanCleared
    | types.PlanRestored
)


def touched(events: Iterable[Event]) -> tuple[str, ...] | None:
    """
    Return the ids of the tasks that the events changed or added, in order.

    This is for code that keeps a copy of a plan up to date. If tasks were removed, moved, restored
    or added as subtasks, return `None`: then the whole plan must be read again.
    """
    ids: dict[str, None] = {}  # an ordered set
    for event in events:
        if isinstance(event, _OF_THE_PLAN):
            return None
        # A subtask is put after its siblings, which may not be the end of the plan.
        if isinstance(event, types.TaskCreated) and event.task.parent is not None:
            return None
        ids.update(dict.fromkeys(event.task_ids))
    return tuple(ids)


# -------- journal --------
# One entry of a plan's history: the events of an accepted command, with time and actor.


@attrs.frozen
class Entry:
    """
    The effect of one accepted command.

    `revision` is the plan's revision after the command, and identifies the entry. `cause` is the
    name of the command or tool. `undoes` is the revision of the entry that this one undid.
    """

    revision: int
    events: tuple[Event, ...]
    at: datetime | None = None
    actor: str | None = None
    cause: str = ""
    undoes: int | None = None
