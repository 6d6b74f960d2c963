"""
When a plan is sent: at once, and after every change, until that is stopped.

A subscriber must not take long, and a client may read slowly. So it only leaves the newest plan,
and a task of this loop sends it. What comes meanwhile is sent as one: an update is the whole plan,
and the later one takes the earlier one's place.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from acp.interfaces import Client
from acp.schema import AgentPlanContentUpdate, AgentPlanUpdate

from todoplan.adapters.acp.updates import make_update
from todoplan.core.events.journal import Entry
from todoplan.core.plan.plan import Plan
from todoplan.planner import AsyncPlanner, Planner

__all__ = ["show_plan"]

_logger = logging.getLogger("todoplan")


async def show_plan(
    client: Client,
    session_id: str,
    planner: AsyncPlanner | Planner,
    *,
    plan_id: str | None = None,
) -> Callable[[], Awaitable[None]]:
    """
    Show a plan in a session from now on; await what is returned to stop that, when all was sent.

    `client` is the connection that an agent of the `acp` package has to its client. `plan_id` is as
    of `make_update`. A plan that nobody has written yet is not shown. What others do is shown too
    while somebody has the planner `follow` them. A client that is gone is told no more.
    """
    feed = _Feed(client, session_id, plan_id)
    stop = planner.subscribe(feed.changed)
    # Subscribed first: a change that comes between is sent by itself.
    plan = (
        await planner.plan()
        if isinstance(planner, AsyncPlanner)
        else await asyncio.to_thread(lambda: planner.plan)
    )
    feed.saw(plan)
    # However it ends: closed, the client gone, or the loop.
    feed.sender.add_done_callback(lambda _: stop())
    return feed.close


class _Feed:
    """
    The newest plan, and the task that sends it.
    """

    def __init__(self, client: Client, session_id: str, plan_id: str | None) -> None:
        self._client, self._session_id, self._plan_id = client, session_id, plan_id
        self._loop = asyncio.get_running_loop()
        self._newest = self._sent = Plan()
        self._wake = asyncio.Event()
        self._closing = False
        self.sender = self._loop.create_task(self._send_all())

    def changed(self, _: Entry, plan: Plan) -> None:
        """
        Hear of a change, in whatever thread the command was given.
        """
        self._loop.call_soon_threadsafe(self.saw, plan)

    def saw(self, plan: Plan) -> None:
        """
        Have a plan sent, unless a newer one is known.
        """
        if plan.revision > self._newest.revision:
            self._newest = plan
            self._wake.set()

    async def close(self) -> None:
        """
        Send what is still to be sent, and end.
        """
        # What other threads called before this stands in the loop's queue.
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
            # Whatever the connection raises: a plan goes on without those who look at it.
            except Exception:
                _logger.exception("the client of session %r is told no more", self._session_id)
                return
            self._sent = plan

    def _model(self, plan: Plan) -> Any:
        update = make_update(plan, plan_id=self._plan_id)
        model = AgentPlanUpdate if self._plan_id is None else AgentPlanContentUpdate
        return model.model_validate(update)
