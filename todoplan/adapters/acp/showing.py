"""
Send a plan to a client: at once, and after every change, until it is stopped.

A subscriber must return quickly, but a client may read slowly. So the subscriber only records the
newest plan, and a task of the event loop sends it. Several changes in the meantime are sent as one
update, since an update contains the whole plan and replaces earlier ones.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from acp.interfaces import Client
from acp.schema import AgentPlanContentUpdate, AgentPlanUpdate

from todoplan.adapters.acp.updates import make_update
from todoplan.core.events.apply import Entry
from todoplan.core.plan.plan import Plan
from todoplan.planner import AsyncPlanner, Planner

_logger = logging.getLogger("todoplan")


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
    feed = _Feed(client, session_id, plan_id)
    stop = planner.subscribe(feed.changed)
    # Subscribed before the plan is read, so that no change in between is missed.
    plan = (
        await planner.plan()
        if isinstance(planner, AsyncPlanner)
        else await asyncio.to_thread(lambda: planner.plan)
    )
    feed.saw(plan)
    # However the task ends: closed, failed, or stopped with the loop.
    feed.sender.add_done_callback(lambda _: stop())
    return feed.close


class _Feed:
    """The newest plan, and the task that sends it."""

    def __init__(self, client: Client, session_id: str, plan_id: str | None) -> None:
        self._client, self._session_id, self._plan_id = client, session_id, plan_id
        self._loop = asyncio.get_running_loop()
        self._newest = self._sent = Plan()
        self._wake = asyncio.Event()
        self._closing = False
        self.sender = self._loop.create_task(self._send_all())

    def changed(self, _: Entry, plan: Plan) -> None:
        """Handle a change; called in the thread that made it."""
        self._loop.call_soon_threadsafe(self.saw, plan)

    def saw(self, plan: Plan) -> None:
        """Schedule a plan for sending, unless a newer one is known."""
        if plan.revision > self._newest.revision:
            self._newest = plan
            self._wake.set()

    async def close(self) -> None:
        """Send the pending plan, and end."""
        # Calls that other threads made before this are still in the loop's queue.
        await asyncio.sleep(0)
        self._closing = True
        self._wake.set()
        await self.sender

    async def _send_all(self) -> None:
        while self._newest.revision > self._sent.revision or not self._closing:
            await self._wake.wait()
            self._wake.clear()
            plan = self._newest
            if plan.revision == self._sent.revision:
                continue
            try:
                await self._client.session_update(self._session_id, self._model(plan))
            # Whatever the connection raises: the plan does not depend on its viewers.
            except Exception:
                _logger.exception("the client of session %r is told no more", self._session_id)
                return
            self._sent = plan

    def _model(self, plan: Plan) -> Any:
        update = make_update(plan, plan_id=self._plan_id)
        model = AgentPlanUpdate if self._plan_id is None else AgentPlanContentUpdate
        return model.model_validate(update)
