"""Send a plan to a client: at once, and after every change, until it is stopped."""

from collections.abc import Awaitable, Callable
from typing import Any

from acp.interfaces import Client
from acp.schema import AgentPlanContentUpdate, AgentPlanUpdate

from todoplan.adapters.acp.updates import make_update
from todoplan.core.plan.plan import Plan
from todoplan.planner import AsyncPlanner, Planner
from todoplan.planner.showing import show


async def show_plan(
    client: Client,
    session_id: str,
    planner: AsyncPlanner | Planner,
    *,
    plan_id: str | None = None,
) -> Callable[[], Awaitable[None]]:
    """
    Send a plan to a session's client from now on, and return a coroutine function that stops it.

    The returned function first sends what is still pending. `client` is the connection of an agent
    of the `acp` package to its client. `plan_id` has the same meaning as in `make_update`. A plan
    that was never written is not sent. Changes from other processes are sent while the planner's
    `follow` runs. If sending to the client fails, nothing more is sent.
    """
    model: Any = AgentPlanUpdate if plan_id is None else AgentPlanContentUpdate

    async def send(_: Plan | None, plan: Plan) -> None:
        # An update contains the whole plan and replaces earlier ones.
        update = model.model_validate(make_update(plan, plan_id=plan_id))
        await client.session_update(session_id, update)

    return await show(planner, send, f"the client of session {session_id!r}")
