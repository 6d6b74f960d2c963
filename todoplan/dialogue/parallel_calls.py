"""
One call among its siblings: frameworks hand over the calls of a turn one by one.

Law: the replies, taken together, are those of `Toolbox.turn` (law 13).
"""

from collections.abc import Sequence
from datetime import datetime

from todoplan.core.plan.plan import Plan
from todoplan.dialogue.toolbox import Call, Reply, Toolbox

__all__ = ["answered_after", "answered_beside"]


def answered_beside(
    toolbox: Toolbox, plan: Plan, calls: Sequence[Call], place: int, *, at: datetime | None = None
) -> tuple[Reply, ...]:
    """
    Return the replies to the calls of a turn, up to the one at `place`; the last is the answer.

    `plan` is that before the turn: for frameworks whose calls of one turn all see the same state.
    """
    if len(calls) == 1:
        (call,) = calls
        return (toolbox.call(plan, call.name, call.arguments, at=at),)
    return toolbox.turn(plan, calls, at=at).replies[: place + 1]


def answered_after(
    toolbox: Toolbox,
    plan: Plan,
    call: Call,
    turn: Sequence[str] = (),
    *,
    at: datetime | None = None,
) -> Reply:
    """
    Return the reply to a call of a turn upon a plan in which its earlier siblings are carried out.

    `turn` names the tools of all calls of the turn, the answered ones too.
    """
    clashing = [turn[place] for place in toolbox.clashing(turn)] if len(turn) > 1 else []
    if call.name in clashing:
        return toolbox.turn(plan, [Call(call.name, None) for _ in clashing]).replies[0]
    return toolbox.call(plan, call.name, call.arguments, at=at)
