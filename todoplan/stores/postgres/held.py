"""Handles of a locked plan, which `hold` returns, for both stores. `holding` has the logic."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TypeVar

import psycopg

from todoplan.core.events.journal import Entry
from todoplan.core.plan.plan import Plan
from todoplan.stores.hold import Key, Receipt
from todoplan.stores.postgres.async_connections import AsyncConnection
from todoplan.stores.postgres.async_connections import carry_out as carry_out_awaited
from todoplan.stores.postgres.connections import Connection, carry_out
from todoplan.stores.postgres.holding import Holding
from todoplan.stores.postgres.schema import Steps

__all__ = ["AsyncPostgresHeld", "PostgresHeld", "ended", "ended_awaited"]

T = TypeVar("T")


class PostgresHeld:
    """
    A plan that nobody else can change until the `with` ends. Use it only in the locking thread.
    """

    def __init__(self, db: Connection, holding: Holding) -> None:
        self._db = db
        self.holding = holding

    @property
    def revision(self) -> int:
        """
        The plan's current revision, including appends made here; 0 if the plan was never written.
        """
        return self.holding.revision

    def now(self) -> datetime:
        """Return the time of the server's clock, in UTC."""
        return self._carry_out(self.holding.now_steps())

    def entries_since(self, revision: int) -> tuple[Entry, ...]:
        """
        Return the entries after a revision.

        Raises:
            StoreError: the plan has not reached that revision ("rolled_back").
        """
        return self._carry_out(self.holding.since_steps(revision))

    def receipt(self, key: Key) -> Receipt | None:
        """
        Return the result of the append that carried this key.

        Raises:
            StoreError: the key was used with another payload ("key_reused").
        """
        return self._carry_out(self.holding.receipt_steps(key))

    def append(
        self,
        expected: int,
        entries: Sequence[Entry],
        plan: Plan,
        *,
        key: Key | None = None,
        answer: str = "",
    ) -> tuple[Entry, ...]:
        """
        Add entries, or return the entries of the earlier append with the same key. The end of the
        `with` commits them.

        Raises:
            StoreError: the plan is at another revision ("overtaken"), the key was used with another
                payload ("key_reused"), or an entry is too large.
            CodecError: an entry contains a value that JSON cannot represent.
        """
        steps = self.holding.append_steps(expected, entries, plan, key, answer)
        return self._carry_out(steps)

    def compact(self, keep: int | timedelta) -> int:
        """Cut the plan's journal, as `PostgresStore.compact` does."""
        return self._carry_out(self.holding.cut_steps(keep))

    def _carry_out(self, steps: Steps[T]) -> T:
        self.holding.checked()
        try:
            return carry_out(self._db, steps)
        except psycopg.Error as error:
            raise self.holding.failed(error) from error


class AsyncPostgresHeld:
    """A `PostgresHeld` whose methods are awaited. Use it only in the task that locked the plan."""

    def __init__(self, db: AsyncConnection, holding: Holding) -> None:
        self._db = db
        self._holding = holding

    @property
    def revision(self) -> int:
        """
        The plan's current revision, including appends made here; 0 if the plan was never written.
        """
        return self._holding.revision

    async def now(self) -> datetime:
        """Return the time of the server's clock, in UTC."""
        return await self._carry_out(self._holding.now_steps())

    async def entries_since(self, revision: int) -> tuple[Entry, ...]:
        """
        Return the entries after a revision.

        Raises:
            StoreError: the plan has not reached that revision ("rolled_back").
        """
        return await self._carry_out(self._holding.since_steps(revision))

    async def receipt(self, key: Key) -> Receipt | None:
        """
        Return the result of the append that carried this key.

        Raises:
            StoreError: the key was used with another payload ("key_reused").
        """
        return await self._carry_out(self._holding.receipt_steps(key))

    async def append(
        self,
        expected: int,
        entries: Sequence[Entry],
        plan: Plan,
        *,
        key: Key | None = None,
        answer: str = "",
    ) -> tuple[Entry, ...]:
        """
        Add entries, or return the entries of the earlier append with the same key. The end of the
        `async with` commits them.

        Raises:
            TodoplanError: the same errors as `PostgresHeld.append`.
        """
        steps = self._holding.append_steps(expected, entries, plan, key, answer)
        return await self._carry_out(steps)

    async def compact(self, keep: int | timedelta) -> int:
        """Cut the plan's journal, as `PostgresStore.compact` does."""
        return await self._carry_out(self._holding.cut_steps(keep))

    async def _carry_out(self, steps: Steps[T]) -> T:
        self._holding.checked()
        try:
            return await carry_out_awaited(self._db, steps)
        except psycopg.Error as error:
            raise self._holding.failed(error) from error


def ended(db: Connection, holding: Holding) -> psycopg.Error | None:
    """End the transaction. Return an error that leaves it unknown whether the commit succeeded."""
    try:
        db.execute(holding.last_statement)
    except psycopg.Error as error:
        return holding.raised_at_the_end(error)
    return None


async def ended_awaited(db: AsyncConnection, holding: Holding) -> psycopg.Error | None:
    """End the transaction. Return an error that leaves it unknown whether the commit succeeded."""
    try:
        await db.execute(holding.last_statement)
    except psycopg.Error as error:
        return holding.raised_at_the_end(error)
    return None
