"""
One call after the other: what was appended is kept, at its revision, under its own id.

Each check keeps a list of the appends that a plan should consist of, and asks the store for the
plan and the journal that they make.
"""

from itertools import product

import attrs

from todoplan.core.plan.frozen import FrozenDict
from todoplan.core.plan.plan import Plan
from todoplan.testing.stores.appends import Append, adding, appends
from todoplan.testing.stores.harness import (
    Checks,
    Harness,
    accepted,
    drawn,
    equal,
    keeps,
    law,
    refused,
    same_plan,
)
from todoplan.testing.strategies.text import HOSTILE

__all__ = ["ODD_IDS", "Sequential"]

ODD_IDS = (
    "a",
    *("", "A", " a", "a ", "a\n", "aa"),  # case, space
    # agentscope#1249, CVE-2026-3954, -4307: ids as paths.
    *("a/b", "a\\b", "../a", "a:b", "a.b", "a?b#c", "a_b", "a%b", "a*"),  # paths, keys, patterns
    *("a'b", 'a"b', "'; drop table plans; --", "{a}", "$a"),  # quoting
    *("1", "01", "1.0", "null", "plan"),  # what looks like something else
    *("\xe9", "e\u0301", "\u4f60\u597d", "\U0001f331"),  # scripts
    *(f"{'x' * 199}y", f"{'x' * 199}z"),  # cut off
)
"""Ids that stores mix up or choke on, each for its own reason."""

_ONE_OR_TWO = ((("Late",),), (("Late",), ("Later",)))
_UNKEPT = FrozenDict({"holes": frozenset({1})})  # a set is no JSON


class Sequential(Checks):
    """
    Plans and journals, written and read again.
    """

    @law
    async def test_a_plan_never_written_is_empty(self, harness: Harness) -> None:
        """A plan that was never written is the empty one, without entries; a look makes none."""
        # A reader must not leave a row behind: whoever lists plans would find those that were asked
        # for, and the first append would no longer be at revision 0.
        for when in ("before any append", "before any append, but once read"):
            await keeps(harness.store, "a", [], when)

    @drawn(appends())
    async def test_what_is_appended_is_kept(
        self, harness: Harness, appended: tuple[Append, ...]
    ) -> None:
        """What append accepted is what load and entries give, also to a handle opened later."""
        for count, append in enumerate(appended, 1):
            await accepted(harness.store, "a", append)
            await keeps(harness.store, "a", appended[:count], "after an append")
        await keeps(await harness.again(), "a", appended, "after reopening")

    @law
    async def test_every_text_is_kept(self, harness: Harness) -> None:
        """Any text comes back as it was: control characters, quotes, long ones, no UTF-8."""
        for kind, texts in HOSTILE.items():
            # As values and as keys; NUL and half pairs too, which no plan's id is tried with.
            meta = FrozenDict({text: [text] for text in texts})
            append = adding(Plan(), texts, metadata=meta)
            await accepted(harness.store, kind, append)
            when = f"after an append of texts of the kind {kind!r}"
            await keeps(harness.store, kind, [append], when)

    @law
    async def test_handles_see_what_others_wrote(self, harness: Harness) -> None:
        """A handle sees what was written by another since it was opened and last read."""
        # A cache that only its own writes renew decides on a plan that is gone.
        handles, done = [harness.store, await harness.again()], list[Append]()
        for subject in ("Dig", "Lay", "Fill", "Plant"):
            done.append(adding(done[-1].plan if done else Plan(), (subject,)))
            await accepted(handles[0], "a", done[-1])
            for handle in handles:
                await keeps(handle, "a", done, "after an append by one of two handles")
            handles.reverse()

    @law
    async def test_what_was_read_does_not_change(self, harness: Harness) -> None:
        """Appends change neither what was read before, nor share the list that they are given."""
        first = adding(Plan(), ("Dig",), ("Lay",))
        given = list(first.entries)
        await harness.store.append("a", 0, given, first.plan)
        given.clear()
        plan, journal = await harness.store.load("a"), await harness.store.entries("a")
        await accepted(harness.store, "a", adding(first.plan, ("Fill",)))
        same_plan(plan, first.plan, "after a later append, what load('a') gave before")
        equal(journal, first.entries, "after a later append, what entries('a') gave before")

    @law
    async def test_an_append_to_an_older_revision_is_refused(self, harness: Harness) -> None:
        """An append at a revision that the plan has left returns False and changes nothing."""
        # If it is taken, one of two updates is lost. A unique key on the revision alone lets it
        # pass where an entry holds several events: their revisions are further apart than one.
        base = adding(Plan(), ("Dig",), ("Lay", "Fill"))
        await accepted(harness.store, "a", base)
        for revision, much in product(range(base.plan.revision), _ONE_OR_TWO):
            late = adding(attrs.evolve(Plan(), revision=revision), *much)
            await refused(harness.store, "a", late)
            when = f"after a refused append of {len(much)} at revision {revision}"
            await keeps(harness.store, "a", [base], when)

    @law
    async def test_an_append_to_a_newer_revision_is_refused(self, harness: Harness) -> None:
        """An append at a revision that the plan has not reached returns False, changes nothing."""
        base = adding(Plan(), ("Dig",), ("Lay", "Fill"))
        await accepted(harness.store, "a", base)
        ahead = adding(adding(base.plan, ("Unseen",)).plan, ("Early",))
        await refused(harness.store, "a", ahead)
        await keeps(harness.store, "a", [base], "after a refused append at a newer revision")

    @law
    async def test_a_plan_never_written_is_at_revision_zero(self, harness: Harness) -> None:
        """The first append is for revision 0: at another one it is refused, and leaves nothing."""
        first = adding(Plan(), ("Dig",))
        await refused(harness.store, "a", adding(first.plan, ("Early",)))
        await keeps(harness.store, "a", [], "after a refused append to a plan never written")
        await accepted(harness.store, "a", first)
        await keeps(harness.store, "a", [first], "after the first append")

    @law
    async def test_an_append_that_fails_leaves_nothing(self, harness: Harness) -> None:
        """Where the second of two entries cannot be kept, append raises, and neither is there."""
        # A dependency half written, or a batch half applied, is a plan that nobody has decided on.
        base = adding(Plan(), ("Dig",))
        await accepted(harness.store, "a", base)
        fine = adding(base.plan, ("Lay",))
        unkept = adding(fine.plan, ("Fill",), metadata=_UNKEPT)
        try:
            entries = fine.entries + unkept.entries
            await harness.store.append("a", 1, entries, unkept.plan)
        except Exception:  # noqa: BLE001 - however a store refuses what it cannot keep
            await keeps(harness.store, "a", [base], "after an append that raised")
        else:  # a store that can keep a set, as one in memory does, has to keep all of it
            when = "after an append with a set in the metadata, which did not raise"
            await keeps(harness.store, "a", [base, fine, unkept], when)

    @law
    async def test_plans_are_apart(self, harness: Harness) -> None:
        """What is appended to one plan, or refused, is nowhere in another."""
        # Both plans have a task "1": pydantic-ai-todo keys its table by that id alone.
        first, other = adding(Plan(), ("Dig",)), adding(Plan(), ("Cook", "Eat"))
        await accepted(harness.store, "garden", first)
        await keeps(harness.store, "kitchen", [], "after an append to another plan")
        await accepted(harness.store, "kitchen", other)
        second = adding(first.plan, ("Lay",))
        await refused(harness.store, "kitchen", second)
        await accepted(harness.store, "garden", second)
        await keeps(harness.store, "garden", [first, second], "after appends to both")
        await keeps(harness.store, "kitchen", [other], "after appends to both")

    @law
    async def test_odd_ids_are_apart(self, harness: Harness) -> None:
        """Every id is a plan of its own: spaces, case, slashes, quotes, any script, long ones."""
        # Plan ids come from threads, sessions and users: as file names, keys or patterns they meet
        # each other, or leave the folder.
        made = {plan_id: adding(Plan(), (f"for {plan_id!r}",)) for plan_id in ODD_IDS}
        for plan_id, append in made.items():
            await keeps(harness.store, plan_id, [], "before it was written")
            await accepted(harness.store, plan_id, append)
        store = await harness.again()
        for plan_id, append in made.items():
            await keeps(store, plan_id, [append], "after all were written")
