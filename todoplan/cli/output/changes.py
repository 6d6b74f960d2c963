"""What changed in a plan, for people: entries of its journal, and two of its versions compared."""

import json
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from todoplan.cli.output.text import cut, hanging, room
from todoplan.core.events.apply import replay
from todoplan.core.events.base import Difference
from todoplan.core.events.journal import Entry
from todoplan.core.events.touched import ids_of
from todoplan.core.plan.frozen import thaw
from todoplan.core.plan.model import TASK_FIELDS, Claim, Evidence, FieldKind, Task, Waiting
from todoplan.core.plan.plan import Plan
from todoplan.render.cleaning import clip, one_line
from todoplan.render.phrases import event_phrases

__all__ = ["difference_lines", "entry_lines", "entry_phrases", "log_lines"]

_NAME = 24
_VALUE = 60
_MOST = 12  # a list that was imported anew may have set thousands
_IN_PHRASES = frozenset({"status", "blocks", "claim", "claims", "failed_attempts"})


def log_lines(journal: Sequence[Entry], last: int, console: Console) -> Iterator[Text]:
    """
    Give the last entries of a whole journal: revision, time, who, by which command, what it did,
    and which fields it has set from what to what.
    """
    earlier = len(journal) - last
    plan = replay(Plan(), (event for entry in journal[:earlier] for event in entry.events))
    heads, phrases = [], []
    for entry in journal[earlier:]:
        before, plan = plan, replay(plan, entry.events)
        heads.append(_head(entry))
        phrases.append((*entry_phrases(entry, plan, before), *_set_fields(entry, before, plan)))
    widths = [max(map(cell_len, column)) for column in zip(*heads, strict=True)]
    for cells, told in zip(heads, phrases, strict=True):
        yield from _row(cells, widths, told, console)


def entry_lines(
    entry: Entry, phrases: Iterable[str], widths: list[int], console: Console
) -> Iterator[Text]:
    """
    Give the lines of an entry by itself, with its phrases. `widths` are those of the columns so
    far, empty at first; they grow in place.
    """
    cells = _head(entry)
    widths[:] = map(max, map(cell_len, cells), widths or (0,) * len(cells))
    yield from _row(cells, widths, phrases, console)


def entry_phrases(entry: Entry, plan: Plan, before: Plan | None = None) -> tuple[str, ...]:
    """
    Return a phrase for each kind of change in an entry, cleaned; `plan` is the one after it, and
    `before` the one before it, if that is known.
    """
    undone = (f"took back {entry.undoes}",) if entry.undoes else ()
    return (*undone, *event_phrases(entry.events, plan, before))


def _set_fields(entry: Entry, before: Plan, after: Plan) -> Iterator[str]:
    """
    Yield the fields that an entry has set in tasks that were there, each with both its values.
    """
    ids = dict.fromkeys(task_id for event in entry.events for task_id in ids_of(event))
    both = [(was, now) for each in ids if (was := before.get(each)) and (now := after.get(each))]
    # The phrase says it of these; and an edge is told at the task that waits.
    told = [f"  #{now.id} {note}" for was, now in both for note in _fields(was, now, _IN_PHRASES)]
    yield from told[:_MOST]
    if len(told) > _MOST:
        yield f"  and {len(told) - _MOST} more"


def _head(entry: Entry) -> tuple[str, ...]:
    at = f"{entry.at:%Y-%m-%d %H:%M:%S}" if entry.at else ""
    names = (clip(one_line(text or ""), _NAME) for text in (entry.actor, entry.cause))
    return (str(entry.revision), at, *names)


def _row(
    cells: Sequence[str], widths: Sequence[int], told: Iterable[str], console: Console
) -> Iterator[Text]:
    sized = zip(cells, widths, strict=True)
    padded = (f"  {cell}{' ' * (width - cell_len(cell))}" for cell, width in sized if width)
    head = Text("".join(padded) + "  ", "dim")
    left = room(head.cell_len, console)
    yield from hanging(head, (cut(phrase, left) for phrase in told))


def difference_lines(found: Iterable[Difference]) -> Iterator[Text]:
    """
    Give a line for each task that is new, gone or changed, with the fields that differ.
    """
    empty = True
    for each in found:
        empty = False
        sign = "+" if each.was is None else "-" if each.now is None else "~"
        notes = _fields(each.was, each.now) if each.was and each.now else ()
        told = f": {'; '.join(notes)}" if notes else ""
        subject = clip(one_line(each.task.subject), _VALUE)
        yield Text(f"  {sign} #{each.task.id} {subject}{told}", _COLOURS[sign])
    if empty:
        yield Text("  no difference")


_COLOURS = {"+": "green", "-": "red", "~": "yellow"}


def _fields(was: Task, now: Task, without: Container[str] = ()) -> tuple[str, ...]:
    """
    Return what differs, each as "status pending -> completed"; times follow from the rest.
    """
    return tuple(
        f"{name.replace('_', ' ')} {_shown(old)} -> {_shown(new)}"
        for name, field in TASK_FIELDS.items()
        if field.kind is not FieldKind.TIME
        and name not in without
        and (old := getattr(was, name)) != (new := getattr(now, name))
    )


def _shown(value: Any) -> str:
    if isinstance(value, Waiting):
        value = " ".join(filter(None, (value.reason, value.question))) or "waiting"
    elif isinstance(value, Evidence):
        value = f"{'passed' if value.passed else 'failed'} {value.summary}".rstrip()
    elif isinstance(value, Claim):
        value = value.owner
    elif isinstance(value, tuple):
        value = ", ".join(f"#{each}" for each in value)
    elif isinstance(value, Mapping):
        value = json.dumps(thaw(value), ensure_ascii=False)
    return clip(one_line("" if value is None else str(value)), _VALUE) or "nothing"
