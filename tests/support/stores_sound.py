"""Stores that do everything right, for faults to be built into; see faults_of_stores."""

import asyncio

from todoplan.stores.memory import MemoryStore


class Sound:
    """
    A handle on plans in memory, of which there may be several.
    """

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
        """
        Append without asking.
        """
        return self.kept.append(plan_id, self.revision(plan_id), entries, plan)


class AsyncSound:
    """
    The same, awaited: others have their turn before each thing that is done.
    """

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
