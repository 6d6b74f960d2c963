"""
The Claude Agent SDK with a plan: the part of a query that runs within this process.

The tests' transport takes the place of the Claude Code program: it makes the handshake, calls the
hooks, and makes one planning call. A tool that does nothing needs no hooks.
"""

import asyncio
import json
from collections.abc import Callable
from typing import Any

from claude_agent_sdk import ClaudeAgentOptions, create_sdk_mcp_server, query, tool
from support.claude_agent_sdk_cli import ScriptedCLI

from benchmarks.floors import flipping, flipping_lean
from benchmarks.measure import Call
from benchmarks.ours import NOTHING, plan_like
from todoplan.adapters.claude_agent_sdk import Planning, attach, seed_plan
from todoplan.dialogue import calls
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import LEAN, tasks
from todoplan.testing.adapters.host import ModelTurn, says

__all__ = ["turns"]


@tool("nothing", "Do nothing.", {"step": str})
async def nothing(arguments: dict[str, Any]) -> dict[str, Any]:
    """Do nothing."""
    return {"content": [{"type": "text", "text": arguments["step"]}]}


def turns(size: int) -> dict[str, dict[str, Call]]:
    """Return the queries by tool; Claude Code's own task tools are in its program."""
    server = create_sdk_mcp_server("plan", tools=[nothing])
    bare = ClaudeAgentOptions(mcp_servers={"plan": server})
    return {
        "Claude Agent SDK query": {
            NOTHING: _run(bare, "nothing", lambda: '{"step": "1"}'),
            "todoplan TaskUpdate": _run(
                _attached(tasks("snake"), size), "TaskUpdate", flipping(size)
            ),
            "todoplan lean": _run(_attached(LEAN, size), "plan", flipping_lean(size)),
        }
    }


def _attached(toolset: Any, size: int) -> ClaudeAgentOptions:
    planning = Planning(Toolbox(toolset))
    asyncio.run(seed_plan(planning, "s1", plan_like(size)))
    return attach(ClaudeAgentOptions(), planning)


def _run(options: ClaudeAgentOptions, name: str, text: Callable[[], str]) -> Call:
    async def run() -> Any:
        turn = ModelTurn((calls.Call(name, json.loads(text()), "c"),))
        program: Any = ScriptedCLI(turn, says("Shall I go on?"))
        async for message in query(prompt="Go on.", options=options, transport=program):
            last = message
        return last, program.answers["c"]

    return Call(run, lambda said: not said[0].is_error and not said[1]["isError"], awaited=True)
