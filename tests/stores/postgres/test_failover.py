"""A standby that lagged takes the primary's place: no planner goes on from what it remembers."""

import asyncio

import pytest
from support.postgres import binaries, running
from support.stored import refused

from todoplan.core.commands import CreateTask
from todoplan.core.plan.plan import Plan
from todoplan.planner import AsyncPlanner, Planner
from todoplan.stores.base import follow
from todoplan.stores.postgres import AsyncPostgresStore, PostgresStore


@pytest.fixture
def primary():
    """A server of its own, which will not come back."""
    if binaries() is None:
        pytest.skip("no PostgreSQL binaries; install the package postgresql")
    with running() as server:
        yield server


def test_a_planner_that_outlives_a_failover_does_not_fork_the_plan(primary):
    """Two real servers: the second one, of a base backup, has gone on to as many revisions."""
    store, other = PostgresStore(primary.address), PostgresStore(primary.address)
    planner, loop = Planner(store, "a"), asyncio.new_event_loop()
    planner.apply(CreateTask("Dig"))
    standby = primary.backup()
    planner.apply(CreateTask("Lay"))
    awaited = AsyncPlanner(AsyncPostgresStore(primary.address), "a")
    assert len(loop.run_until_complete(awaited.plan())) == 2
    primary.kill()
    standby.start()
    try:
        Planner(other, "a").apply(CreateTask("Weed")).unwrap()
        for act in (
            lambda: planner.plan,
            lambda: planner.apply(CreateTask("x" * 40_000)),
            lambda: loop.run_until_complete(awaited.apply(CreateTask("Fill"))),
        ):
            refused("rolled_back", act, "not the one that was read")
        plan = other.load("a")
        assert [task.subject for task in plan] == ["Dig", "Weed"]
        assert plan == follow(Plan(), other.entries("a"))
        Planner(store, "a").apply(CreateTask("Fill")).unwrap()
        loop.run_until_complete(awaited._store.close())
        loop.close()
        store.close()
        other.close()
    finally:
        standby.stop()
        primary.data = standby.data  # so that it is stopped already
        standby.start()
