"""
A held plan, once for both stores: what it remembers, and the steps of what is asked of it.

`Holding` carries nothing out. Its steps are used up by the held plan of either store, on the
connection whose transaction holds the plan.
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
    """
    What is known of a plan that is held on a connection.
    """

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
        """
        The plan's revision, what was appended here included.
        """
        return self._at.revision

    def end(self) -> None:
        """
        Note that the plan is held no longer: its connection is somebody else's from now on.
        """
        self._is_over = True

    @property
    def is_here(self) -> bool:
        """
        Whether this plan is held by this process, and not by the one that it was forked from.
        """
        return not self._is_over and self._process == os.getpid()

    def checked(self) -> None:
        """
        Return if this plan is held here.

        Raises:
            StoreError: the `with` has ended, or this process is a child of the one that holds it.
        """
        if not self.is_here:
            raise not_held(self.plan_id)

    def now_steps(self) -> Steps[datetime]:
        """
        Return the server's time: as it was when the plan was read, and what has passed since.
        """
        if self._clock is None:
            self._clock = _Clock((yield from reading.clock()), time.monotonic())
        return self._clock.theirs + timedelta(seconds=time.monotonic() - self._clock.ours)

    def since_steps(self, revision: int) -> Steps[tuple[Entry, ...]]:
        """
        Return the entries behind a revision.
        """
        tail = yield from reading.tail(self.plan_id, revision)
        self._clock = _Clock(tail.clock, time.monotonic()) if tail.clock else None
        return tail.entries

    def receipt_steps(self, key: Key) -> Steps[Receipt | None]:
        """
        Return what was appended under a key.
        """
        return (yield from reading.receipt(self.plan_id, key))

    def append_steps(
        self, expected: int, entries: Sequence[Entry], plan: Plan, key: Key | None, answer: str
    ) -> Steps[tuple[Entry, ...]]:
        """
        Add entries, or return those that came under the key before.
        """
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
        Put the plan as it then was in the place of its oldest entries; return how many were lost.
        """
        lost = yield from writing.cut(self.plan_id, keep)
        self.has_written = self.has_written or lost > 0
        return lost

    def settling_steps(self, begun: bytes) -> Steps[bool | None]:
        """
        Say whether a commit whose answer was lost came about; `None` if there is no key by which
        it can be known.
        """
        if self.key is None:
            return None
        # Under the lock: the lost transaction had it, and so is over, one way or the other.
        yield from writing.locked(self.plan_id, begun)
        return (yield from self.receipt_steps(self.key)) is not None

    def failed(self, error: psycopg.Error) -> StoreError:
        """
        Return what to raise for a statement that failed while the plan is held.
        """
        if is_passing(error):
            return self.lost()
        doing = f"go on with the plan {self.plan_id!r}: nothing was appended"
        return failure(error, self.address, doing)

    def lost(self) -> StoreError:
        """
        Return what to raise for a connection that was lost before anything was committed.
        """
        msg = (
            f"{self.address} was lost before it had committed: nothing was appended to the plan "
            f"{self.plan_id!r}; try again"
        )
        return StoreError(msg, plan_id=self.plan_id, problem="lost", store=str(self.address))

    def may_commit(self, db: psycopg.Connection[Any] | psycopg.AsyncConnection[Any]) -> None:
        """
        Return if all that was written is there to be committed.

        Raises:
            StoreError: a statement failed, and with it all others; or the plan is not held here.
        """
        self.checked()
        # PostgreSQL answers COMMIT with ROLLBACK then, which is no error: what was acknowledged
        # by an earlier append would be lost without a word.
        if self.has_written and db.info.transaction_status is not TransactionStatus.INTRANS:
            msg = (
                f"nothing was appended to the plan {self.plan_id!r}: a statement had failed before "
                "the `with` ended, and with it all of them; let that error pass, and try again"
            )
            raise StoreError(msg, plan_id=self.plan_id, problem="broken")

    @property
    def last_statement(self) -> LiteralString:
        """
        What ends the transaction.
        """
        return "commit" if self.has_written else "rollback"

    def raised_at_the_end(self, error: psycopg.Error) -> psycopg.Error | None:
        """
        Return an error of the last statement if it leaves open whether that was carried out;
        `None` if there was nothing to commit.

        Raises:
            StoreError: it was not: the server refused it.
        """
        if not self.has_written:
            return None
        if error.sqlstate and not is_passing(error):
            raise failure(error, self.address, f"commit to the plan {self.plan_id!r}") from error
        return error

    def settle(self, error: psycopg.Error, *, is_kept: bool | None) -> None:
        """
        Return if a commit whose answer was lost is known to have come about.

        Raises:
            StoreError: it has not ("lost"), or nobody knows ("unknown").
        """
        if is_kept is None:
            raise self.unknown() from error
        if not is_kept:
            raise self.lost() from error

    def unknown(self) -> StoreError:
        """
        Return what to raise for a commit of which nobody knows whether it came about.
        """
        msg = (
            f"{self.address} was lost while it committed: what was appended to the plan "
            f"{self.plan_id!r} behind revision {self._before} may be kept, or not. Look, by "
            "entries_since, before you try again; an append with a key is settled by itself"
        )
        data = {"plan_id": self.plan_id, "store": str(self.address)}
        return StoreError(msg, problem="unknown", revision=self._before, **data)
