"""
Journals that begin later than their plan, and what every keeper of a journal does with one.

A journal grows for ever, so it can be cut. What was cut is not gone silently: in its place stands
one entry, the plan as it was then, under the revision and the time of the last entry that was cut:
with the time of the cutting, a cut by age would cut nothing more for as long as that age. The entry
is marked as taking back revision 0, which none has: so no undo takes it back, nor anything before.
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
"""The cause of the entry that stands for what was cut."""

_NOTHING = 0


def beginning(plan: Plan, cause: str, at: datetime | None = None) -> Entry:
    """
    Return the entry with which a journal begins that does not say how its plan came about.
    """
    # Law 6: with `next_id`, so that ids of tasks that were deleted before are not given again.
    whole = PlanRestored(tuple(plan), plan.next_id, at, plan.approved)
    return Entry(plan.revision, (whole,), at, cause=cause, undoes=_NOTHING)


def is_beginning(entry: Entry) -> bool:
    """
    Say whether an entry is the plan as it was when its journal was cut, or handed over.
    """
    return entry.undoes == _NOTHING


def plan_after(plan: Plan, entry: Entry) -> Plan:
    """
    Return the plan after one more entry; after a beginning, the plan that it gives.
    """
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
    Return what entries lead to that come after a plan, or give a beginning of their own.

    Raises:
        CodecError: an entry is missing, or stands twice.
    """
    events: list[Event] = []
    for entry in without_gaps(entries, plan.revision):
        if is_beginning(entry):
            plan, events = plan_after(plan, entry), []
        else:
            events += entry.events
    # At once: each replay copies what it changes.
    return replay(plan, events) if events else plan


_replayed: tuple[Entry, Entry, Plan] | None = None


def plan_at(journal: Sequence[Entry], length: int) -> Plan:
    """
    Return what the first so many entries of a whole journal lead to. The last answer is remembered:
    who decides upon it holds the plan, and has asked the same before, while others could write.

    Raises:
        CodecError: as of `follow`.
    """
    global _replayed  # noqa: PLW0603 - one plan, whoever asks: it is a value
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
    Yield entries that follow each other from a revision on.

    Raises:
        CodecError: one does not. Replay knows no rule, and would give a plan that nobody has
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
    Return how many entries a cut takes away: all but the last `keep`, or those older than that.

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
    # Up to the first that stays: what is cut is one piece, whatever the clocks said.
    for entry in journal:
        if entry.at is not None and entry.at >= oldest:
            return
        yield entry
