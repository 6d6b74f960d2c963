"""Import of the todos of hermes and pydantic-ai-todo, and of the tasks of Agno's teams."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from todoplan.codec.documents import assembled
from todoplan.codec.engine import (
    FieldReader,
    Found,
    MisfitError,
    metadata,
    misfit,
    one_of,
    optional,
    read_array,
    read_object,
    text,
    time,
    wrong_shape,
)
from todoplan.core.decide import mirrored
from todoplan.core.plan.model import Priority, Status, Task, Waiting
from todoplan.core.plan.plan import Plan, tree_order

# -------- rows --------
# Shared code for importing plans of other systems.
#
# Foreign ids are strings, and ours are numbers. So the foreign id is saved in the metadata under
# "original_id", and every field that our tasks do not have is saved there under its own name. An
# unknown status, a duplicate id and an edge to a task that is not in the list are faults. All
# faults are reported together.


ORIGINAL_ID = "original_id"
BLOCKED = "blocked"
"""The foreign status "blocked". The task becomes pending; if it has no blockers, it also waits."""

USUAL: dict[str, tuple[Status, str]] = {status.value: (status, "") for status in Status}
"""The usual foreign status words, each with our status and a reason for waiting ("": no wait)."""


class Row(NamedTuple):
    """
    A foreign task. `fields` are the fields that we read, by our names (see `Fields`).

    `kept` are the other fields, which are saved in the metadata.
    """

    fields: dict[str, Any]
    kept: dict[str, Any]


Fields = Mapping[str, tuple[str, FieldReader]]
"""
The fields of a foreign task that we read, each with our name for it and its reader.

Our name is a field of `Task`, or "name" for the foreign id, or "blockers". A parent and blockers
are read as foreign ids, a status as our status with a reason for waiting. A field that is read as
`None` is not set.
"""


def id_of(value: Any) -> str:
    """Read a foreign id, which may be a number."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return text(value)


def ids_of(value: Any) -> tuple[str, ...]:
    """Read several ids without duplicates; null means none."""
    if value is None:
        return ()
    return tuple(dict.fromkeys(read_array(value, id_of)))


def filled(value: Any) -> str | None:
    """Read a string; null and the empty string mean that there is none."""
    return None if value is None else text(value) or None


def row_of(data: Any, known: Fields, *required: str) -> Row:
    """Read the known fields of a foreign task."""
    if not isinstance(data, dict):
        raise misfit(data, "no object")
    readers = {name: reader for name, (_, reader) in known.items()}
    read = read_object({key: data[key] for key in data if key in readers}, readers, required)
    fields = {known[name][0]: value for name, value in read.items()}
    return Row(fields, {key: value for key, value in data.items() if key not in readers})


def plan_of_rows(data: Any, path: str, read: Callable[[Any], Row], system: str) -> Plan:
    """
    Return the plan of a list of foreign tasks.

    Raises:
        CodecError: the data are not such a list; every fault is listed.
    """
    try:
        return _joined(read_array(data, read))
    except MisfitError as error:
        raise wrong_shape(error.below(path), f"list of {system}") from None


def _joined(rows: Sequence[Row]) -> Plan:
    ids: dict[str, str] = {}
    found: list[Found] = []
    for place, (fields, _) in enumerate(rows):
        name = fields.get("name", "")
        if name and name in ids:
            found.append((f"[{place}].id", f"{name} is the id of two tasks"))
        ids[name] = str(place + 1)
    for place, (fields, _) in enumerate(rows):
        named = (*fields.get("blockers", ()), *filter(None, (fields.get("parent"),)))
        lost = [name for name in named if name not in ids]
        found += ((f"[{place}]", f"names {name}, which is no task in the list") for name in lost)
    if found:
        raise MisfitError(found)
    ordered = tree_order(_task(str(number), row, ids) for number, row in enumerate(rows, 1))
    # `tree_order` would move a task of a cycle of parents to the top level: refuse it instead.
    for task in ordered:
        place = int(task.id) - 1
        if task.parent is None and rows[place].fields.get("parent"):
            raise MisfitError([(f"[{place}]", "is a subtask of itself, through its parents")])
    return assembled(mirrored(ordered), 1, 0)


def _task(task_id: str, row: Row, ids: Mapping[str, str]) -> Task:
    fields = {name: value for name, value in row.fields.items() if value is not None}
    name, parent = fields.pop("name", ""), fields.pop("parent", "")
    blockers = fields.pop("blockers", ())
    fields["status"], reason = fields.get("status", (Status.PENDING, ""))
    if reason and not (reason == BLOCKED and blockers):
        fields.setdefault("waiting", Waiting(reason))
    return Task(
        task_id,
        parent=ids[parent] if parent else None,
        blocked_by=tuple(ids[blocker] for blocker in blockers),
        metadata=metadata({**({ORIGINAL_ID: name} if name else {}), **row.kept}),
        **fields,
    )


_THREE = {word: USUAL[word] for word in ("pending", "in_progress", "completed")}
_HERMES: Fields = {
    "id": ("name", id_of),
    "content": ("subject", text),
    "status": ("status", one_of({**_THREE, "cancelled": USUAL["cancelled"]})),
    "parent": ("parent", optional(id_of)),
}
_PYDANTIC_AI_TODO: Fields = {
    "id": ("name", id_of),
    "content": ("subject", text),
    "status": ("status", one_of({**_THREE, BLOCKED: (Status.PENDING, BLOCKED)})),
    "active_form": ("active_form", filled),
    "parent_id": ("parent", optional(id_of)),
    "depends_on": ("blockers", ids_of),
}


def from_hermes(data: dict[str, Any] | list[dict[str, Any]]) -> Plan:
    """
    Return a new plan with the todos of hermes: a list, or a tool's answer with a list in "todos".

    A todo with a `parent` becomes a subtask of the todo with that id.

    Raises:
        CodecError: the data are not such a list; every fault is listed.
    """
    todos = data.get("todos") if isinstance(data, dict) else data
    return plan_of_rows(todos, "todos", lambda todo: row_of(todo, _HERMES, "content"), "hermes")


def from_pydantic_ai_todo(todos: list[dict[str, Any]]) -> Plan:
    """
    Return a new plan with the todos of pydantic-ai-todo.

    A todo with a `parent_id` becomes a subtask; `depends_on` names its blockers.

    Raises:
        CodecError: the data are not such a list; every fault is listed.
    """

    def read(todo: Any) -> Row:
        return row_of(todo, _PYDANTIC_AI_TODO, "content")

    return plan_of_rows(todos, "todos", read, "pydantic-ai-todo")


def from_agno(data: dict[str, Any] | list[dict[str, Any]]) -> Plan:
    """
    Return a new plan with the tasks of an Agno team: its `TaskList` as a dict, or only the list.

    A task with a `parent_id` becomes a subtask. Results and notes are saved in the metadata.

    Raises:
        CodecError: the data are not such a list; every fault is listed.
    """

    def read(task: Any) -> Row:
        fields, kept = row_of(task, _AGNO, "title")
        return Row(fields, {key: value for key, value in kept.items() if value})

    tasks = data.get("tasks") if isinstance(data, dict) else data
    return plan_of_rows(tasks, "tasks", read, "Agno")


def _epoch(value: Any) -> datetime | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return datetime.fromtimestamp(value, UTC) if value else None
        except (ValueError, OverflowError, OSError):
            pass
    raise misfit(value, "no time in seconds since 1970")


_AGNO: Fields = {
    "id": ("name", id_of),
    "title": ("subject", text),
    "description": ("description", filled),
    # In Agno, a task is "blocked" only because of its blockers.
    "status": ("status", one_of({**USUAL, BLOCKED: (Status.PENDING, "")})),
    "assignee": ("owner", optional(text)),
    "parent_id": ("parent", optional(id_of)),
    "dependencies": ("blockers", ids_of),
    "created_at": ("created_at", _epoch),
}


# -------- beads --------
# Import of the issues of Beads, as `bd export` writes them.


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

    A "parent-child" dependency makes an issue a subtask; "blocks", "conditional-blocks" and
    "waits-for" dependencies become blockers. Other dependencies are saved in the metadata. Labels
    become `tags`. Deleted issues are left out.

    Raises:
        CodecError: the data are not issues of Beads; every fault is listed.
    """
    rows: Any = issues
    if isinstance(issues, str):
        try:
            rows = [json.loads(line) for line in issues.splitlines() if line.strip()]
        except (ValueError, RecursionError) as error:
            raise wrong_shape(
                [("issues", f"is no JSON, line by line: {error}")], "export"
            ) from None
    if isinstance(rows, list):
        rows = [
            row for row in rows if not (isinstance(row, dict) and row.get("status") == _DELETED)
        ]
    return plan_of_rows(rows, "issues", _read_issue, "Beads")


def _rank(value: Any) -> Priority:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(_RANKS):
        return _RANKS[value]
    raise misfit(value, "no priority from 0 to 4")


def _edges(value: Any) -> list[tuple[str, str]]:
    edge: Fields = {"depends_on_id": ("id", id_of), "type": ("type", text)}
    read = read_array([] if value is None else value, lambda one: row_of(one, edge, *edge).fields)
    return [(one["type"], one["id"]) for one in read]


_BEADS: Fields = {
    "id": ("name", id_of),
    "title": ("subject", text),
    "description": ("description", filled),
    "acceptance_criteria": ("check", filled),
    "status": ("status", one_of(_STATUSES)),
    "assignee": ("owner", filled),
    "dependencies": ("dependencies", _edges),
    "created_at": ("created_at", optional(time)),
    "closed_at": ("completed_at", optional(time)),
    "defer_until": ("until", optional(time)),
}


def _read_issue(issue: Any) -> Row:
    fields, kept = row_of(issue, _BEADS, "id", "title")
    edges, until = fields.pop("dependencies", []), fields.pop("until", None)
    fields["blockers"] = tuple(dict.fromkeys(name for kind, name in edges if kind in _BLOCKING))
    parents = [name for kind, name in edges if kind == _PART_OF]
    fields["parent"] = next(iter(parents), None)
    others = [
        {"type": kind, "id": name} for kind, name in edges if kind not in {*_BLOCKING, _PART_OF}
    ]
    if others or parents[1:]:
        others += [{"type": _PART_OF, "id": name} for name in parents[1:]]
        kept["dependencies"] = others
    if labels := kept.pop("labels", None):
        kept["tags"] = labels
    if "priority" in kept:  # it stays in the metadata, because Beads has five ranks, we have three
        fields["priority"] = _rank(kept["priority"])
    status, reason = fields.get("status", _STATUSES["open"])
    if until is not None and status is Status.PENDING:
        fields["waiting"] = Waiting(reason or "deferred", until)
    return Row(fields, kept)


# -------- taskmaster --------
# Import of the `tasks.json` of task-master.


_TASKMASTER_STATUSES = {
    "pending": (Status.PENDING, ""),
    "in-progress": (Status.IN_PROGRESS, ""),
    "done": (Status.COMPLETED, ""),
    "review": (Status.PENDING, "review"),
    "deferred": (Status.PENDING, "deferred"),
    BLOCKED: (Status.PENDING, BLOCKED),
    "cancelled": (Status.CANCELLED, ""),
}
_PRIORITIES = {**{rank.value: rank for rank in Priority}, "critical": Priority.HIGH}


def from_taskmaster(data: object, tag: str = "master") -> Plan:
    """
    Return a new plan with the tasks of a `tasks.json` of task-master.

    If the file has tags, the tasks of `tag` are imported. The original id of a subtask is like
    "1.2". `testStrategy` becomes the check.

    Raises:
        CodecError: the data are not such a file; every fault is listed.
    """
    held, path = data, "tasks"
    if isinstance(data, dict) and "tasks" not in data:
        held, path = data.get(tag, {}), f"{tag}.tasks"
    if not isinstance(held, dict) or not isinstance(held.get("tasks"), list):
        raise wrong_shape([(path, "is no array")], "list of task-master")
    return plan_of_rows([*_flat(held["tasks"])], path, _read_taskmaster, "task-master")


_TASKMASTER: Fields = {
    "id": ("name", id_of),
    "title": ("subject", text),
    "description": ("description", filled),
    "details": ("details", filled),
    "status": ("status", one_of(_TASKMASTER_STATUSES)),
    "priority": ("priority", optional(one_of(_PRIORITIES))),
    "dependencies": ("blockers", ids_of),
    "testStrategy": ("check", filled),
    "parent": ("parent", optional(id_of)),
}


def _flat(tasks: list[Any]) -> Iterator[Any]:
    """Yield each task and its subtasks. Subtasks get ids such as "1.2", as in dependencies."""
    for task in tasks:
        inner = task.get("subtasks") or [] if isinstance(task, dict) else []
        if not isinstance(task, dict) or not isinstance(inner, list):
            yield task
            continue
        yield {key: value for key, value in task.items() if key != "subtasks"}
        number = task.get("id")
        beside = {str(each.get("id")) for each in inner if isinstance(each, dict)}
        for each in inner:
            if not isinstance(each, dict):
                yield each
                continue
            # A number refers to a sibling subtask if there is one, otherwise to a task.
            named = each.get("dependencies")
            if isinstance(named, list):
                named = [f"{number}.{one}" if str(one) in beside else one for one in named]
            yield {
                **{key: value for key, value in each.items() if key != "parentTaskId"},
                "id": f"{number}.{each.get('id')}",
                "parent": number,
                "dependencies": named,
            }


def _read_taskmaster(task: Any) -> Row:
    fields, kept = row_of(task, _TASKMASTER, "title")
    texts = fields.get("description"), fields.pop("details", None)
    return Row({**fields, "description": "\n\n".join(filter(None, texts))}, kept)
