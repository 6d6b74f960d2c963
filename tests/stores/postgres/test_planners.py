"""Planners over PostgreSQL: they hold the plan, read what came since, and keep keys."""

import asyncio
from datetime import timedelta

import psycopg
import pytest
from support.stored import append

from todoplan.core.commands import ClaimTask, CreateTask, UpdateTask
from todoplan.core.decide import Accepted, Rejected
from todoplan.dialogue import calls as clock
from todoplan.planner import AsyncPlanner, Planner
from todoplan.stores.base import Key
from todoplan.stores.postgres import AsyncPostgresStore, PostgresStore
from todoplan.testing.stores.appends import adding


@pytest.fixture
def asked(monkeypatch):
    """What is asked of the server, statement by statement, by its first word."""
    said, execute = [], psycopg.Connection.execute

    def noting(db, query, *given, **named):
        text = query if isinstance(query, str) else query.decode()
        said.append(text.split()[0])
        return execute(db, query, *given, **named)

    monkeypatch.setattr(psycopg.Connection, "execute", noting)
    return said


def test_a_call_is_as_many_statements_however_long_the_journal(address, asked):
    """Begin, lock, the time, append, commit; after others one more, for what they did."""
    with PostgresStore(address) as store, PostgresStore(address) as others:
        planner, other = Planner(store, "a"), Planner(others, "a")
        counts = []
        for number in range(30):
            asked.clear()
            planner.apply(CreateTask(f"Task {number}"))
            counts.append(list(asked))
        assert counts[1:] == [["begin", "select", "select", "with", "commit"]] * 29
        other.apply(CreateTask("Another's"))
        asked.clear()
        planner.apply(CreateTask("After it"))
        assert asked == ["begin", "select", "select", "with", "commit"]
        asked.clear()
        assert planner.plan == other.plan
        assert asked == ["select"] * 2


def test_a_call_with_a_key_looks_for_its_receipt_once(address, asked):
    """The append need not look again; a second append under the key must, and adds nothing."""
    with PostgresStore(address) as store:
        planner = Planner(store, "a")
        planner.apply(CreateTask("Dig"))
        asked.clear()
        planner.apply(CreateTask("Lay"), key="call-1")
        assert asked == ["begin", "select", "select", "select", "with", "commit"]
        fill = adding(planner.plan, ("Fill",))
        with store.hold("a") as held:
            assert held.receipt(Key("call-2")) is None
            for _ in range(2):
                assert append(held, fill, key=Key("call-2")) == fill.entries


def test_calls_that_are_cancelled_leave_nothing_open(address):
    """What was begun is carried to its end; the connections are free again."""

    async def run():
        async with AsyncPostgresStore(address, most_connections=2) as store:
            planner = AsyncPlanner(store, "a")
            await planner.apply(CreateTask("First"))
            for number in range(20):
                call = asyncio.create_task(planner.apply(CreateTask(f"Task {number}")))
                await asyncio.sleep(number / 5_000)
                call.cancel()
                await asyncio.gather(call, return_exceptions=True)
            await planner.apply(CreateTask("Last"))
            return await planner.plan(), await planner.history()

    plan, journal = asyncio.run(run())
    assert [*plan][-1].subject == "Last"
    assert [entry.revision for entry in journal] == list(range(1, len(plan) + 1))


HOUR = timedelta(hours=1)


@pytest.fixture
def off(monkeypatch):
    """A function that sets this process's clock off by so much."""

    class Clock(clock.datetime):
        by = timedelta()

        @classmethod
        def now(cls, zone=None):
            return super().now(zone) + cls.by

    monkeypatch.setattr(clock, "datetime", Clock)

    def by(much):
        Clock.by = much
        assert abs(clock.utc_now() - clock.datetime.now(clock.UTC)) < timedelta(minutes=1)

    return by


@pytest.mark.parametrize("much", [HOUR, -HOUR], ids=["fast", "slow"])
def test_a_clock_that_is_off_neither_takes_nor_keeps_a_claim(address, sql, off, much):
    """A fast client does not take a live claim over, a slow one's does not last longer."""
    with PostgresStore(address) as store:
        right, wrong = Planner(store, "a"), Planner(store, "a")
        right.apply(CreateTask("Dig"))
        right.apply(CreateTask("Lay"))
        assert isinstance(right.apply(ClaimTask("right", lease=600, task_id="1")), Accepted)
        off(much)
        taken = wrong.apply(ClaimTask("wrong", lease=600, task_id="1"))
        assert isinstance(taken, Rejected)
        assert [problem.code for problem in taken.problems] == ["claimed"]
        assert isinstance(wrong.apply(ClaimTask("wrong", lease=600, task_id="2")), Accepted)
        now = sql("select clock_timestamp()")[0][0]
        left = wrong.plan["2"].claim.until - now
        assert timedelta(minutes=8) < left <= timedelta(minutes=10)
        off(timedelta())
        late = right.apply(UpdateTask("1", status="completed", fence=1))
        assert isinstance(late, Accepted)
        times = [entry.at for entry in right.history()]
        assert times == sorted(times)
