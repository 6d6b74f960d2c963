"""What was appended is there, as it was: for every handle, and whatever comes later."""

from todoplan.core.events.journal import Entry
from todoplan.core.plan.frozen import FrozenDict
from todoplan.core.plan.plan import Plan
from todoplan.testing.stores.bench import Bench, Checks
from todoplan.testing.stores.laws import drawn, law
from todoplan.testing.stores.lives import Append, adding, lives
from todoplan.testing.stores.telling import accepted, equal, keeps, same_plan
from todoplan.testing.strategies import HOSTILE

__all__ = ["Keeping"]


class Keeping(Checks):
    """
    Plans and journals, written and read again.
    """

    @law
    async def test_a_plan_never_written_is_empty(self, bench: Bench) -> None:
        """A plan that was never written is the empty one, without entries; a look makes none."""
        for when in ("before any append", "before any append, but once read"):
            await keeps(bench.store, "a", Plan(), (), when)

    @drawn(lives())
    async def test_what_is_appended_is_kept(self, bench: Bench, life: tuple[Append, ...]) -> None:
        """What append accepted is what load and entries give, also to a handle opened later."""
        plan, journal = Plan(), tuple[Entry, ...]()
        for append in life:
            await accepted(bench.store, "a", append)
            plan, journal = append.plan, journal + append.entries
            await keeps(bench.store, "a", plan, journal, "after an append")
        await keeps(await bench.again(), "a", plan, journal, "after reopening")

    @law
    async def test_every_text_is_kept(self, bench: Bench) -> None:
        """Any text comes back as it was: control characters, quotes, long ones, no UTF-8."""
        for kind, texts in HOSTILE.items():
            meta = FrozenDict({text: [text] for text in texts})
            append = adding(Plan(), texts, metadata=meta)
            await accepted(bench.store, kind, append)
            when = f"after an append of texts of the kind {kind!r}"
            await keeps(bench.store, kind, append.plan, append.entries, when)

    @law
    async def test_handles_see_what_others_wrote(self, bench: Bench) -> None:
        """A handle sees what was written by another since it was opened and last read."""
        handles = [bench.store, await bench.again()]
        plan, journal = Plan(), tuple[Entry, ...]()
        for subject in ("Dig", "Lay", "Fill", "Plant"):
            append = adding(plan, (subject,))
            await accepted(handles[0], "a", append)
            plan, journal = append.plan, journal + append.entries
            for handle in handles:
                await keeps(handle, "a", plan, journal, "after an append by one of two handles")
            handles.reverse()

    @law
    async def test_what_was_read_does_not_change(self, bench: Bench) -> None:
        """Appends change neither what was read before, nor share the list that they are given."""
        first = adding(Plan(), ("Dig",), ("Lay",))
        given = list(first.entries)
        await bench.store.append("a", 0, given, first.plan)
        given.clear()
        plan, journal = await bench.store.load("a"), await bench.store.entries("a")
        await accepted(bench.store, "a", adding(first.plan, ("Fill",)))
        same_plan(plan, first.plan, "after a later append, what load('a') gave before")
        equal(journal, first.entries, "after a later append, what entries('a') gave before")
