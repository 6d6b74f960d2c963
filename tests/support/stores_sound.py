"""Stores that do everything right, for faults to be built into; see faults_of_stores."""

import asyncio
from contextlib import asynccontextmanager

from todoplan.stores.memory import MemoryStore


class Sound:
    """A handle on plans in memory, of which there may be several."""

    def __init__(self, kept=None):
        self.kept = kept or MemoryStore()

    def again(self):
        return type(self)(self.kept)

    def load(self, plan_id):
        return self.kept.load(plan_id)

    def entries(self, plan_id):
        return self.kept.entries(plan_id)

    def append(self, plan_id, expected, entries, plan):
        return self.kept.append(plan_id, expected, entries, plan)

    def revision(self, plan_id):
        return self.kept.load(plan_id).revision

    def force(self, plan_id, entries, plan):
        """Append without asking."""
        while not self.kept.append(plan_id, self.revision(plan_id), entries, plan):
            """Somebody else has forced his own in between."""
        return True


class AsyncSound:
    """The same, awaited: others have their turn before each thing that is done."""

    def __init__(self, kept=None):
        self.kept = kept or MemoryStore()

    def again(self):
        return type(self)(self.kept)

    async def load(self, plan_id):
        await asyncio.sleep(0)
        return self.kept.load(plan_id)

    async def entries(self, plan_id):
        await asyncio.sleep(0)
        return self.kept.entries(plan_id)

    async def append(self, plan_id, expected, entries, plan):
        await asyncio.sleep(0)
        return self.kept.append(plan_id, expected, entries, plan)


class Holding(Sound):
    """A handle whose plans can be held."""

    def plan_ids(self):
        return self.kept.plan_ids()

    def entries_since(self, plan_id, revision):
        return self.kept.entries_since(plan_id, revision)

    def hold(self, plan_id):
        return self.kept.hold(plan_id)


class AsyncHeld:
    """What a held plan can do, awaited."""

    def __init__(self, held):
        self.held = held

    @property
    def revision(self):
        return self.held.revision

    async def now(self):
        await asyncio.sleep(0)
        return self.held.now()

    async def entries_since(self, revision):
        await asyncio.sleep(0)
        return self.held.entries_since(revision)

    async def receipt(self, key):
        await asyncio.sleep(0)
        return self.held.receipt(key)

    async def append(self, *given, **named):
        await asyncio.sleep(0)
        return self.held.append(*given, **named)


class AsyncHolding(AsyncSound):
    """The same, awaited: one task at a time holds."""

    def __init__(self, kept=None, turn=None):
        super().__init__(kept)
        self.turn = turn or asyncio.Lock()

    def again(self):
        return type(self)(self.kept, self.turn)

    async def plan_ids(self):
        return self.kept.plan_ids()

    async def entries_since(self, plan_id, revision):
        await asyncio.sleep(0)
        return self.kept.entries_since(plan_id, revision)

    @asynccontextmanager
    async def hold(self, plan_id):
        async with self.turn:
            with self.kept.hold(plan_id) as held:
                yield AsyncHeld(held)
