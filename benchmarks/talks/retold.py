"""
The evolution of a recorded plan, told again through our own tool sets.

Each tells what it has fields for: `tasks` all of it, `todos` texts, statuses and active forms,
`lean` texts, edges and what is resolved (it starts tasks by itself). Calls without a change are not
told again.
"""

from collections.abc import Callable, Iterator
from typing import Any

import attrs

from benchmarks.talks.vocabulary import compact, tokens
from todoplan import DEFAULT, Plan, Status, Task
from todoplan.core.events.types import TaskCreated
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools.lean import LEAN
from todoplan.dialogue.tools.tasks import tasks
from todoplan.dialogue.tools.todos import TODOS

__all__ = ["Story", "stories"]

_Calls = Iterator[tuple[str, dict[str, Any]]]
_DETAILS = (("description", "description"), ("active_form", "activeForm"), ("owner", "owner"))


@attrs.define
class Story:
    """
    One tool set following a recorded plan; `ids` are ours, by the recorded ones.

    `untold` counts changes that the tool set has no words for.
    """

    toolbox: Toolbox
    tell: Callable[["Story", Plan, Plan], _Calls]
    plan: Plan = attrs.field(factory=Plan)
    ids: dict[str, str] = attrs.Factory(dict)
    calls: int = 0
    written: int = 0
    read: int = 0
    untold: int = 0

    def follow(self, before: Plan, after: Plan) -> None:
        """
        Say what made one plan of the other, and count it.
        """
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
        """
        Return our ids for recorded ones.
        """
        return [self.ids[each] for each in recorded]


def stories() -> dict[str, Story]:
    """
    Return a story for each of our tool sets.
    """
    return {
        "todos": Story(Toolbox(TODOS, DEFAULT), _todos),
        "tasks": Story(Toolbox(tasks(), DEFAULT), _tasks),
        "lean": Story(Toolbox(LEAN, DEFAULT), _lean),
    }


def _todos(_: Story, __: Plan, after: Plan) -> _Calls:
    told = [
        {"content": task.subject, "status": task.status.value}
        | ({"activeForm": task.active_form} if task.active_form else {})
        for task in after
    ]
    yield "write_todos", {"todos": told} if told else {"todos": [], "clear": True}


def _tasks(story: Story, before: Plan, after: Plan) -> _Calls:
    made = [_described(task) for task in after if task.id not in before]
    if made:
        yield "TaskCreate", {"tasks": made} if len(made) > 1 else made[0]
    for task in after:
        changes = _changes(story, before.get(task.id), task)
        if changes:
            yield "TaskUpdate", {"taskId": story.ids[task.id], **changes}
    for task in before:
        if task.id not in after:
            yield "TaskUpdate", {"taskId": story.ids[task.id], "status": "deleted"}


def _described(task: Task) -> dict[str, Any]:
    told = {shown: value for name, shown in _DETAILS if (value := getattr(task, name))}
    return {"subject": task.subject, **told}


def _changes(story: Story, old: Task | None, task: Task) -> dict[str, Any]:
    base = old or Task(task.id, task.subject, *(_described(task).get("description", ""),))
    told: dict[str, Any] = {}
    if base.status is not task.status:
        told["status"] = task.status.value
    if old and old.subject != task.subject:
        told["subject"] = task.subject
    if old:
        told |= {
            shown: getattr(task, name) or ""
            for name, shown in _DETAILS
            if getattr(old, name) != getattr(task, name)
        }
    waits = [each for each in task.blocked_by if each not in base.blocked_by]
    freed = [each for each in base.blocked_by if each not in task.blocked_by and each in story.ids]
    return told | _edges(story, waits, freed)


def _edges(story: Story, waits: list[str], freed: list[str]) -> dict[str, Any]:
    told = {"addBlockedBy": story.ours(waits), "removeBlockedBy": story.ours(freed)}
    return {key: ids for key, ids in told.items() if ids}


def _lean(story: Story, before: Plan, after: Plan) -> _Calls:
    made = [task for task in after if task.id not in before]
    told: dict[str, Any] = {}
    if made:
        told["add" if len(story.plan) else "write"] = [task.subject for task in made]
    told |= _resolved(story, before, after)
    if told:
        yield "plan", told
    later = [int(story.ids[task.id]) for task in made if task.status is Status.COMPLETED]
    edits = list(_edits(story, before, after))
    rest = ({"edit": edits} if edits else {}) | ({"done": later} if later else {})
    if rest:
        yield "plan", rest


def _resolved(story: Story, before: Plan, after: Plan) -> dict[str, Any]:
    done, drop = [], []
    for old in before:
        new = after.get(old.id)
        if new is None or (new.status is Status.CANCELLED and not old.status.resolved):
            drop.append(int(story.ids[old.id]))
        elif new.status is Status.COMPLETED and old.status is not Status.COMPLETED:
            done.append(int(story.ids[old.id]))
        elif old.status.resolved and not new.status.resolved:
            story.untold += 1
    return {key: ids for key, ids in (("done", done), ("drop", drop)) if ids}


def _edits(story: Story, before: Plan, after: Plan) -> Iterator[dict[str, Any]]:
    for task in after:
        old = before.get(task.id)
        waits = [each for each in task.blocked_by if not old or each not in old.blocked_by]
        told: dict[str, Any] = {"after": [int(each) for each in story.ours(waits)]} if waits else {}
        if old and old.subject != task.subject:
            told["text"] = task.subject
        if told:
            yield {"id": int(story.ids[task.id]), **told}
