"""Planners upon one plan at once: nothing is lost, no id is given twice, all can be undone."""

from todoplan.core.commands import CreateTask
from todoplan.planner import AsyncPlanner
from todoplan.testing.stores.bench import Bench, Checks
from todoplan.testing.stores.laws import law
from todoplan.testing.stores.telling import equal, same_plan

__all__ = ["Planning"]

_TASKS = 12


class Planning(Checks):
    """
    What embedders do with a store, by two handles.
    """

    @law
    async def test_planners_lose_nothing(self, bench: Bench) -> None:
        """Two planners that add tasks at once lose none, and every id is given once."""
        one, other = await bench.planners("a")
        await bench.together(_add(one, "one"), _add(other, "other"))
        plan = await other.plan()
        wanted = sorted(f"{who} {n}" for who in ("one", "other") for n in range(_TASKS))
        equal(sorted(task.subject for task in plan), wanted, "the tasks that two planners added")
        ids = [str(number) for number in range(1, 2 * _TASKS + 1)]
        equal([task.id for task in plan], ids, "the ids that were given")
        same_plan(await bench.store.load("a"), plan, "load('a') behind the planners")
        revisions = [entry.revision for entry in await one.history()]
        equal(revisions, [*map(int, ids)], "the revisions in the journal")

    @law
    async def test_what_planners_did_is_undone(self, bench: Bench) -> None:
        """Two planners that undo at once take back two commands, and later ones all the rest."""
        one, other = await bench.planners("a")
        for subject in ("Dig", "Lay", "Fill"):
            await one.apply(CreateTask(subject))
        await bench.together(one.undo(), other.undo())
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


async def _add(planner: AsyncPlanner, who: str) -> None:
    for number in range(_TASKS):
        await planner.apply(CreateTask(f"{who} {number}"))
