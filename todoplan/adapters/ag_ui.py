"""
Plans for interfaces that speak AG-UI: `pip install 'todoplan[ag-ui]'`.

`show_plan` sends a planner's plan as events: first a snapshot, then a delta for every change.
`make_snapshot` and `make_delta` return single events, for an agent that sends events by itself.

AG-UI only displays plans. Tool calls and reminders belong to the adapter of the framework that runs
the model.

The protocol does not define a form for plans, so plans have the form of `plan_to_data`. A plan is
the value of one key of the agent's state, or the content of an activity message. Deltas are in JSON
Patch (RFC 6902). A client that applies the deltas to the snapshot, in order, has the current plan.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any

from todoplan.errors import MissingExtraError

try:
    from ag_ui.core import (
        ActivityDeltaEvent,
        ActivitySnapshotEvent,
        BaseEvent,
        StateDeltaEvent,
        StateSnapshotEvent,
    )
except ModuleNotFoundError as error:
    raise MissingExtraError.of(error.name, "ag-ui") from error

from todoplan.codec import plan_to_data
from todoplan.codec.documents import head, written
from todoplan.core.plan.model import EMPTY
from todoplan.core.plan.plan import Plan
from todoplan.dialogue.toolbox import require
from todoplan.lazy import listing
from todoplan.planner import AsyncPlanner, Planner
from todoplan.planner.showing import show

__all__ = ["make_delta", "make_snapshot", "show_plan"]
__dir__ = listing(__all__)

KEY = "plan"
"""The default key in the state."""

ACTIVITY = "PLAN"
"""The type of an activity message that has a plan."""


def make_snapshot(
    plan: Plan,
    *,
    key: str = KEY,
    state: Mapping[str, Any] = EMPTY,
    message_id: str | None = None,
) -> StateSnapshotEvent | ActivitySnapshotEvent:
    """
    Return the event that has the whole plan.

    Without `message_id`, the event is a snapshot of the agent's state, with the plan under `key`.
    It replaces the whole state, so pass the state's other keys as `state`. With `message_id`, the
    event is a snapshot of an activity message with this id, and does not change the state.

    Raises:
        CodecError: a task holds a value that JSON cannot represent.
        PlanError: `plan` is not a plan.
    """
    data = _sendable(plan_to_data(require(plan, Plan)))
    if message_id is None:
        return StateSnapshotEvent(snapshot={**state, key: data})
    return ActivitySnapshotEvent(message_id=message_id, activity_type=ACTIVITY, content=data)


def make_delta(
    was: Plan, now: Plan, *, key: str = KEY, message_id: str | None = None
) -> StateDeltaEvent | ActivityDeltaEvent:
    """
    Return the event that changes the client's plan from `was` to `now`.

    `key` and `message_id` must be those of the snapshot.

    Raises:
        CodecError, PlanError: see `make_snapshot`.
    """
    require(was, Plan)
    require(now, Plan)
    if message_id is None:
        # `~` and `/` have a meaning in a JSON Pointer (RFC 6901).
        place = key.replace("~", "~0").replace("/", "~1")
        return StateDeltaEvent(delta=_sendable([*_patch(was, now, f"/{place}")]))
    patch = _sendable([*_patch(was, now, "")])
    return ActivityDeltaEvent(message_id=message_id, activity_type=ACTIVITY, patch=patch)


async def show_plan(
    send: Callable[[BaseEvent], Awaitable[object]],
    planner: AsyncPlanner | Planner,
    *,
    key: str = KEY,
    state: Mapping[str, Any] = EMPTY,
    message_id: str | None = None,
) -> Callable[[], Awaitable[None]]:
    """
    Send a snapshot of the plan now, and a delta after every change.

    `send` is awaited with each event, such as `put` of the queue from which a run's response is
    written. The other arguments are those of `make_snapshot`. Await the returned function to stop;
    it first sends the changes that were not sent yet. A plan that was never written is not sent.
    Changes from other processes are sent while the planner's `follow` runs. If `send` fails,
    nothing more is sent.
    """

    async def send_event(was: Plan | None, plan: Plan) -> None:
        if was is None:
            await send(make_snapshot(plan, key=key, state=state, message_id=message_id))
        else:
            await send(make_delta(was, plan, key=key, message_id=message_id))

    return await show(planner, send_event, "the interface that is shown a plan")


def _patch(was: Plan, now: Plan, path: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON Patch operations, in order, that turn `was` into `now`, at `path`."""
    yield from _changes(head(was), head(now), path)
    path += "/tasks"
    stayed = [task.id for task in was if task.id in now]
    gone = [place for place, task in enumerate(was) if task.id not in now]
    if stayed != [task.id for task in now if task.id in was] or len(gone) > len(now):
        # Moving tasks one by one could take more operations than there are tasks.
        yield {"op": "replace", "path": path, "value": written(now)}
        return
    for place in reversed(gone):
        yield {"op": "remove", "path": f"{path}/{place}"}
    for place, task in enumerate(now):
        old = was.get(task.id)
        if old is task:  # versions of a plan share the tasks that did not change
            continue
        data = written([task], place)[0]
        if old is None:
            yield {"op": "add", "path": f"{path}/{place}", "value": data}
        else:
            yield from _changes(written([old])[0], data, f"{path}/{place}")


def _changes(was: Mapping[str, Any], now: Mapping[str, Any], path: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON Patch operations that turn the object at `path` into another, key by key."""
    for name in was:
        if name not in now:
            yield {"op": "remove", "path": f"{path}/{name}"}
    for name, value in now.items():
        if name not in was:
            yield {"op": "add", "path": f"{path}/{name}", "value": value}
        # Compared as text, because 1 equals `True` in Python and not in JSON.
        elif repr(value) != repr(was[name]):
            yield {"op": "replace", "path": f"{path}/{name}", "value": value}


def _sendable(value: Any) -> Any:
    """Return a JSON value without lone surrogates, which cannot be encoded."""
    if isinstance(value, str):
        if value.isascii():
            return value
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_sendable(name): _sendable(item) for name, item in value.items()}
    return [*map(_sendable, value)] if isinstance(value, list) else value
