"""
Functions on journals that all stores share, in particular for journals that were cut.

A journal grows without limit, so it can be cut. One entry replaces the entries that were removed: a
snapshot of the plan, with the revision and the time of the last removed entry. (With the time of
the cutting, a later cut by age would remove nothing more until that age had passed.) The entry is
marked as undoing revision 0, which no entry has. So no undo reverts this entry or anything before
it.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from todoplan.core.decide.assembly import plan_of
from todoplan.core.events.apply import replay
from todoplan.core.events.journal import Entry
from todoplan.core.events.types import Event, PlanRestored
from todoplan.core.plan.plan import Plan
from todoplan.errors import CodecError, PlanError

__all__ = [
    "CUT",
    "beginning",
    "cut_at",
    "follow",
    "is_beginning",
    "plan_after",
    "plan_at",
    "without_gaps",
]

CUT = "compact"
"""The cause of the entry that replaces the removed entries."""

_NOTHING = 0


def beginning(plan: Plan, cause: str, at: datetime | None = None) -> Entry:
    """Return the first entry of a journal that does not contain the history of its plan."""
    # Law 6: with `next_id`, so that the ids of deleted tasks are not assigned again.
    whole = PlanRestored(tuple(plan), plan.next_id, at, plan.approved)
    return Entry(plan.revision, (whole,), at, cause=cause, undoes=_NOTHING)


def is_beginning(entry: Entry) -> bool:
    """Return whether an entry is a snapshot of the plan from a cut or a handover."""
    return entry.undoes == _NOTHING


def plan_after(plan: Plan, entry: Entry) -> Plan:
    """Return the plan after one more entry. A snapshot entry replaces the plan."""
    if not is_beginning(entry):
        return replay(plan, entry.events)
    whole = [event for event in entry.events if isinstance(event, PlanRestored)]
    if not whole:
        what = "it begins with one that has no plan"
        raise _damaged(what, entry)
    held = whole[0]
    return plan_of(
        held.tasks, next_id=held.next_id, revision=entry.revision, approved=held.approved
    )


def follow(plan: Plan, entries: Iterable[Entry]) -> Plan:
    """
    Return the plan after applying entries, which continue the plan or begin with a snapshot entry.

    Raises:
        CodecError: an entry is missing or duplicated.
    """
    events: list[Event] = []
    for entry in without_gaps(entries, plan.revision):
        if is_beginning(entry):
            plan, events = plan_after(plan, entry), []
        else:
            events += entry.events
    # In one call: each replay copies what it changes.
    return replay(plan, events) if events else plan


_replayed: tuple[Entry, Entry, Plan] | None = None


def plan_at(journal: Sequence[Entry], length: int) -> Plan:
    """
    Return the plan after the first `length` entries of a complete journal.

    The last result is cached: a caller that decides under the lock has asked for the same plan
    before it took the lock.

    Raises:
        CodecError: the same errors as `follow`.
    """
    global _replayed  # noqa: PLW0603 - a cache of one immutable plan
    if not length:
        return Plan()
    known = _replayed
    first, last = journal[0], journal[length - 1]
    if known is not None and known[0] is first and known[1] is last:
        return known[2]
    plan = follow(Plan(), journal[:length])
    _replayed = first, last, plan
    return plan


def without_gaps(entries: Iterable[Entry], revision: int = 0) -> Iterator[Entry]:
    """
    Yield entries, and check that each one continues from the revision before it.

    Raises:
        CodecError: an entry does not. Replay checks no rules, and would return a plan that nobody
            decided on.
    """
    for entry in entries:
        revision = entry.revision if is_beginning(entry) else revision + len(entry.events)
        if revision != entry.revision:
            what = f"the events up to it lead to {revision}"
            raise _damaged(what, entry)
        yield entry


def _damaged(what: str, entry: Entry) -> CodecError:
    msg = (
        f"the journal is damaged at the entry of revision {entry.revision}: {what}; bring back a "
        "copy from before"
    )
    return CodecError(msg, problem="wrong_shape", path="revision", revision=entry.revision)


def cut_at(journal: Sequence[Entry], keep: int | timedelta, now: datetime) -> int:
    """
    Return how many entries a cut removes: all but the last `keep`, or those older than the age
    `keep`.

    Raises:
        PlanError: `keep` is neither a number of entries nor an age.
    """
    if isinstance(keep, timedelta) and keep >= timedelta():
        return sum(1 for _ in _older(journal, now - keep))
    if isinstance(keep, int) and not isinstance(keep, bool) and keep >= 0:
        return max(0, len(journal) - keep)
    msg = f"{keep!r} cannot be kept: give a number of entries (keep=1000), or a timedelta"
    raise PlanError(msg, seen=keep)


def _older(journal: Sequence[Entry], oldest: datetime) -> Iterator[Entry]:
    # Stop at the first entry that stays: the removed entries are contiguous, whatever the clocks
    # said.
    for entry in journal:
        if entry.at is not None and entry.at >= oldest:
            return
        yield entry
