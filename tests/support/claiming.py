"""What tests of claims share: what the body of a claimed task raises, and a store of tasks."""

from todoplan.core.commands import CreateTask
from todoplan.planner import Planner
from todoplan.stores import MemoryStore


class OhError(Exception):
    """What a body raises."""


def filled(store=None, count=1):
    """Return a store whose plan "p" has so many tasks."""
    store = MemoryStore() if store is None else store
    planner = Planner(store, "p")
    for number in range(count):
        planner.apply(CreateTask(f"t{number}"))
    return store
