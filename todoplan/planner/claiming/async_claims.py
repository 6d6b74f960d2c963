"""`AsyncClaimed`: a claimed task whose steps are awaited in an asyncio event loop."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Self, TypeVar

from todoplan.core.commands import ClaimTask
from todoplan.core.plan.model import Task
from todoplan.planner.claiming.claims import BEATS, HeldClaim
from todoplan.planner.steps import Steps, awaited

if TYPE_CHECKING:
    from todoplan.planner.async_planner import AsyncPlanner

T = TypeVar("T")


class AsyncClaimed(HeldClaim):
    """A `Claimed` whose methods are awaited, for `async with`. `AsyncPlanner.claim` returns it."""

    planner: AsyncPlanner
    _sleep = staticmethod(asyncio.sleep)

    def __init__(
        self, planner: AsyncPlanner, command: ClaimTask, *got: *tuple[Task, int, float]
    ) -> None:
        super().__init__(planner, command, *got)
        self._beating: asyncio.Task[None] | None = None

    complete = awaited(HeldClaim._complete)
    fail = awaited(HeldClaim._fail)
    release = awaited(HeldClaim._release)
    renew = awaited(HeldClaim._renew)

    async def _await(self, steps: Steps[T]) -> T:
        return await self.planner._await(steps)

    async def __aenter__(self) -> Self:
        await self._await(self._starting())
        self._beating = asyncio.create_task(self._beat())
        return self

    async def _beat(self) -> None:
        # The flag `_beating` also ends the loop, because a subscriber may suppress a cancellation.
        while self._beating is not None and not self._lost:
            await asyncio.sleep(self.lease / BEATS)
            await self.renew()

    async def __aexit__(self, _: object, error: BaseException | None, __: object) -> None:
        async def end() -> None:
            if (beating := self._beating) is not None:
                self._beating = None
                beating.cancel()
                await asyncio.wait([beating])
            await self._await(self._ending(error))

        # If this were cancelled halfway, the task would stay claimed without a heartbeat.
        await self.planner._background.to_its_end(end())
