"""Many processes, and some of them killed: nothing acknowledged is lost, nothing happens twice."""

import random
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.postgres_writers import batch, faults_of, writers

from todoplan.core.plan.plan import Plan
from todoplan.errors import StoreError
from todoplan.stores.base import Key, follow
from todoplan.stores.postgres import PostgresStore

DIG = batch(Plan(), "dig")


@pytest.mark.parametrize("keys", [("one", "other"), ("one", "one")])
def test_a_repeated_append_is_recognised_by_its_key(address, keys):
    """Of two clients with different keys, one comes too late; with the same key, both succeed."""

    # Beads#5998: two commands under the same actor name both "won" the same task.
    def claim(key):
        with PostgresStore(address) as store, store.hold("a") as held:
            try:
                return held.append(0, *DIG, key=Key(key)) == DIG[0]
            except StoreError as error:
                return error.data["problem"]

    with ThreadPoolExecutor(2) as pool:
        found = {*pool.map(claim, keys)}
    assert found == ({True} if keys[0] == keys[1] else {True, "overtaken"})
    with PostgresStore(address) as store:
        assert store.entries("a") == DIG[0]


@pytest.mark.slow
def test_what_was_acknowledged_outlives_its_writers_and_its_server(postgres, address):
    """Writers and the server are killed at any moment; whoever is left goes on."""
    chance = random.Random(7)  # noqa: S311 - no secret
    with writers(address, 3) as at_work:
        while len(at_work.acknowledged) < 10:
            time.sleep(0.01)
        for kill in range(6):
            time.sleep(chance.uniform(0.05, 0.15))
            if kill % 3 == 2:
                postgres.restart_killed()
            else:
                at_work.kill(chance.randrange(3))
        before = len(at_work.acknowledged)
        while len(at_work.acknowledged) < before + 10:
            time.sleep(0.01)
    with PostgresStore(address) as store:
        entries = store.entries("a")
        assert list(faults_of(entries, at_work.acknowledged)) == []
        assert store.load("a") == follow(Plan(), entries)


@pytest.mark.parametrize(
    ("places", "faults"),
    [
        ([0, 1, 2, 3, 4, 5], []),  # also where something was kept that nobody was told of
        ([0, 1, 2, 3], ["three was acknowledged and lost"]),
        ([0, 1, 3, 4, 5], ["a gap: the entry 3 is of revision 4"]),
        ([0, 1, 2], ["a torn batch at revision 3"]),
        ([0, 1, 2, 3, 4, 5, 6, 7], ["one happened 2 times"]),  # as of a retry without a key
    ],
)
def test_the_check_finds_what_is_wrong(places, faults):
    """A lost batch, a lost entry, half a batch, one that happened twice; a sound journal passes."""
    plan, entries = Plan(), []
    for key in ("one", "two", "three", "one"):
        added, plan = batch(plan, key)
        entries += added
    found = list(faults_of([entries[place] for place in places], ["one", "three"]))
    assert (found == []) if not faults else (faults[0] in found)
