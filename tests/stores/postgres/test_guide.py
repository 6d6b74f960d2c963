"""What the guide shows of PostgreSQL, run as it stands on a real server."""

import re
from pathlib import Path

from support.docs import defined, fenced, page

from todoplan.stores import postgres
from todoplan.stores.postgres import PostgresStore


def test_the_example_runs(address, monkeypatch, capsys):
    """With the address of our server in the place of theirs."""
    shown = "postgresql://planner@db.example/plans"
    assert shown in fenced("stores", "code: postgres", "python")

    class AtOurs(PostgresStore):
        def __init__(self, dsn):
            assert dsn == shown
            super().__init__(address)

    monkeypatch.setattr("todoplan.stores.PostgresStore", AtOurs)
    names = defined("stores", "postgres")
    assert names["decision"].plan["1"].subject == "Dig"
    assert capsys.readouterr().out == "1 ann CreateTask\n"


def test_the_guide_knows_every_problem_of_a_server():
    """Each word by which an error of the server's is told stands in the table."""
    source = (Path(postgres.__file__).parent / "connections.py").read_text("utf-8")
    words = set(re.findall(r'", "([a-z_]+)", "', source))
    words |= set(re.findall(r'^_[A-Z]+ = \("([a-z_]+)"', source, re.MULTILINE))
    words |= set(re.findall(r'^        "([a-z_]+)",$', source, re.MULTILINE))
    assert {"busy", "failed", "refused", "no_database", "unreachable"} <= words
    told = page("stores").partition("## PostgreSQL")[2]
    assert [word for word in sorted(words) if f"`{word}`" not in told] == []
