"""A store for a plan that somebody else keeps: an adapter whose framework holds the state."""

from todoplan.core.events.base import Base
from todoplan.core.plan.plan import Plan
from todoplan.stores.base import Store
from todoplan.stores.journals import beginning
from todoplan.stores.memory import MemoryStore

__all__ = ["HELD", "holding"]

HELD = "held"
"""The cause of the entry that hands a plan over."""


def holding(plan_id: str, plan: Plan, base: Base | None = None) -> Store:
    """
    Return a store in memory that holds one plan as it is, revision and all; where it has a `base`,
    upon that one.

    Its journal begins with the plan as it was handed over, which nobody can undo.
    """
    store = MemoryStore()
    for held in (plan,) if base is None else (base.plan, plan):
        if held != Plan():
            known = store.load(plan_id).revision
            store.append(plan_id, known, (beginning(held, HELD),), held)
    return store
