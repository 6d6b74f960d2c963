"""A claimed task, awaited: what `claims` has, in a task of asyncio instead of a thread."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Self

from todoplan.core.commands import ClaimTask, ReleaseClaim, UpdateTask
from todoplan.core.plan.model import Status, Task
from todoplan.errors import PlanError, StoreError
from todoplan.planner.claiming.claims import BEATS, HeldClaim

if TYPE_CHECKING:
    from todoplan.planner.async_planner import AsyncPlanner

__all__ = ["AsyncClaimed"]


class AsyncClaimed(HeldClaim):
    """
    The same, as `AsyncPlanner.claim` gives it. Use it in an `async with`.
    """

    def __init__(self, planner: AsyncPlanner, command: ClaimTask, task: Task, fence: int) -> None:
        super().__init__(command, task, fence)
        self._planner = planner
        self._beating: asyncio.Task[None] | None = None

    async def complete(self) -> None:
        """
        Complete the task. Raises as `Claimed.complete` does.
        """
        await self._close(self.closing(Status.COMPLETED))

    async def fail(self) -> None:
        """
        Close the task without its result.
        """
        await self._close(self.closing(Status.FAILED))

    async def release(self) -> None:
        """
        Give the task back.
        """
        await self._close(ReleaseClaim(self.task.id, self.fence))

    async def renew(self) -> bool:
        """
        Put off the end of the claim now, and say whether it is still held.
        """
        asked = time.monotonic()
        decision = None
        with suppress(StoreError):
            decision = await self._planner.apply(self.renewal(), actor=self.owner)
        self.renewed(asked, decision)
        return not self.lost

    async def _close(self, command: UpdateTask | ReleaseClaim) -> None:
        self.settle(await self._planner.apply(command, actor=self.owner))

    async def __aenter__(self) -> Self:
        self._beating = asyncio.create_task(self._beat())
        return self

    async def _beat(self) -> None:
        held = True
        while held:
            await asyncio.sleep(self.lease / BEATS)
            held = await self.renew()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._beating is not None:
            self._beating.cancel()
            await asyncio.wait([self._beating])
        if self.settled:
            return
        try:
            if error is None:
                await self.complete()
        finally:
            if not self.settled:
                with suppress(StoreError, PlanError):
                    await self.release()
