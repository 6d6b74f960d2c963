"""What goes in and out of a toolbox: a call, the reply to it, the turn that both belong to."""

from __future__ import annotations  # help() shows short names, not the path before each

from typing import Any

import attrs

from todoplan.core.events.base import Base, Note
from todoplan.core.events.types import Event
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.validation import short_repr
from todoplan.core.problems import Problem
from todoplan.dialogue.intake.repairs import Repair
from todoplan.errors import PlanError

__all__ = ["Call", "Reply", "Turn", "checked_base", "checked_plan"]


@attrs.frozen(weakref_slot=False)
class Call:
    """
    One tool call of a turn: the name that the model used, and the arguments as they came.
    """

    name: str
    arguments: Any
    call_id: str = ""


# No slot for weak references: the toolbox makes replies with a fast constructor.
@attrs.frozen(weakref_slot=False)
class Reply:
    """
    What a call answers. On an error `plan` is the one given and `events` is empty, but for evidence
    that a verifier has found: that is recorded also where the call is refused.

    `plan` is the plan as it stands, also for a call that was carried out before and is answered
    again by its key: `repeat_of` is the revision to which it led then.
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
    # Not compared: who asks twice is to get the same.
    repeat_of: int | None = attrs.field(default=None, eq=False, repr=False)
    # What the session knows of the plan by this call alone (`Base.advanced`).
    note: Note = attrs.field(default=Note(), eq=False, repr=False)

    @property
    def revision(self) -> int:
        """
        The revision of the plan to which the call led.
        """
        return self.plan.revision if self.repeat_of is None else self.repeat_of


@attrs.frozen
class Turn:
    """
    What the calls of one model turn made of a plan: a reply for each, in their order.
    """

    plan: Plan
    replies: tuple[Reply, ...]
    # What its session knows of the plan once it was answered; `None` if nothing was seen by it.
    known: Base | None = attrs.field(default=None, eq=False, repr=False)

    @property
    def events(self) -> tuple[Event, ...]:
        """
        All events of the turn, in order.
        """
        return tuple(event for reply in self.replies for event in reply.events)

    def shows_all_to(self, known: int | None) -> bool:
        """
        Say whether a model that knew the plan at a revision knows it as the turn has left it.

        An answer that is no error tells what others did. A refusal does not; all that it may have
        changed is evidence, of which it says itself what was found.
        """
        if any(not reply.is_error for reply in self.replies):
            return True
        return bool(self.events) and known == self.plan.revision - len(self.events)


def checked_plan(value: object) -> Plan:
    """
    Return a plan; anything else is a PlanError.
    """
    if isinstance(value, Plan):
        return value
    msg = f"{short_repr(value)} is no plan; give Plan(), or the plan of the last reply"
    raise PlanError(msg, seen=value)


def checked_base(value: object) -> Base:
    """
    Return what a hand last saw; anything else is a PlanError.
    """
    if isinstance(value, Base):
        return value
    msg = f"{short_repr(value)} is no Base; give Base(plan), the plan as it was last seen"
    raise PlanError(msg, seen=value)
