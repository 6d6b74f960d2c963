"""
What an entry is: one implementation, called as its own framework calls it.

This module and the entries of peers do not import todoplan, because an entry may run in a separate
environment in which todoplan is not installed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, NamedTuple, Self

__all__ = ["Answer", "Call", "Entry", "Task", "TaskTools", "WholeList", "Wish", "applied", "doing"]

Wish = list[Any]
"""What a model wants, such as `["complete", "Bake"]`. The README lists the kinds."""
Call = tuple[str, dict[str, Any]]
"""The name of a tool, and its arguments."""


class Task(NamedTuple):
    """A task of the implementation, which says in `blocked` whether the task cannot begin yet."""

    id: str
    text: str
    status: str
    blocked: bool = False


class Answer(NamedTuple):
    """What the model is told about one call."""

    text: str
    is_error: bool = False


class Entry:
    """
    One implementation with an empty plan.

    `calls` and `person` raise `KeyError` for a wish that the implementation has no call for. If
    `turn` raises an exception, the implementation has not caught it, so the program of the agent
    would get it.
    """

    name: ClassVar[str]
    packages: ClassVar[tuple[str, ...]]
    read: ClassVar[str] = ""
    """The tool that shows the plan, if there is one."""

    def calls(self, wish: Wish) -> list[Call]:
        """Return the calls that express a wish, in the implementation's own words."""
        raise NotImplementedError

    def usual(self, wish: Wish) -> Wish:
        """Return the wish that `next` stands for here: to complete the task, by its id."""
        return ["complete", wish[1]] if wish[0] == "next" else wish

    def turn(self, calls: list[tuple[str, str]]) -> list[Answer]:
        """Carry out the calls of one turn. Arguments are JSON text, as models send them."""
        raise NotImplementedError

    def tasks(self) -> list[Task]:
        """Return the tasks of the plan as it is now."""
        raise NotImplementedError

    def person(self, wish: Wish) -> None:
        """Change the plan between two turns, as a program does that a person uses."""
        raise KeyError(wish[0])

    def resumed(self) -> Self:
        """Return a new entry that continues with the data that this entry saved."""
        raise NotImplementedError

    def request(self) -> str:
        """Return the next request's prompt and reminders, which are not messages or tools."""
        return ""

    def tools(self) -> str:
        """Return the definitions of the tools as JSON text."""
        raise NotImplementedError

    def id_of(self, text: str) -> str:
        """Return the id of the task with a text; if no task has the text, return the text."""
        return next((task.id for task in self.tasks() if task.text == text), text)


class WholeList(Entry):
    """An entry whose only changing call is a whole list."""

    tool: ClassVar[str]
    key: ClassVar[str] = "content"

    def usual(self, wish: Wish) -> Wish:
        """Return the wish that `next` stands for here: to write the list as the model knows it."""
        return ["rewrite", wish[2]] if wish[0] == "next" else wish

    def calls(self, wish: Wish) -> list[Call]:
        """Render the list after the wish. A parallel wish gives a list for each of its wishes."""
        if wish[0] == "parallel":
            return [call for each in wish[1:] for call in self.calls(each)]
        if wish[0] == "omit":
            return [(self.tool, {})]
        if wish[0] == "read":
            return [(self.read or wish[1], {})]
        items = applied([(task.text, task.status) for task in self.tasks()], wish)
        return [(self.tool, {"todos": [{self.key: text, "status": word} for text, word in items]})]


class TaskTools(Entry):
    """An entry with TaskCreate and TaskUpdate, in which each call is for one task."""

    id_key: ClassVar[str]
    wait_key: ClassVar[str]
    unwait_key: ClassVar[str] = ""
    """Empty if edges cannot be removed."""
    read = "TaskList"

    def calls(self, wish: Wish) -> list[Call]:
        """Render a wish; wishes for several tasks are several calls of one turn."""
        what, *given = wish
        if what in {"parallel", "batch"}:
            return [call for each in given for call in self.calls(each)]
        if what == "unwait":
            if not self.unwait_key:
                raise KeyError(what)
            others = [*map(self.id_of, given[1])]
            return [("TaskUpdate", {self.id_key: self.id_of(given[0]), self.unwait_key: others})]
        if what in {"create", "add"}:
            return [self.created(text) for text in given[0]]
        if what in {"read", "omit"}:
            return [(self.read if what == "read" else "TaskUpdate", {})]
        if what == "wait":
            change: dict[str, Any] = {self.wait_key: [*map(self.id_of, given[1])]}
        elif what == "rename":
            change = {"subject": given[1]}
        else:
            change = {"status": "deleted" if what == "delete" else doing(wish)}
        return [("TaskUpdate", {self.id_key: self.id_of(given[0]), **change})]

    def created(self, text: str) -> Call:
        """Return the call that creates a task."""
        return "TaskCreate", {"subject": text, "description": text}


def applied(items: Iterable[tuple[str, str]], wish: Wish) -> list[tuple[str, str]]:
    """Return the texts and statuses of a list after a wish about texts that it has."""
    found = list(items)
    what, *given = wish
    if what in {"complete", "start", "reopen", "status", "rename", "delete"}:
        dict(found)[given[0]]  # a KeyError if it has none
    if what == "batch":
        for each in given:
            found = applied(found, each)
        return found
    if what == "rewrite":
        return [(text, word) for text, word in given[0]]
    if what in {"create", "add"}:
        return found + [(text, "pending") for text in given[0]]
    if what == "rename":
        return [(given[1] if text == given[0] else text, word) for text, word in found]
    if what == "delete":
        return [(text, word) for text, word in found if text != given[0]]
    word = given[1] if what == "status" else _STATUS[what]
    return [(text, word if text == given[0] else before) for text, before in found]


_STATUS = {"start": "in_progress", "complete": "completed", "reopen": "pending"}


def doing(wish: Wish) -> str:
    """Return the status that a wish sets: the one it names, or that of "start" and the like."""
    word: str = wish[2] if wish[0] == "status" else _STATUS[wish[0]]
    return word
