"""
Shows a plan to a viewer: at once, and after every change, until it is stopped.

A subscriber must return quickly, but a viewer may read slowly. So the subscriber only keeps the
newest plan, and a task of the event loop sends it. Several changes in the meantime are sent as one.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from todoplan.core.events.apply import Entry
from todoplan.core.plan.plan import Plan
from todoplan.planner.async_planner import AsyncPlanner
from todoplan.planner.planner import Planner

_logger = logging.getLogger("todoplan")

Send = Callable[[Plan | None, Plan], Awaitable[object]]
"""Sends a plan. Its first argument is the plan that was sent before, or `None` the first time."""


async def show(
    planner: AsyncPlanner | Planner, send: Send, viewer: str
) -> Callable[[], Awaitable[None]]:
    """
    Send a plan from now on, and return a coroutine function that stops this.

    The returned function first sends the newest plan, if that plan was not sent yet. A plan that
    was never written is not sent. Changes by other processes are sent while the planner's `follow`
    runs. If `send` raises, nothing more is sent, and the log names the viewer.
    """
    feed = _Feed(send, viewer)
    stop = planner.subscribe(feed.changed)
    # Subscribed before the plan is read, so that no change in between is missed.
    plan = (
        await planner.plan()
        if isinstance(planner, AsyncPlanner)
        else await asyncio.to_thread(lambda: planner.plan)
    )
    feed.saw(plan)
    # Unsubscribe in every case: if the task is closed, fails, or is stopped with the loop.
    feed.sender.add_done_callback(lambda _: stop())
    return feed.close


class _Feed:
    """The newest plan, and the task that sends it."""

    def __init__(self, send: Send, viewer: str) -> None:
        self._send, self._viewer = send, viewer
        self._loop = asyncio.get_running_loop()
        self._newest = Plan()
        self._sent: Plan | None = None
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

    def _is_pending(self) -> bool:
        return self._newest.revision > (0 if self._sent is None else self._sent.revision)

    async def _send_all(self) -> None:
        while self._is_pending() or not self._closing:
            await self._wake.wait()
            self._wake.clear()
            if not self._is_pending():
                continue
            plan = self._newest
            try:
                await self._send(self._sent, plan)
            # The connection may raise anything, and a failing viewer must not affect the plan.
            except Exception:
                _logger.exception("%s gets no more plans: sending one failed", self._viewer)
                return
            self._sent = plan
