"""
State that the recording itself shows: how the plan stood, by the answer of a tool.

A recording is often one hand's part of a session: a teammate's file, a part that was cut, a program
that clears a finished list by itself. Then the plan that its calls give drifts from the plan that
was there. Answers show the latter: Claude Code's TaskList and TaskGet list tasks, its TaskUpdate
says what the status was before, its TodoWrite which list it replaced and which one stood then;
OpenCode, OpenHands, LangChain and Gemini repeat the list. What is shown is believed over what was
computed, as far as it goes: an answer in words may be cut short, so that only a structured one
tells that a task is gone.
"""

import ast
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from todoplan.core.commands import WriteTodos
from todoplan.core.plan.model import Status
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.questions import open_tasks
from todoplan.dialogue.intake.parsing import InputLimits
from todoplan.dialogue.intake.read import read
from todoplan.transcripts.calls import CallResult, PlanningCall
from todoplan.transcripts.replay.recorded_tools import RECORDED, checklist

__all__ = [
    "LIMITS",
    "ShownTask",
    "is_new_list",
    "replaced_list",
    "shown_list",
    "shown_tasks",
    "shows_all",
    "shows_none",
    "status_before",
]

LIMITS = InputLimits(chars=16_777_216, items=10_000)
"""Wider than for a live model: what a recording holds has already been accepted once."""

_LINE = re.compile(r"^#(\d{1,15}) \[(\w+)\] (.+?)(?: \[blocked by [^\]]*\])?$", re.MULTILINE)
_NO_TASKS = ("No tasks found", "No task list found", "No tasks available")
_STATUSES = {status.value: status for status in Status}
# Claude Code says `newTodos`, OpenCode's metadata `todos`, OpenHands' observation `task_list`.
_LISTS = ("newTodos", "todos", "task_list")
_PYTHON_LIST = "Updated todo list to "
# Gemini's answer, and Roo's where the person edited the list.
_HEADS = ("The current list is now:\n", "User edits todo:\n")


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
        # Not str.isdigit(), to which "²" is a digit; and int() refuses thousands of them.
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
    data = result.data or {}
    empty = any(data.get(key) == [] for key in ("tasks", *_LISTS))
    return empty or result.text.startswith(_NO_TASKS) or result.text.strip() == "[]"


def shown_list(result: CallResult | None) -> WriteTodos | None:
    """
    Return the whole list as the answer shows it, with at least one line; `None` if it shows none.
    """
    if result is None:
        return None
    data = result.data or {}
    rows = next((data[key] for key in _LISTS if isinstance(data.get(key), list)), None)
    return _as_write(_in_words(result.text) if rows is None else rows)


def replaced_list(result: CallResult | None) -> WriteTodos | None:
    """
    Return the list that a write replaced, as Claude Code's answer shows it.
    """
    data = (result.data if result else None) or {}
    return _as_write(data.get("oldTodos"))


def _in_words(text: str) -> Any:
    if text.startswith("["):  # OpenCode answers with the list as JSON
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return None
    if text.startswith(_PYTHON_LIST):  # LangChain answers with a Python literal
        try:
            # On 100,000 minus signs it raises MemoryError (measured).
            return ast.literal_eval(text.removeprefix(_PYTHON_LIST))
        # A TypeError is a list as the key of a dict.
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            return None
    for head in _HEADS:
        # A line that is none of a list may be the rest of a text with a line break, or a hint.
        if head in text:
            return checklist(text.partition(head)[2])
    return None


def _as_write(rows: Any) -> WriteTodos | None:
    if not isinstance(rows, list) or not rows:
        return None
    tool = RECORDED["write_todos"]
    intake = read({"todos": rows}, tool.fields, LIMITS)
    request = None if intake.problems else tool.request(intake.values)
    return request if isinstance(request, WriteTodos) else None


def status_before(call: PlanningCall) -> ShownTask | None:
    """
    Return the task that an update was about, with the status that it had before.

    An update of the status that is answered with no changed fields found it as it was to become.
    """
    data = (call.result.data if call.result else None) or {}
    change, task_id = data.get("statusChange"), data.get("taskId")
    before = change.get("from") if isinstance(change, Mapping) else None
    if data.get("updatedFields") == [] and isinstance(call.arguments, Mapping):
        before = call.arguments.get("status")
    status = _STATUSES.get(str(before))
    return ShownTask(task_id, status) if status and isinstance(task_id, str) else None


def is_new_list(result: CallResult | None, plan: Plan) -> bool:
    """
    Whether a whole-list write replaced nothing, because the program had cleared a finished list.
    """
    data = (result.data if result else None) or {}
    replaced_nothing = data.get("oldTodos") == [] and bool(data.get("newTodos"))
    return replaced_nothing and len(plan) > 0 and not open_tasks(plan)
