"""
State that the recording itself shows: how the plan stood, by the answer of a tool.

A recording is often one hand's part of a session: a teammate's file, a part that was cut, a program
that clears a finished list by itself. Then the plan that its calls give drifts from the plan that
was there. Answers show the latter: Claude Code's TaskList and TaskGet list tasks, its TaskUpdate
says what the status was before, its TodoWrite which list it replaced. What is shown is believed
over what was computed, as far as it goes: an answer in words may be cut short, so that only a
structured one tells that a task is gone.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from todoplan.core.plan.model import Status
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.questions import open_tasks
from todoplan.transcripts.calls import CallResult

__all__ = ["ShownTask", "is_new_list", "shown_tasks", "shows_all", "shows_none", "status_before"]

_LINE = re.compile(r"^#(\d{1,15}) \[(\w+)\] (.+?)(?: \[blocked by [^\]]*\])?$", re.MULTILINE)
_NO_TASKS = ("No tasks found", "No task list found")
_STATUSES = {status.value: status for status in Status}


@attrs.frozen
class ShownTask:
    """
    A task as an answer shows it. `exact` says whether its subject is the whole subject.
    """

    id: str
    status: Status
    subject: str = ""
    exact: bool = False


def shown_tasks(result: CallResult) -> tuple[ShownTask, ...]:
    """
    Return the tasks that the answer of TaskList or TaskGet shows.
    """
    data = result.data or {}
    if structured := tuple(_structured(data["tasks"] if shows_all(result) else [data.get("task")])):
        return structured
    # In words an owner stands behind the subject in parentheses, where a subject may end too.
    found = _LINE.findall(result.text)
    return tuple(
        ShownTask(task_id, _STATUSES[status], subject)
        for task_id, status, subject in found
        if status in _STATUSES
    )


def _structured(listed: list[Any]) -> Iterator[ShownTask]:
    for one in listed:
        fields: Mapping[str, Any] = one if isinstance(one, Mapping) else {}
        task_id, subject = fields.get("id"), fields.get("subject")
        status = _STATUSES.get(str(fields.get("status")))
        usable = isinstance(task_id, str) and re.fullmatch(r"[0-9]{1,15}", task_id)
        if usable and status and isinstance(subject, str):
            yield ShownTask(str(task_id), status, subject, exact=True)


def shows_all(result: CallResult) -> bool:
    """
    Whether the answer lists all tasks there are, at least one, so that others are gone.
    """
    listed = (result.data or {}).get("tasks")
    return isinstance(listed, list) and bool(listed)


def shows_none(result: CallResult) -> bool:
    """
    Whether the tool found no tasks at all. That removes none: programs clear finished tables.
    """
    return (result.data or {}).get("tasks") == [] or result.text.startswith(_NO_TASKS)


def status_before(result: CallResult | None) -> ShownTask | None:
    """
    Return the task that an update was about, with the status that it had before.
    """
    data = (result.data if result else None) or {}
    change = data.get("statusChange")
    status = _STATUSES.get(str(change.get("from"))) if isinstance(change, Mapping) else None
    task_id = data.get("taskId")
    return ShownTask(task_id, status) if status and isinstance(task_id, str) else None


def is_new_list(result: CallResult | None, plan: Plan) -> bool:
    """
    Whether a whole-list write replaced nothing, because the program had cleared a finished list.
    """
    data = (result.data if result else None) or {}
    replaced_nothing = data.get("oldTodos") == [] and bool(data.get("newTodos"))
    return replaced_nothing and len(plan) > 0 and not open_tasks(plan)
