"""AgentScope's `Toolkit` with a plan: its own TaskUpdate, ours, and a tool that does nothing."""

from typing import Any

from agentscope.message import TextBlock, ToolCallBlock, ToolResultState
from agentscope.state import AgentState
from agentscope.tool import ToolBase, ToolChunk, Toolkit

from benchmarks.floors import flipping, flipping_lean
from benchmarks.measure import Call
from benchmarks.ours import NOTHING
from benchmarks.peers.agentscope import AgentScopeToolkit, state_of
from todoplan.adapters.agentscope import make_tools
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import LEAN

__all__ = ["turns"]


class Bare(ToolBase):
    """A tool that does nothing, to measure the cost of the toolkit itself."""

    is_concurrency_safe, is_read_only, is_state_injected = False, False, True
    description = "Does nothing."
    input_schema = {"type": "object", "properties": {}}  # noqa: RUF012 - as AgentScope's own
    name = "TaskUpdate"

    async def check_permissions(self, tool_input: Any, context: Any) -> Any:
        """Not called by a toolkit."""

    async def call(self, _agent_state: AgentState, **_: Any) -> ToolChunk:
        """Answer with a word."""
        return ToolChunk(content=[TextBlock(text="ok")], state=ToolResultState.SUCCESS)


def turns(size: int) -> dict[str, dict[str, Call]]:
    """Return the calls by tool, which change the middle task back and forth."""
    ours, lean = (Toolkit(tools=[*make_tools(box)]) for box in (None, Toolbox(LEAN)))
    found = {
        "own": AgentScopeToolkit(size).status_change(),
        "todoplan TaskUpdate": _asked(ours, state_of(size), "TaskUpdate", flipping(size)),
        "todoplan lean": _asked(lean, state_of(size), "plan", flipping_lean(size)),
        NOTHING: _asked(Toolkit(tools=[Bare()]), AgentState(), "TaskUpdate", flipping(size)),
    }
    return {"AgentScope Toolkit": found}


def _asked(toolkit: Toolkit, state: AgentState, name: str, text: Any) -> Call:
    async def run() -> Any:
        call = ToolCallBlock(id="call", name=name, input=text())
        said: Any = None
        async for part in toolkit.call_tool(call, state):
            said = part
        return said

    return Call(run, lambda said: said.state == "success", awaited=True)
