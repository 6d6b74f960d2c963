"""Planners of both kinds: what holds of one holds of the other."""

import pytest
from support.blocking import BlockingPlanner

from todoplan.planner import Planner
from todoplan.stores import MemoryStore


@pytest.fixture(params=["at once", "awaited"])
def made(request):
    """Return a function that makes a planner; an awaited one is used like the other."""
    kind, planners = Planner if request.param == "at once" else BlockingPlanner, []

    def make(store=None, **options):
        planners.append(kind(store or MemoryStore(), "p", **options))
        return planners[-1]

    yield make
    for planner in planners:
        if kind is BlockingPlanner:
            planner.close()
