"""The long form of the stores' tests works: a little of each part, and the page that it writes."""

import sys

import pytest

from benchmarks.stores_long import __main__ as command
from benchmarks.stores_long.contention import openings, writers
from benchmarks.stores_long.costs import growth, one_process
from benchmarks.stores_long.damage import cuts, stops_on_sqlite

pytestmark = pytest.mark.slow


def test_a_damaged_log_leaves_an_exact_prefix_of_the_commits():
    """Cut off anywhere, or any bit of it flipped (P10); a longer run is the benchmark."""
    assert cuts(15) == {"cuts and flips": 30, "exact prefixes of the commits": 30}


def test_processes_at_once_lose_nothing():
    """A writer, and two who open a fresh database."""
    assert writers(1, 0.1)["lost, or out of order"] == 0
    assert openings(2, 1) == {"processes": 2, "rounds": 1, "failed": 0, "tasks lost in": 0}


def test_the_page_has_a_table_for_each_part(monkeypatch, tmp_path, capsys):
    """As it is printed, so it is kept."""
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
