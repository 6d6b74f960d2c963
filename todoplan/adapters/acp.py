"""
Plans for any ACP client (Zed, JetBrains, Neovim, Emacs): `pip install 'todoplan[acp]'`.

`show_plan` sends a planner's plan to the client of a session, and sends it again after every
change. `make_update` returns the same update as plain JSON, for an agent with its own transport.

ACP only displays plans. Tool calls and reminders belong to the adapter of the framework that runs
the model.

An update, the `update` of a `session/update`, is always the whole list. The protocol has fewer
statuses than todoplan, and its versions differ:

| | version 1 | version 2 |
| --- | --- | --- |
| pending, in progress, completed | the same | the same |
| cancelled | left out, as in LangChain's list, since none of the three fits | `cancelled` |
| failed | `pending`: it is not done, and the tasks that it blocks cannot start | `_failed` (ours) |
| waiting | `pending` | `pending` |

If the status cannot express something, it is written after the task's text, for people. It is also
under `_meta`, together with ids and edges, for clients that support todoplan.
"""

from collections.abc import Awaitable, Callable, Iterator
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
"""The key of todoplan under `_meta`; the protocol requires a unique one."""

_STATUSES: dict[int, dict[Status, str]] = {
    1: {Status.FAILED: Status.PENDING.value},
    2: {Status.FAILED: "_failed"},
}
_PLAN = "plan"


def make_update(
    plan: Plan, *, plan_id: str | None = None, version: Literal[1, 2] = 1
) -> dict[str, Any]:
    """
    Return the update that shows a plan, as plain JSON.

    In version 1 without `plan_id`, it is a `plan`, of which a session has one. With `plan_id` it is
    a `plan_update`, which a client of version 1 accepts if it declares it
    (`clientCapabilities.plan`). In version 2 it is always a `plan_update`; the default id is
    "plan".

    Raises:
        PlanError: `plan` is not a plan, or the version is unknown.
    """
    require(plan, Plan)
    if version not in _STATUSES:
        msg = f"version={version!r} was given; ACP has 1 and 2"
        raise PlanError(msg, version=version)
    entries = [
        _entry(task, version) for task in plan if version > 1 or task.status is not Status.CANCELLED
    ]
    meta = {META: {"revision": plan.revision}}
    if plan_id is None and version == 1:
        return {"sessionUpdate": "plan", "entries": entries, "_meta": meta}
    items = {"type": "items", "planId": plan_id or _PLAN, "entries": entries}
    return {"sessionUpdate": "plan_update", "plan": items, "_meta": meta}


def _entry(task: Task, version: int) -> dict[str, Any]:
    notes = "; ".join(_notes(task, version))
    return {
        # A client displays it unchanged, so it has no terminal sequences and no line breaks.
        "content": one_line(f"{task.subject} ({notes})" if notes else task.subject),
        "priority": (task.priority or Priority.MEDIUM).value,
        "status": _STATUSES[version].get(task.status, task.status.value),
        "_meta": {META: dict(_meta(task))},
    }


def _notes(task: Task, version: int) -> Iterator[str]:
    if task.status is Status.FAILED and version == 1:
        yield "failed"
    if task.waiting is not None:
        yield f"waiting: {task.waiting.reason}" if task.waiting.reason else "waiting"
        if task.waiting.question is not None:
            yield f"asks: {task.waiting.question}"


def _meta(task: Task) -> Iterator[tuple[str, Any]]:
    yield "id", task.id
    yield "status", task.status.value
    if task.blocked_by:
        yield "blocked_by", [*task.blocked_by]
    for name in ("parent", "owner"):
        value = getattr(task, name)
        if value is not None:
            yield name, value
    if task.waiting is not None:
        until = task.waiting.until
        waiting = {
            "reason": task.waiting.reason,
            "question": task.waiting.question,
            "until": None if until is None else until.isoformat(),
        }
        yield "waiting", {name: value for name, value in waiting.items() if value}


async def show_plan(
    client: Client,
    session_id: str,
    planner: AsyncPlanner | Planner,
    *,
    plan_id: str | None = None,
) -> Callable[[], Awaitable[None]]:
    """
    Send a plan to a session's client from now on, and return a coroutine function that stops it.

    The returned function first sends the changes that were not sent yet. `client` is the connection
    of an agent of the `acp` package to its client. `plan_id` has the same meaning as in
    `make_update`. A plan that was never written is not sent. Changes from other processes are sent
    while the planner's `follow` runs. If sending to the client fails, nothing more is sent.
    """
    model: Any = AgentPlanUpdate if plan_id is None else AgentPlanContentUpdate

    async def send(_: Plan | None, plan: Plan) -> None:
        # An update contains the whole plan and replaces earlier ones.
        update = model.model_validate(make_update(plan, plan_id=plan_id))
        await client.session_update(session_id, update)

    return await show(planner, send, f"the client of session {session_id!r}")
