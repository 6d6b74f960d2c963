"""
The protocol of stores that can lock a plan, in addition to the three methods of `Store`.

`Store.append` compares revisions: many callers decide concurrently, and all but one have to decide
again. A store that can make callers wait does it in one pass: *lock the plan, read the entries
since the last read, decide, append, commit*. Its planner therefore caches the plan and reads only
the newest entries, and a call costs the same after ten thousand entries as after ten. Such a store
also supports idempotency keys: a call that is made twice with the same key is carried out once.

A journal may begin later than its plan: after `compact`, its first entry is the plan as it was at
the cut (`todoplan.stores.journals`). So apply entries to a plan with `follow`, never with `replay`
alone.
"""

from collections.abc import Awaitable, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from datetime import datetime
from typing import Any, Protocol, TypeGuard

import attrs

from todoplan.core.events.journal import Entry
from todoplan.core.plan.plan import Plan
from todoplan.errors import StoreError
from todoplan.stores.base import AsyncStore, Store
from todoplan.stores.journals import is_beginning

__all__ = [
    "ALL",
    "AnyHoldingStore",
    "AsyncHeld",
    "AsyncHoldingStore",
    "Held",
    "HoldingStore",
    "Key",
    "Receipt",
    "behind_known",
    "checked_receipt",
    "gone_back",
    "is_holding",
    "not_held",
    "overtaken",
]

_PUT_BACK = (
    "Nothing was written; bring the newer data back, or make a new planner to go on from what is "
    "there"
)

ALL = -1
"""A revision before all entries, including the first entry of a plan handed over at revision 0."""


@attrs.frozen
class Key:
    """
    An idempotency key: the name of one request on a plan, for example the id of a tool call.

    A request that is repeated under the same name is carried out once. `payload` is the content of
    the request; it reveals a different request under the same name.
    """

    name: str
    payload: str = ""


@attrs.frozen
class Receipt:
    """
    The result of the append that carried a key: its entries, and the `answer` text of the caller.
    """

    entries: tuple[Entry, ...]
    answer: str = ""


class Held(Protocol):
    """
    A locked plan: nobody else can change it until it is released. Use it only in the locking
    thread.
    """

    @property
    def revision(self) -> int:
        """
        The plan's current revision, including appends made here; 0 if the plan was never written.
        """
        ...

    def now(self) -> datetime:
        """
        Return the time of the store's clock, aware and in UTC. All users of the store share this
        clock.
        """
        ...

    def entries_since(self, revision: int) -> tuple[Entry, ...]:
        """Return the entries after a revision, like `HoldingStore.entries_since`."""
        ...

    def receipt(self, key: Key) -> Receipt | None:
        """
        Return the result of the append that carried this key, or `None` if there was none.

        Raises:
            StoreError: the key was used with another payload ("key_reused").
        """
        ...

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
        Add entries, save `plan`, their result, and return the entries. The end of the `with`
        commits them.

        If the key was already used with the same payload, add nothing and return the entries of
        that first append. `answer` is stored with the key, for `receipt`.

        Raises:
            StoreError: the plan is not at revision `expected` ("overtaken"), or the key was used
                with another payload ("key_reused").
        """
        ...


class HoldingStore(Store, Protocol):
    """A `Store` that can lock a plan."""

    def plan_ids(self) -> tuple[str, ...]:
        """Return the ids of all written plans, in a stable order."""
        ...

    def entries_since(self, plan_id: str, revision: int) -> tuple[Entry, ...]:
        """
        Return the entries whose revision is larger than the given one, oldest first.

        `ALL` (-1) returns all entries. If the journal was cut after that revision, the first entry
        returned is the plan as it was at the cut.

        Raises:
            StoreError: the plan has not reached that revision ("rolled_back"): an older copy was
                restored.
        """
        ...

    def hold(self, plan_id: str) -> AbstractContextManager[Held]:
        """
        Wait until the plan is free, and lock it for the duration of a `with` block.

        If the block ends without an exception, the appended entries are committed. After any
        exception (also `KeyboardInterrupt` or a cancellation) they are discarded.

        Raises:
            StoreError: somebody else held the lock for too long ("busy"), or this thread already
                holds it ("nested").
        """
        ...


class AsyncHeld(Protocol):
    """A `Held` whose methods are awaited."""

    @property
    def revision(self) -> int:
        """The plan's current revision. It needs no await, because the plan is locked."""
        ...

    def now(self) -> Awaitable[datetime]:
        """Return the time of the store's clock."""
        ...

    def entries_since(self, revision: int) -> Awaitable[tuple[Entry, ...]]:
        """Return the entries after a revision."""
        ...

    def receipt(self, key: Key) -> Awaitable[Receipt | None]:
        """Return the result of the append that carried this key."""
        ...

    def append(
        self,
        expected: int,
        entries: Sequence[Entry],
        plan: Plan,
        *,
        key: Key | None = None,
        answer: str = "",
    ) -> Awaitable[tuple[Entry, ...]]:
        """Add entries, or return the entries of the earlier append with the same key."""
        ...


class AsyncHoldingStore(AsyncStore, Protocol):
    """An `AsyncStore` that can lock a plan. The lock belongs to the task that took it."""

    def plan_ids(self) -> Awaitable[tuple[str, ...]]:
        """Return the ids of all written plans."""
        ...

    def entries_since(self, plan_id: str, revision: int) -> Awaitable[tuple[Entry, ...]]:
        """Return the entries after a revision."""
        ...

    def hold(self, plan_id: str) -> AbstractAsyncContextManager[AsyncHeld]:
        """Lock the plan for the duration of an `async with` block."""
        ...


AnyHoldingStore = HoldingStore | AsyncHoldingStore


def is_holding(store: Any) -> TypeGuard[AnyHoldingStore]:
    """
    Return whether a store can lock plans.

    A subclass that overrides `load`, `entries` or `append` but not `hold` wants to see every call,
    for example to log or refuse it. `hold` would bypass the override, so such a store counts as a
    plain `Store`.
    """
    if not all(callable(getattr(store, name, None)) for name in ("hold", "entries_since")):
        return False
    for ancestor in type(store).__mro__:
        if "hold" in vars(ancestor):
            return True
        if {"load", "entries", "append"} & {*vars(ancestor)}:
            return False
    return True  # a wrapper around another store, which answers with `__getattr__`


def not_held(plan_id: str) -> StoreError:
    """Return the error for using a plan after its lock was released."""
    msg = f"the plan {plan_id!r} is not held any more: use what `hold` gives within its `with` only"
    return StoreError(msg, plan_id=plan_id, problem="not_held")


def checked_receipt(plan_id: str, key: Key, payload: str, receipt: Receipt) -> Receipt:
    """
    Return a receipt that was looked up by key name, if its payload is that of the key.

    Raises:
        StoreError: the payload is another one ("key_reused").
    """
    if payload == key.payload:
        return receipt
    msg = (
        f"the key {key.name!r} was used for another request upon the plan {plan_id!r}: what is "
        "asked for now was not carried out; give each request a key of its own, and the same key "
        "only to the same request made again"
    )
    raise StoreError(msg, plan_id=plan_id, problem="key_reused", key=key.name)


def overtaken(plan_id: str, expected: int, revision: int) -> StoreError:
    """Return the error for an append whose expected revision is not that of the locked plan."""
    msg = (
        f"the plan {plan_id!r} is at revision {revision}, and this append is for {expected}: "
        "nothing was appended; read what came since, by entries_since, and decide anew"
    )
    return StoreError(msg, plan_id=plan_id, problem="overtaken", revision=revision)


def behind_known(
    plan_id: str, revision: int, last: Entry | None, tail: tuple[Entry, ...]
) -> tuple[Entry, ...]:
    """
    Return the entries of `tail` after a known revision. `tail` begins with the entry of that
    revision.

    `last` is that entry if the caller has it, else `None`. Revisions alone cannot reveal that an
    older copy was restored and has continued differently up to the same revision.

    Raises:
        StoreError: the entry is missing, or is another one ("rolled_back").
    """
    if not revision:
        return tail
    if not tail:
        raise gone_back(plan_id, revision, revision - 1)
    # A journal that was cut since then begins with the whole plan, so the known entry is not
    # needed.
    if is_beginning(tail[0]) and tail[0] != last:
        return tail
    if tail[0].revision != revision or (last is not None and last != tail[0]):
        msg = (
            f"the plan {plan_id!r} was put back while in use, and has gone on differently since: "
            f"its entry of revision {revision} is not the one that was seen. {_PUT_BACK}"
        )
        raise StoreError(msg, plan_id=plan_id, problem="rolled_back", revision=revision)
    return tail[1:]


def gone_back(plan_id: str, known: int, revision: int) -> StoreError:
    """Return the error for a plan that is at an earlier revision than one already seen."""
    msg = (
        f"the plan {plan_id!r} was put back while in use: it is at revision {revision}, and "
        f"revision {known} of it was seen. {_PUT_BACK}"
    )
    return StoreError(msg, plan_id=plan_id, problem="rolled_back", revision=revision)
