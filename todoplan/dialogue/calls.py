"""Input and output of a toolbox: a call, the reply to it, and a turn of several calls."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import attrs

from todoplan.core.events.base import Base, Note
from todoplan.core.events.types import Event
from todoplan.core.plan.model import instance_of
from todoplan.core.plan.plan import Plan
from todoplan.core.problems import Problem
from todoplan.dialogue.intake import Repair


@attrs.frozen(weakref_slot=False)
class Call:
    """One tool call: the name of the tool and the arguments, as the model sent them."""

    name: str
    arguments: Any
    call_id: str = ""


# No slot for weak references: the toolbox makes replies with a fast constructor.
@attrs.frozen(weakref_slot=False)
class Reply:
    """
    The reply to one call.

    If the call was refused, `plan` is the plan that was passed in and `events` is empty. There is
    one exception: evidence from a verifier is recorded even if the call is refused.

    `plan` is always the current plan. If the call is a retry with a known idempotency key, it is
    not carried out again, and `repeat_of` is the revision that the original call produced.
    """

    plan: Plan
    text: str
    events: tuple[Event, ...] = ()
    is_error: bool = False
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()
    repairs: tuple[Repair, ...] = ()
    name: str = ""
    call_id: str = ""
    # Not compared: the reply to a retry must equal the original reply.
    repeat_of: int | None = attrs.field(default=None, eq=False, repr=False)
    # What the session learns of the plan from this call (see `Base.advanced`).
    note: Note = attrs.field(default=Note(), eq=False, repr=False)

    @property
    def revision(self) -> int:
        """The revision of the plan after the call; for a retry, after the original call."""
        return self.plan.revision if self.repeat_of is None else self.repeat_of


@attrs.frozen
class Turn:
    """The plan after all calls of one model turn, and the replies in the order of the calls."""

    plan: Plan
    replies: tuple[Reply, ...]
    # What the session knows of the plan after the turn; `None` if it has learned nothing.
    known: Base | None = attrs.field(default=None, eq=False, repr=False)

    @property
    def events(self) -> tuple[Event, ...]:
        """All events of the turn, in order."""
        if len(self.replies) == 1:
            return self.replies[0].events
        return tuple(event for reply in self.replies for event in reply.events)

    def shows_all_to(self, known: int | None) -> bool:
        """
        Return whether a model that knew revision `known` knows the whole plan after this turn.

        A successful reply reports the changes by others; an error does not. A refused call can only
        add evidence, and the reply to this call reports the evidence.
        """
        if any(not reply.is_error for reply in self.replies):
            return True
        return bool(self.events) and known == self.plan.revision - len(self.events)


def checked_plan(value: object) -> Plan:
    """Return the value if it is a plan; raise a PlanError otherwise."""
    return instance_of(value, Plan, "Plan(), or the plan of the last reply")


# -------- clock --------
# The clock for code that calls a toolbox from a framework. The core has no clock of its own.


Clock = Callable[[], datetime]
"""A function that returns the present time as an aware datetime."""


def utc_now() -> datetime:
    """Return the present time in UTC."""
    return datetime.now(UTC)
