"""Import of the issues of Beads, as `bd export` writes them."""

import json
from typing import Any

from todoplan.codec.faults import misfit, wrong_shape
from todoplan.codec.foreign.rows import BLOCKED, Row, id_of, plan_of_rows, row_of, split
from todoplan.codec.readers import FieldReader, one_of, optional, read_each
from todoplan.codec.values import text, time
from todoplan.core.plan.model import Priority, Status, Waiting
from todoplan.core.plan.plan import Plan

__all__ = ["from_beads"]

_STATUSES = {
    "open": (Status.PENDING, ""),
    "in_progress": (Status.IN_PROGRESS, ""),
    BLOCKED: (Status.PENDING, BLOCKED),
    "deferred": (Status.PENDING, "deferred"),
    "closed": (Status.COMPLETED, ""),
}
_RANKS = (Priority.HIGH, Priority.HIGH, Priority.MEDIUM, Priority.LOW, Priority.LOW)
_BLOCKING = frozenset({"blocks", "conditional-blocks", "waits-for"})
_PART_OF = "parent-child"
_DELETED = "tombstone"


def from_beads(issues: str | list[dict[str, Any]]) -> Plan:
    """
    Return a new plan with the issues of Beads: the text of a JSONL file, or its objects.

    "parent-child" makes a subtask; "blocks", "conditional-blocks" and "waits-for" make a blocker.
    Other dependencies are saved in the metadata. Labels become `tags`. Deleted issues are left out.

    Raises:
        CodecError: the data are not issues of Beads; every fault is listed.
    """
    if isinstance(issues, str):
        lines = [line for line in issues.splitlines() if line.strip()]
        try:
            issues = [json.loads(line) for line in lines]
        except (ValueError, RecursionError) as error:
            raise wrong_shape(
                [("issues", f"is no JSON, line by line: {error}")], "export"
            ) from None
    if isinstance(issues, list):
        issues = [issue for issue in issues if not _is_deleted(issue)]
    return plan_of_rows(issues, "issues", _read, "Beads")


def _rank(value: Any) -> Priority:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(_RANKS):
        return _RANKS[value]
    raise misfit(value, "no priority from 0 to 4")


def _edges(value: Any) -> list[tuple[str, str]]:
    if not isinstance(value, list | None):
        raise misfit(value, "no array")
    edge: dict[str, FieldReader] = {"depends_on_id": id_of, "type": text}
    read = read_each(value or (), lambda one: split(one, edge, *edge)[0])
    return [(one["type"], one["depends_on_id"]) for one in read]


_ISSUE: dict[str, FieldReader] = {
    "id": id_of,
    "title": text,
    "description": optional(text),
    "acceptance_criteria": optional(text),
    "status": one_of(_STATUSES),
    "assignee": optional(text),
    "dependencies": _edges,
    "created_at": optional(time),
    "closed_at": optional(time),
    "defer_until": optional(time),
}


def _read(issue: Any) -> Row:
    known, kept = split(issue, _ISSUE, "id", "title")
    edges = known.get("dependencies", [])
    parents = [name for kind, name in edges if kind == _PART_OF]
    others = [
        {"type": kind, "id": name} for kind, name in edges if kind not in {*_BLOCKING, _PART_OF}
    ]
    if others or parents[1:]:
        others += [{"type": _PART_OF, "id": name} for name in parents[1:]]
        kept["dependencies"] = others
    if labels := kept.pop("labels", None):
        kept["tags"] = labels
    priority = None
    if "priority" in kept:  # also left in the metadata: five ranks are more than three
        priority = _rank(kept["priority"])
    status, reason = known.get("status", _STATUSES["open"])
    until = known.get("defer_until")
    waits = until is not None and status is Status.PENDING
    return row_of(
        known,
        kept,
        subject="title",
        parent=next(iter(parents), None),
        blockers=list(dict.fromkeys(name for kind, name in edges if kind in _BLOCKING)),
        description=known.get("description"),
        check=known.get("acceptance_criteria") or None,
        owner=known.get("assignee") or None,
        priority=priority,
        created_at=known.get("created_at"),
        completed_at=known.get("closed_at"),
        waiting=Waiting(reason or "deferred", until) if waits else None,
    )


def _is_deleted(issue: Any) -> bool:
    return isinstance(issue, dict) and issue.get("status") == _DELETED
