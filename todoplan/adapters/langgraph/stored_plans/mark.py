"""
What stands in a graph's state where a store keeps the plan: a mark, and what the model saw last.

{"stored": the plan's id, "seen": a revision}: the plan is nowhere else than in the store, so that
nothing of it can be old here. `seen` is of the thread, since another thread, agent or program may
work on the same plan: it is what of the plan this thread's model knows (law 15). While it answers a
request in which a reminder showed the plan, the revision of that stands under `shown`.
"""

from collections.abc import Mapping
from typing import Any

from todoplan.adapters.langgraph.runs import INNER, is_inner
from todoplan.adapters.langgraph.seen import SEEN, SHOWN
from todoplan.errors import PlanError

__all__ = ["is_stored", "mark", "merge_marks", "refuse_stored", "seen_in", "shown_in"]

_STORED = "stored"
_WRITTEN = "written"

_Value = Mapping[str, Any]


def is_stored(value: _Value | None) -> bool:
    """
    Say whether a value of the state says that a store keeps the plan.
    """
    return value is not None and _STORED in value


def refuse_stored(value: _Value | None) -> None:
    """
    Raise if a store keeps the plan.

    Raises:
        PlanError: it does; says where the plan is.
    """
    if value and _STORED in value:
        plan_id = value[_STORED]
        msg = (
            f"a store keeps the plan of this thread: read and change it by Planner(store,"
            f" {plan_id!r}), or by edit_plan(agent, config, command); an agent or tools that go on"
            " with this thread need store="
        )
        raise PlanError(msg, plan_id=plan_id)


def mark(plan_id: str, seen: int | None, *, shown: int | None = None) -> dict[str, Any]:
    """
    Return the update of the state once the model has seen a revision of a stored plan, or was
    `shown` one by a reminder.
    """
    # What an agent within a graph hands back has no such word, and is not its caller's.
    told = {} if shown is None else {SHOWN: shown}
    return {_STORED: plan_id, SEEN: seen, **told, _WRITTEN: True, INNER: is_inner()}


def seen_in(value: _Value | None, plan_id: str) -> int | None:
    """
    Return the revision of a stored plan that the model of this thread saw last, `None` for none.
    """
    is_its = value is not None and value.get(_STORED) == plan_id
    return value[SEEN] if is_its and value else None


def shown_in(value: _Value | None, plan_id: str) -> int | None:
    """
    Return the revision that a reminder showed in the request that is answered, `None` for none.
    """
    is_its = value is not None and value.get(_STORED) == plan_id
    return value.get(SHOWN) if is_its and value else None


def merge_marks(current: _Value, update: _Value, *, within: bool) -> _Value:
    """
    Reduce two writes to one, where one of them is a mark: what was seen later counts.

    Raises:
        PlanError: a plan was written into the state of a thread whose plan is in a store.
    """
    if not update or (within and _WRITTEN not in update):
        return current
    if _STORED not in update:
        refuse_stored(current)
    plan_id = update[_STORED]
    looks = [seen for seen in (seen_in(current, plan_id), update[SEEN]) if seen is not None]
    told = {SHOWN: update[SHOWN]} if SHOWN in update else {}
    return {_STORED: plan_id, SEEN: max(looks, default=None), **told}
