"""When events are sent; the tests of ACP ask the same of what both share."""

import asyncio
import logging

import pytest

from todoplan.adapters.ag_ui import show_plan
from todoplan.core.commands import CreateTask
from todoplan.planner import AsyncPlanner, Planner

PATIENCE = 60


@pytest.mark.parametrize("make", [Planner, AsyncPlanner])
@pytest.mark.parametrize(
    ("options", "kind"), [({"state": {"mine": 1}}, "STATE"), ({"message_id": "m"}, "ACTIVITY")]
)
def test_a_snapshot_comes_first_and_then_a_delta_for_each_change(make, options, kind):
    """Nothing of a plan that was never written, nor after the end."""
    shown = []

    async def run():
        planner, came = make(), asyncio.Queue()

        async def send(event):
            shown.append(event)
            await came.put(event)

        stop = await show_plan(send, planner, **options)

        async def create(subject):
            created = planner.apply(CreateTask(subject))
            if isinstance(planner, AsyncPlanner):
                await created

        for subject in ("Sow", "Water"):
            await create(subject)
            await asyncio.wait_for(came.get(), PATIENCE)
        await create("Reap")
        await stop()
        await create("Rest")

    asyncio.run(run())
    wanted = [f"{kind}_SNAPSHOT", f"{kind}_DELTA", f"{kind}_DELTA"]
    assert [event.type.value for event in shown] == wanted
    if kind == "STATE":
        assert shown[0].snapshot["mine"] == 1
        assert shown[0].snapshot["plan"]["tasks"][0]["subject"] == "Sow"


def test_an_interface_that_is_gone_is_told_no_more(caplog):
    """It is said once, and the plan goes on."""

    async def send(event):
        raise ConnectionResetError

    async def run():
        planner = AsyncPlanner()
        stop = await show_plan(send, planner)
        for subject in ("Sow", "Reap"):
            assert (await planner.apply(CreateTask(subject))).events
            await asyncio.sleep(0.01)
        await stop()

    with caplog.at_level(logging.ERROR, "todoplan"):
        asyncio.run(run())
    wanted = "the interface that is shown a plan gets no more plans: sending one failed"
    assert [record.message for record in caplog.records] == [wanted]
