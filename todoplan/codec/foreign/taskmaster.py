"""Import of the `tasks.json` of task-master."""

from collections.abc import Iterator
from typing import Any

from todoplan.codec.faults import wrong_shape
from todoplan.codec.foreign.rows import BLOCKED, Row, id_of, ids_of, plan_of_rows, row_of, split
from todoplan.codec.readers import FieldReader, one_of, optional
from todoplan.codec.values import text
from todoplan.core.plan.model import Priority, Status
from todoplan.core.plan.plan import Plan

__all__ = ["from_taskmaster"]

_STATUSES = {
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

    If the file has tags, the tasks of this `tag` are imported. A subtask's id is "1.2".
    `testStrategy` becomes the check.

    Raises:
        CodecError: the data are not such a file; every fault is listed.
    """
    held, path = data, "tasks"
    if isinstance(data, dict) and "tasks" not in data:
        held, path = data.get(tag, {}), f"{tag}.tasks"
    if not isinstance(held, dict) or not isinstance(held.get("tasks"), list):
        raise wrong_shape([(path, "is no array")], "list of task-master")
    return plan_of_rows([*_flat(held["tasks"])], path, _read, "task-master")


_TASK: dict[str, FieldReader] = {
    "id": id_of,
    "title": text,
    "description": optional(text),
    "details": optional(text),
    "status": one_of(_STATUSES),
    "priority": optional(one_of(_PRIORITIES)),
    "dependencies": ids_of,
    "testStrategy": optional(text),
    "parent": optional(id_of),
}


def _flat(tasks: list[Any]) -> Iterator[Any]:
    """
    Yield each task, followed by its subtasks, with the ids by which other tasks refer to them.
    """
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


def _read(task: Any) -> Row:
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
