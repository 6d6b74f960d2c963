"""A small team completes its plan although workers are disturbed, and faults are counted."""

from collections import Counter

import pytest

from benchmarks.suites import team
from benchmarks.suites.team import Load, drained

SMALL = Load(tasks=8, workers=2, lease=1.0, longest=60.0)


def test_threads_on_a_plan_in_memory_do_each_task_once(monkeypatch):
    """If no worker is disturbed, no task is done twice and none is lost."""
    monkeypatch.setattr(team, "_TASK", 0.001)
    found = drained("todoplan", "memory:", SMALL)
    counts = [found[name] for name in ("begun", "done twice", "closed twice", "lost")]
    assert counts == [8, 0, 0, 0]


def test_what_was_closed_and_never_done_is_lost(monkeypatch):
    """A task that was closed without being done counts as lost; work done twice is counted."""

    def perform(number, lease, log):
        if number != 3:
            with log.open("a") as file:
                file.write(f"begun {number}\nfinished {number}\n" * (1 + (number == 2)))

    monkeypatch.setattr(team, "perform", perform)
    found = drained("todoplan", "memory:", SMALL)
    assert (found["lost"], found["done twice"], found["closed twice"]) == (1, 1, 0)


@pytest.mark.slow
def test_processes_that_are_killed_and_stopped_lose_nothing(tmp_path):
    """No task is closed twice or lost in SQLite, also while another process locks the database."""
    path = f"{tmp_path}/plans.db"
    load = Load(tasks=12, workers=2, lease=1.0)
    found = drained("todoplan", f"sqlite:///{path}", load, lambda: team._held(path))
    assert (found["closed twice"], found["lost"]) == (0, 0)
    assert found["kills"] + found["pauses"] + found["store away"] > 0
    assert found["begun"] >= 12


def test_a_plan_that_is_never_drained_is_left_after_a_time(monkeypatch, tmp_path):
    """Tasks that are open when the time is over count as lost."""
    monkeypatch.setattr(team.Workers, "fill_up", lambda self, count: None)
    monkeypatch.setattr(team.time, "sleep", lambda seconds: None)
    load = Load(tasks=3, lease=1e9, longest=0.0)
    found = drained("todoplan", f"sqlite:///{tmp_path}/plans.db", load)
    assert (found["lost"], found["begun"]) == (3, 0)


def test_how_often_a_task_was_closed_is_read_from_the_journal(tmp_path):
    """Each completion in the journal counts."""
    queue = team.Ours(f"sqlite:///{tmp_path}/plans.db", 1.0, tmp_path / "log")
    queue.fill(2)
    with queue.planner.claim("w"):
        pass
    assert queue.closed() == Counter({1: 1})


@pytest.mark.slow
def test_the_command_prints_a_row_for_each_store(command, capsys, postgres):
    """`--only` chooses the rows."""
    command("team", "--tasks", "3", "--only", "memory")
    assert "| memory, threads | 0 | 0 | 0 | 3 | 0 | 0 | 0 |" in capsys.readouterr().out
