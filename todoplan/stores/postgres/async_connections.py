"""
Async connections: the pool of `AsyncPostgresStore`. The rules are those of `connections`.

The connections belong to no event loop: a store may be used in one loop after another, because each
`asyncio.run` creates a new loop.
"""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from random import uniform
from typing import TypeVar

import psycopg

from todoplan.stores.postgres.connections import PAUSE, Free
from todoplan.stores.postgres.schema import Row, Steps, prepared, settled

__all__ = ["AsyncConnection", "AsyncConnections", "carry_out"]

T = TypeVar("T")
AsyncConnection = psycopg.AsyncConnection[Row]


class AsyncConnections(Free[psycopg.AsyncConnection[Row]]):
    """
    A pool of at most `most` connections. A caller waits for a free one for at most `patience`
    seconds.
    """

    @asynccontextmanager
    async def started(
        self, first: Callable[[], Steps[T]], doing: str
    ) -> AsyncIterator[tuple[AsyncConnection, T]]:
        """
        Lend a connection, after executing the `first` steps on it. These steps must not write.

        Raises:
            StoreError: the database cannot be reached, or refuses a statement.
        """
        end, process = time.monotonic() + self.patience, os.getpid()
        places = self.places_in(asyncio.get_running_loop())
        try:
            async with asyncio.timeout(self.patience):
                await places.acquire()
        except TimeoutError:
            raise self.all_taken() from None
        try:
            db, value = await self._start(first, end, doing)
            try:
                yield db, value
            finally:
                self.put(db, process)
        finally:
            places.release()

    async def _start(
        self, first: Callable[[], Steps[T]], end: float, doing: str
    ) -> tuple[AsyncConnection, T]:
        while True:
            db = self.take()
            is_new = db is None
            try:
                db = db or await self._connect()
                if not self.is_prepared:
                    await carry_out(db, prepared())
                    self.is_prepared = True
                return db, await carry_out(db, first())
            except BaseException as error:
                if db is not None:
                    db.pgconn.finish()
                if not isinstance(error, psycopg.Error):
                    raise
                self.check(error, end, doing)
            if is_new:
                await asyncio.sleep(uniform(0.5, 1.5) * PAUSE)  # noqa: S311 - no secret

    async def _connect(self) -> AsyncConnection:
        connect = psycopg.AsyncConnection.connect
        db = self.checked(await connect(self.address.conninfo, autocommit=True))
        await carry_out(db, settled(db.info))
        return db


async def carry_out(db: AsyncConnection, steps: Steps[T]) -> T:
    """Execute steps on a connection and return their result."""
    rows: list[Row] | None = None
    try:
        while True:
            query, values = steps.send(rows)
            cursor = await db.execute(query, values)
            rows = await cursor.fetchall() if cursor.description else []
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]  # a generator's value is Any
    finally:
        steps.close()
