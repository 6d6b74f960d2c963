"""Planners and pools of both kinds: what holds of one holds of the other."""

from inspect import isawaitable

import pytest
from support.blocking import BlockingPlanner

from todoplan.core.commands import CreateTasks
from todoplan.planner import Planner
from todoplan.planner.claiming import work, work_async
from todoplan.stores import MemoryStore


@pytest.fixture(params=["threads", "tasks"])
def made(request):
    """Return a function that makes a planner; an awaited one is used like the other."""
    kind, planners = Planner if request.param == "threads" else BlockingPlanner, []

    def make(store=None, **options):
        planners.append(kind(store or MemoryStore(), "p", **options))
        return planners[-1]

    yield make
    for planner in planners:
        if kind is BlockingPlanner:
            planner.close()


@pytest.fixture
def planner(made):
    """Return a function that makes a planner of some tasks."""

    def make(*items, **options):
        planner = made(**options)
        planner.apply(CreateTasks(items))
        return planner

    return make


@pytest.fixture
def drain():
    """Return a function that runs a pool."""

    def run(planner, handler, **options):
        if isinstance(planner, Planner):
            return work(planner, handler, **options)

        async def awaited(held):
            done = handler(held)
            if isawaitable(done):
                await done

        return planner.run(work_async(planner.made, awaited, **options))

    return run
