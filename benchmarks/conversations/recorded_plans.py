"""
Repeats a recorded plan, call by call, with our own tool sets.

Each tool set sends the data that it has fields for. `tasks` sends everything; `todos` sends texts,
statuses and active forms; `lean` sends texts, edges and resolved tasks, and starts tasks by itself.
Calls without a change are skipped.
"""

from collections.abc import Callable, Iterator
from typing import Any

import attrs
from support.tokens import compact, tokens

from todoplan import DEFAULT, Plan, Status, Task
from todoplan.core.events.types import TaskCreated
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import LEAN, TODOS, tasks

__all__ = ["RecordedPlan", "recorded_plans"]

_Calls = Iterator[tuple[str, dict[str, Any]]]
_DETAILS = (("description", "description"), ("active_form", "activeForm"), ("owner", "owner"))


@attrs.define
class RecordedPlan:
    """
    One tool set that repeats a recorded plan. `ids` maps recorded ids to ours.

    `untold` counts changes that the tool set has no fields for.
    """

    toolbox: Toolbox
    tell: Callable[["RecordedPlan", Plan, Plan], _Calls]
    plan: Plan = attrs.field(factory=Plan)
    ids: dict[str, str] = attrs.Factory(dict)
    calls: int = 0
    written: int = 0
    read: int = 0
    untold: int = 0

    def follow(self, before: Plan, after: Plan) -> None:
        """Make the calls that turn one plan into the other, and count their tokens."""
        made = [task.id for task in after if task.id not in before]
        for name, arguments in self.tell(self, before, after):
            reply = self.toolbox.call(self.plan, name, arguments)
            if reply.is_error:
                raise AssertionError(reply.text)
            self.plan = reply.plan
            self.calls += 1
            self.written += tokens(name) + tokens(compact(arguments))
            self.read += tokens(reply.text)
            created = [each.task.id for each in reply.events if isinstance(each, TaskCreated)]
            if len(created) == len(made):
                self.ids.update(zip(made, created, strict=True))

    def ours(self, recorded: tuple[str, ...] | list[str]) -> list[str]:
        """Return our ids for recorded ids."""
        return [self.ids[each] for each in recorded]


def recorded_plans() -> dict[str, RecordedPlan]:
    """Return a `RecordedPlan` for each of our tool sets."""
    return {
        "todos": RecordedPlan(Toolbox(TODOS, DEFAULT), _todos),
        "tasks": RecordedPlan(Toolbox(tasks(), DEFAULT), _tasks),
        "lean": RecordedPlan(Toolbox(LEAN, DEFAULT), _lean),
    }


def _todos(_: RecordedPlan, __: Plan, after: Plan) -> _Calls:
    arguments = [
        {"content": task.subject, "status": task.status.value}
        | ({"activeForm": task.active_form} if task.active_form else {})
        for task in after
    ]
    yield "write_todos", {"todos": arguments} if arguments else {"todos": [], "clear": True}


def _tasks(source: RecordedPlan, before: Plan, after: Plan) -> _Calls:
    made = [_described(task) for task in after if task.id not in before]
    if made:
        yield "TaskCreate", {"tasks": made} if len(made) > 1 else made[0]
    for task in after:
        changes = _changes(source, before.get(task.id), task)
        if changes:
            yield "TaskUpdate", {"taskId": source.ids[task.id], **changes}
    for task in before:
        if task.id not in after:
            yield "TaskUpdate", {"taskId": source.ids[task.id], "status": "deleted"}


def _described(task: Task) -> dict[str, Any]:
    arguments = {shown: value for name, shown in _DETAILS if (value := getattr(task, name))}
    return {"subject": task.subject, **arguments}


def _changes(source: RecordedPlan, old: Task | None, task: Task) -> dict[str, Any]:
    base = old or Task(task.id, task.subject, *(_described(task).get("description", ""),))
    arguments: dict[str, Any] = {}
    if base.status is not task.status:
        arguments["status"] = task.status.value
    if old and old.subject != task.subject:
        arguments["subject"] = task.subject
    if old:
        arguments |= {
            shown: getattr(task, name) or ""
            for name, shown in _DETAILS
            if getattr(old, name) != getattr(task, name)
        }
    waits = [each for each in task.blocked_by if each not in base.blocked_by]
    freed = [each for each in base.blocked_by if each not in task.blocked_by and each in source.ids]
    return arguments | _edges(source, waits, freed)


def _edges(source: RecordedPlan, waits: list[str], freed: list[str]) -> dict[str, Any]:
    arguments = {"addBlockedBy": source.ours(waits), "removeBlockedBy": source.ours(freed)}
    return {key: ids for key, ids in arguments.items() if ids}


def _lean(source: RecordedPlan, before: Plan, after: Plan) -> _Calls:
    made = [task for task in after if task.id not in before]
    arguments: dict[str, Any] = {}
    if made:
        arguments["add" if len(source.plan) else "write"] = [task.subject for task in made]
    arguments |= _resolved(source, before, after)
    if arguments:
        yield "plan", arguments
    later = [int(source.ids[task.id]) for task in made if task.status is Status.COMPLETED]
    edits = list(_edits(source, before, after))
    rest = ({"edit": edits} if edits else {}) | ({"done": later} if later else {})
    if rest:
        yield "plan", rest


def _resolved(source: RecordedPlan, before: Plan, after: Plan) -> dict[str, Any]:
    done, drop = [], []
    for old in before:
        new = after.get(old.id)
        if new is None or (new.status is Status.CANCELLED and not old.status.resolved):
            drop.append(int(source.ids[old.id]))
        elif new.status is Status.COMPLETED and old.status is not Status.COMPLETED:
            done.append(int(source.ids[old.id]))
        elif old.status.resolved and not new.status.resolved:
            source.untold += 1
    return {key: ids for key, ids in (("done", done), ("drop", drop)) if ids}


def _edits(source: RecordedPlan, before: Plan, after: Plan) -> Iterator[dict[str, Any]]:
    for task in after:
        old = before.get(task.id)
        waits = [each for each in task.blocked_by if not old or each not in old.blocked_by]
        arguments: dict[str, Any] = (
            {"after": [int(each) for each in source.ours(waits)]} if waits else {}
        )
        if old and old.subject != task.subject:
            arguments["text"] = task.subject
        if arguments:
            yield {"id": int(source.ids[task.id]), **arguments}
