"""A store for a plan that somebody else keeps: an adapter whose framework holds the state."""

from todoplan.core.events.journal import Entry
from todoplan.core.events.types import PlanRestored
from todoplan.core.plan.plan import Plan
from todoplan.stores.base import Store
from todoplan.stores.memory import MemoryStore

__all__ = ["holding"]

_NOTHING = 0


def holding(plan_id: str, plan: Plan) -> Store:
    """
    Return a store in memory that holds one plan as it is, revision and all.

    Its journal begins with the plan as it was handed over, which nobody can undo.
    """
    store = MemoryStore()
    if plan != Plan():
        # Law 6: with `next_id`, so that ids of tasks that were deleted before are not given again.
        held = PlanRestored(tuple(plan), plan.next_id)
        # Marked as an undo, for those are never taken back; no entry has revision 0.
        handed_over = Entry(plan.revision, (held,), cause="held", undoes=_NOTHING)
        store.append(plan_id, 0, (handed_over,), plan)
    return store
