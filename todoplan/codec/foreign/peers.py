"""Import of the todos of hermes and pydantic-ai-todo, and of the tasks of Agno's teams."""

from datetime import UTC, datetime
from typing import Any

from todoplan.codec.faults import misfit
from todoplan.codec.foreign.rows import (
    BLOCKED,
    USUAL,
    Row,
    id_of,
    ids_of,
    plan_of_rows,
    row_of,
    split,
)
from todoplan.codec.readers import one_of, optional
from todoplan.codec.values import text
from todoplan.core.plan.model import Status
from todoplan.core.plan.plan import Plan

__all__ = ["from_agno", "from_hermes", "from_pydantic_ai_todo"]

_HERMES = {word: USUAL[word] for word in ("pending", "in_progress", "completed", "cancelled")}
# In Agno, "blocked" always follows from the blockers.
_AGNO = {**USUAL, BLOCKED: (Status.PENDING, "")}
_TODO = {
    **{word: USUAL[word] for word in ("pending", "in_progress", "completed")},
    BLOCKED: (Status.PENDING, BLOCKED),
}


def from_hermes(data: dict[str, Any] | list[dict[str, Any]]) -> Plan:
    """
    Return a new plan with the todos of hermes: its list, or its tool's answer with the list in
    "todos".

    `parent` makes a subtask.

    Raises:
        CodecError: the data are not such a list; every fault is listed.
    """
    readers = {"id": id_of, "content": text, "status": one_of(_HERMES), "parent": optional(id_of)}

    def read(todo: Any) -> Row:
        known, kept = split(todo, readers, "content")
        return row_of(known, kept, subject="content", parent=known.get("parent"))

    return plan_of_rows(
        data.get("todos") if isinstance(data, dict) else data, "todos", read, "hermes"
    )


def from_pydantic_ai_todo(todos: list[dict[str, Any]]) -> Plan:
    """
    Return a new plan with the todos of pydantic-ai-todo.

    `parent_id` makes a subtask; `depends_on` names blockers.

    Raises:
        CodecError: the data are not such a list; every fault is listed.
    """
    readers = {
        "id": id_of,
        "content": text,
        "status": one_of(_TODO),
        "active_form": optional(text),
        "parent_id": optional(id_of),
        "depends_on": ids_of,
    }

    def read(todo: Any) -> Row:
        known, kept = split(todo, readers, "content")
        return row_of(
            known,
            kept,
            subject="content",
            parent=known.get("parent_id"),
            blockers=known.get("depends_on", ()),
            active_form=known.get("active_form") or None,
        )

    return plan_of_rows(todos, "todos", read, "pydantic-ai-todo")


def from_agno(data: dict[str, Any] | list[dict[str, Any]]) -> Plan:
    """
    Return a new plan with the tasks of an Agno team: its `TaskList` as a dict, or only the list.

    `parent_id` makes a subtask. Results and notes are saved in the metadata.

    Raises:
        CodecError: the data are not such a list; every fault is listed.
    """
    readers = {
        "id": id_of,
        "title": text,
        "description": optional(text),
        "status": one_of(_AGNO),
        "assignee": optional(text),
        "parent_id": optional(id_of),
        "dependencies": ids_of,
        "created_at": _epoch,
    }

    def read(task: Any) -> Row:
        known, kept = split(task, readers, "title")
        return row_of(
            known,
            {key: value for key, value in kept.items() if value},
            subject="title",
            parent=known.get("parent_id"),
            blockers=known.get("dependencies", ()),
            description=known.get("description"),
            owner=known.get("assignee"),
            created_at=known.get("created_at"),
        )

    return plan_of_rows(
        data.get("tasks") if isinstance(data, dict) else data, "tasks", read, "Agno"
    )


def _epoch(value: Any) -> datetime | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return datetime.fromtimestamp(value, UTC) if value else None
        except (ValueError, OverflowError, OSError):
            pass
    raise misfit(value, "no time in seconds since 1970")
