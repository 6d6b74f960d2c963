"""
The `Store` protocol. Every store keeps a journal, and an append states the revision it is based on.

A `Store` has three methods. A database can offer more: see `hold`.
"""

from collections.abc import Awaitable, Sequence
from typing import Protocol

from todoplan.core.events.journal import Entry
from todoplan.core.plan.plan import Plan
from todoplan.errors import PlanError

__all__ = ["AnyStore", "AsyncStore", "Store", "checked_id"]


def checked_id(plan_id: object) -> str:
    """
    Return a plan's id if it is a string. The empty string is valid.

    Raises:
        PlanError: the id is not a string, for example a number.
    """
    # In memory, a number and its text would be different keys; in a JSON file a number cannot be a
    # key.
    if isinstance(plan_id, str):
        return plan_id
    msg = f"a plan's id is a text, not {plan_id!r}; give str(...) of it"
    raise PlanError(msg, plan_id=plan_id)


class Store(Protocol):
    """
    Plans by id, each with its journal. A plan that was never written is empty.

    Any string is a valid plan id, and distinct strings are distinct plans. Threads may call the
    methods concurrently, and so may processes if they share the data; an `AsyncPlanner` makes each
    call in a worker thread. A store that cannot carry out a call at the moment raises a StoreError,
    whose `data["problem"]` is "busy" if a retry may help. `todoplan.testing.stores` has a
    conformance suite for stores.
    """

    def load(self, plan_id: str) -> Plan:
        """Return the plan as of its last entry."""
        ...

    def entries(self, plan_id: str) -> tuple[Entry, ...]:
        """Return the plan's journal, oldest entry first. Replaying the journal gives the plan."""
        ...

    # Compare and append: LangGraph's `BaseStore.put` has no version, so the last writer wins.
    # `plan` is the result of replaying the entries; a store can save it without knowing any event
    # type.
    def append(self, plan_id: str, expected: int, entries: Sequence[Entry], plan: Plan) -> bool:
        """
        Add entries and save `plan`, their result, if the plan is at revision `expected`.

        If it is at another revision because another writer was faster, change nothing and return
        False. Either all entries are saved or none, also if the call raises.
        """
        ...


class AsyncStore(Protocol):
    """A `Store` whose methods are awaited."""

    def load(self, plan_id: str) -> Awaitable[Plan]:
        """Return the plan as of its last entry."""
        ...

    def entries(self, plan_id: str) -> Awaitable[tuple[Entry, ...]]:
        """Return the plan's journal, oldest entry first."""
        ...

    def append(
        self, plan_id: str, expected: int, entries: Sequence[Entry], plan: Plan
    ) -> Awaitable[bool]:
        """Add entries if the plan is at revision `expected`; return whether they were added."""
        ...


AnyStore = Store | AsyncStore
"""A store that `AsyncPlanner` accepts."""
