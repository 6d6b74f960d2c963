"""Copying plans between stores, with their journals."""

from todoplan.core.plan.plan import Plan
from todoplan.errors import StoreError
from todoplan.stores.base import Store, follow


def copy_plan(source: Store, target: Store, plan_id: str) -> bool:
    """
    Copy a plan with its journal, all or nothing. Return False if the target already has this copy.

    Idempotency keys are not copied: a call that was made before the copy and is repeated after it
    is carried out again.

    Raises:
        StoreError: the target has another plan with this id ("taken"), or did not save the plan
            unchanged ("not_kept").
        CodecError: the journal is damaged, or the target cannot save one of the entries.
    """
    journal = source.entries(plan_id)
    # From the journal and not from `load`: another writer may append between two reads.
    plan = follow(Plan(), journal)
    there = target.entries(plan_id)
    if there == journal:
        return False
    if there or not target.append(plan_id, 0, journal, plan):
        msg = (
            f"the target already has another plan {plan_id!r}: nothing was copied of it; copy to "
            "an empty store, or leave this plan out"
        )
        raise StoreError(msg, plan_id=plan_id, problem="taken")
    if target.load(plan_id) != plan or target.entries(plan_id) != journal:
        msg = f"the plan {plan_id!r} was copied, but the copy is different; keep the source"
        raise StoreError(msg, plan_id=plan_id, problem="not_kept")
    return True
