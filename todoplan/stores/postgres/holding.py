"""
The state of a locked plan and the steps of its operations, once for both stores.

`Holding` executes nothing. The handles in `held` execute its steps, on the connection whose
transaction has locked the plan.
"""

import os
import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, LiteralString, NamedTuple

import psycopg
from psycopg.pq import TransactionStatus

from todoplan.core.events.journal import Entry
from todoplan.core.plan.plan import Plan
from todoplan.errors import StoreError
from todoplan.stores.hold import Key, Receipt, not_held, overtaken
from todoplan.stores.postgres import reading, writing
from todoplan.stores.postgres.address import Address
from todoplan.stores.postgres.failures import failure, is_passing
from todoplan.stores.postgres.schema import Steps

__all__ = ["Holding"]


class _Clock(NamedTuple):
    theirs: datetime
    ours: float


class Holding:
    """The state of a plan that is locked on a connection."""

    def __init__(self, address: Address, at: writing.Locked, *, announced: bool) -> None:
        self.address = address
        self.plan_id = at.plan_id
        self.has_written = False
        self.key: Key | None = None
        self._at, self._before = at, at.revision
        self._announced = announced
        self._clock: _Clock | None = None
        self._process = os.getpid()
        self._is_over = False

    @property
    def revision(self) -> int:
        """The plan's revision, including appends made here."""
        return self._at.revision

    def end(self) -> None:
        """Mark the lock as released: the connection belongs to somebody else from now on."""
        self._is_over = True

    @property
    def is_here(self) -> bool:
        """
        Whether the plan is still locked, and by this process, not by the parent that it was forked
        from.
        """
        return not self._is_over and self._process == os.getpid()

    def checked(self) -> None:
        """
        Return if this process still has the plan locked.

        Raises:
            StoreError: the `with` has ended, or this process is a child of the one that locked the
                plan.
        """
        if not self.is_here:
            raise not_held(self.plan_id)

    def now_steps(self) -> Steps[datetime]:
        """
        Return the server's time: the time when the plan was read, plus the time elapsed since.
        """
        if self._clock is None:
            self._clock = _Clock((yield from reading.clock()), time.monotonic())
        return self._clock.theirs + timedelta(seconds=time.monotonic() - self._clock.ours)

    def since_steps(self, revision: int) -> Steps[tuple[Entry, ...]]:
        """Return the entries after a revision."""
        tail = yield from reading.tail(self.plan_id, revision)
        self._clock = _Clock(tail.clock, time.monotonic()) if tail.clock else None
        return tail.entries

    def receipt_steps(self, key: Key) -> Steps[Receipt | None]:
        """Return the result of the append that carried a key."""
        return (yield from reading.receipt(self.plan_id, key))

    def append_steps(
        self, expected: int, entries: Sequence[Entry], plan: Plan, key: Key | None, answer: str
    ) -> Steps[tuple[Entry, ...]]:
        """Add entries, or return the entries of the earlier append with the same key."""
        if key is not None and (known := (yield from self.receipt_steps(key))) is not None:
            return known.entries
        if expected != self.revision:
            raise overtaken(self.plan_id, expected, self.revision)
        entries = tuple(entries)
        named = None if key is None else (key, answer)
        self._at = yield from writing.added(
            self._at, entries, plan, key=named, announced=self._announced
        )
        self.has_written, self.key = True, key or self.key
        return entries

    def cut_steps(self, keep: int | timedelta) -> Steps[int]:
        """
        Replace the oldest entries by one snapshot entry; return the number of removed entries.
        """
        lost = yield from writing.cut(self.plan_id, keep)
        self.has_written = self.has_written or lost > 0
        return lost

    def settling_steps(self, begun: bytes) -> Steps[bool | None]:
        """
        Return whether a commit succeeded whose response was lost; `None` without a key to look it
        up.
        """
        if self.key is None:
            return None
        # Under the lock: the lost transaction held the lock, so it has been committed or rolled
        # back by now.
        yield from writing.locked(self.plan_id, begun)
        return (yield from self.receipt_steps(self.key)) is not None

    def failed(self, error: psycopg.Error) -> StoreError:
        """Return the error for a statement that failed while the plan is locked."""
        if is_passing(error):
            return self.lost()
        doing = f"go on with the plan {self.plan_id!r}: nothing was appended"
        return failure(error, self.address, doing)

    def lost(self) -> StoreError:
        """Return the error for a connection that was lost before the commit."""
        msg = (
            f"{self.address} was lost before it had committed: nothing was appended to the plan "
            f"{self.plan_id!r}; try again"
        )
        return StoreError(msg, plan_id=self.plan_id, problem="lost", store=str(self.address))

    def may_commit(self, db: psycopg.Connection[Any] | psycopg.AsyncConnection[Any]) -> None:
        """
        Return if everything that was written can be committed.

        Raises:
            StoreError: a statement failed, and the whole transaction with it ("broken"); or the
                plan is not locked here ("not_held").
        """
        self.checked()
        # PostgreSQL then answers COMMIT with ROLLBACK, which is not an error: entries acknowledged
        # by an earlier append would be lost silently.
        if self.has_written and db.info.transaction_status is not TransactionStatus.INTRANS:
            msg = (
                f"nothing was appended to the plan {self.plan_id!r}: a statement had failed before "
                "the `with` ended, and with it all of them; let that error pass, and try again"
            )
            raise StoreError(msg, plan_id=self.plan_id, problem="broken")

    @property
    def last_statement(self) -> LiteralString:
        """The statement that ends the transaction."""
        return "commit" if self.has_written else "rollback"

    def raised_at_the_end(self, error: psycopg.Error) -> psycopg.Error | None:
        """
        Return an error of the last statement if it leaves it unknown whether the commit succeeded;
        `None` if there was nothing to commit.

        Raises:
            StoreError: the server refused the commit.
        """
        if not self.has_written:
            return None
        if error.sqlstate and not is_passing(error):
            raise failure(error, self.address, f"commit to the plan {self.plan_id!r}") from error
        return error

    def settle(self, error: psycopg.Error, *, is_kept: bool | None) -> None:
        """
        Return if a commit whose response was lost is known to have succeeded.

        Raises:
            StoreError: it did not succeed ("lost"), or this is unknown ("unknown").
        """
        if is_kept is None:
            raise self.unknown() from error
        if not is_kept:
            raise self.lost() from error

    def unknown(self) -> StoreError:
        """Return the error for a commit of which it is unknown whether it succeeded."""
        msg = (
            f"{self.address} was lost while it committed: what was appended to the plan "
            f"{self.plan_id!r} behind revision {self._before} may be kept, or not. Look, by "
            "entries_since, before you try again; an append with a key is settled by itself"
        )
        data = {"plan_id": self.plan_id, "store": str(self.address)}
        return StoreError(msg, problem="unknown", revision=self._before, **data)
