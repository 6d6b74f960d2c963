"""Appends and reads of one plan at once: one append wins, and nobody sees half of one."""

from collections.abc import Sequence
from itertools import cycle
from threading import Event

import attrs

from todoplan.core.events.apply import replay
from todoplan.core.events.journal import Entry
from todoplan.core.plan.plan import Plan
from todoplan.stores.base import AsyncStore
from todoplan.testing.adapters.claims import must
from todoplan.testing.stores.bench import Bench, Checks
from todoplan.testing.stores.laws import law
from todoplan.testing.stores.lives import Append, adding
from todoplan.testing.stores.telling import accepted, keeps, same_plan
from todoplan.testing.stores.ways import Way

__all__ = ["Racing"]

_ROUNDS = 8
_RIVALS = 6


class Racing(Checks):
    """
    Threads, or tasks, upon one plan.
    """

    @law
    async def test_one_of_several_appends_wins(self, bench: Bench) -> None:
        """Of several appends at the same revision, at once, exactly one is accepted and kept."""
        handles = [bench.store, await bench.again()]
        plan, journal = Plan(), tuple[Entry, ...]()
        for number in range(_ROUNDS):
            bids = [adding(plan, (f"{number}.{rival}",)) for rival in range(_RIVALS)]
            won = await _winner(bench, handles, bids)
            plan, journal = won.plan, journal + won.entries
            await keeps(bench.store, "a", plan, journal, "after a race")

    @law
    async def test_no_reader_sees_half_an_append(self, bench: Bench) -> None:
        """Who reads while others append sees all entries of an append or none, and their plan."""
        life = [adding(Plan(), *_THREE)]
        for _ in range(_ROUNDS):
            life.append(adding(life[-1].plan, *_THREE))
        handles, ended = (bench.store, await bench.again()), Event()
        readers = (_Reading(each, life).until(ended, bench.checks.way) for each in handles)
        await bench.together(_write(bench.store, life, ended), *readers)


_THREE = (("Dig",), ("Lay",), ("Fill",))


async def _winner(bench: Bench, handles: Sequence[AsyncStore], bids: Sequence[Append]) -> Append:
    async def bid(store: AsyncStore, made: Append) -> bool:
        return await store.append("a", made.expected, made.entries, made.plan)

    pairs = zip(cycle(handles), bids, strict=False)
    answers = await bench.together(*(bid(store, made) for store, made in pairs))
    won = [made for made, answer in zip(bids, answers, strict=True) if answer]
    at = f"{len(bids)} appends at revision {bids[0].expected}, at once"
    must(len(won) == 1, f"{at}: {len(won)} of them returned True, wanted exactly one")
    return won[0]


async def _write(store: AsyncStore, life: Sequence[Append], ended: Event) -> None:
    try:
        for append in life:
            await accepted(store, "a", append)
    finally:
        ended.set()


@attrs.frozen
class _Reading:
    """
    Reads of a plan while others write its life.
    """

    store: AsyncStore
    life: Sequence[Append]

    async def until(self, ended: Event, way: Way) -> None:
        """
        Read until the others have ended, and once more.
        """
        over = False
        while not over:
            over = ended.is_set()
            await self.once()
            await way.pause()

    async def once(self) -> None:
        """
        Read the plan and then the journal, which has to be as far by then.
        """
        plan, journal = await self.store.load("a"), await self.store.entries("a")
        replayed = replay(Plan(), (event for entry in journal for event in entry.events))
        self.whole(plan, "load('a')")
        self.whole(replayed, "the replay of entries('a')")
        ahead = f"load gave revision {plan.revision}, and entries behind it {replayed.revision}"
        must(plan.revision <= replayed.revision, f"{ahead}, wanted as many or more")

    def whole(self, found: Plan, what: str) -> None:
        """
        Fail the check unless a plan stands behind an append, not within one.
        """
        stages = {append.plan.revision: append.plan for append in self.life} | {0: Plan()}
        at = f"amid appends of {len(_THREE)} entries, {what} is at revision {found.revision}"
        must(found.revision in stages, f"{at}, wanted one of the revisions {sorted(stages)}")
        same_plan(found, stages[found.revision], f"amid appends, {what}")
