"""
The turns of scripted models: fixed and drawn conversations that all adapters must handle alike.

A conversation is several runs. A run is the model's turns up to its final answer.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import attrs
import pytest
from hypothesis import strategies as st

from todoplan.dialogue.toolbox import Call
from todoplan.dialogue.tools.lean import LEAN
from todoplan.dialogue.tools.tasks import tasks
from todoplan.dialogue.tools.todos import TODOS
from todoplan.dialogue.tools.toolset import ToolSet
from todoplan.testing.adapters.host import ModelTurn
from todoplan.testing.strategies import arguments, broken_arguments

__all__ = [
    "TASKS",
    "TOOLSETS",
    "Run",
    "broken_runs",
    "conversation",
    "conversations",
    "each_toolset",
    "is_utf8",
    "numbered",
    "says",
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
"""The tool sets that the checks use, by name."""

each_toolset = pytest.mark.parametrize("toolset", TOOLSETS.values(), ids=TOOLSETS)


def turn(*calls: tuple[str, Any], text: str = "") -> ModelTurn:
    """Return a turn with calls, each given as (name, arguments)."""
    return ModelTurn(tuple(Call(name, arguments) for name, arguments in calls), text)


def says(text: str = "Done.") -> ModelTurn:
    """Return a final answer."""
    return ModelTurn(text=text)


def numbered(
    runs: Iterable[Sequence[ModelTurn]], numbers: Iterator[int], *, singly: bool = False
) -> tuple[Run, ...]:
    """Return the runs with an id for each call; with `singly`, each call gets a turn of its own."""

    def parted(one: ModelTurn) -> list[ModelTurn]:
        alone = [attrs.evolve(one, calls=(call,)) for call in one.calls] if singly else []
        return alone or [one]

    def named(one: ModelTurn) -> ModelTurn:
        # Ids are unique in a session, because an answer is looked up by id in the whole
        # conversation.
        calls = (Call(c.name, _read(c.arguments), f"call_{next(numbers)}") for c in one.calls)
        return attrs.evolve(one, calls=tuple(calls))

    return tuple(tuple(named(each) for one in run for each in parted(one)) for run in runs)


def _read(arguments: Any) -> Any:
    """Return arguments as read back from JSON, where a pair of surrogates becomes one character."""
    return arguments if isinstance(arguments, str) else json.loads(json.dumps(arguments))


def is_utf8(arguments: Any) -> bool:
    """Return whether arguments, read back from JSON, can be encoded as UTF-8."""
    text = json.dumps(_read(arguments), ensure_ascii=False)
    return text == text.encode("utf-8", "replace").decode("utf-8")


def write(*entries: tuple[str, str], **more: Any) -> dict[str, Any]:
    """Return the arguments of a whole-list write; entries are given as (content, status)."""
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
_CONVERSATIONS = {"todos": _LIST, "tasks": _ITEMS, "lean": _STEPS}


def conversation(toolset: ToolSet) -> tuple[Run, ...]:
    """Return the runs of a fixed conversation with the tools of a set, under their shown names."""

    def shown(one: ModelTurn) -> ModelTurn:
        calls = (attrs.evolve(call, name=toolset.shown(call.name)) for call in one.calls)
        return attrs.evolve(one, calls=tuple(calls))

    return tuple(tuple(map(shown, run)) for run in _CONVERSATIONS[toolset.name])


def conversations(toolset: ToolSet) -> st.SearchStrategy[tuple[Run, ...]]:
    """Draw one or two runs of up to three turns with up to three calls each."""
    calls = st.lists(arguments(toolset), min_size=1, max_size=3)
    return st.lists(_run(calls), min_size=1, max_size=2).map(tuple)


def broken_runs(toolset: ToolSet, *, raw: bool, whole: bool = False) -> st.SearchStrategy[Run]:
    """
    Draw runs of up to three turns with broken calls.

    `raw` allows arguments that are not an object. `whole` requires texts that can be encoded as
    UTF-8.
    """
    broken = broken_arguments(toolset, raw=raw).map(lambda one: _sent(one.call))
    fitting = broken.filter(
        lambda call: (
            (raw or isinstance(call.arguments, dict))
            and not (whole and not is_utf8(call.arguments))
        )
    )
    return _run(st.lists(fitting | arguments(toolset), min_size=1, max_size=2))


def _sent(call: Call) -> Call:
    """Return a call whose arguments are an object, or a text otherwise."""
    given = call.arguments
    sent = given if isinstance(given, dict | str) else json.dumps(given)
    return Call(call.name, sent)


def _run(calls: st.SearchStrategy[list[Call]]) -> st.SearchStrategy[Run]:
    turn = calls.map(lambda made: ModelTurn(tuple(made)))
    return st.lists(turn, max_size=3).map(lambda turns: (*turns, says()))
