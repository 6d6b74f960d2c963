"""
Data that adapters save in a framework's state beside the plan.

These are the base (the plan as the model has last seen it), and the latest entries of the journal,
for states that cannot contain a whole one.

Law: at most 50 entries and at most 16,384 characters, but always the latest entry. A state is saved
again and again, and a journal that grew with the thread would soon be most of what is saved.

An entry is saved as JSON text: its length is known without encoding it again, and nobody who
receives the state can change the entry in place.
"""

from collections.abc import Iterable
from typing import Any

import attrs

from todoplan.codec.faults import MisfitError, misfit, wrong_shape
from todoplan.codec.journals import entry_from_data, entry_to_data
from todoplan.codec.plans import plan_from_data, plan_to_data
from todoplan.codec.readers import FieldReader, read_object
from todoplan.codec.text import parse, to_text
from todoplan.codec.values import text
from todoplan.core.events.base import Base
from todoplan.core.events.journal import Entry
from todoplan.errors import CodecError

__all__ = [
    "RECENT",
    "base_from_data",
    "base_to_data",
    "entry_line",
    "read_recent",
    "with_entry",
    "with_lines",
]

RECENT = 50
_CHARACTERS = 16_384


def entry_line(entry: Entry, events: Any = None) -> str:
    """
    Return the JSON text of an entry. `events` are its events as data, if they were already encoded.

    Raises:
        CodecError: the entry contains a value that JSON cannot represent.
    """
    if events is None:
        return to_text(entry_to_data(entry))
    return to_text({**entry_to_data(attrs.evolve(entry, events=())), "events": events})


def with_entry(kept: Any, entry: Entry) -> list[str]:
    """Return the saved lines with one more entry. The oldest are dropped if there are too many."""
    return with_lines(kept, [entry_line(entry)])


def with_lines(kept: Any, lines: Iterable[str]) -> list[str]:
    """Return the saved lines with further lines, without duplicates."""
    old = kept if isinstance(kept, list) else []
    all_lines = [*old, *(line for line in lines if line not in old)][-RECENT:]
    room, first = _CHARACTERS, len(all_lines)
    while first and (room >= len(all_lines[first - 1]) or first == len(all_lines)):
        first -= 1
        room -= len(all_lines[first])
    return all_lines[first:]


def read_recent(kept: Any) -> tuple[Entry, ...]:
    """
    Return the saved entries, oldest first; none for `None`.

    Raises:
        CodecError: the value is not a list of entries.
    """
    if kept is None:
        return ()
    if not isinstance(kept, list) or not all(isinstance(line, str) for line in kept):
        msg = (
            f"the journal in this state is damaged: {kept!r:.60} is no list of texts; leave it out"
        )
        raise CodecError(msg)
    return tuple(entry_from_data(parse(line)) for line in kept)


def base_to_data(base: Base) -> dict[str, Any]:
    """
    Return a base as plain data: {"plan": a plan document, "actors": {task id: actor}}.

    Raises:
        CodecError: the same errors as `plan_to_data`.
    """
    return {"plan": plan_to_data(base.plan), "actors": dict(base.actors)}


def base_from_data(data: object) -> Base:
    """
    Return the base that `base_to_data` wrote.

    Raises:
        CodecError: the data have another shape, or contain no plan.
    """
    try:
        read = read_object(data, _FIELDS, ("plan",))
    except MisfitError as error:
        raise wrong_shape(error.found, "base") from None
    return Base(plan_from_data(read["plan"]), read.get("actors", {}))


def _actors(value: Any) -> dict[str, str]:
    if not isinstance(value, dict):
        raise misfit(value, "no object")
    return {text(task_id): text(actor) for task_id, actor in value.items()}


def _plan(value: Any) -> Any:
    return value  # read by `plan_from_data`, which lists the faults of the plan document


_FIELDS: dict[str, FieldReader] = {"plan": _plan, "actors": _actors}
