"""`PostgresStore`: executes the steps in the calling thread."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from functools import partial
from threading import Event
from types import TracebackType
from typing import Self, TypeVar

import psycopg

from todoplan.core.events.journal import Entry
from todoplan.core.plan.plan import Plan
from todoplan.errors import StoreError
from todoplan.stores.base import checked_id
from todoplan.stores.hold import ALL
from todoplan.stores.locks import Hold
from todoplan.stores.postgres import reading, writing
from todoplan.stores.postgres.address import Address, checked_address
from todoplan.stores.postgres.connections import Connections, Lent
from todoplan.stores.postgres.held import PostgresHeld, ended
from todoplan.stores.postgres.holding import Holding
from todoplan.stores.postgres.listening import Listener
from todoplan.stores.postgres.schema import Steps
from todoplan.stores.postgres.turns import Turns

__all__ = ["PostgresStore"]

T = TypeVar("T")


class PostgresStore:
    """
    A `HoldingStore` in a PostgreSQL database, for any number of machines.

    `PostgresStore("postgresql://planner@db.example/plans")`. A call waits at most `patience`
    seconds for a plan, for a connection, or for a server that restarts. A store uses at most
    `most_connections` at a time. With `notify=False` commits are not announced, which is expensive
    on a server with many writers, and watchers poll instead.
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
        self.connections = Connections(self.address, most_connections, patience)
        self.begun = writing.begin(patience)
        self.notify = notify
        self._listener = Listener(self.address, is_told=notify)
        self.turns = Turns(self.address)
        self.patience = patience

    def close(self) -> None:
        """Close the connections that are not in use. A later call opens new ones."""
        self._listener.close()
        self.connections.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def load(self, plan_id: str) -> Plan:
        """
        Return the plan as of its last entry.

        Raises:
            StoreError: the database cannot be reached, or refuses a statement; `data["problem"]`
                says why.
            CodecError: a row is damaged, or of a newer version.
        """
        return self._read(lambda: reading.loaded(plan_id), f"load the plan {plan_id!r}")

    def entries(self, plan_id: str) -> tuple[Entry, ...]:
        """
        Return the plan's journal, oldest entry first. A journal that was cut begins with a snapshot
        entry.

        Raises:
            TodoplanError: the same errors as `load`.
        """
        return self.entries_since(plan_id, ALL)

    def entries_since(self, plan_id: str, revision: int) -> tuple[Entry, ...]:
        """
        Return the entries after a revision, oldest first.

        Raises:
            TodoplanError: the same errors as `load`; a StoreError ("rolled_back") if the plan has
                not reached that revision.
        """
        doing = f"read the journal of the plan {plan_id!r}"
        return self._read(lambda: reading.tail(plan_id, revision), doing).entries

    def plan_ids(self) -> tuple[str, ...]:
        """
        Return the ids of all written plans, in byte order.

        Raises:
            StoreError: the same errors as `load`.
        """
        return self._read(reading.plan_ids, "list its plans")

    def wait_for_change(self, plan_id: str, revision: int, timeout: float) -> bool:
        """
        Wait at most `timeout` seconds until the plan's revision differs from `revision`; return
        whether it does.

        Raises:
            StoreError: the same errors as `load`.
        """
        end, changed = time.monotonic() + timeout, Event()
        with self._listener.waking(reading.name_in_row(plan_id), changed.set):
            while True:
                changed.clear()  # before the query, so that no later change is missed
                doing = f"look for changes of the plan {plan_id!r}"
                if self._read(lambda: reading.revision_of(plan_id), doing) != revision:
                    return True
                left = end - time.monotonic()
                if left <= 0:
                    return False
                changed.wait(min(left, self._listener.pause))

    def append(self, plan_id: str, expected: int, entries: Sequence[Entry], plan: Plan) -> bool:
        """
        Add entries if the plan is at revision `expected`; return whether they were added.

        Raises:
            TodoplanError: the same errors as `hold`.
        """

        def append(held: PostgresHeld) -> bool:
            is_there = held.revision == expected
            if is_there:
                held.append(expected, entries, plan)
            return is_there

        return self.hold(plan_id).done(append)

    def compact(self, plan_id: str, *, keep: int | timedelta) -> int:
        """
        Cut a plan's journal and return the number of removed entries.

        `keep` is the number of newest entries to keep, or the maximum age of the entries to keep.
        One entry replaces the removed ones. It has the plan as it was then, with that revision and
        time. Undo cannot go back further than this entry. Idempotency keys of removed entries are
        deleted.

        Raises:
            PlanError: `keep` is neither a number of entries nor an age.
            TodoplanError: the same errors as `hold`.
        """
        return self.hold(plan_id).done(lambda held: held.compact(keep))

    def hold(self, plan_id: str) -> "PostgresHold":
        """
        Wait until the plan is free, and lock it for the duration of a `with` block.

        Raises:
            StoreError: the same errors as `load`. Also if somebody else holds the lock for too long
                ("busy") or this thread already holds it ("nested"), and if the connection was lost:
                nothing was appended ("lost"), or it is unknown whether something was ("unknown").
        """
        return PostgresHold(self, checked_id(plan_id))

    def _read(self, steps: Callable[[], Steps[T]], doing: str) -> T:
        lent = Lent(self.connections)
        try:
            return self.connections.lend(lent, steps, doing)
        finally:
            try:
                lent.give_back()
            finally:
                lent.give_back()


class PostgresHold(Hold[PostgresHeld]):
    """A context manager that locks a plan's row."""

    def __init__(self, store: PostgresStore, plan_id: str) -> None:
        self._store, self._plan_id = store, plan_id
        self._turn = store.turns.of(plan_id)
        self._turns: list[bool] = []
        self._lent = Lent(store.connections)
        self._holding: Holding | None = None
        self._is_settled = False

    def begin(self) -> PostgresHeld:
        """Lock the plan."""
        store = self._store
        self._turn.take(self._turns, store.patience)
        steps = partial(writing.locked, self._plan_id, store.begun)
        at = store.connections.lend(self._lent, steps, f"hold the plan {self._plan_id!r}")
        self._holding = Holding(store.address, at, announced=store.notify)
        return PostgresHeld(self._lent.db, self._holding)

    def keep(self, held: PostgresHeld) -> None:
        """
        Commit the appended entries. If the response is lost, find out whether the commit succeeded.
        """
        holding = held.holding
        holding.may_commit(self._lent.db)
        error = ended(self._lent.db, holding)
        holding.end()
        if error is not None:
            self._lent.drop()
            self._lent.give_back()
            self._settle(holding, error)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            # After other exceptions, such as an interrupt, the connection is closed without a
            # rollback.
            is_here = self._holding is not None and self._holding.is_here
            if isinstance(error, Exception) and is_here:
                with suppress(psycopg.Error):
                    self._lent.db.execute("rollback")
        finally:
            super().__exit__(kind, error, trace)

    def release(self, _: PostgresHeld | None) -> None:
        """Release the connection and the lock. What is not committed is rolled back."""
        if self._holding is not None:
            self._holding.end()
        try:
            self._lent.give_back()
        finally:
            self._turn.give_back(self._turns)

    def _settle(self, holding: Holding, error: psycopg.Error) -> None:
        steps = partial(holding.settling_steps, self._store.begun)
        doing = f"look what became of an append to the plan {holding.plan_id!r}"
        try:
            is_kept = self._store.connections.lend(self._lent, steps, doing)
            self._lent.db.execute("rollback")
        except (StoreError, psycopg.Error):
            raise holding.unknown() from error
        holding.settle(error, is_kept=is_kept)
