"""
What the LangGraph adapter costs beside LangChain's own `write_todos`: one run, interleaved.

Each round times every contender once, in process CPU time; a figure is the median of the rounds.

    python benchmarks/langgraph_overhead.py [rounds]
"""

import gc
import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

from langchain.agents.middleware import TodoListMiddleware
from langchain.agents.middleware.todo import PlanningState
from langchain.tools import ToolRuntime
from langchain_core.messages import AIMessage
from langgraph.graph import END, START, StateGraph
from langgraph.prebuilt import ToolNode

from todoplan import Plan, Todo, commands, decide
from todoplan.adapters.langgraph import PlanState, make_tools, plan_update
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools_lean import LEAN
from todoplan.dialogue.tools_tasks import tasks
from todoplan.dialogue.tools_todos import WRITE_TODOS
from todoplan.dialogue.toolsets import ToolSet

INNER = 20
Run = Callable[[], object]


def todo_list(count: int, started: int) -> list[dict[str, str]]:
    """
    Return the list as a model writes it when it is at one item; what stands before it is done.
    """
    words = ["completed"] * started + ["in_progress"] + ["pending"] * (count - started - 1)
    return [
        {"content": f"Step {n} of the work that was asked for", "status": word}
        for n, word in enumerate(words)
    ]


def plan_at(count: int) -> Plan:
    """
    Return the plan of such a list, its first item in progress.
    """
    todos = [Todo(**todo) for todo in todo_list(count, 0)]
    decision = decide(Plan(), commands.WriteTodos(tuple(todos)))
    return decision.plan  # type: ignore[union-attr] # it is accepted


def state_of(plan: Plan) -> dict[str, Any]:
    """
    Return the state of a thread that holds the plan.
    """
    update = plan_update(plan)
    return {"todoplan": update["todoplan"], "todos": update["todos"]}


def invoked(tool: Any, state: dict[str, Any], arguments: dict[str, Any]) -> Run:
    """
    Return a direct call of a tool, its runtime injected as `ToolNode` does.
    """
    said = {"name": tool.name, "args": arguments, "id": "c", "type": "tool_call"}
    state = {**state, "messages": [AIMessage("", tool_calls=[said])]}
    runtime: Any = ToolRuntime(
        state=state, context=None, config={}, stream_writer=print, tool_call_id="c", store=None
    )
    call = {**said, "args": {**arguments, "runtime": runtime}}
    return lambda: tool.invoke(call)


def through_node(tool: Any, schema: Any, state: dict[str, Any], arguments: dict[str, Any]) -> Run:
    """
    Return a run of a graph that is one `ToolNode`.
    """
    builder = StateGraph(schema)
    builder.add_node("tools", ToolNode([tool]))
    builder.add_edge(START, "tools")
    builder.add_edge("tools", END)
    graph: Any = builder.compile()
    said = {"name": tool.name, "args": arguments, "id": "c", "type": "tool_call"}
    given = {**state, "messages": [AIMessage("", tool_calls=[said], id="a")]}
    return lambda: graph.invoke(given)


def contenders(count: int) -> dict[str, tuple[Run, Run]]:
    """
    Return, by name, a direct call and a turn through `ToolNode` that take a plan one step on.
    """
    theirs = TodoListMiddleware().tools[0]
    whole = {"todos": todo_list(count, 1)}
    ours: dict[str, tuple[ToolSet, str, dict[str, Any]]] = {
        "whole list (write_todos)": (WRITE_TODOS, "write_todos", whole),
        "one step (lean plan)": (LEAN, "plan", {"done": [1]}),
        "one step (TaskUpdate)": (tasks(), "TaskUpdate", {"taskId": "1", "status": "completed"}),
    }
    before = state_of(plan_at(count))
    old = {"todos": todo_list(count, 0)}
    found = {
        "LangChain write_todos": (
            invoked(theirs, old, whole),
            through_node(theirs, PlanningState, old, whole),
        )
    }
    for name, (toolset, key, arguments) in ours.items():
        tool = next(t for t in make_tools(Toolbox(toolset)) if t.name == key)
        found[name] = (
            invoked(tool, before, arguments),
            through_node(tool, PlanState, before, arguments),
        )
    return found


def cpu(run: Run) -> float:
    """
    Return the CPU time of one run, in microseconds.
    """
    gc.collect()
    start = time.process_time_ns()
    for _ in range(INNER):
        run()
    return (time.process_time_ns() - start) / INNER / 1e3


def report(count: int, rounds: int) -> None:
    """
    Print the medians for a plan of so many items, and the ratios to LangChain's.
    """
    found = contenders(count)
    times: dict[tuple[str, int], list[float]] = {(n, way): [] for n in found for way in (0, 1)}
    for _ in range(rounds):
        for (name, way), measured in times.items():
            measured.append(cpu(found[name][way]))
    medians = {key: median(values) for key, values in times.items()}
    base = [medians["LangChain write_todos", way] for way in (0, 1)]
    print(f"\nn = {count}: CPU time, median of {rounds} rounds")
    print(f"{'':28}{'invoke':>12}{'ratio':>8}{'ToolNode':>12}{'ratio':>8}")
    for name in found:
        direct, node = medians[name, 0], medians[name, 1]
        told = f"{direct:9.0f} us{direct / base[0]:8.2f}{node:9.0f} us{node / base[1]:8.2f}"
        print(f"{name:28}{told}")


if __name__ == "__main__":
    for size in (20, 100):
        report(size, int(sys.argv[1]) if len(sys.argv) > 1 else 30)
