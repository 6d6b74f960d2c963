"""An append is for the revision that was read: at any other it is refused, and changes nothing."""

from itertools import product

import attrs

from todoplan.core.plan.frozen import FrozenDict
from todoplan.core.plan.plan import Plan
from todoplan.testing.stores.bench import Bench, Checks
from todoplan.testing.stores.laws import law
from todoplan.testing.stores.lives import adding
from todoplan.testing.stores.telling import accepted, keeps, refused

__all__ = ["Revisions"]

_MORE_OR_LESS = ((("Late",),), (("Late",), ("Later",)))
_UNKEPT = FrozenDict({"holes": frozenset({1})})


class Revisions(Checks):
    """
    Appends one after the other.
    """

    @law
    async def test_an_append_to_an_older_revision_is_refused(self, bench: Bench) -> None:
        """An append at a revision that the plan has left returns False and changes nothing."""
        base = adding(Plan(), ("Dig",), ("Lay", "Fill"))
        await accepted(bench.store, "a", base)
        for revision, much in product(range(base.plan.revision), _MORE_OR_LESS):
            late = adding(attrs.evolve(Plan(), revision=revision), *much)
            await refused(bench.store, "a", late)
            when = f"after a refused append of {len(much)} at revision {revision}"
            await keeps(bench.store, "a", base.plan, base.entries, when)

    @law
    async def test_an_append_to_a_newer_revision_is_refused(self, bench: Bench) -> None:
        """An append at a revision that the plan has not reached returns False, changes nothing."""
        base = adding(Plan(), ("Dig",), ("Lay", "Fill"))
        await accepted(bench.store, "a", base)
        ahead = adding(adding(base.plan, ("Unseen",)).plan, ("Early",))
        await refused(bench.store, "a", ahead)
        when = "after a refused append at a newer revision"
        await keeps(bench.store, "a", base.plan, base.entries, when)

    @law
    async def test_a_plan_never_written_is_at_revision_zero(self, bench: Bench) -> None:
        """The first append is for revision 0: at another one it is refused, and leaves nothing."""
        first = adding(Plan(), ("Dig",))
        await refused(bench.store, "a", adding(first.plan, ("Early",)))
        await keeps(bench.store, "a", Plan(), (), "after a refused append to a plan never written")
        await accepted(bench.store, "a", first)
        await keeps(bench.store, "a", first.plan, first.entries, "after the first append")

    @law
    async def test_an_append_that_fails_leaves_nothing(self, bench: Bench) -> None:
        """Where the second of two entries cannot be kept, append raises, and neither is there."""
        base = adding(Plan(), ("Dig",))
        await accepted(bench.store, "a", base)
        fine = adding(base.plan, ("Lay",))
        unkept = adding(fine.plan, ("Fill",), metadata=_UNKEPT)
        entries = fine.entries + unkept.entries
        try:
            await bench.store.append("a", 1, entries, unkept.plan)
        except Exception:  # noqa: BLE001 - however a store refuses what it cannot keep
            await keeps(bench.store, "a", base.plan, base.entries, "after an append that raised")
        else:
            when = "after an append with a set in the metadata, which did not raise"
            await keeps(bench.store, "a", unkept.plan, base.entries + entries, when)
