"""
Which plan a command is about: the store by its address, and the plan in it by its id.

Every command that opens a store does it by `open_store`, so that all take the same addresses.
"""

from typing import Protocol

from todoplan.errors import ReadError
from todoplan.stores import urls
from todoplan.stores.base import Store

__all__ = ["DEFAULT_PLAN", "PlanStore", "chosen_plan", "open_store", "plan_to_write"]

DEFAULT_PLAN = "plan"
"""The id of a plan that nobody named; `todoplan mcp` calls it so as well."""

_NAMED = 20


class PlanStore(Store, Protocol):
    """
    A store that also knows the ids of its plans, as all have that an address can name.
    """

    def plan_ids(self) -> tuple[str, ...]:
        """
        Return the ids of the plans that it keeps.
        """
        ...


def open_store(address: str) -> PlanStore:
    """
    Return the store at an address, as `todoplan.stores.open_store` takes them.

    Raises:
        TodoplanError: no store can be there.
    """
    return urls.open_store(address)


def chosen_plan(store: PlanStore, plan_id: str | None, where: object) -> str:
    """
    Return the id of the plan that is meant, of those that the store at `where` keeps. If it keeps
    one only, that needs no name.

    Raises:
        ReadError: there is none with this id; or there are several, and none was named.
        TodoplanError: as of the store's `load`.
    """
    kept = store.plan_ids()
    chosen = kept[0] if plan_id is None and len(kept) == 1 else plan_id
    if chosen in kept:
        return str(chosen)
    if not kept:
        msg = f"{where} keeps no plan yet; `todoplan add` begins one"
        raise ReadError(msg, file=str(where), plans=kept)
    seen = f"{len(kept)} plans" if plan_id is None else f"no plan {plan_id!r}"
    names = ", ".join(map(repr, kept[:_NAMED]))
    more = f" and {len(kept) - _NAMED} more" if len(kept) > _NAMED else ""
    msg = f"{where}: {seen}; choose by --plan: {names}{more}"
    raise ReadError(msg, file=str(where), plans=kept)


def plan_to_write(store: PlanStore, plan_id: str | None, where: object) -> str:
    """
    Return the id of the plan that is meant; it may be a new one.

    Raises:
        ReadError: there are several, and none was named.
        TodoplanError: as of the store's `load`.
    """
    if plan_id is not None:
        return plan_id
    return chosen_plan(store, None, where) if store.plan_ids() else DEFAULT_PLAN
