"""
One plan as all who watch it know it: read once from the store, whoever looks.

A reader keeps the plan that it was last sent. A plan is a value that shares what did not change, so
that costs little, and a reader that is slow is simply sent the difference to the plan as it is by
then: nothing piles up for it. While nobody reads, nothing is asked of the store.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from typing import Any

from todoplan.board.messages import change, snapshot
from todoplan.core.events.journal import Entry
from todoplan.core.plan.plan import Plan
from todoplan.errors import CodecError, TodoplanError
from todoplan.planner import AsyncPlanner
from todoplan.stores.journals import follow, plan_after

__all__ = ["Feed"]

_KEPT = 1_000  # entries: of a reader that is further behind, the oldest rows are left out
_PAUSE = 0.05  # seconds between two messages: twenty a second are more than anybody reads

Message = tuple[str, dict[str, Any]]


class Feed:
    """
    One plan, for as long as somebody reads it.
    """

    def __init__(self, plan_id: str, planner: AsyncPlanner) -> None:
        self.plan_id = plan_id
        self.planner = planner
        self._plan = Plan()
        self._recent: deque[Entry] = deque(maxlen=_KEPT)
        self._readers = 0
        self._following: asyncio.Task[None] | None = None
        self._news = asyncio.Event()
        self._failure: TodoplanError | None = None
        self._beginning = asyncio.Lock()

    async def messages(self, known: int | None = None) -> AsyncGenerator[Message, None]:
        """
        Yield (name, data) for a reader that knows the plan up to a revision, or nothing of it.

        The last one is called "trouble" where the store cannot be read any longer.

        Raises:
            TodoplanError: the store cannot be read at all.
        """
        self._readers += 1
        try:
            await self._begin()
            seen = None if known is None else await self._known_at(known)
            if seen is None:
                seen = self._plan
                journal = await self.planner.history()
                yield "snapshot", snapshot(self.plan_id, seen, _up_to(seen.revision, journal))
            while True:
                news, now = self._news, self._plan
                if now.revision != seen.revision:
                    behind = [each for each in self._recent if each.revision > seen.revision]
                    yield "change", change(seen, now, behind)
                    seen = now
                    await asyncio.sleep(_PAUSE)
                elif self._failure is not None:
                    yield "trouble", {"told": str(self._failure)}
                    return
                else:
                    await news.wait()
        finally:
            self._readers -= 1
            if not self._readers and self._following is not None:
                self._following.cancel()
                self._following = None

    async def _begin(self) -> None:
        # One at a time: a second reader must not find a plan that is still being read.
        async with self._beginning:
            if self._following is not None:
                return
            self._failure = None
            self._plan = await self.planner.plan()
            self._recent.clear()
            self._following = asyncio.create_task(self._follow())

    async def _follow(self) -> None:
        entries = self.planner.watch(self._plan.revision)
        try:
            while True:
                entry = await anext(entries)
                self._plan = plan_after(self._plan, entry)
                self._recent.append(entry)
                self._tell()
        except TodoplanError as error:
            self._failure = error
            self._tell()

    def _tell(self) -> None:
        told, self._news = self._news, asyncio.Event()
        told.set()

    async def _known_at(self, revision: int) -> Plan | None:
        """
        Return the plan at a revision that a page knows; `None` if the journal does not tell of it:
        it was cut, or an older copy of the store was put back.
        """
        if revision == self._plan.revision:
            return self._plan
        journal = await self.planner.history()
        try:
            # Aside: of a journal of years this takes a while, and others are being sent theirs.
            plan = await asyncio.to_thread(follow, Plan(), _up_to(revision, journal))
        except CodecError:
            return None
        if plan.revision != revision or revision > self._plan.revision:
            return None
        if not self._recent or self._recent[0].revision > revision:
            now = _up_to(self._plan.revision, journal)
            self._recent = deque(now, maxlen=_KEPT)
        return plan


def _up_to(revision: int, journal: tuple[Entry, ...]) -> tuple[Entry, ...]:
    return tuple(entry for entry in journal if entry.revision <= revision)
