"""
What a session has not seen, by the journal (law 15).
"""

from collections.abc import Collection, Iterable

from todoplan.core.commands import Batch, RecordEvidence
from todoplan.core.events.apply import replay
from todoplan.core.events.base import Base, changed_by
from todoplan.core.events.journal import Entry
from todoplan.core.events.types import Event, TaskEdited
from todoplan.core.plan.plan import Plan

__all__ = ["base_at", "is_refused_check"]

# Evidence recorded by the application has one of these commands as its cause: that is news to a
# model.
_BY_PROGRAM = frozenset({RecordEvidence.__name__, Batch.__name__})


def is_refused_check(entry: Entry, actor: str | None = None) -> bool:
    """
    Return whether an entry is the evidence that a verifier recorded for a refused call of `actor`.

    The refusal has reported that evidence, so it is no news to that actor, although a refusal does
    not report the changes by others.
    """
    # A model's tools cannot set evidence (law 20), so a verifier recorded it during the call.
    is_found = all(
        isinstance(event, TaskEdited) and {*event.changes} == {"evidence"} for event in entry.events
    )
    return is_found and entry.actor == actor and entry.cause not in _BY_PROGRAM


def base_at(
    journal: Iterable[Entry],
    revision: int,
    own: Collection[int] = (),
    *,
    actor: str | None = None,
) -> Base:
    """
    Return the merge base of a session that last saw the plan at `revision`.

    `journal` is the whole journal of the plan. `own` are the revisions of the entries that the
    session has made itself since then; `actor` is its name.
    """
    known: list[Event] = []
    unseen: list[Entry] = []
    for entry in journal:
        is_own = entry.revision in own or is_refused_check(entry, actor)
        if entry.revision <= revision or is_own:
            known += entry.events
        else:
            unseen.append(entry)
    was = replay(Plan(), known)
    return Base(was, changed_by(was, unseen))
