"""
Several at once, in threads or tasks: one append wins, nobody sees half of one, nothing is lost.
"""

from collections.abc import Sequence
from itertools import cycle
from threading import Event

from todoplan.core.commands import CreateTask
from todoplan.core.events.apply import replay
from todoplan.core.plan.plan import Plan
from todoplan.planner import AsyncPlanner
from todoplan.stores.base import AsyncStore
from todoplan.testing.assertions import must
from todoplan.testing.stores.appends import Append, adding
from todoplan.testing.stores.harness import (
    Checks,
    Harness,
    accepted,
    equal,
    keeps,
    law,
    same_plan,
)

__all__ = ["Concurrent"]

_ROUNDS = 8
# Beads#4657: of eight that claimed at once up to seven had won.
_RIVALS = 6
_APPENDS = 6
_TASKS = 12
_THREE = (("Dig",), ("Lay",), ("Fill",))


class Concurrent(Checks):
    """
    Several who write and read at once: one plan, several plans, and planners upon one.
    """

    @law
    async def test_one_of_several_appends_wins(self, harness: Harness) -> None:
        """Of several appends at the same revision, at once, exactly one is accepted and kept."""
        # To read, compare and write in three steps is how several of the peers lose updates.
        handles, done = [harness.store, await harness.again()], list[Append]()

        async def bid(store: AsyncStore, made: Append) -> bool:
            return await store.append("a", made.expected, made.entries, made.plan)

        for number in range(_ROUNDS):
            plan = done[-1].plan if done else Plan()
            bids = [adding(plan, (f"{number}.{rival}",)) for rival in range(_RIVALS)]
            pairs = zip(cycle(handles), bids, strict=False)
            answers = await harness.together(*(bid(store, made) for store, made in pairs))
            won = [made for made, answer in zip(bids, answers, strict=True) if answer]
            at = f"{len(bids)} appends at revision {plan.revision}, at once"
            must(len(won) == 1, f"{at}: {len(won)} of them returned True, wanted exactly one")
            done += won
            await keeps(harness.store, "a", done, "after a race")

    @law
    async def test_no_reader_sees_half_an_append(self, harness: Harness) -> None:
        """Who reads while others append sees all entries of an append or none, and their plan."""
        # Plan and journal kept in two places are written one after the other somewhere.
        made = [adding(Plan(), *_THREE)]
        for _ in range(_ROUNDS):
            made.append(adding(made[-1].plan, *_THREE))
        ended = Event()

        async def write() -> None:
            try:
                for append in made:
                    await accepted(harness.store, "a", append)
            finally:
                ended.set()

        async def read(store: AsyncStore) -> None:
            over = False
            while not over:  # once more after the end: what was written last is there then
                over = ended.is_set()
                await _read_whole(store, made)
                await harness.checks.runner.pause()

        readers = [read(harness.store), read(await harness.again())]
        await harness.together(write(), *readers)

    @law
    async def test_plans_do_not_hinder_each_other(self, harness: Harness) -> None:
        """Appends to different plans, at once, are all accepted: none is at another revision."""
        stores = cycle([harness.store, await harness.again()])
        handles = {name: next(stores) for name in ("a", "b", "c", "d")}
        written = await harness.together(*(_write(store, name) for name, store in handles.items()))
        for name, appended in zip(handles, written, strict=True):
            await keeps(harness.store, name, appended, "after appends to all at once")

    @law
    async def test_planners_lose_nothing(self, harness: Harness) -> None:
        """Two planners that add tasks at once lose none, and every id is given once."""
        # Over nine tasks each: a journal that is sorted by text has "10" before "2".
        one, other = await harness.planners("a")

        async def add(planner: AsyncPlanner, who: str) -> None:
            for number in range(_TASKS):
                await planner.apply(CreateTask(f"{who} {number}"))

        await harness.together(add(one, "one"), add(other, "other"))
        plan = await other.plan()
        wanted = sorted(f"{who} {n}" for who in ("one", "other") for n in range(_TASKS))
        equal(sorted(task.subject for task in plan), wanted, "the tasks that two planners added")
        ids = [str(number) for number in range(1, 2 * _TASKS + 1)]
        equal([task.id for task in plan], ids, "the ids that were given")
        same_plan(await harness.store.load("a"), plan, "load('a') behind the planners")
        revisions = [entry.revision for entry in await one.history()]
        equal(revisions, [*map(int, ids)], "the revisions in the journal")

    @law
    async def test_what_planners_did_is_undone(self, harness: Harness) -> None:
        """Two planners that undo at once take back two commands, and later ones all the rest."""
        one, other = await harness.planners("a")
        for subject in ("Dig", "Lay", "Fill"):
            await one.apply(CreateTask(subject))
        await harness.together(one.undo(), other.undo())
        equal([task.subject for task in await other.plan()], ["Dig"], "the tasks after two undos")
        await one.apply(CreateTask("Plant"))
        equal([task.id for task in await other.plan()], ["1", "4"], "the ids after a new task")
        await other.undo()
        await one.undo()
        plan, history = await other.plan(), await other.history()
        equal([*plan], [], "the tasks after all was undone")
        taken = sorted(entry.undoes for entry in history if entry.undoes is not None)
        made = [entry.revision for entry in history if entry.undoes is None]
        equal(taken, made, "the revisions that were undone")
        equal(plan.next_id, 5, "the next id after all was undone")


async def _write(store: AsyncStore, plan_id: str) -> list[Append]:
    plan, appended = Plan(), []
    for number in range(_APPENDS):
        same_plan(await store.load(plan_id), plan, f"amid other plans' appends, load({plan_id!a})")
        appended.append(adding(plan, (f"{plan_id} {number}",)))
        await accepted(store, plan_id, appended[-1])
        plan = appended[-1].plan
    return appended


async def _read_whole(store: AsyncStore, made: Sequence[Append]) -> None:
    """
    Read the plan and then the journal: both between two appends, the journal at least as far.
    """
    plan, journal = await store.load("a"), await store.entries("a")
    replayed = replay(Plan(), (event for entry in journal for event in entry.events))
    stages = {append.plan.revision: append.plan for append in made} | {0: Plan()}
    for found, what in ((plan, "load('a')"), (replayed, "the replay of entries('a')")):
        at = f"amid appends of {len(_THREE)} entries, {what} is at revision {found.revision}"
        must(found.revision in stages, f"{at}, wanted one of the revisions {sorted(stages)}")
        same_plan(found, stages[found.revision], f"amid appends, {what}")
    ahead = f"load gave revision {plan.revision}, and entries behind it {replayed.revision}"
    must(plan.revision <= replayed.revision, f"{ahead}, wanted as many or more")
