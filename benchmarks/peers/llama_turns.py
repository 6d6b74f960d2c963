"""LlamaIndex with a plan: runs of an agent that make one planning call and then answer."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.llms import ChatMessage
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import Context

from benchmarks.floors import flipping, flipping_lean
from benchmarks.measure import Call
from benchmarks.ours import NOTHING, plan_like
from todoplan.adapters.llama_index import Planning, PlanningAgent, seed_plan
from todoplan.dialogue.guidance import Settings
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import LEAN, tasks

__all__ = ["turns"]


def turns(size: int) -> dict[str, dict[str, Call]]:
    """Return the runs by tool; LlamaIndex has no planning tool of its own."""
    tool = FunctionTool.from_defaults(nothing)
    plain = FunctionAgent(llm=_Scripted("nothing", lambda: '{"step": "1"}'), tools=[tool])
    return {
        "LlamaIndex run": {
            NOTHING: _run(plain, Context(plain)),
            "todoplan TaskUpdate": _planning("TaskUpdate", flipping(size), tasks("snake"), size),
            "todoplan lean": _planning("plan", flipping_lean(size), LEAN, size),
        }
    }


def nothing(step: str) -> str:
    """Do nothing."""
    return step


class _Scripted(MockFunctionCallingLLM):
    def __init__(self, name: str, text: Callable[[], str]) -> None:
        def answer(messages: Any, **_: Any) -> ChatMessage:
            if messages[-1].role == "tool":
                return ChatMessage("Done.", role="assistant")
            made = ToolCallBlock(tool_call_id="c", tool_name=name, tool_kwargs=json.loads(text()))
            return ChatMessage(role="assistant", blocks=[made])

        super().__init__(response_generator=answer)


def _planning(name: str, text: Callable[[], str], toolset: Any, size: int) -> Call:
    # The model is not asked again while tasks are open, so that all runs are alike.
    planning = Planning(Toolbox(toolset), Settings(unfinished=0))
    agent = PlanningAgent(llm=_Scripted(name, text), planning=planning)
    ctx: Any = Context(agent)
    asyncio.run(seed_plan(planning, ctx, plan_like(size)))
    return _run(agent, ctx)


def _run(agent: Any, ctx: Any) -> Call:
    kept = ctx.to_dict()

    async def run() -> Any:
        return await agent.run("Go on.", ctx=Context.from_dict(agent, kept))

    return Call(run, _answered, awaited=True)


def _answered(result: Any) -> bool:
    return [call.tool_output.is_error for call in result.tool_calls] == [False]
