"""
What a planning call costs inside AgentScope: ours against its own `TaskUpdate`, in one run.

Every case calls through a `Toolkit` of four tools, interleaved, in one process. Times are CPU
times of the process; medians over the rounds; ratios are medians of the ratios of each round.
"""

import asyncio
import statistics
import time
from typing import Any

import agentscope.tool as native
from agentscope.message import TextBlock, ToolCallBlock, ToolResultState
from agentscope.state import AgentState, Task
from agentscope.tool import ToolBase, ToolChunk, Toolkit

from todoplan.adapters.agentscope import make_tools

SIZES = (10, 20, 100, 1000)
ROUNDS = 15
CALLS = 40
Times = dict[tuple[str, int], list[float]]


class Bare(ToolBase):
    """
    A tool that does nothing: what the toolkit itself costs.
    """

    is_concurrency_safe, is_read_only, is_state_injected = False, False, True
    description = "Does nothing."
    input_schema = {"type": "object", "properties": {}}  # noqa: RUF012 - as AgentScope's own

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    async def check_permissions(self, tool_input: Any, context: Any) -> Any:
        """
        Not asked by a toolkit.
        """

    async def call(self, _agent_state: AgentState, **_: Any) -> ToolChunk:
        """
        Answer with a word.
        """
        return ToolChunk(content=[TextBlock(text="ok")], state=ToolResultState.SUCCESS)


def state_of(size: int) -> AgentState:
    """
    Return a state: the first half completed, one in progress, the rest pending.
    """
    state = AgentState()
    for number in range(1, size + 1):
        done: Any = "completed" if number <= size // 2 else "pending"
        title = f"Task number {number} with a title of some length"
        task = Task(id=str(number), subject=title, description="", metadata={})
        task.state = done
        state.tasks_context.tasks.append(task)
    state.tasks_context.tasks[size // 2].state = "in_progress"
    return state


def toolkits() -> dict[str, Toolkit]:
    """
    Return the toolkits to compare.
    """
    own: list[ToolBase] = [
        native.TaskCreate(),
        native.TaskGet(),
        native.TaskList(),
        native.TaskUpdate(),
    ]
    return {
        "AgentScope": Toolkit(tools=own),
        "todoplan": Toolkit(tools=make_tools()),
        "bare tool": Toolkit(tools=[Bare(tool.name) for tool in own]),
    }


async def block(toolkit: Toolkit, state: AgentState, size: int) -> float:
    """
    Return the microseconds of one call, over a block of them.
    """
    task_id = size // 2 + 2
    inputs = [
        f'{{"task_id": "{task_id}", "status": "{status}"}}' for status in ("in_progress", "pending")
    ]
    began = time.process_time_ns()
    for number in range(CALLS):
        call = ToolCallBlock(id="call", name="TaskUpdate", input=inputs[number % 2])
        async for _ in toolkit.call_tool(call, state):
            pass
    return (time.process_time_ns() - began) / CALLS / 1000


async def measure() -> Times:
    """
    Return the times by case and size.
    """
    kits = toolkits()
    states = {(name, size): state_of(size) for name in kits for size in SIZES}
    times: Times = {key: [] for key in states}
    for number in range(ROUNDS + 1):
        for (name, size), state in states.items():
            taken = await block(kits[name], state, size)
            if number:
                times[name, size].append(taken)
    return times


def report(times: Times) -> None:
    """
    Print medians and ratios.
    """
    print(f"{'us per call':12}" + "".join(f"{f'n={size}':>9}" for size in SIZES))
    for name in dict.fromkeys(name for name, _ in times):
        medians = (statistics.median(times[name, size]) for size in SIZES)
        print(f"{name:12}" + "".join(f"{each:9.1f}" for each in medians))
    for name in ("todoplan", "bare tool"):
        ratios = (_ratio(times, name, size) for size in SIZES)
        print(f"{name} / AgentScope:" + "".join(f"{each:7.2f}x" for each in ratios))
    growth = statistics.median(times["todoplan", 1000]) / statistics.median(times["todoplan", 10])
    print(f"todoplan, 1,000 tasks against 10: {growth:.2f}x")


def _ratio(times: Times, name: str, size: int) -> float:
    pairs = zip(times[name, size], times["AgentScope", size], strict=True)
    return statistics.median(mine / own for mine, own in pairs)


if __name__ == "__main__":
    report(asyncio.run(measure()))
