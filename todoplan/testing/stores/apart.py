"""Plans of different ids have nothing to do with each other, whatever the ids are."""

from itertools import cycle

from todoplan.core.plan.plan import Plan
from todoplan.stores.base import AsyncStore
from todoplan.testing.stores.bench import Bench, Checks
from todoplan.testing.stores.laws import law
from todoplan.testing.stores.lives import Append, adding
from todoplan.testing.stores.telling import accepted, keeps, refused, same_plan

__all__ = ["ODD_IDS", "Apart"]

ODD_IDS = (
    "a",
    *("", "A", " a", "a ", "a\n", "aa"),  # case, space
    *("a/b", "a\\b", "../a", "a:b", "a.b", "a?b#c", "a_b", "a%b", "a*"),  # paths, keys, patterns
    *("a'b", 'a"b', "'; drop table plans; --", "{a}", "$a"),  # quoting
    *("1", "01", "1.0", "null", "plan"),  # what looks like something else
    *("\xe9", "e\u0301", "\u4f60\u597d", "\U0001f331"),  # scripts
    *(f"{'x' * 199}y", f"{'x' * 199}z"),  # cut off
)
"""Ids that stores mix up or choke on, each for its own reason."""

_APPENDS = 6


class Apart(Checks):
    """
    Several plans in one store.
    """

    @law
    async def test_plans_are_apart(self, bench: Bench) -> None:
        """What is appended to one plan, or refused, is nowhere in another."""
        first, other = adding(Plan(), ("Dig",)), adding(Plan(), ("Cook", "Eat"))
        await accepted(bench.store, "garden", first)
        await keeps(bench.store, "kitchen", Plan(), (), "after an append to another plan")
        await accepted(bench.store, "kitchen", other)
        second = adding(first.plan, ("Lay",))
        await refused(bench.store, "kitchen", second)
        await accepted(bench.store, "garden", second)
        journal = first.entries + second.entries
        await keeps(bench.store, "garden", second.plan, journal, "after appends to both")
        await keeps(bench.store, "kitchen", other.plan, other.entries, "after appends to both")

    @law
    async def test_odd_ids_are_apart(self, bench: Bench) -> None:
        """Every id is a plan of its own: spaces, case, slashes, quotes, any script, long ones."""
        made = {plan_id: adding(Plan(), (f"for {plan_id!r}",)) for plan_id in ODD_IDS}
        for plan_id, append in made.items():
            await keeps(bench.store, plan_id, Plan(), (), "before it was written")
            await accepted(bench.store, plan_id, append)
        store = await bench.again()
        for plan_id, append in made.items():
            await keeps(store, plan_id, append.plan, append.entries, "after all were written")

    @law
    async def test_plans_do_not_hinder_each_other(self, bench: Bench) -> None:
        """Appends to different plans, at once, are all accepted: none is at another revision."""
        stores = cycle([bench.store, await bench.again()])
        handles = {name: next(stores) for name in ("a", "b", "c", "d")}
        lives = await bench.together(*(_live(store, name) for name, store in handles.items()))
        for name, life in zip(handles, lives, strict=True):
            journal = tuple(entry for append in life for entry in append.entries)
            await keeps(bench.store, name, life[-1].plan, journal, "after appends to all at once")


async def _live(store: AsyncStore, plan_id: str) -> list[Append]:
    plan, life = Plan(), []
    for number in range(_APPENDS):
        same_plan(await store.load(plan_id), plan, f"amid other plans' appends, load({plan_id!a})")
        life.append(adding(plan, (f"{plan_id} {number}",)))
        await accepted(store, plan_id, life[-1])
        plan = life[-1].plan
    return life
