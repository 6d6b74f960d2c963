"""
Reading and writing the tasks of Backlog.md: a Markdown file for each task, with fields on top.

A file is named `task-7 - Title.md`. Its fields (front matter, YAML) are the id, the title, the
status, the dependencies and more. The text below them is the description; acceptance criteria in it
become the task's check. Fields that our tasks do not have are saved in the metadata.
"""

import re
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from todoplan.codec.engine import PRIORITIES, one_of, optional, text
from todoplan.codec.foreign.peers import (
    ORIGINAL_ID,
    Fields,
    Row,
    id_of,
    ids_of,
    plan_of_rows,
    row_of,
)
from todoplan.core.plan.model import Status, thaw
from todoplan.core.plan.plan import Plan
from todoplan.errors import CodecError, MissingExtraError

_STATUSES = {
    "to do": (Status.PENDING, ""),
    "in progress": (Status.IN_PROGRESS, ""),
    "done": (Status.COMPLETED, ""),
}
_WORDS = {
    Status.PENDING: "To Do",
    Status.IN_PROGRESS: "In Progress",
    Status.FAILED: "To Do",
    Status.COMPLETED: "Done",
    Status.CANCELLED: "Done",
}
_FRONT = re.compile(r"---\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|$)(.*)", re.DOTALL)
_CRITERION = re.compile(r"^- \[[ xX]\] (?:#\d+ )?(.+)$", re.MULTILINE)
_CRITERIA = re.compile(r"^## Acceptance Criteria.*?\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_UNSAFE = re.compile(r'[\\/:*?"<>|\x00-\x1f]+')
_LONGEST = 80  # characters of a title in a file's name


_BACKLOG: Fields = {
    "id": ("name", lambda value: id_of(value).lower()),
    "title": ("subject", id_of),  # YAML reads a title such as 2024 as a number
    "status": ("status", lambda value: one_of(_STATUSES)(text(value).strip().lower())),
    "priority": ("priority", optional(one_of(PRIORITIES))),
    "dependencies": ("blockers", lambda value: tuple(one.lower() for one in ids_of(value))),
    "parent_task_id": ("parent", optional(id_of)),
    "body": ("body", text),
}


def from_backlog(files: Mapping[str, str]) -> Plan:
    """
    Return a new plan with the tasks of Backlog.md. `files` maps file names to the files' texts.

    A task is a subtask if its id is the id of another task with one more number: `task-4.1` is a
    subtask of `task-4`.

    Raises:
        CodecError: a file is not a task of Backlog.md; every fault is listed with its file.
        MissingExtraError: PyYAML is missing.
    """
    tasks = [_task(name, content) for name, content in files.items()]
    known = {str(task.get("id")).lower() for task in tasks}
    tasks.sort(key=lambda task: [int(each) for each in re.findall(r"\d+", str(task.get("id")))])

    def read(task: Any) -> Row:
        fields, kept = row_of(task, _BACKLOG, "id", "title", "status")
        body, above = fields.pop("body"), fields.get("parent") or fields["name"].rpartition(".")[0]
        assignee = kept.get("assignee")
        names = ids_of([assignee] if isinstance(assignee, str) else assignee)
        if len(names) <= 1:  # several stay in the metadata, since a task has one owner
            kept.pop("assignee", None)
        criteria = _CRITERIA.search(body)
        fields |= {
            "parent": above.lower() if above.lower() in known else None,
            "description": body.strip(),
            "owner": names[0] if len(names) == 1 else None,
            "check": "\n".join(_CRITERION.findall(criteria[1] if criteria else "")) or None,
        }
        return Row(fields, kept)

    return plan_of_rows(tasks, "files", read, "Backlog.md tasks")


def _task(name: str, content: str) -> dict[str, Any]:
    yaml, fields = _yaml(), None
    found = _FRONT.fullmatch(content)
    if found is not None:
        fault = "it has aliases (*name), which Backlog.md does not write"
        try:
            # A few nested aliases can expand to a billion values.
            has_alias = any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(found[1]))
            fields = None if has_alias else yaml.safe_load(found[1])
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            has_alias, fault = True, str(error)
        if has_alias:
            msg = f"{name}: the fields between the lines --- cannot be read: {fault}"
            raise CodecError(msg, problem="no_yaml", path=name)
    if found is None or not isinstance(fields, dict):
        msg = f"{name} is no task of Backlog.md: it begins with no fields between two lines ---"
        raise CodecError(msg, problem="no_fields", path=name)
    return {**{str(key): _plain(value) for key, value in fields.items()}, "body": found[2]}


def _plain(value: Any) -> Any:
    """Return a YAML value as a JSON value: times become texts."""
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def _yaml() -> Any:
    try:
        return import_module("yaml")  # PyYAML, which an extra installs
    except ModuleNotFoundError as error:
        raise MissingExtraError.of(error.name, "markdown") from error


def to_backlog(plan: Plan) -> dict[str, str]:
    """
    Return the tasks as files of Backlog.md: a dict from file names to texts.

    Data for which Backlog.md has no fields are lost, such as waits, claims, evidence, estimates and
    due dates, and a check that is not part of the description. A failed task becomes "To Do", and a
    cancelled task becomes "Done".

    Raises:
        MissingExtraError: PyYAML is missing.
    """
    yaml = _yaml()
    names: dict[str, str] = {}
    taken = {str(task.metadata.get(ORIGINAL_ID)) for task in plan}
    for task in plan:
        number = int(task.id)
        while (name := f"task-{number}") in taken:
            number += 1
        own = task.metadata.get(ORIGINAL_ID)
        names[task.id] = own if isinstance(own, str) and own else name
        taken.add(names[task.id])
    files: dict[str, str] = {}
    for task in plan:
        extras = {key: thaw(value) for key, value in task.metadata.items() if key != ORIGINAL_ID}
        fields = {
            "id": names[task.id],
            "title": task.subject,
            "status": _WORDS[task.status],
            "assignee": extras.pop("assignee", [task.owner] if task.owner else []),
            "dependencies": [names[one] for one in task.blocked_by],
            **({"parent_task_id": names[task.parent]} if task.parent else {}),
            **({"priority": task.priority.value} if task.priority else {}),
            **extras,
        }
        front = yaml.safe_dump(fields, sort_keys=False, allow_unicode=True)
        title = _UNSAFE.sub(" ", task.subject)[:_LONGEST].strip().rstrip(".")
        name = _UNSAFE.sub("-", names[task.id])
        files[f"{name} - {title}.md"] = f"---\n{front}---\n\n{task.description}\n"
    return files
