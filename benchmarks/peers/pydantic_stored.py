"""Pydantic AI's history after a plan's life: the bytes of what a plan adds to its messages."""

import asyncio
import json
from collections.abc import Iterable
from typing import Any

from pydantic_ai import Agent, ModelMessagesTypeAdapter
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.usage import UsageLimits
from pydantic_ai_todo import TodoCapability, TodoStorage

from benchmarks.ours import Sent, life_of
from benchmarks.workload import title
from todoplan.adapters.pydantic_ai import make_tools
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import tasks

__all__ = ["lives"]


def lives(size: int) -> dict[str, tuple[int, int]]:
    """
    Return the bytes of the last plan, and of all plans in the history.

    pydantic-ai-todo keeps its plan outside of the history, in a storage of its own.
    """
    storage = TodoStorage()
    _life({"capabilities": [TodoCapability(storage=storage)]}, _own(size, storage))
    kept = len(json.dumps([todo.model_dump() for todo in storage.todos]))
    granular = make_tools(Toolbox(tasks()))
    return {
        "pydantic-ai-todo, its storage": (kept, kept),
        "todoplan TaskUpdate": _life({"toolsets": [granular]}, life_of(size)),
    }


def _own(size: int, storage: TodoStorage) -> Iterable[Sent]:
    todos = [
        {"content": title(number), "status": "pending", "active_form": ""}
        for number in range(1, size + 1)
    ]
    yield "write_todos", {"todos": todos}
    for todo in [*storage.todos]:
        yield "update_todo_status", {"todo_id": todo.id, "status": "completed"}


def _life(given: dict[str, Any], sent: Iterable[Sent]) -> tuple[int, int]:
    going = iter(sent)

    def answer(_: Any, __: Any) -> ModelResponse:
        said = next(going, None)
        part = TextPart("Done.") if said is None else ToolCallPart(*said)
        return ModelResponse(parts=[part])

    agent: Any = Agent(FunctionModel(answer), **given)
    # Not `run_sync`, which leaves an event loop open.
    result = asyncio.run(agent.run("Go on.", usage_limits=UsageLimits(request_limit=None)))
    messages = ModelMessagesTypeAdapter.dump_python(result.all_messages(), mode="json")
    sizes = [
        len(json.dumps(one["metadata"]))
        for message in messages
        for one in (message, *message["parts"])
        if one.get("metadata")
    ]
    return (sizes or [0])[-1], sum(sizes)
