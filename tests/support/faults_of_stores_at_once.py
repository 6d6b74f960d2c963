"""Stores that each do one thing wrongly when there is more than one who calls."""

import asyncio
from threading import Barrier, BrokenBarrierError, Event, Lock

import attrs
from support.faults import caught_by
from support.stores_sound import AsyncSound, Sound

MOMENT = 0.1
"""How long a fault waits for somebody to run into it."""


class Waiting(Sound):
    """
    Waits, in the middle of something, until somebody has come along, or for a moment.
    """

    def __init__(self, kept=None):
        super().__init__(kept)
        self.seen = Event()

    def again(self):
        return self

    def wait(self):
        self.seen.wait(MOMENT)


@caught_by("one_of_several_appends_wins")
class AsksAndThenWrites(Sound):
    def __init__(self, kept=None):
        super().__init__(kept)
        self.both = Barrier(2)

    def again(self):
        return self

    def append(self, plan_id, expected, entries, plan):
        if self.revision(plan_id) != expected:
            return False
        try:
            self.both.wait(MOMENT)
        except BrokenBarrierError:
            self.both.reset()
        return self.force(plan_id, entries, plan)


@caught_by("one_of_several_appends_wins")
class HasALockForEachHandle(AsksAndThenWrites):
    def __init__(self, kept=None, both=None):
        super().__init__(kept)
        self.both = both or self.both
        self.lock = Lock()

    def again(self):
        return type(self)(self.kept, self.both)

    def append(self, plan_id, expected, entries, plan):
        with self.lock:
            return super().append(plan_id, expected, entries, plan)


@caught_by("no_reader_sees_half_an_append")
class WritesTheJournalFirst(Waiting):
    def __init__(self, kept=None):
        super().__init__(kept)
        self.half = {}

    def entries(self, plan_id):
        self.seen.set()
        return super().entries(plan_id) + self.half.get(plan_id, ())

    def append(self, plan_id, expected, entries, plan):
        if self.revision(plan_id) == expected:
            self.half = {plan_id: tuple(entries[:1])}
            self.seen.clear()
            self.wait()
        self.half = {}
        return super().append(plan_id, expected, entries, plan)


@caught_by("no_reader_sees_half_an_append")
class WritesThePlanFirst(Waiting):
    def __init__(self, kept=None):
        super().__init__(kept)
        self.ahead = {}

    def load(self, plan_id):
        return self.ahead.get(plan_id) or super().load(plan_id)

    def entries(self, plan_id):
        self.seen.set()
        return super().entries(plan_id)

    def append(self, plan_id, expected, entries, plan):
        if self.revision(plan_id) == expected:
            self.ahead = {plan_id: plan}
            self.seen.clear()
            self.wait()
        self.ahead = {}
        return super().append(plan_id, expected, entries, plan)


@caught_by("plans_do_not_hinder_each_other")
class GivesUpWhenBusy(Waiting):
    def __init__(self, kept=None):
        super().__init__(kept)
        self.lock = Lock()

    def append(self, plan_id, expected, entries, plan):
        if not self.lock.acquire(blocking=False):
            self.seen.set()
            return False
        try:
            self.wait()
            return super().append(plan_id, expected, entries, plan)
        finally:
            self.lock.release()


@caught_by("planners_lose_nothing")
class TrimsItsJournal(Sound):
    def entries(self, plan_id):
        return super().entries(plan_id)[-20:]


@caught_by("what_planners_did_is_undone")
class DoesNotSayWhatWasUndone(Sound):
    def entries(self, plan_id):
        return tuple(attrs.evolve(entry, undoes=None) for entry in super().entries(plan_id))


@caught_by("one_of_several_appends_wins")
class AsksAndAwaits(AsyncSound):
    async def append(self, plan_id, expected, entries, plan):
        if (await self.load(plan_id)).revision != expected:
            return False
        await asyncio.sleep(0)
        return self.kept.append(plan_id, self.kept.load(plan_id).revision, entries, plan)


@caught_by("no_reader_sees_half_an_append")
class AwaitsBetweenEntries(AsyncSound):
    def __init__(self, kept=None, half=None):
        super().__init__(kept)
        self.half = {} if half is None else half

    def again(self):
        return type(self)(self.kept, self.half)

    async def entries(self, plan_id):
        return await super().entries(plan_id) + self.half.get(plan_id, ())

    async def append(self, plan_id, expected, entries, plan):
        if self.kept.load(plan_id).revision == expected:
            self.half[plan_id] = tuple(entries[:1])
            await asyncio.sleep(0)
        self.half.clear()
        return self.kept.append(plan_id, expected, entries, plan)
