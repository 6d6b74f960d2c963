"""A claimed task, awaited."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from todoplan.core.commands import ClaimTask, CreateTask, CreateTasks, UpdateTask
from todoplan.core.plan.model import Status
from todoplan.core.rules import DEFAULT
from todoplan.dialogue.toolbox import Toolbox
from todoplan.errors import PlanError, StoreError
from todoplan.planner import AsyncPlanner, Planner
from todoplan.stores import MemoryStore


class OhError(Exception):
    """What a body raises."""


def away():
    """Return what a store raises that cannot be reached."""
    msg = "away"
    return StoreError(msg, problem="unreachable")


async def planner(count=2, **options):
    """Return a planner of so many tasks."""
    made = AsyncPlanner(MemoryStore(), "p", **options)
    await made.apply(CreateTasks([CreateTask(f"t{n}") for n in range(count)]))
    return made


def taken_over(by):
    """Let somebody else take over the task 1, as if its lease were long over."""
    later = Planner(by._store, "p", clock=lambda: datetime.now(UTC) + timedelta(days=1))
    assert later.claim("thief").task.id == "1"


def test_a_claimed_task_is_completed_at_the_end():
    """One after the other, until there is none to get."""

    async def main():
        plans = await planner()
        while (held := await plans.claim("bot")) is not None:
            async with held:
                assert held.task.status is Status.IN_PROGRESS
        return await plans.plan()

    assert asyncio.run(main()).counts.completed == 2


def test_what_raises_gives_its_task_back():
    """It is pending again; so does a body that is cancelled."""

    async def main():
        plans = await planner()
        with pytest.raises(OhError):
            async with await plans.claim("bot"):
                raise OhError
        assert (await plans.plan())["1"].status is Status.PENDING

        async def body():
            async with await plans.claim("bot"):
                await asyncio.sleep(60)

        running = asyncio.create_task(body())
        await asyncio.sleep(0.01)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        return (await plans.plan())["1"]

    task = asyncio.run(main())
    assert (task.status, task.claims) == (Status.PENDING, 2)


@pytest.mark.parametrize(
    ("close", "status"),
    [("complete", "completed"), ("fail", "failed"), ("release", "pending")],
)
def test_a_body_may_close_its_task_itself(close, status):
    """The end of the `async with` then adds nothing."""

    async def main():
        plans = await planner()
        async with await plans.claim("bot") as held:
            await getattr(held, close)()
        return (await plans.plan())["1"].status

    assert asyncio.run(main()) == status


def test_the_heartbeat_keeps_a_claim_alive():
    """A body that takes longer than its lease is not overtaken."""

    async def main():
        plans = await planner(1)
        beaten = asyncio.Event()
        plans.subscribe(lambda entry, _: entry.cause == "RenewClaim" and beaten.set())
        async with await plans.claim(ClaimTask("bot", lease=0.15)) as held:
            await asyncio.wait_for(beaten.wait(), 10)
            assert not held.lost
        return (await plans.plan())["1"].status

    assert asyncio.run(main()) is Status.COMPLETED


def test_a_lost_claim_is_told_and_refused():
    """The body can see it; what it reports is not in the plan, and what it raises goes on."""

    async def main():
        plans = await planner()
        held = await plans.claim(ClaimTask("bot", lease=0.1))
        with pytest.raises(StoreError, match="lost its claim"):  # noqa: PT012 - its end raises
            async with held:
                taken_over(plans)
                await asyncio.wait_for(held._beating, 10)
                assert held.lost
        other = await plans.claim("bot")
        with pytest.raises(OhError):
            async with other:
                raise OhError

    asyncio.run(main())


def test_a_claim_that_is_refused_outside_a_with_has_no_heartbeat():
    """It may be closed without one."""

    async def main():
        plans = await planner()
        held = await plans.claim("bot")
        await held.__aexit__(None, None, None)
        sync = Planner(plans._store, "p").claim("bot")
        sync.__exit__(None, None, None)
        return await plans.plan()

    assert asyncio.run(main()).counts.completed == 2


class AwayStore(MemoryStore):
    """A store that is away while `away` is set."""

    away = False

    def load(self, plan_id):
        if self.away:
            raise away()
        return super().load(plan_id)


def test_a_store_that_is_away_for_a_while_loses_nothing():
    """Until the lease is over by this process's clock; what cannot be given back runs out."""

    async def main():
        store = AwayStore()
        plans = AsyncPlanner(store, "p")
        await plans.apply(CreateTask("a"))
        held = await plans.claim(ClaimTask("bot", lease=30))
        store.away = True
        assert await held.renew()
        held._ends = 0
        assert not await held.renew()
        with pytest.raises(OhError):
            async with held:
                raise OhError
        store.away = False
        return (await plans.plan())["1"].claim

    assert asyncio.run(main()).owner == "bot"


def test_a_policy_may_refuse_the_end():
    """The task is given back: nobody could have it until the lease has run out."""

    async def main():
        strict = Toolbox(policy=DEFAULT.but(blocked_complete="error"))
        plans = await planner(toolbox=strict)
        async with await plans.claim("bot"):
            waits = UpdateTask("1", add_blocked_by=("2",))
            await plans.apply(waits, policy=DEFAULT.but(blocked_start="off"))
            body.append(plans)

    body = []
    with pytest.raises(PlanError, match="waits for"):
        asyncio.run(main())
    task = asyncio.run(body[0].plan())["1"]
    assert (task.status, task.claim) == (Status.PENDING, None)
