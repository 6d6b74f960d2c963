"""The OpenAI Agents SDK with a plan: runs that make one planning call and then answer."""

from collections.abc import Callable
from typing import Any

from agents import Agent, RunConfig, Runner, function_tool
from agents.testing import ScriptedModel, assistant_message, function_call

from benchmarks.floors import flipping, flipping_lean
from benchmarks.measure import Call
from benchmarks.ours import NOTHING, plan_like
from todoplan.adapters.openai_agents import Planning, make_tools
from todoplan.codec import plan_to_data
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import LEAN, tasks

__all__ = ["turns"]

_CONFIG = RunConfig(tracing_disabled=True)


def turns(size: int) -> dict[str, dict[str, Call]]:
    """Return the runs by tool; the SDK has no planning tool of its own."""
    return {
        "OpenAI Agents run": {
            NOTHING: _run("nothing", lambda: '{"step": "1"}', [nothing]),
            "todoplan TaskUpdate": _run("TaskUpdate", flipping(size), _tools(tasks(), size)),
            "todoplan lean": _run("plan", flipping_lean(size), _tools(LEAN, size)),
        }
    }


@function_tool
def nothing(step: str) -> str:
    """Do nothing."""
    return step


def _tools(toolset: Any, size: int) -> list[Any]:
    saved = {"plan": plan_to_data(plan_like(size))}
    return list(make_tools(Planning(Toolbox(toolset), saved=saved)))


def _run(name: str, text: Callable[[], str], tools: list[Any]) -> Call:
    async def run() -> Any:
        call = function_call(name, text(), call_id="c")
        model = ScriptedModel([[call], [assistant_message("Done.")]])
        agent = Agent(name="worker", instructions="Work.", model=model, tools=tools)
        return await Runner.run(agent, "Go on.", run_config=_CONFIG)

    return Call(run, _answered, awaited=True)


def _answered(result: Any) -> bool:
    outputs = [item.output for item in result.new_items if item.type == "tool_call_output_item"]
    return len(outputs) == 1 and "rror" not in outputs[0]
