"""AgentScope's state after a plan's life: an agent's state is saved as a whole, over the last."""

import asyncio
import json
from collections.abc import Iterable
from typing import Any

from agentscope.message import ToolCallBlock
from agentscope.state import AgentState
from agentscope.tool import TaskCreate, TaskUpdate, Toolkit

from benchmarks.ours import Sent, life_of
from benchmarks.workload import title
from todoplan.adapters.agentscope import make_tools

__all__ = ["lives"]


def lives(size: int) -> dict[str, tuple[int, int]]:
    """Return the bytes of the state, without what an empty one has; saves replace each other."""
    own: list[Any] = [TaskCreate(), TaskUpdate()]
    found = {
        "AgentScope TaskUpdate": _life(own, _one_by_one(size)),
        "todoplan TaskUpdate": _life([*make_tools()], life_of(size, "task_id")),
    }
    return {who: (each, each) for who, each in found.items()}


def _one_by_one(size: int) -> Iterable[Sent]:
    for number in range(1, size + 1):
        yield "TaskCreate", {"subject": title(number), "description": ""}
    for number in range(1, size + 1):
        yield "TaskUpdate", {"task_id": str(number), "status": "completed"}


def _life(tools: list[Any], sent: Iterable[Sent]) -> int:
    state, toolkit = AgentState(), Toolkit(tools=tools)
    empty = len(state.model_dump_json().encode())

    async def work() -> None:
        for number, (name, arguments) in enumerate(sent):
            call = ToolCallBlock(id=f"c{number}", name=name, input=json.dumps(arguments))
            said: Any = None
            async for part in toolkit.call_tool(call, state):
                said = part
            if said.state != "success":
                raise AssertionError(said.content)

    asyncio.run(work())
    return len(state.model_dump_json().encode()) - empty
