"""The suites run at small sizes, and each of their cases does what its name says."""

from importlib import import_module

import pytest
from support.shared import needs_recordings

from benchmarks.measure import Effort, once
from benchmarks.suites import (
    adapters,
    footprint,
    guidance,
    life,
    operations,
    recordings,
    stored,
    tokens,
)

pytestmark = pytest.mark.slow


def quiet(_):
    """Ignore a line of the report."""


def test_whole_lives_end_completed(runner):
    """Every contender has completed every task at the end."""
    for name, call in life.lives(3).items():
        assert call.holds(once(call, runner)[1]), name


def test_decisions_are_as_named(runner):
    """A reminder is sent exactly if the plan is lost."""
    for name, call in guidance.decisions(12).items():
        assert call.holds(once(call, runner)[1]), name


@pytest.mark.filterwarnings(  # LlamaIndex with pydantic 2.14
    "ignore::DeprecationWarning", "ignore:Skipping serialization of known unserializable key"
)
@pytest.mark.parametrize("host", adapters._HOSTS)
def test_turns_within_frameworks_succeed(host, runner):
    """Each tool answers without an error, also when it is called again."""
    pytest.importorskip(host)
    for calls in import_module(adapters._HOSTS[host]).turns(5).values():
        for name, call in calls.items():
            assert call.holds(once(call, runner)[1]), name
            assert call.holds(once(call, runner)[1]), name


def test_operations_give_a_row_for_each_contender(monkeypatch):
    """At each size a contender has a row with time and ratio, and one row with its growth."""
    monkeypatch.setattr(operations, "_QUICK", (3, 6))
    monkeypatch.setattr(operations, "_QUICK_EFFORT", Effort(rounds=2, block=1))
    found = operations.run(quick=True, say=quiet, only=("get",))
    ours = [row for row in found if row["contender"] == "todoplan"]
    assert [row.get("n") for row in ours] == [3, 6, None]
    assert all(row["ratio"] > 0 for row in ours[:2])
    assert "growth" in ours[2]


def test_who_would_take_too_long_is_left_out(monkeypatch):
    """A contender that would take too long at the next size has a row that says so."""
    monkeypatch.setattr(operations, "_QUICK", (3, 6))
    monkeypatch.setattr(operations, "_QUICK_EFFORT", Effort(rounds=2, block=1))
    monkeypatch.setattr(operations, "_PATIENCE", 0.0)
    found = operations.run(quick=True, say=quiet, only=("ready",))
    later = [row for row in found if row.get("n") == 6]
    assert {row["note"].split(":")[0] for row in later} == {"left out"}


def test_lives_and_decisions_give_rows(monkeypatch):
    """The suites `life` and `guidance` measure the contenders that `only` names."""
    monkeypatch.setattr(life, "_SIZES", (3, 6))
    found = life.run(quick=True, say=quiet, only=("floor", "todoplan"))
    assert {row["contender"] for row in found} == {"floor", "todoplan"}
    monkeypatch.setattr(guidance, "_SIZES", (10,))
    names = ("floor, every message looked at", "todoplan, final answer judged")
    assert [row["contender"] for row in guidance.run(quick=True, say=quiet, only=names)] == [*names]


def test_what_is_stored_over_a_life_is_weighed(monkeypatch):
    """Both sizes are counted; a checkpoint has only a reference to a plan in a store."""
    monkeypatch.setattr(stored, "_SIZES", (3, 6))
    found = stored.run(quick=True, say=quiet)
    assert len({row["where"] for row in found}) == 4
    assert all(0 < row["last"] <= row["kept"] for row in found)
    kept = {row["contender"]: row["last"] for row in found if row["n"] == 6}
    assert kept["todoplan TaskUpdate, plan in a store"] < 100


def test_footprints_are_of_fresh_processes():
    """An import has a time and a ratio, and a holder of tasks has bytes."""
    found = footprint.run(quick=True, say=quiet, only=("attrs", "floor, frozen attrs"))
    assert [set(row) & {"ms", "bytes"} for row in found] == [{"ms"}, {"bytes"}]
    assert found[0]["ratio"] == 1.0


def test_tokens_are_counted_for_who_is_asked():
    """A tool set has a row with its fixed costs, and a row for each length of a life."""
    found = tokens.run(quick=True, say=quiet, only=("todoplan lean, compact",))
    assert [row.get("n") for row in found] == [None, 5, 20]
    assert found[0]["fixed"] == found[1]["fixed"]


def test_missing_recordings_are_said(monkeypatch, tmp_path):
    """Without the folder of recordings the suite is skipped with a message."""
    said = []
    monkeypatch.setattr(recordings, "FOLDER", tmp_path / "nowhere")
    assert "note" in recordings.run(quick=False, say=said.append)[0]
    assert "skipped" in said[0]


@needs_recordings
def test_recordings_are_told_again_to_the_same_end():
    """Every call is counted, and `todos` makes every change of the plan by one call."""
    *_, every = recordings.run(quick=True, say=quiet)
    assert every["recordings"] >= 10
    assert every["todos calls"] == every["changes"] <= every["calls"]
    assert 0 < every["lean written"] < every["written"]
