"""
What a store of plans is. Every store keeps a journal, and appends only to what was read.

Three methods make a `Store`. One that is a database can offer more, see `hold`.
"""

from collections.abc import Awaitable, Sequence
from typing import Protocol

from todoplan.core.events.journal import Entry
from todoplan.core.plan.plan import Plan
from todoplan.errors import PlanError

__all__ = ["AnyStore", "AsyncStore", "Store", "checked_id"]


def checked_id(plan_id: object) -> str:
    """
    Return a plan's id, if it is one: a text, "" too.

    Raises:
        PlanError: it is something else, such as a number.
    """
    # A number would be another key than its text in memory, and no key at all in a JSON file.
    if isinstance(plan_id, str):
        return plan_id
    msg = f"a plan's id is a text, not {plan_id!r}; give str(...) of it"
    raise PlanError(msg, plan_id=plan_id)


class Store(Protocol):
    """
    Plans by id, each with its journal. A plan that was never written is the empty one.

    Any text is the id of a plan, and no other plan's. Threads, and processes where they share the
    data, may call at once; an `AsyncPlanner` makes every call in a thread of its own. A store that
    cannot do now what it is asked raises a StoreError, with "busy" as `data["problem"]` where
    trying again may help. `todoplan.testing.stores` has a suite that proves a store.
    """

    def load(self, plan_id: str) -> Plan:
        """
        Return the plan as of its last entry.
        """
        ...

    def entries(self, plan_id: str) -> tuple[Entry, ...]:
        """
        Return the plan's journal, oldest first; replaying it gives the plan.
        """
        ...

    # Compare and append: LangGraph's `BaseStore.put` has no version, so the last writer wins.
    # `plan` is what replaying the entries gives; a store can keep it without knowing any event.
    def append(self, plan_id: str, expected: int, entries: Sequence[Entry], plan: Plan) -> bool:
        """
        Add entries and keep `plan`, what they lead to, if the plan is at revision `expected`.

        Return False, and change nothing, if it is not: somebody else was faster. The entries are
        kept all or none, also if it raises.
        """
        ...


class AsyncStore(Protocol):
    """
    The same, awaited.
    """

    def load(self, plan_id: str) -> Awaitable[Plan]:
        """
        Return the plan as of its last entry.
        """
        ...

    def entries(self, plan_id: str) -> Awaitable[tuple[Entry, ...]]:
        """
        Return the plan's journal, oldest first.
        """
        ...

    def append(
        self, plan_id: str, expected: int, entries: Sequence[Entry], plan: Plan
    ) -> Awaitable[bool]:
        """
        Add entries if the plan is at revision `expected`, and say whether that was so.
        """
        ...


AnyStore = Store | AsyncStore
"""What `AsyncPlanner` takes."""
