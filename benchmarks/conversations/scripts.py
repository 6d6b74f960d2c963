"""
The calls that a model would make over the whole life of a plan, for each set of tools.

A script is a generator: it yields the calls of one request and receives their replies. `works`
means that the model then works on an item, in three further requests.
"""

import re
from collections.abc import Generator
from typing import Any

import attrs

__all__ = ["Script", "Turn", "agentscope", "lean", "pydantic", "tasks", "titles", "whole"]

_WORDS = (
    "Write Test Check Move Read Split Name Mend Draw Sort "
    "Join Trim Load Save Send Scan Rank Pack Copy Ship"
)
_VERBS = tuple(re.findall(r"\w+", _WORDS))
_THINGS = ("recordings", "summaries", "settings")
_ID = re.compile(r"\[([0-9a-f]{8})\]")


@attrs.frozen
class Turn:
    """
    One request: the calls that the model makes in it, each as a tool's name and its arguments.
    """

    calls: tuple[tuple[str, dict[str, Any]], ...]
    works: bool = False


Script = Generator[Turn, list[str], None]


def titles(size: int) -> list[str]:
    """Return texts of about seven tokens, all different up to sixty."""
    return [f"{_VERBS[n % 20]} the part that reads the {_THINGS[n // 20]}" for n in range(size)]


def whole(size: int) -> Script:
    """Write the whole list again at every step."""
    for step in range(size + 1):
        todos = [
            {"content": text, "status": _status(place, step)}
            for place, text in enumerate(titles(size))
        ]
        yield Turn((("write_todos", {"todos": todos}),), step < size)


def _status(place: int, step: int) -> str:
    return "completed" if place < step else "in_progress" if place == step else "pending"


def lean(size: int) -> Script:
    """Write once; each completed id starts the next task."""
    yield Turn((("plan", {"write": titles(size)}),), works=True)
    for number in range(1, size + 1):
        yield Turn((("plan", {"done": [number]}),), number < size)


def tasks(size: int) -> Script:
    """Create in one batch; then complete one task and start the next in one request."""
    made = [{"subject": text} for text in titles(size)]
    yield Turn((("TaskCreate", {"tasks": made}),))
    yield from _handoffs(size, "taskId")


def _handoffs(size: int, key: str) -> Script:
    yield Turn((_moved(key, 1, "in_progress"),), works=True)
    for number in range(1, size):
        pair = _moved(key, number, "completed"), _moved(key, number + 1, "in_progress")
        yield Turn(pair, works=True)
    yield Turn((_moved(key, size, "completed"),))


def _moved(key: str, number: int, status: str) -> tuple[str, dict[str, Any]]:
    return "TaskUpdate", {key: str(number), "status": status}


def agentscope(size: int, *, listing: bool) -> Script:
    """
    Create tasks in parallel, each with the description that the tool requires.

    Without `listing`, complete a task and start the next in one request. With it, follow the tool's
    instructions: start a task, complete it, and call TaskList.
    """
    yield Turn(tuple(("TaskCreate", _described(text)) for text in titles(size)))
    if not listing:
        yield from _handoffs(size, "task_id")
        return
    for number in range(1, size + 1):
        yield Turn((_moved("task_id", number, "in_progress"),), works=True)
        yield Turn((_moved("task_id", number, "completed"),))
        yield Turn((("TaskList", {}),))


def _described(text: str) -> dict[str, str]:
    told = "and make sure that all of it still works as it did before, with a test for what is new"
    return {"subject": text, "description": f"{text}, {told}"}


def pydantic(size: int, *, reading: bool) -> Script:
    """
    Write once, read the ids, then hand over from task to task; with `reading`, read each time.
    """
    todos = [{"content": text, "active_form": _doing(text)} for text in titles(size)]
    yield Turn((("write_todos", {"todos": todos}),))
    told = yield Turn((("read_todos", {}),))
    ids = _ID.findall(told[0])
    yield Turn((("update_todo_status", {"todo_id": ids[0], "status": "in_progress"}),), works=True)
    for number in range(size):
        pair = [{"todo_id": ids[number], "status": "completed"}]
        pair += [
            {"todo_id": each, "status": "in_progress"} for each in ids[number + 1 : number + 2]
        ]
        yield Turn(
            (("update_todo_statuses", {"updates": pair}),), number < size - 1 and not reading
        )
        if reading:
            yield Turn((("read_todos", {}),), number < size - 1)


def _doing(text: str) -> str:
    verb, rest = text.split(" ", 1)
    stem = verb.removesuffix("e")
    doubled = stem[-1] if stem in {"Split", "Trim", "Scan", "Ship"} else ""
    return f"{stem}{doubled}ing {rest}"
