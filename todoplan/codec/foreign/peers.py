"""Import of the todos of hermes and pydantic-ai-todo, and of the tasks of Agno's teams."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import attrs

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


@attrs.frozen
class Row:
    """
    A foreign task. `path` is its place in the data, `name` its id; `parent` and `blockers` are ids.

    `fields` are the fields of our task; `kept` are the fields that are saved in its metadata.
    """

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
    return tuple(dict.fromkeys(read_array(value, id_of)))


def split(data: Any, readers: Mapping[str, FieldReader], *required: str) -> tuple[Any, Any]:
    """Return two dicts: the values of the fields that have a reader, and the other fields."""
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

    `known` are the converted foreign fields, and `subject` is the key of the title among them.
    `kept` are the fields for the metadata, and `fields` are further fields of our task.
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
        rows = enumerate(read_array(data, read))
        return _joined([attrs.evolve(row, path=f"[{place}]") for place, row in rows])
    except MisfitError as error:
        raise wrong_shape(error.below(path), f"list of {system}") from None


def _joined(rows: Sequence[Row]) -> Plan:
    ids: dict[str, str] = {}
    found: list[Found] = []
    for number, row in enumerate(rows, 1):
        if row.name and row.name in ids:
            found.append((f"{row.path}.id", f"{row.name} is the id of two tasks"))
        ids[row.name] = str(number)
    blocks: dict[str, list[str]] = {}
    for number, row in enumerate(rows, 1):
        named = (*row.blockers, *filter(None, (row.parent,)))
        lost = [name for name in named if name not in ids]
        found += ((row.path, f"names {name}, which is no task in the list") for name in lost)
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
    # `tree_order` would move a task of a cycle of parents to the top level: refuse it instead.
    for task in ordered:
        row = rows[int(task.id) - 1]
        if row.parent is not None and task.parent is None:
            raise MisfitError([(row.path, "is a subtask of itself, through its parents")])
    return assembled(tuple(ordered), 1, 0)


_HERMES = {word: USUAL[word] for word in ("pending", "in_progress", "completed", "cancelled")}
# In Agno, a task is "blocked" only because of its blockers.
_AGNO = {**USUAL, BLOCKED: (Status.PENDING, "")}
_TODO = {
    **{word: USUAL[word] for word in ("pending", "in_progress", "completed")},
    BLOCKED: (Status.PENDING, BLOCKED),
}


def from_hermes(data: dict[str, Any] | list[dict[str, Any]]) -> Plan:
    """
    Return a new plan with the todos of hermes: a list, or a tool's answer with a list in "todos".

    A todo with a `parent` becomes a subtask of the todo with that id.

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

    A todo with a `parent_id` becomes a subtask; `depends_on` names its blockers.

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

    A task with a `parent_id` becomes a subtask. Results and notes are saved in the metadata.

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
    return plan_of_rows(rows, "issues", _read, "Beads")


def _rank(value: Any) -> Priority:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(_RANKS):
        return _RANKS[value]
    raise misfit(value, "no priority from 0 to 4")


def _edges(value: Any) -> list[tuple[str, str]]:
    edge: dict[str, FieldReader] = {"depends_on_id": id_of, "type": text}
    read = read_array([] if value is None else value, lambda one: split(one, edge, *edge)[0])
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
    if "priority" in kept:  # it stays in the metadata, because Beads has five ranks, we have three
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
    return plan_of_rows([*_flat(held["tasks"])], path, _taskmaster_read, "task-master")


_TASK: dict[str, FieldReader] = {
    "id": id_of,
    "title": text,
    "description": optional(text),
    "details": optional(text),
    "status": one_of(_TASKMASTER_STATUSES),
    "priority": optional(one_of(_PRIORITIES)),
    "dependencies": ids_of,
    "testStrategy": optional(text),
    "parent": optional(id_of),
}


def _flat(tasks: list[Any]) -> Iterator[Any]:
    """Yield each task and its subtasks. A subtask gets an id such as "1.2", which others name."""
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


def _taskmaster_read(task: Any) -> Row:
    known, kept = split(task, _TASK, "title")
    texts = filter(None, (known.get("description"), known.get("details")))
    return row_of(
        known,
        kept,
        subject="title",
        parent=known.get("parent"),
        blockers=known.get("dependencies", ()),
        description="\n\n".join(texts),
        priority=known.get("priority"),
        check=known.get("testStrategy") or None,
    )
