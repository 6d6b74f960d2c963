"""
Plans for any ACP client (Zed, JetBrains, Neovim, Emacs): `pip install 'todoplan[acp]'`.

`show_plan` sends a planner's plan to the client of a session, and sends it again after every
change. `make_update` returns the same update as plain JSON, for an agent with its own transport.

ACP only displays plans. Tool calls and reminders belong to the adapter of the framework that runs
the model.

An update (the `update` of a `session/update`) always contains all tasks. The protocol has fewer
statuses than todoplan, and its versions differ:

| | version 1 | version 2 |
| --- | --- | --- |
| pending, in progress, completed | the same | the same |
| cancelled | left out, because none of the three statuses fits | `cancelled` |
| failed | `pending`: it is not done, and the tasks that it blocks cannot start | `_failed` (ours) |
| waiting | `pending` | `pending` |

What the status cannot express is written after the task's text, for people. Clients that support
todoplan also find it under `_meta`, together with the ids and the dependencies.
"""

from collections.abc import Awaitable, Callable
from typing import Any, Literal

from todoplan.errors import MissingExtraError, PlanError

try:
    from acp.interfaces import Client
    from acp.schema import AgentPlanContentUpdate, AgentPlanUpdate
except ModuleNotFoundError as error:
    raise MissingExtraError.of(error.name, "acp") from error

from todoplan.core.plan.model import Priority, Status, Task
from todoplan.core.plan.plan import Plan
from todoplan.dialogue.toolbox import require
from todoplan.lazy import listing
from todoplan.planner import AsyncPlanner, Planner
from todoplan.planner.showing import show
from todoplan.texts import one_line

__all__ = ["make_update", "show_plan"]
__dir__ = listing(__all__)

META = "todoplan"
"""The key of todoplan under `_meta`; the protocol requires a unique key."""

_FAILED = {1: Status.PENDING.value, 2: "_failed"}
"""The status of a failed task, by protocol version."""


def make_update(
    plan: Plan, *, plan_id: str | None = None, version: Literal[1, 2] = 1
) -> dict[str, Any]:
    """
    Return the update that shows a plan, as plain JSON.

    `version` is the protocol's. In version 1 without `plan_id`, the update is a `plan`, of which a
    session has only one. With `plan_id`, the update is a `plan_update`; clients of version 1 accept
    it if they declare `clientCapabilities.plan`. In version 2, the update is always a
    `plan_update`, by default with the id "plan".

    Raises:
        PlanError: `plan` is not a plan, or the version is unknown.
    """
    require(plan, Plan)
    if version not in _FAILED:
        msg = f"version={version!r} was given; ACP has 1 and 2"
        raise PlanError(msg, version=version)
    entries = [
        _entry(task, version) for task in plan if version > 1 or task.status is not Status.CANCELLED
    ]
    meta = {META: {"revision": plan.revision}}
    if plan_id is None and version == 1:
        return {"sessionUpdate": "plan", "entries": entries, "_meta": meta}
    items = {"type": "items", "planId": plan_id or "plan", "entries": entries}
    return {"sessionUpdate": "plan_update", "plan": items, "_meta": meta}


def _entry(task: Task, version: int) -> dict[str, Any]:
    """Return the entry of a task in an update."""
    is_failed = task.status is Status.FAILED
    notes = ["failed"] if is_failed and version == 1 else []
    if task.waiting is not None:
        notes.append(f"waiting: {task.waiting.reason}" if task.waiting.reason else "waiting")
        if task.waiting.question is not None:
            notes.append(f"asks: {task.waiting.question}")
    aside = f" ({'; '.join(notes)})" if notes else ""
    meta: dict[str, Any] = {"id": task.id, "status": task.status.value}
    if task.blocked_by:
        meta["blocked_by"] = [*task.blocked_by]
    for name in ("parent", "owner"):
        value = getattr(task, name)
        if value is not None:
            meta[name] = value
    if task.waiting is not None:
        until = task.waiting.until
        waiting = {
            "reason": task.waiting.reason,
            "question": task.waiting.question,
            "until": None if until is None else until.isoformat(),
        }
        meta["waiting"] = {name: value for name, value in waiting.items() if value}
    return {
        # Clients display this text unchanged, so control characters and line breaks are removed.
        "content": one_line(f"{task.subject}{aside}"),
        "priority": (task.priority or Priority.MEDIUM).value,
        "status": _FAILED[version] if is_failed else task.status.value,
        "_meta": {META: meta},
    }


async def show_plan(
    client: Client,
    session_id: str,
    planner: AsyncPlanner | Planner,
    *,
    plan_id: str | None = None,
) -> Callable[[], Awaitable[None]]:
    """
    Send the plan to a session's client, now and after every change.

    `client` is an agent's connection to its client, in the `acp` package. `plan_id` lets a session
    show several plans, if its client can (see `make_update`). A plan that was never written is not
    sent. Changes from other processes are sent while the planner's `follow` runs.

    Await the returned function to stop; it first sends the changes that were not sent yet. If
    sending to the client fails, nothing more is sent.
    """
    model: Any = AgentPlanUpdate if plan_id is None else AgentPlanContentUpdate

    async def send(_: Plan | None, plan: Plan) -> None:
        # An update contains the whole plan and replaces earlier ones.
        update = model.model_validate(make_update(plan, plan_id=plan_id))
        await client.session_update(session_id, update)

    return await show(planner, send, f"the client of session {session_id!r}")
