"""Clocks of clients that are off by an hour: leases run by the server's (law 19)."""

from datetime import timedelta

import pytest

from todoplan.core.commands import ClaimTask, CreateTask, UpdateTask
from todoplan.core.decide import Accepted, Rejected
from todoplan.dialogue import calls as clock
from todoplan.planner import Planner
from todoplan.stores.postgres import PostgresStore

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
