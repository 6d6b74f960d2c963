"""Stores that wake up who watches, and each do one thing wrongly."""

import time

from support.faults import caught_by
from support.stores_sound import AsyncSound, Holding, Sound


class Waking(Holding):
    """
    A sound one, that can be waited for.
    """

    def wait_for_change(self, plan_id, revision, timeout):
        return self.kept.wait_for_change(plan_id, revision, timeout)


class AsyncWaking(AsyncSound):
    """
    The same, awaited: it looks again and again.
    """

    async def wait_for_change(self, plan_id, revision, timeout):  # noqa: ASYNC109 - its name
        end = time.monotonic() + timeout
        while (await self.load(plan_id)).revision == revision:
            if time.monotonic() >= end:
                return False
        return True


@caught_by("a_tail_is_what_came_behind_a_revision")
class GivesOnlyTheLastEntry(Waking):
    def entries_since(self, plan_id, revision):
        return super().entries_since(plan_id, revision)[-1:]


@caught_by("a_tail_is_what_came_behind_a_revision")
class GivesAnEntryTwice(Waking):
    def entries_since(self, plan_id, revision):
        found = super().entries_since(plan_id, revision)
        return (*found, *found[-1:])


@caught_by("a_watcher_sees_every_entry_once")
class GivesNewestFirst(Sound):
    def entries(self, plan_id):
        return super().entries(plan_id)[::-1]


@caught_by("a_wait_ends_with_a_change")
class CriesWolf(Waking):
    def wait_for_change(self, plan_id, revision, timeout):
        return True


@caught_by("a_wait_ends_with_a_change")
class SaysNothingOfAChange(Waking):
    def wait_for_change(self, plan_id, revision, timeout):
        super().wait_for_change(plan_id, revision, timeout)


@caught_by("a_wait_ends_with_a_change")
class WaitsForTheNextOneOnly(AsyncWaking):
    async def wait_for_change(self, plan_id, revision, timeout):  # noqa: ASYNC109 - its name
        revision = (await self.load(plan_id)).revision
        return await super().wait_for_change(plan_id, revision, min(timeout, 0.05))


@caught_by("a_wait_ends_with_a_change")
class IsWokenUpByOtherPlans(Waking):
    def wait_for_change(self, plan_id, revision, timeout):
        return sum(map(self.revision, "ab")) != revision
