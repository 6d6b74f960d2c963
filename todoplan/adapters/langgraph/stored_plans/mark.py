"""
What stands in a graph's state where a store keeps the plan: a mark, and what the model saw last.

{"stored": the plan's id, "seen": a revision}: the plan is nowhere else than in the store, so that
nothing of it can be old here. `seen` is of the thread, since another thread, agent or program may
work on the same plan: it is what of the plan this thread's model knows (law 15). While it answers a
request in which a reminder showed the plan, the revision of that stands under `shown`. In a team
there are `fences` as well, those of the claims that this thread's calls got (law 19): a thread that
is resumed in another process goes on with its tasks.
"""

from collections.abc import Mapping
from typing import Any, TypeGuard

from todoplan.adapters.langgraph.runs import INNER, is_inner
from todoplan.adapters.langgraph.seen import SEEN, SHOWN
from todoplan.dialogue.held_claims import NO_FENCES, Fences
from todoplan.errors import PlanError

__all__ = [
    "fences_in",
    "is_stored",
    "mark",
    "merge_marks",
    "refuse_stored",
    "seen_in",
    "shown_in",
]

_STORED = "stored"
_WRITTEN = "written"
_FENCES = "fences"

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


def mark(
    plan_id: str,
    seen: int | None,
    held: Fences = NO_FENCES,
    now: Fences = NO_FENCES,
    *,
    shown: int | None = None,
) -> dict[str, Any]:
    """
    Return the update of the state once the model has seen a revision of a stored plan, or was
    `shown` one by a reminder, and its calls have brought it from the fences that it `held` to those
    of `now`.
    """
    # What an agent within a graph hands back has no such word, and is not its caller's.
    update: dict[str, Any] = {_STORED: plan_id, SEEN: seen, _WRITTEN: True, INNER: is_inner()}
    if shown is not None:
        update[SHOWN] = shown
    # Only what is other: calls beside each other all begin with the same state.
    ended: dict[str, int | None] = {task_id: None for task_id in held if task_id not in now}
    if changed := ended | {key: fence for key, fence in now.items() if held.get(key) != fence}:
        update[_FENCES] = changed
    return update


def seen_in(value: _Value | None, plan_id: str) -> int | None:
    """
    Return the revision of a stored plan that the model of this thread saw last, `None` for none.
    """
    return value[SEEN] if _is_of(value, plan_id) else None


def shown_in(value: _Value | None, plan_id: str) -> int | None:
    """
    Return the revision that a reminder showed in the request that is answered, `None` for none.
    """
    return value.get(SHOWN) if _is_of(value, plan_id) else None


def fences_in(value: _Value | None, plan_id: str) -> Fences:
    """
    Return the fences of the claims that this thread's calls got.
    """
    return value.get(_FENCES, NO_FENCES) if _is_of(value, plan_id) else NO_FENCES


def _is_of(value: _Value | None, plan_id: str) -> TypeGuard[_Value]:
    return value is not None and value.get(_STORED) == plan_id


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
    merged: dict[str, Any] = {_STORED: plan_id, SEEN: max(looks, default=None)}
    if SHOWN in update:
        merged[SHOWN] = update[SHOWN]
    fences = {**fences_in(current, plan_id), **update.get(_FENCES, {})}
    if held := {task_id: fence for task_id, fence in fences.items() if fence is not None}:
        merged[_FENCES] = held
    return merged
