"""Talks that every adapter must carry alike: runs of model turns, for each kind of tool set."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import attrs
import pytest

from todoplan.dialogue.toolbox import Call
from todoplan.dialogue.tools.lean import LEAN
from todoplan.dialogue.tools.tasks import tasks
from todoplan.dialogue.tools.todos import TODOS
from todoplan.dialogue.tools.toolset import ToolSet
from todoplan.testing.adapters.script import ModelTurn

__all__ = [
    "TASKS",
    "TOOLSETS",
    "Run",
    "each_toolset",
    "is_utf8",
    "numbered",
    "says",
    "talk",
    "turn",
    "write",
]

Run = tuple[ModelTurn, ...]

TASKS = tasks()

TOOLSETS: dict[str, ToolSet] = {
    "todos": TODOS,
    "tasks": TASKS,
    "lean": LEAN,
    "renamed": tasks("snake").renamed(TaskCreate="add_step", TaskUpdate="change_step"),
    "renamed_list": TODOS.renamed(write_todos="TodoWrite"),
}
"""The tool sets of the checks, by name."""

each_toolset = pytest.mark.parametrize("toolset", TOOLSETS.values(), ids=TOOLSETS)


def turn(*calls: tuple[str, Any], text: str = "") -> ModelTurn:
    """
    Return a turn that makes calls, (name, arguments) each.
    """
    return ModelTurn(tuple(Call(name, arguments) for name, arguments in calls), text)


def says(text: str = "Done.") -> ModelTurn:
    """
    Return a final answer.
    """
    return ModelTurn(text=text)


def numbered(
    runs: Iterable[Sequence[ModelTurn]], numbers: Iterator[int], *, singly: bool = False
) -> tuple[Run, ...]:
    """
    Return the runs with an id for each call; `singly` with one call a turn.
    """

    def named(one: ModelTurn) -> ModelTurn:
        calls = (Call(c.name, _read(c.arguments), f"call_{next(numbers)}") for c in one.calls)
        return attrs.evolve(one, calls=tuple(calls))

    return tuple(
        tuple(named(each) for one in run for each in (_parted(one) if singly else (one,)))
        for run in runs
    )


def _read(arguments: Any) -> Any:
    """
    Return arguments as they are read from JSON, where surrogates that make a pair are one letter.
    """
    return arguments if isinstance(arguments, str) else json.loads(json.dumps(arguments))


def is_utf8(arguments: Any) -> bool:
    """
    Say whether arguments, once they are read from JSON, can be written as UTF-8.
    """
    text = json.dumps(_read(arguments), ensure_ascii=False)
    return text == text.encode("utf-8", "replace").decode("utf-8")


def _parted(one: ModelTurn) -> tuple[ModelTurn, ...]:
    return tuple(attrs.evolve(one, calls=(call,)) for call in one.calls) or (one,)


def write(*entries: tuple[str, str], **more: Any) -> dict[str, Any]:
    """
    Return the arguments of a whole-list write, (content, status) each.
    """
    return {"todos": [{"content": text, "status": status} for text, status in entries], **more}


_LIST = (
    (
        turn(
            ("write_todos", write(("Dig", "in_progress"), ("Lay", "pending"), ("Fill", "pending")))
        ),
        turn(("read_todos", {}), text="Let me see."),
        turn(
            ("write_todos", write(("Dig", "completed"), ("Lay", "in_progress"), ("Mow", "pending")))
        ),
        says(),
    ),
    (
        turn(
            ("write_todos", write(("Dig", "completed"), ("Lay", "in_progress"), ("Mow", "pending")))
        ),
        turn(("write_todos", write(("Lay", "completed"), ("Dig", "pending")))),
        turn(("write_todos", {"todos": []})),
        turn(("write_todos", {"todos": [], "clear": True}), ("read_todos", {})),
        says(),
    ),
)
_ITEMS = (
    (
        turn(("TaskCreate", {"subject": "Dig", "description": "Two metres.\nNot more."})),
        turn(
            ("TaskCreate", {"subject": "Lay", "blockedBy": ["1"], "priority": "high"}),
            ("TaskCreate", {"subject": "Fill", "owner": "Ann", "estimate": 30}),
            ("TaskUpdate", {"taskId": "3", "addBlockedBy": ["2"], "metadata": {"bed": [1, None]}}),
        ),
        turn(("TaskUpdate", {"taskId": "1", "status": "in_progress"}), ("TaskList", {})),
        turn(("TaskUpdate", {"taskId": "1", "status": "completed"}), text="Dug."),
        turn(("TaskGet", {"taskId": "2"})),
        says(),
    ),
    (
        turn(("TaskUpdate", {"taskId": "3", "status": "deleted"})),
        turn(
            (
                "TaskCreate",
                {"tasks": [{"subject": "Mow"}, {"subject": "Rake", "blockedBy": ["#0"]}]},
            )
        ),
        turn(("TaskUpdate", {"taskId": "2", "status": "cancelled", "owner": "Bo"})),
        turn(("TaskUpdate", {"taskId": "1", "status": "pending", "priority": "low"})),
        turn(("TaskGet", {"taskId": "9"}), ("TaskUpdate", {"taskId": "4", "addBlockedBy": ["5"]})),
        says(),
    ),
)
_STEPS = (
    (
        turn(("plan", {"write": ["Dig", "Lay", "Fill"]})),
        turn(("plan", {"done": [1]}), ("plan", {"add": ["Mow"]})),
        turn(("plan", {})),
        says(),
    ),
    (
        turn(("plan", {"edit": [{"id": 4, "text": "Mow it", "after": [3]}], "drop": [2]})),
        turn(("plan", {"done": [3], "add": ["Rake"]}), text="Filled."),
        turn(("plan", {"edit": [{"id": 3, "after": [4]}]})),
        says(),
    ),
)
_TALKS = {"todos": _LIST, "tasks": _ITEMS, "lean": _STEPS}


def talk(toolset: ToolSet) -> tuple[Run, ...]:
    """
    Return the runs of a talk in the tools of a set, under the names that it shows.
    """

    def shown(one: ModelTurn) -> ModelTurn:
        calls = (attrs.evolve(call, name=toolset.shown(call.name)) for call in one.calls)
        return attrs.evolve(one, calls=tuple(calls))

    return tuple(tuple(map(shown, run)) for run in _TALKS[toolset.name])
