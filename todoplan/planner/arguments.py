"""
What a planner is made of: what does not fit is refused at once, not when it is first needed. Where
a framework holds the state, `holding` makes the store.
"""

from os import PathLike, fspath
from typing import Any

from todoplan.core.events.base import Base
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.validation import short_repr
from todoplan.errors import PlanError
from todoplan.stores.base import AnyStore, Store
from todoplan.stores.journals import beginning
from todoplan.stores.memory import MemoryStore

__all__ = ["HELD", "checked_store", "holding", "store_of_plans", "unfit"]

HELD = "held"
"""The cause of the entry that hands a plan over."""


def checked_store(store: Any) -> AnyStore:
    """
    Return a store.

    Raises:
        PlanError: it is none, such as a class or a path.
    """
    lacking = [
        method
        for method in ("load", "entries", "append")
        if not callable(getattr(store, method, None))
    ]
    # A class has the three methods too, so `lacking` would let it pass.
    if isinstance(store, type):
        raise unfit(store, f"a class is no store yet; make one: {store.__name__}(...)")
    if isinstance(store, str | PathLike):
        path = fspath(store)
        example = f"SqliteStore({path!r}), or FileStore({path!r}) for a file of JSON, of"
        raise unfit(store, f"a path is no store; write {example} todoplan.stores")
    if lacking:
        raise unfit(store, f"a store has load, entries and append; this lacks {lacking}")
    return store  # type: ignore[no-any-return]  # it has what a store has


def store_of_plans(store: Any, plan_id: str | None) -> AnyStore | None:
    """
    Return the store that an adapter was given, `None` for none.

    Raises:
        PlanError: it is no store; or there is none, and an id of a plan is given.
    """
    if store is None and plan_id is not None:
        msg = f"plan_id={plan_id!r} names a plan in a store: give store= too, or leave it out"
        raise PlanError(msg, plan_id=plan_id)
    return None if store is None else checked_store(store)


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


def unfit(given: object, remedy: str) -> PlanError:
    """
    Return what to raise for something that does not fit.
    """
    return PlanError(f"{short_repr(given)} was given; {remedy}", seen=given)
