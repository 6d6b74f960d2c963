"""Strands Agents with a plan: calls of an agent that make one planning call and then answer."""

import asyncio
import json
from collections.abc import AsyncIterator
from copy import deepcopy
from typing import Any

from strands import Agent, tool
from strands.agent.state import AgentState
from strands.models.model import Model

from benchmarks.measure import Call
from benchmarks.ours import NOTHING, Sent, nothing_sent, plan_like, planned
from todoplan.adapters.strands import Planning, seed_plan
from todoplan.dialogue.toolbox import Toolbox

__all__ = ["turns"]


class Scripted(Model):
    """A model that makes one call for each message of the user, and then asks: continue?"""

    def __init__(self, sent: Sent) -> None:
        self.sent = sent

    async def stream(self, messages: Any, *_: Any, **__: Any) -> AsyncIterator[Any]:
        """Yield the one response in parts."""
        name, arguments = self.sent
        is_answered = "toolResult" in messages[-1]["content"][-1]
        use = {"toolUse": {"toolUseId": f"c{len(messages)}", "name": name}}
        part = {"toolUse": {"input": json.dumps(arguments)}}
        start, delta = ({}, {"text": "Shall I go on?"}) if is_answered else (use, part)
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockStart": {"start": start}}
        yield {"contentBlockDelta": {"delta": delta}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn" if is_answered else "tool_use"}}

    async def structured_output(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        """Never called."""
        yield {}

    def update_config(self, **_: Any) -> None:
        """Nothing is configured."""

    def get_config(self) -> dict[str, Any]:
        """Nothing is configured."""
        return {}


@tool
def nothing(step: str) -> str:
    """Do nothing."""
    return step


def turns(size: int) -> dict[str, dict[str, Call]]:
    """Return the runs by tool, after a run that read the plan; Strands has no own tool."""
    found = {NOTHING: _run(size, None, *nothing_sent(size))}
    for who, (toolset, read, move) in planned(size).items():
        found[who] = _run(size, Planning(Toolbox(toolset)), read, move)
    return {"Strands run": found}


def _run(size: int, planning: Planning | None, read: Sent, move: Sent) -> Call:
    own: dict[str, Any] = {"plugins": [planning]} if planning else {"tools": [nothing]}

    def agent(sent: Sent, messages: Any, state: Any) -> Agent:
        kept = {"messages": deepcopy(messages), "state": AgentState(state)}
        given = {"system_prompt": "Work.", "callback_handler": None}
        return Agent(Scripted(sent), **own, **kept, **given)

    async def begun() -> Agent:
        first = agent(read, [], {})
        if planning is not None:
            await seed_plan(planning, first, plan_like(size))
        await first.invoke_async("What is there to do?")
        return first

    first = asyncio.run(begun())
    messages, state = first.messages, first.state.get()
    return Call(_ran, _answered, awaited=True, fresh=lambda: agent(move, messages, state))


async def _ran(agent: Agent) -> Any:
    await agent.invoke_async("Go on.")
    return agent.messages


def _answered(messages: Any) -> bool:
    *_, last = (
        part["toolResult"] for one in messages for part in one["content"] if "toolResult" in part
    )
    return last["status"] == "success"
