"""Stores upon which claims do not hold: a naive claim, a stale reader, a missing fence."""

import attrs
from support.faults import caught_by
from support.faults_of_stores_lasting import Lasting
from support.stores_sound import Sound

from todoplan.core.events.types import TaskClaimed
from todoplan.core.plan.plan import Plan
from todoplan.stores.base import follow


@caught_by("workers_get_each_task_once")
class ClaimsNaively(Sound):
    """Looks for a task, and takes it later, whoever has taken it meanwhile."""

    def append(self, plan_id, expected, entries, plan):
        return self.force(plan_id, entries, plan)


@caught_by("who_lost_a_claim_changes_nothing")
class ReadsItsOwnOldPlan(Sound):
    """A replica that has fallen behind: what others did is not seen, and written over."""

    def __init__(self, kept=None):
        super().__init__(kept)
        self.known = None

    def load(self, plan_id):
        if self.known is None or not self.known.revision:
            self.known = super().load(plan_id)
        return self.known

    def append(self, plan_id, expected, entries, plan):
        self.known = plan
        return self.force(plan_id, entries, plan)


@caught_by("who_lost_a_claim_changes_nothing")
class LosesTheFence(Sound):
    """Each claim is kept as the first one."""

    def append(self, plan_id, expected, entries, plan):
        fenced = tuple(
            attrs.evolve(entry, events=tuple(map(_first, entry.events))) for entry in entries
        )
        whole = follow(Plan(), (*self.entries(plan_id), *fenced))
        return super().append(plan_id, expected, fenced, whole)


def _first(event):
    if not isinstance(event, TaskClaimed):
        return event
    return attrs.evolve(event, claim=attrs.evolve(event.claim, fence=1))


@caught_by("who_was_stopped_is_refused")
class DecidesBeforeItWasStopped(Lasting):
    """In another process it reads a plan once, and writes whatever the others did since."""

    def __init__(self, path=None):
        super().__init__(path)
        self.known = None
        self.is_first = path is None

    def load(self, plan_id):
        if self.is_first:
            return super().load(plan_id)
        if self.known is None:
            self.known = super().load(plan_id)
        return self.known

    def append(self, plan_id, expected, entries, plan):
        self.known = plan
        if self.is_first:
            return super().append(plan_id, expected, entries, plan)
        while True:
            now = super().load(plan_id)
            moved = follow(Plan(), super().entries(plan_id))
            if super().append(plan_id, now.revision, _behind(moved, entries), plan):
                return True


def _behind(plan, entries):
    revision, made = plan.revision, []
    for entry in entries:
        revision += len(entry.events)
        made.append(attrs.evolve(entry, revision=revision))
    return tuple(made)
