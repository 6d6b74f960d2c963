"""
What a store may offer beside its three methods: to hold a plan while somebody decides.

An append that is compared (`Store.append`) lets many decide at once and all but one decide anew. A
store that can make others wait does it in one go: *hold the plan, read what came since, decide,
append, commit*. So its planner keeps the plan that it knows and reads the tail alone, and a call
costs the same after ten thousand entries as after ten. It can also promise that a call which is
made twice happens once, by a key.

A journal may begin later than its plan: after `compact`, its first entry is the plan as it was then
(`todoplan.stores.journals`). So entries are laid upon a plan by `follow`, never by `replay` alone.
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
"""All entries are behind this revision, also that of a plan that was handed over at revision 0."""


@attrs.frozen
class Key:
    """
    The name of one request upon a plan, such as the id of a tool call: what comes twice under one
    name happens once. `payload` is what was asked for, by which another request is told apart.
    """

    name: str
    payload: str = ""


@attrs.frozen
class Receipt:
    """
    What became of the append that carried a key: its entries, and a text of who appended them.
    """

    entries: tuple[Entry, ...]
    answer: str = ""


class Held(Protocol):
    """
    A plan that nobody else can change until it is let go of. Of the thread that holds it.
    """

    @property
    def revision(self) -> int:
        """
        The plan's as it is, what was appended here included; 0 if it was never written.
        """
        ...

    def now(self) -> datetime:
        """
        Return the time by the store's clock, aware and in UTC: the same for all who share the plan.
        """
        ...

    def entries_since(self, revision: int) -> tuple[Entry, ...]:
        """
        Return the entries behind a revision, as `HoldingStore.entries_since` does.
        """
        ...

    def receipt(self, key: Key) -> Receipt | None:
        """
        Return what was appended under this key, `None` if nothing was.

        Raises:
            StoreError: with another payload ("key_reused").
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
        Add entries and keep `plan`, what they lead to; return them. Kept once the `with` ends.

        Where the key was used already, with the same payload, nothing is added: what is returned
        are the entries of then. `answer` is kept beside the key, for `receipt`.

        Raises:
            StoreError: the plan is not at revision `expected` ("overtaken"); the key was used with
                another payload ("key_reused").
        """
        ...


class HoldingStore(Store, Protocol):
    """
    A `Store` whose plans can be held.
    """

    def plan_ids(self) -> tuple[str, ...]:
        """
        Return the ids of the plans that were written, in any order that stays the same.
        """
        ...

    def entries_since(self, plan_id: str, revision: int) -> tuple[Entry, ...]:
        """
        Return the entries behind a revision, oldest first: those of a revision that is larger.

        Of `ALL` (-1), all. Where the journal was cut behind that revision, the first one is the
        plan as it was at the cut.

        Raises:
            StoreError: the plan is not that far ("rolled_back"): an older copy was put back.
        """
        ...

    def hold(self, plan_id: str) -> AbstractContextManager[Held]:
        """
        Wait until nobody else holds the plan, and hold it for the length of a `with`.

        What was appended is committed when the `with` ends without an exception, and is gone
        otherwise, whatever was raised (`KeyboardInterrupt`, a cancellation).

        Raises:
            StoreError: somebody else has held it for too long ("busy"), or this thread itself
                holds it ("nested").
        """
        ...


class AsyncHeld(Protocol):
    """
    As `Held`, awaited.
    """

    @property
    def revision(self) -> int:
        """
        The plan's, known since it is held.
        """
        ...

    def now(self) -> Awaitable[datetime]:
        """
        Return the time by the store's clock.
        """
        ...

    def entries_since(self, revision: int) -> Awaitable[tuple[Entry, ...]]:
        """
        Return the entries behind a revision.
        """
        ...

    def receipt(self, key: Key) -> Awaitable[Receipt | None]:
        """
        Return what was appended under this key.
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
    ) -> Awaitable[tuple[Entry, ...]]:
        """
        Add entries, or return those that came under the key before.
        """
        ...


class AsyncHoldingStore(AsyncStore, Protocol):
    """
    An `AsyncStore` whose plans can be held. Of the task that holds it.
    """

    def plan_ids(self) -> Awaitable[tuple[str, ...]]:
        """
        Return the ids of the plans that were written.
        """
        ...

    def entries_since(self, plan_id: str, revision: int) -> Awaitable[tuple[Entry, ...]]:
        """
        Return the entries behind a revision.
        """
        ...

    def hold(self, plan_id: str) -> AbstractAsyncContextManager[AsyncHeld]:
        """
        Hold the plan for the length of an `async with`.
        """
        ...


AnyHoldingStore = HoldingStore | AsyncHoldingStore


def is_holding(store: Any) -> TypeGuard[AnyHoldingStore]:
    """
    Say whether a store can hold plans.

    A subclass that has one of the three methods anew but not `hold` wants to see every call (to
    note it, or to refuse it), and `hold` would pass it by: it is a `Store` like any other.
    """
    if not all(callable(getattr(store, name, None)) for name in ("hold", "entries_since")):
        return False
    for ancestor in type(store).__mro__:
        if "hold" in vars(ancestor):
            return True
        if {"load", "entries", "append"} & {*vars(ancestor)}:
            return False
    return True  # it answers for methods by `__getattr__`: a store around another one


def not_held(plan_id: str) -> StoreError:
    """
    Return what to raise for a plan that was let go of.
    """
    msg = f"the plan {plan_id!r} is not held any more: use what `hold` gives within its `with` only"
    return StoreError(msg, plan_id=plan_id, problem="not_held")


def checked_receipt(plan_id: str, key: Key, payload: str, receipt: Receipt) -> Receipt:
    """
    Return a receipt that was found by the name of a key, if it is of the same payload.

    Raises:
        StoreError: it is of another one ("key_reused").
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
    """
    Return what to raise for an append to a revision at which a held plan is not.
    """
    msg = (
        f"the plan {plan_id!r} is at revision {revision}, and this append is for {expected}: "
        "nothing was appended; read what came since, by entries_since, and decide anew"
    )
    return StoreError(msg, plan_id=plan_id, problem="overtaken", revision=revision)


def behind_known(
    plan_id: str, revision: int, last: Entry | None, tail: tuple[Entry, ...]
) -> tuple[Entry, ...]:
    """
    Return what `tail` has behind a known revision; it begins with the entry of that revision.

    `last` is that entry as it is known, if it is. Revisions alone do not tell a plan from a copy
    of before that was put in its place, and has gone on differently to as many of them.

    Raises:
        StoreError: the entry is missing, or is another one ("rolled_back").
    """
    if not revision:
        return tail
    if not tail:
        raise gone_back(plan_id, revision, revision - 1)
    # A journal that was cut since begins with the plan as it was: what was known is not needed.
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
    """
    Return what to raise for a plan that is not as far as somebody has seen it.
    """
    msg = (
        f"the plan {plan_id!r} was put back while in use: it is at revision {revision}, and "
        f"revision {known} of it was seen. {_PUT_BACK}"
    )
    return StoreError(msg, plan_id=plan_id, problem="rolled_back", revision=revision)
