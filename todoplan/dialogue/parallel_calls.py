"""
The calls of one turn where a framework hands them over one by one, to a function for each call.

Law: the replies, taken together, are those of `Toolbox.turn` (law 13).

A call alone cannot know that another one of its turn replaces the list too: LangChain's own guard
looks at one message, so that two branches of a graph both write and the step fails. Hence both
functions take what is known of the whole turn: the calls, or at least the names of their tools.
"""

from __future__ import annotations  # help() shows short names, not the path before each

from collections.abc import Sequence
from datetime import datetime

from todoplan.core.events.base import Base
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.validation import tuple_of
from todoplan.dialogue.toolbox import Call, Reply, Toolbox
from todoplan.errors import PlanError

__all__ = ["answered_after", "answered_beside"]


def answered_beside(  # noqa: PLR0913 - as `Toolbox.turn`, and the place
    toolbox: Toolbox,
    plan: Plan,
    calls: Sequence[Call],
    place: int,
    *,
    at: datetime | None = None,
    base: Base | None = None,
    actor: str | None = None,
) -> tuple[Reply, ...]:
    """
    Return the replies to the calls of a turn up to the one at `place`, which has the last.

    `plan` is that before the turn: for frameworks in which all calls of a turn see the same state,
    so that each has to carry out the earlier ones again to know where it starts. `base` and `actor`
    are as of `Toolbox.turn`, the base that before the turn as well.
    """
    if not 0 <= place < len(calls):
        msg = f"place {place!r} is none of {len(calls)} calls; they are counted from 0"
        raise PlanError(msg, seen=place)
    # LangGraph runs each call as a task of its own, on one snapshot of the state: no lock helps.
    if len(calls) == 1:  # the usual turn: no need to look for others
        call = calls[0]
        return (toolbox.call(plan, call.name, call.arguments, at=at, base=base, actor=actor),)
    # The later calls too: of two whole-list writes the first is refused for the second.
    return toolbox.turn(plan, calls, at=at, base=base, actor=actor).replies[: place + 1]


def answered_after(  # noqa: PLR0913 - as `Toolbox.call`, and the turn
    toolbox: Toolbox,
    plan: Plan,
    call: Call,
    turn: Sequence[str] = (),
    *,
    at: datetime | None = None,
    base: Base | None = None,
    actor: str | None = None,
) -> Reply:
    """
    Return the reply to a call of a turn on a plan in which the calls before it are carried out.

    `turn` names the tools of all calls of the turn, the answered ones too. `base` and `actor` are
    as of `Toolbox.call`.
    """
    turn = tuple_of(turn, str, 'the names of the tools of a turn, such as ["write_todos"]')
    clashing = [turn[place] for place in toolbox.clashing(turn)] if len(turn) > 1 else []
    if call.name in clashing:
        # As many calls as clash: the error says how many there were.
        return toolbox.turn(plan, [Call(call.name, None) for _ in clashing]).replies[0]
    return toolbox.call(plan, call.name, call.arguments, at=at, base=base, actor=actor)
