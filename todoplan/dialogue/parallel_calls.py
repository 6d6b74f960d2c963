"""
Functions for frameworks that pass the calls of one turn one at a time.

Law: the replies together equal those of `Toolbox.turn` (law 13).

A single call cannot tell whether another call of its turn replaces the list too. LangChain's own
guard checks one message only, so two branches of a graph can both write, and the step fails. For
this reason both functions take information about the whole turn: the calls, or at least the names
of their tools.
"""

from __future__ import annotations  # help() shows short names, without the module path

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
    Return the replies to the calls of a turn up to and including the call at index `place`.

    For frameworks in which all calls of a turn see the same state: to get its own starting point,
    each call has to carry out the earlier ones again. `plan` and `base` are those before the turn.
    `base` and `actor` have the same meaning as in `Toolbox.turn`.

    Raises:
        PlanError: `place` is not an index of `calls`.
    """
    if not 0 <= place < len(calls):
        msg = f"place {place!r} is none of {len(calls)} calls; they are counted from 0"
        raise PlanError(msg, seen=place)
    # LangGraph runs each call as a task of its own, on one snapshot of the state: no lock helps.
    if len(calls) == 1:  # the usual turn: there are no other calls to check
        call = calls[0]
        return (toolbox.call(plan, call.name, call.arguments, at=at, base=base, actor=actor),)
    # With the later calls: of two whole-list writes, the first is refused because of the second.
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
    Return the reply to one call of a turn whose earlier calls are already carried out in `plan`.

    `turn` has the tool names of all calls of the turn, including those already answered. `base` and
    `actor` have the same meaning as in `Toolbox.call`.
    """
    turn = tuple_of(turn, str, 'the names of the tools of a turn, such as ["write_todos"]')
    clashing = [turn[place] for place in toolbox.clashing(turn)] if len(turn) > 1 else []
    if call.name in clashing:
        # One call for each clashing one: the error message states their number.
        return toolbox.turn(plan, [Call(call.name, None) for _ in clashing]).replies[0]
    return toolbox.call(plan, call.name, call.arguments, at=at, base=base, actor=actor)
