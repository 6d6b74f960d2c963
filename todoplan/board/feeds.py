"""
The state of one plan for all pages that watch it: the store is read once for all of them.

For each reader, the feed keeps the plan that was last sent. Plans share unchanged parts, so this is
cheap. A slow reader receives the difference to the current plan, so no messages queue up for it.
The store is not read while there are no readers.
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

_KEPT = 1_000  # entries; a reader that missed more does not receive the oldest rows
_PAUSE = 0.05  # seconds between two messages: at most twenty a second

Message = tuple[str, dict[str, Any]]


class Feed:
    """The state of one plan, kept up to date while there are readers."""

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
        Yield (name, data) messages for one reader.

        `known` is the revision that the reader already has, or `None` if it has none. If the store
        can no longer be read, the last message is named "trouble".

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
        # Locked: a second reader must not see a plan that is still being loaded.
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
        Return the plan at a revision that a page has, or `None` if the journal does not contain it.

        That is so if the journal was truncated, or an older copy of the store was restored.
        """
        if revision == self._plan.revision:
            return self._plan
        journal = await self.planner.history()
        try:
            # In a thread: replaying a long journal takes a while, and other readers must not wait.
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
