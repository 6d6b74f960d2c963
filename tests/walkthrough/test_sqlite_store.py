"""The store that the guide walks through, under the store suite that it shows."""

import ast

from support.docs import defined, fenced

from todoplan import Planner
from todoplan.core import commands

STORE = defined("write-a-store", "sqlite store")
SUITE = defined("write-a-store", "sqlite suite", **STORE)


class TestSqliteStore(SUITE["TestSqliteStore"]):
    """What the guide shows, run as it stands."""


def lines_of(mark, name):
    """Return how many lines of a block a class takes."""
    tree = ast.parse(fenced("write-a-store", f"code: {mark}", "python"))
    found = next(node for node in tree.body if getattr(node, "name", "") == name)
    return found.end_lineno - found.lineno + 1


def test_the_store_is_short():
    """The class takes under 40 lines, the suite over it under 8."""
    assert 25 < lines_of("sqlite store", "SqliteStore") < 40
    assert lines_of("sqlite suite", "TestSqliteStore") < 8


def test_a_planner_upon_it_goes_on_after_a_restart(tmp_path, monkeypatch):
    """The line that is shown makes a planner whose plan and journal outlive the process."""
    monkeypatch.chdir(tmp_path)
    given = {**STORE, "Planner": Planner}
    one = defined("write-a-store", "sqlite planner", **given)["planner"]
    one.apply(commands.CreateTask("Dig"))
    other = defined("write-a-store", "sqlite planner", **given)["planner"]
    assert [task.subject for task in other.plan] == ["Dig"]
    assert other.undo().plan == one.plan
