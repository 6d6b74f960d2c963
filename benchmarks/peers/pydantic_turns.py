"""Pydantic AI with a plan: runs of an agent that make one planning call and then answer."""

from collections.abc import Callable
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai_todo import TodoCapability

from benchmarks.floors import flipping
from benchmarks.measure import Call
from benchmarks.ours import NOTHING, plan_like
from benchmarks.peers.pydantic_todo import PydanticTodo
from benchmarks.workload import active_id
from todoplan.adapters.pydantic_ai import Planning, make_tools, seed_plan
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import LEAN, tasks

__all__ = ["turns"]


def turns(size: int) -> dict[str, dict[str, Call]]:
    """Return the runs by tool."""
    own = TodoCapability(storage=PydanticTodo(size).storage)
    plan = plan_like(size)
    history = seed_plan(Planning(), [], plan)
    # The state of a conversation whose agent has written the list itself, so that there are no
    # changes to report.
    history[-1].metadata["todoplan"]["session"]["revision"] = plan.revision
    granular, lean = make_tools(Toolbox(tasks("snake"))), make_tools(Toolbox(LEAN))
    number = active_id(size)
    moved = f'{{"task_id": "{number}", "status": "completed"}}'
    said: dict[str, tuple[str, Callable[[], str], dict[str, Any], Any]] = {
        "pydantic-ai-todo": (
            "update_todo_status",
            flipping(size, "todo_id"),
            {"capabilities": [own]},
            None,
        ),
        "todoplan TaskUpdate": ("TaskUpdate", lambda: moved, {"toolsets": [granular]}, history),
        "todoplan lean": ("plan", lambda: f'{{"done": [{number}]}}', {"toolsets": [lean]}, history),
        NOTHING: ("_nothing", lambda: '{"step": "1"}', {"tools": [_nothing]}, None),
    }
    return {"Pydantic AI run": {who: _run(*each) for who, each in said.items()}}


def _nothing(step: str) -> str:
    return step


def _run(name: str, text: Callable[[], str], given: dict[str, Any], history: Any) -> Call:
    def answer(messages: Any, _: Any) -> ModelResponse:
        if isinstance(messages[-1].parts[-1], ToolReturnPart):
            return ModelResponse(parts=[TextPart("Done.")])
        return ModelResponse(parts=[ToolCallPart(name, text())])

    agent: Any = Agent(FunctionModel(answer), **given)

    async def run() -> Any:
        return await agent.run("Go on.", message_history=history)

    return Call(run, _returned, awaited=True)


def _returned(result: Any) -> bool:
    parts = [part for message in result.new_messages() for part in message.parts]
    found = [part for part in parts if isinstance(part, ToolReturnPart)]
    return [part.outcome for part in found] == ["success"]
