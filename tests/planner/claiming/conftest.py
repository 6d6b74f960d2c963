"""Planners of some tasks, and pools of workers, of both kinds."""

from inspect import isawaitable

import pytest

from todoplan.core.commands import CreateTasks
from todoplan.planner import Planner
from todoplan.planner.claiming import work, work_async


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
