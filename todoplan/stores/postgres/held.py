"""What `hold` gives, of either store: a `Held`. What it does stands in `holding`."""

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
    A plan that nobody else can change until the `with` ends. Of the thread that holds it.
    """

    def __init__(self, db: Connection, holding: Holding) -> None:
        self._db = db
        self.holding = holding

    @property
    def revision(self) -> int:
        """
        Of the plan as it is, what was appended here included; 0 if it was never written.
        """
        return self.holding.revision

    def now(self) -> datetime:
        """
        Return the time by the server's clock, in UTC.
        """
        return self._carry_out(self.holding.now_steps())

    def entries_since(self, revision: int) -> tuple[Entry, ...]:
        """
        Return the entries behind a revision.

        Raises:
            StoreError: the plan is not that far ("rolled_back").
        """
        return self._carry_out(self.holding.since_steps(revision))

    def receipt(self, key: Key) -> Receipt | None:
        """
        Return what was appended under this key.

        Raises:
            StoreError: with another payload ("key_reused").
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
        Add entries, or return those that came under the key before. Kept once the `with` ends.

        Raises:
            StoreError: the plan is at another revision ("overtaken"); the key was used with another
                payload ("key_reused"); an entry is too large.
            CodecError: an entry holds what JSON cannot.
        """
        steps = self.holding.append_steps(expected, entries, plan, key, answer)
        return self._carry_out(steps)

    def compact(self, keep: int | timedelta) -> int:
        """
        Cut the plan's journal, as `PostgresStore.compact` does.
        """
        return self._carry_out(self.holding.cut_steps(keep))

    def _carry_out(self, steps: Steps[T]) -> T:
        self.holding.checked()
        try:
            return carry_out(self._db, steps)
        except psycopg.Error as error:
            raise self.holding.failed(error) from error


class AsyncPostgresHeld:
    """
    A `PostgresHeld` whose methods are awaited. Of the task that holds the plan.
    """

    def __init__(self, db: AsyncConnection, holding: Holding) -> None:
        self._db = db
        self._holding = holding

    @property
    def revision(self) -> int:
        """
        Of the plan as it is, what was appended here included; 0 if it was never written.
        """
        return self._holding.revision

    async def now(self) -> datetime:
        """
        Return the time by the server's clock, in UTC.
        """
        return await self._carry_out(self._holding.now_steps())

    async def entries_since(self, revision: int) -> tuple[Entry, ...]:
        """
        Return the entries behind a revision.

        Raises:
            StoreError: the plan is not that far ("rolled_back").
        """
        return await self._carry_out(self._holding.since_steps(revision))

    async def receipt(self, key: Key) -> Receipt | None:
        """
        Return what was appended under this key.

        Raises:
            StoreError: with another payload ("key_reused").
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
        Add entries, or return those that came under the key before. Kept once the `async with`
        ends.

        Raises:
            TodoplanError: as of `PostgresHeld.append`.
        """
        steps = self._holding.append_steps(expected, entries, plan, key, answer)
        return await self._carry_out(steps)

    async def compact(self, keep: int | timedelta) -> int:
        """
        Cut the plan's journal, as `PostgresStore.compact` does.
        """
        return await self._carry_out(self._holding.cut_steps(keep))

    async def _carry_out(self, steps: Steps[T]) -> T:
        self._holding.checked()
        try:
            return await carry_out_awaited(self._db, steps)
        except psycopg.Error as error:
            raise self._holding.failed(error) from error


def ended(db: Connection, holding: Holding) -> psycopg.Error | None:
    """
    End the transaction; return what leaves open whether it was committed.
    """
    try:
        db.execute(holding.last_statement)
    except psycopg.Error as error:
        return holding.raised_at_the_end(error)
    return None


async def ended_awaited(db: AsyncConnection, holding: Holding) -> psycopg.Error | None:
    """
    End the transaction; return what leaves open whether it was committed.
    """
    try:
        await db.execute(holding.last_statement)
    except psycopg.Error as error:
        return holding.raised_at_the_end(error)
    return None
