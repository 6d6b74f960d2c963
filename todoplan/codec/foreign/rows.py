"""
Shared code for importing plans of other systems: rows with foreign ids, and the plan made of them.

Foreign ids are strings, and ours are numbers. So the foreign id is saved in the metadata under
"original_id", and every field that our tasks do not have is saved there under its own name. Nothing
is lost, and nothing is guessed: an unknown status, a duplicate id and an edge to a task that is not
in the list are faults, and all of them are reported together.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs

from todoplan.codec.faults import Found, MisfitError, misfit, wrong_shape
from todoplan.codec.plans import assembled
from todoplan.codec.readers import FieldReader, read_each, read_object
from todoplan.codec.values import metadata, text
from todoplan.core.plan.graph import tree_order
from todoplan.core.plan.model import Status, Task, Waiting
from todoplan.core.plan.plan import Plan

__all__ = [
    "BLOCKED",
    "ORIGINAL_ID",
    "USUAL",
    "Row",
    "id_of",
    "ids_of",
    "plan_of_rows",
    "row_of",
    "split",
]

ORIGINAL_ID = "original_id"
BLOCKED = "blocked"
"""The foreign status "blocked". With blockers it adds nothing; without blockers the task waits."""

USUAL: dict[str, tuple[Status, str]] = {status.value: (status, "") for status in Status}
"""The usual foreign status words: our status for each, and the reason for waiting, "" for none."""


@attrs.frozen
class Row:
    """A foreign task: its path and id, the ids of its parent and blockers, and its other fields."""

    path: str
    name: str
    parent: str | None
    blockers: tuple[str, ...]
    fields: dict[str, Any]
    kept: dict[str, Any]


def id_of(value: Any) -> str:
    """Read a foreign id, which may be a number."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return text(value)


def ids_of(value: Any) -> tuple[str, ...]:
    """Read several ids without duplicates; null means none."""
    if value is None:
        return ()
    if not isinstance(value, list):
        raise misfit(value, "no array")
    return tuple(dict.fromkeys(read_each(value, id_of)))


def split(data: Any, readers: Mapping[str, FieldReader], *required: str) -> tuple[Any, Any]:
    """Return the known fields of a task, converted, and the other fields unchanged."""
    if not isinstance(data, dict):
        raise misfit(data, "no object")
    known = read_object({key: data[key] for key in data if key in readers}, readers, required)
    return known, {key: value for key, value in data.items() if key not in readers}


def row_of(
    known: dict[str, Any],
    kept: dict[str, Any],
    *,
    subject: str,
    parent: str | None = None,
    blockers: Sequence[str] = (),
    **fields: Any,
) -> Row:
    """
    Return the row of a task.

    `known` are the converted fields, `kept` those for the metadata, and `fields` further fields of
    our task.
    """
    status, reason = known.get("status", (Status.PENDING, ""))
    if reason and not (reason == BLOCKED and blockers):
        fields["waiting"] = fields.get("waiting") or Waiting(reason)
    fields = {"subject": known[subject], "status": status, **fields}
    given = {name: value for name, value in fields.items() if value is not None}
    return Row("", known.get("id", ""), parent or None, tuple(blockers), given, kept)


def plan_of_rows(data: Any, path: str, read: Callable[[Any], Row], system: str) -> Plan:
    """
    Return the plan of a list of foreign tasks.

    Raises:
        CodecError: the data are not such a list; every fault is listed.
    """
    try:
        if not isinstance(data, list):
            raise misfit(data, "no array")
        rows = [
            attrs.evolve(row, path=f"[{place}]") for place, row in enumerate(read_each(data, read))
        ]
        return _joined(rows)
    except MisfitError as error:
        raise wrong_shape(error.below(path), f"list of {system}") from None


def _joined(rows: Sequence[Row]) -> Plan:
    ids: dict[str, str] = {}
    found: list[Found] = []
    for number, row in enumerate(rows, 1):
        if row.name and row.name in ids:
            found.append((f"{row.path}.id", f"{row.name} stands twice"))
        ids[row.name] = str(number)
    blocks: dict[str, list[str]] = {}
    for number, row in enumerate(rows, 1):
        named = (*row.blockers, *filter(None, (row.parent,)))
        lost = [name for name in named if name not in ids]
        found += ((row.path, f"names {name}, which is no task of the list") for name in lost)
        for name in row.blockers:
            blocks.setdefault(ids.get(name, ""), []).append(str(number))
    if found:
        raise MisfitError(found)
    tasks = [
        Task(
            str(number),
            parent=ids[row.parent] if row.parent else None,
            blocks=tuple(blocks.get(str(number), ())),
            blocked_by=tuple(ids[name] for name in row.blockers),
            metadata=metadata({**({ORIGINAL_ID: row.name} if row.name else {}), **row.kept}),
            **row.fields,
        )
        for number, row in enumerate(rows, 1)
    ]
    ordered = tree_order(tasks)
    # A task in a parent cycle ends up at the top level, which is not what was written.
    for task in ordered:
        row = rows[int(task.id) - 1]
        if row.parent is not None and task.parent is None:
            raise MisfitError([(row.path, "lies in itself, by way of its parents")])
    return assembled(tuple(ordered), 1, 0)
