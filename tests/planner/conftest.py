"""Planners of both kinds, and tests that are coroutine functions."""

import asyncio
from inspect import iscoroutinefunction

import pytest
from support.blocking import BlockingPlanner

from todoplan.planner import Planner
from todoplan.stores import MemoryStore


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """Run a test that is a coroutine function in an event loop of its own."""
    if not iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True


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
