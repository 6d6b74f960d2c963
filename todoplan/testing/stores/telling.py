"""How a check fails: with the first difference between what a store gave and what it was given."""

from typing import Any

from todoplan.core.events.journal import Entry
from todoplan.core.plan.plan import Plan
from todoplan.stores.base import AsyncStore
from todoplan.testing.adapters.claims import must
from todoplan.testing.stores.differing import difference
from todoplan.testing.stores.lives import Append

__all__ = ["accepted", "equal", "keeps", "refused", "same_plan"]


def equal(found: Any, wanted: Any, what: str) -> None:
    """
    Fail the check unless what a store gave is what is wanted.
    """
    where = difference(found, wanted)
    told = f"{what}{where.path}:\n  found  {where.found}\n  wanted {where.wanted}"
    must(found == wanted, told)


def same_plan(found: Any, wanted: Plan, what: str) -> None:
    """
    Fail the check unless a plan is the one that is wanted.
    """
    must(isinstance(found, Plan), f"{what}:\n  found  {found!r}\n  wanted a Plan")
    equal(found.revision, wanted.revision, f"{what}.revision")
    equal(found.next_id, wanted.next_id, f"{what}.next_id")
    equal(tuple(found), tuple(wanted), f"{what}, its tasks")


async def keeps(
    store: AsyncStore, plan_id: str, plan: Plan, journal: tuple[Entry, ...], when: str
) -> None:
    """
    Fail the check unless a store gives this plan and this journal.
    """
    same_plan(await store.load(plan_id), plan, f"{when}, load({plan_id!a})")
    equal(await store.entries(plan_id), journal, f"{when}, entries({plan_id!a})")


async def accepted(store: AsyncStore, plan_id: str, append: Append) -> None:
    """
    Append, and fail the check unless the store says that it was done.
    """
    done = await store.append(plan_id, append.expected, append.entries, append.plan)
    at = f"append({plan_id!a}, {append.expected}, ...)"
    must(done, f"{at} returned {done!r}, wanted True: the plan is at that revision")


async def refused(store: AsyncStore, plan_id: str, append: Append) -> None:
    """
    Append, and fail the check unless the store says that the plan is at another revision.
    """
    done = await store.append(plan_id, append.expected, append.entries, append.plan)
    at = f"append({plan_id!a}, {append.expected}, ...)"
    must(not done, f"{at} returned {done!r}, wanted False: the plan is at another revision")
