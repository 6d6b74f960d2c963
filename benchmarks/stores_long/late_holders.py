"""Late holders of claims on a PostgreSQL server: processes stopped, or cut off from the network."""

from collections.abc import Iterator
from typing import Any

from support.cut_hosts import cannot, commit_whose_answer_is_cut_off, held_and_cut_off, hosts
from support.postgres_writers import faults_of

from benchmarks.stores_long.damage import stops
from todoplan import AsyncPlanner, Planner
from todoplan.core import commands
from todoplan.stores.postgres import PostgresStore

__all__ = ["cut_off", "stopped"]

Row = dict[str, Any]


def stopped(address: str, times: int) -> Row:
    """Stop a holder repeatedly, on a new database, and count how often it is refused."""
    opened = f"opened = lambda: PostgresStore({address!r})"
    script = f"from todoplan.stores import PostgresStore; {opened}"
    with PostgresStore(address) as store:
        found = stops(script, AsyncPlanner(store, "a"), times)
    return {"what": "stopped", "times": times, "as it should be": [*found.values()][1]}


def cut_off(times: int) -> Iterator[Row]:
    """
    Yield how often a worker that was cut off from the network was refused, and how often its append
    was resolved by its key.
    """
    if why := cannot():
        yield {"what": "cut off", "times": 0, "as it should be": why}
        return
    with hosts() as net, PostgresStore(net.server.address) as store:
        refused = settled = 0
        for number in range(times):
            plan_id = f"claims {number}"
            Planner(store, plan_id).apply(commands.CreateTask("Dig"))
            refused += held_and_cut_off(net, plan_id) == ("Rejected", "Accepted", True)
        yield {"what": "cut off with a claim", "times": times, "as it should be": refused}
        for number in range(times):
            plan_id = f"commits {number}"
            _, *kept = commit_whose_answer_is_cut_off(net, plan_id, both_ways=bool(number % 2))
            wrong = [*faults_of(store.entries(plan_id), ["cut off", "other"])]
            settled += kept == ["kept", "kept"] and not wrong
        yield {"what": "cut off in a commit", "times": times, "as it should be": settled}
