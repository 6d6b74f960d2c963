"""The long tests of the stores work: each part runs shortly, and the page is written."""

import sys

import psycopg
import pytest

from benchmarks import postgres_long
from benchmarks.stores_long import __main__ as command
from benchmarks.stores_long.contention import openings, writers
from benchmarks.stores_long.costs import growth, one_process
from benchmarks.stores_long.damage import cuts, stops_on_sqlite
from todoplan.stores.postgres import PostgresStore

pytestmark = pytest.mark.slow


def test_a_damaged_log_leaves_an_exact_prefix_of_the_commits():
    """If the log is cut off, or one bit of it is wrong, the first commits are kept exactly."""
    assert cuts(15) == {"cuts and flips": 30, "exact prefixes of the commits": 30}


def test_processes_at_once_lose_nothing():
    """Neither a writer, nor two processes that open a new database at once, lose a commit."""
    assert writers(1, 0.1)["lost, or out of order"] == 0
    assert openings(2, 1) == {"processes": 2, "rounds": 1, "failed": 0, "tasks lost in": 0}


def test_the_page_has_a_table_for_each_part(monkeypatch, tmp_path, capsys):
    """The saved page is the printed one, and has a table for each part."""
    monkeypatch.setattr(command, "kills", lambda count: {"kills": count, "lost": 0})
    monkeypatch.setattr(command, "cuts", lambda count: {"cuts and flips": count})
    monkeypatch.setattr(command, "writers", lambda count, _: {"processes": count})
    monkeypatch.setattr(command, "openings", lambda *_: {"failed": 0})
    monkeypatch.setattr(command, "one_process", lambda _: one_process(1))
    monkeypatch.setattr(command, "growth", lambda _: growth(10))
    monkeypatch.setattr(command, "stops_on_sqlite", lambda _: stops_on_sqlite(1))
    of_files = command.claims_of_files
    monkeypatch.setattr(command, "claims_of_files", lambda _: of_files(30))
    monkeypatch.setattr(command, "_PAGE", tmp_path / "stores.md")
    monkeypatch.setattr(sys, "argv", ["stores_long", "--save"])
    command.main()
    page = (tmp_path / "stores.md").read_text("utf-8")
    assert capsys.readouterr().out == f"{page}\n"
    assert "| 54 | 0 |" in page
    assert page.count("\n## ") == 8


@pytest.mark.parametrize("way", ["_bare", "_store", "_silent", "_planner"])
def test_every_way_of_committing_commits(postgres, way):
    """Each way of writing makes one commit at each turn, after the existing entries."""
    address = postgres.fresh()
    with PostgresStore(address) as store:
        assert store.append("a", 0, *postgres_long.batch(store.load("a"), "first"))
    commits = getattr(postgres_long, way)(address)
    revisions = []
    with psycopg.connect(address, autocommit=True) as db:
        for _ in range(3):
            next(commits)
            revisions += db.execute("select revision from todoplan_plan").fetchone()
    commits.close()
    assert revisions == sorted(set(revisions))


def test_an_entry_comes_to_who_watches(postgres):
    """A watcher gets the entries, and the delays are reported."""
    row = postgres_long.watched(postgres, 3)
    assert row["watched"] == 3
    assert 0 <= row["median, ms"] <= row["longest, ms"]
