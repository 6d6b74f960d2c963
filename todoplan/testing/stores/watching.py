"""
Watching: whoever follows a plan misses nothing, whatever wakes it up.

`Planner.watch` works over every store, by looking again and again. A store may have something that
makes looking needless, and says so by `wait_for_change(plan_id, revision, timeout)`: it waits until
the plan is at another revision, no longer than so many seconds, and says whether it is.
"""

from typing import Any

import pytest

from todoplan.core.plan.plan import Plan
from todoplan.testing.assertions import must
from todoplan.testing.stores.appends import Append, adding
from todoplan.testing.stores.harness import Checks, Harness, accepted, equal, law

__all__ = ["Watching"]

_APPENDS = 8
_NO_TIME, _LONG = 0.0, 60.0


class Watching(Checks):
    """
    Those who follow a plan while others write.
    """

    quiet = 10.0
    """So many seconds a watcher waits for an entry before the check fails."""

    @law
    async def test_a_watcher_sees_every_entry_once(self, harness: Harness) -> None:
        """Who watches sees every entry once and in order, by whichever handle it came."""
        # A queue of what is still to be told loses what came while nobody looked.
        handles = [harness.store, await harness.again()]
        made = _chain(_APPENDS)
        wanted = tuple(entry for append in made for entry in append.entries)
        seen = list[Any]()

        async def write() -> None:
            for number, append in enumerate(made):
                await accepted(handles[number % 2], "a", append)
                await harness.checks.runner.pause()

        async def watch() -> None:
            watched = harness.checks.runner.watched
            seen.extend(await watched(harness.handles[0], "a", len(wanted), self.quiet))

        await harness.together(write(), watch())
        equal(tuple(seen), wanted, "what a watcher saw while two handles appended in turns")

    @law
    async def test_a_wait_ends_with_a_change(self, harness: Harness) -> None:
        """A wait ends when the plan is at another revision, and says whether it is."""
        other = await harness.again()
        waits = getattr(harness.handles[0], "wait_for_change", None)
        if waits is None:
            pytest.skip("the store has no wait_for_change: who watches looks again and again")
        first, second = _chain(2)

        async def wait(revision: int, seconds: float, wanted: object) -> None:
            found = await harness.checks.runner.value(waits("a", revision, seconds))
            at = f"wait_for_change('a', {revision}, {seconds:g})"
            must(found is wanted, f"{at} returned {found!r}, wanted {wanted}")

        await wait(0, _NO_TIME, wanted=False)
        await accepted(other, "a", first)
        await wait(0, _LONG, wanted=True)
        await accepted(other, "b", first)
        await wait(first.plan.revision, _NO_TIME, wanted=False)
        append = accepted(other, "a", second)
        await harness.together(wait(first.plan.revision, _LONG, wanted=True), append)


def _chain(count: int) -> list[Append]:
    """
    Return appends that follow each other, of two entries each.
    """
    made: list[Append] = []
    for number in range(count):
        plan = made[-1].plan if made else Plan()
        made.append(adding(plan, (f"{number} Dig",), (f"{number} Lay", "Fill")))
    return made
