"""The long form of PostgreSQL's tests runs, at the smallest size, and does what it is named for."""

import psycopg
import pytest

from benchmarks import postgres_long
from todoplan.stores.postgres import PostgresStore

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("way", ["_bare", "_store", "_silent", "_planner"])
def test_every_way_of_committing_commits(postgres, way):
    """One commit for each turn, upon what is there."""
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
    """And how late it came is said."""
    row = postgres_long.watched(postgres, 3)
    assert row["watched"] == 3
    assert 0 <= row["median, ms"] <= row["longest, ms"]
