"""LangChain and LangGraph with a plan: their own tool, ours, and a tool that does nothing."""

import json
from typing import Any

from langchain.agents.middleware import TodoListMiddleware
from langchain.agents.middleware.todo import PlanningState
from langchain_core.messages import AIMessage
from langchain_core.tools import StructuredTool
from langgraph.graph import END, START, StateGraph
from langgraph.prebuilt import ToolNode

from benchmarks.measure import Call
from benchmarks.ours import NOTHING, plan_like
from benchmarks.peers.langchain import invocation
from benchmarks.workload import active_id, listed
from todoplan.adapters.langgraph import PlanState, make_tools, plan_update
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import LEAN, WRITE_TODOS, tasks

__all__ = ["graph_of", "turns"]

_Said = tuple[Any, Any, dict[str, Any], str]


def turns(size: int) -> dict[str, dict[str, Call]]:
    """
    Return the calls, by way (`invoke`, `ToolNode`) and by tool. Each call advances the plan by a
    step.
    """
    told = _contenders(size)
    invoked = {who: _invoked(*said) for who, said in told.items()}
    return {
        "LangChain invoke": invoked,
        "LangGraph ToolNode": {who: _through(*said) for who, said in told.items()},
    }


def _contenders(size: int) -> dict[str, _Said]:
    whole = listed(size, moved=1)
    done = int(active_id(size))
    # The state of a thread whose agent has written the list itself, so that there are no changes to
    # report.
    update = plan_update(plan_like(size))
    value = {key: update["todoplan"][key] for key in ("head", "plan")}
    before: dict[str, Any] = {**update, "todoplan": value}
    ours = {
        "todoplan write_todos": (WRITE_TODOS, "write_todos", whole),
        "todoplan lean": (LEAN, "plan", json.dumps({"done": [done]})),
        "todoplan TaskUpdate": (
            tasks(),
            "TaskUpdate",
            json.dumps({"taskId": str(done), "status": "completed"}),
        ),
    }
    own = TodoListMiddleware().tools[0]
    found: dict[str, _Said] = {"own": (own, PlanningState, json.loads(listed(size)), whole)}
    for who, (toolset, name, text) in ours.items():
        tool = next(each for each in make_tools(Toolbox(toolset)) if each.name == name)
        found[who] = (tool, PlanState, before, text)
    return found | {NOTHING: (_bare(), PlanState, {}, '{"step": "1"}')}


def _bare() -> StructuredTool:
    def nothing(step: str) -> str:
        return step

    return StructuredTool.from_function(nothing, description="Does nothing.")


def _invoked(tool: Any, _: Any, state: dict[str, Any], text: str) -> Call:
    run = invocation(tool, state, text, runtime=tool.name != "nothing")
    return Call(run, _fine)


def _fine(said: Any) -> bool:
    messages = said.update["messages"] if hasattr(said, "update") else []
    return all(message.status == "success" for message in messages)


def graph_of(schema: Any, tools: Any, **options: Any) -> Any:
    """Return a graph that only runs the calls of the last message."""
    builder = StateGraph(schema)
    builder.add_node("tools", ToolNode(tools))
    builder.add_edge(START, "tools")
    builder.add_edge("tools", END)
    return builder.compile(**options)


def _through(tool: Any, schema: Any, state: dict[str, Any], text: str) -> Call:
    graph = graph_of(schema, [tool])

    def run() -> Any:
        said = {"name": tool.name, "args": json.loads(text), "id": "c", "type": "tool_call"}
        return graph.invoke({**state, "messages": [AIMessage("", tool_calls=[said], id="a")]})

    return Call(run, lambda said: said["messages"][-1].status == "success")
