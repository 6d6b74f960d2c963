"""A store for a plan that somebody else keeps: an adapter whose framework holds the state."""

from todoplan.core.plan import Plan
from todoplan.stores.base import AsyncStore, Store
from todoplan.stores.memory import MemoryStore

__all__ = ["AnyStore", "holding"]

AnyStore = Store | AsyncStore
"""What `AsyncPlanner` takes."""


def holding(plan_id: str, plan: Plan) -> Store:
    """
    Return a store in memory that holds one plan as it is, revision and all, without its journal.
    """
    store = MemoryStore()
    store.append(plan_id, 0, (), plan)
    return store
