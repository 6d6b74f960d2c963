"""Stores that do everything right; the faults of `faults_of_stores` change them."""

import asyncio
from contextlib import asynccontextmanager

from todoplan.stores.memory import MemoryStore


def _same(name):
    return lambda self, *given: getattr(self.kept, name)(*given)


def _awaited(name):
    async def method(self, *given, **named):
        await asyncio.sleep(0)
        return getattr(self.kept, name)(*given, **named)

    return method


class Sound:
    """A handle on plans in memory, of which there may be several."""

    load, entries, append = map(_same, ("load", "entries", "append"))

    def __init__(self, kept=None):
        self.kept = kept or MemoryStore()

    def again(self):
        return type(self)(self.kept)

    def revision(self, plan_id):
        return self.kept.load(plan_id).revision

    def force(self, plan_id, entries, plan):
        """Append at whatever revision the plan is."""
        while not self.kept.append(plan_id, self.revision(plan_id), entries, plan):
            """Another caller has appended in between."""
        return True


class AsyncSound:
    """The same, asynchronous: other tasks run before each operation."""

    load, entries, append = map(_awaited, ("load", "entries", "append"))

    def __init__(self, kept=None):
        self.kept = kept or MemoryStore()

    def again(self):
        return type(self)(self.kept)


class Holding(Sound):
    """A handle that can lock plans."""

    plan_ids, entries_since, hold = map(_same, ("plan_ids", "entries_since", "hold"))


class AsyncHeld:
    """The lock of a plan, with asynchronous methods."""

    now, entries_since = map(_awaited, ("now", "entries_since"))
    receipt, append = map(_awaited, ("receipt", "append"))

    def __init__(self, kept):
        self.kept = kept

    @property
    def revision(self):
        return self.kept.revision


class AsyncHolding(AsyncSound):
    """An asynchronous handle that can lock plans: for one task at a time."""

    plan_ids, entries_since = map(_awaited, ("plan_ids", "entries_since"))

    def __init__(self, kept=None, turn=None):
        super().__init__(kept)
        self.turn = turn or asyncio.Lock()

    def again(self):
        return type(self)(self.kept, self.turn)

    @asynccontextmanager
    async def hold(self, plan_id):
        async with self.turn:
            with self.kept.hold(plan_id) as held:
                yield AsyncHeld(held)
