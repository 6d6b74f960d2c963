"""`AsyncPostgresStore`: the steps of `PostgresStore`, awaited."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from functools import partial
from types import TracebackType
from typing import Self, TypeVar

import psycopg

from todoplan.core.events.journal import Entry
from todoplan.core.plan.plan import Plan
from todoplan.errors import StoreError
from todoplan.stores.base import checked_id
from todoplan.stores.hold import ALL
from todoplan.stores.postgres import reading, writing
from todoplan.stores.postgres.address import Address, checked_address
from todoplan.stores.postgres.async_connections import AsyncConnections
from todoplan.stores.postgres.held import AsyncPostgresHeld, ended_awaited
from todoplan.stores.postgres.holding import Holding
from todoplan.stores.postgres.listening import Listener
from todoplan.stores.postgres.schema import Steps
from todoplan.stores.postgres.turns import AsyncTurns

__all__ = ["AsyncPostgresStore"]

T = TypeVar("T")


class AsyncPostgresStore:
    """
    A `PostgresStore` whose methods are awaited. The arguments and guarantees are the same.

    Use it in many tasks of one event loop, or in one event loop after another.
    """

    def __init__(
        self,
        dsn: str,
        *,
        patience: float = 10.0,
        most_connections: int = 4,
        notify: bool = True,
    ) -> None:
        self.address: Address = checked_address(dsn)
        self.connections = AsyncConnections(self.address, most_connections, patience)
        self._begun = writing.begin(patience)
        self._notify = notify
        self._listener = Listener(self.address, is_told=notify)
        self._turns = AsyncTurns(self.address, patience)

    async def close(self) -> None:
        """Close the connections that are not in use. A later call opens new ones."""
        await asyncio.to_thread(self._listener.close)
        self.connections.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def load(self, plan_id: str) -> Plan:
        """
        Return the plan as of its last entry.

        Raises:
            TodoplanError: the same errors as `PostgresStore.load`.
        """
        return await self._read(lambda: reading.loaded(plan_id), f"load the plan {plan_id!r}")

    async def entries(self, plan_id: str) -> tuple[Entry, ...]:
        """
        Return the plan's journal, oldest entry first. A journal that was cut begins with a snapshot
        entry.

        Raises:
            TodoplanError: the same errors as `load`.
        """
        return await self.entries_since(plan_id, ALL)

    async def entries_since(self, plan_id: str, revision: int) -> tuple[Entry, ...]:
        """
        Return the entries after a revision, oldest first.

        Raises:
            TodoplanError: the same errors as `load`; a StoreError ("rolled_back") if the plan has
                not reached that revision.
        """
        doing = f"read the journal of the plan {plan_id!r}"
        tail = await self._read(lambda: reading.tail(plan_id, revision), doing)
        return tail.entries

    async def plan_ids(self) -> tuple[str, ...]:
        """
        Return the ids of all written plans, in byte order.

        Raises:
            StoreError: the same errors as `load`.
        """
        return await self._read(reading.plan_ids, "list its plans")

    async def wait_for_change(self, plan_id: str, revision: int, timeout: float) -> bool:  # noqa: ASYNC109 - as in `PostgresStore`
        """
        Wait at most `timeout` seconds until the plan's revision differs from `revision`; return
        whether it does.

        Raises:
            StoreError: the same errors as `load`.
        """
        end, changed = time.monotonic() + timeout, asyncio.Event()
        loop = asyncio.get_running_loop()

        def wake() -> None:
            with suppress(RuntimeError):  # the loop has ended: nobody waits any more
                loop.call_soon_threadsafe(changed.set)

        with self._listener.waking(reading.name_in_row(plan_id), wake):
            while True:
                changed.clear()
                doing = f"look for changes of the plan {plan_id!r}"
                if await self._read(lambda: reading.revision_of(plan_id), doing) != revision:
                    return True
                left = end - time.monotonic()
                if left <= 0:
                    return False
                with suppress(TimeoutError):
                    async with asyncio.timeout(min(left, self._listener.pause)):
                        await changed.wait()

    async def append(
        self, plan_id: str, expected: int, entries: Sequence[Entry], plan: Plan
    ) -> bool:
        """
        Add entries if the plan is at revision `expected`; return whether they were added.

        Raises:
            TodoplanError: the same errors as `hold`.
        """
        async with self.hold(plan_id) as held:
            is_there = held.revision == expected
            if is_there:
                await held.append(expected, entries, plan)
        return is_there

    async def compact(self, plan_id: str, *, keep: int | timedelta) -> int:
        """
        Cut a plan's journal, as `PostgresStore.compact` does.

        Raises:
            TodoplanError: the same errors as `PostgresStore.compact`.
        """
        async with self.hold(plan_id) as held:
            return await held.compact(keep)

    @asynccontextmanager
    async def hold(self, plan_id: str) -> AsyncIterator[AsyncPostgresHeld]:
        """
        Wait until the plan is free, and lock it for the duration of an `async with` block.

        Raises:
            StoreError: the same errors as `PostgresStore.hold`.
        """
        async with self._turns.taken(checked_id(plan_id)):
            error: psycopg.Error | None = None
            doing = f"hold the plan {plan_id!r}"
            steps = partial(writing.locked, plan_id, self._begun)
            async with self.connections.started(steps, doing) as (db, at):
                holding = Holding(self.address, at, announced=self._notify)
                try:
                    yield AsyncPostgresHeld(db, holding)
                    holding.may_commit(db)
                    error = await ended_awaited(db, holding)
                # After other exceptions, such as a cancellation, the connection is closed without a
                # rollback.
                except Exception:
                    if holding.is_here:
                        with suppress(psycopg.Error):
                            await db.execute("rollback")
                    raise
                finally:
                    holding.end()
            if error is not None:
                await self._settle(holding, error)

    async def _read(self, steps: Callable[[], Steps[T]], doing: str) -> T:
        async with self.connections.started(steps, doing) as (_, value):
            return value

    async def _settle(self, holding: Holding, error: psycopg.Error) -> None:
        """Find out whether a commit succeeded whose response was lost."""
        steps = partial(holding.settling_steps, self._begun)
        doing = f"look what became of an append to the plan {holding.plan_id!r}"
        try:
            async with self.connections.started(steps, doing) as (db, is_kept):
                await db.execute("rollback")
        except (StoreError, psycopg.Error):
            raise holding.unknown() from error
        holding.settle(error, is_kept=is_kept)
