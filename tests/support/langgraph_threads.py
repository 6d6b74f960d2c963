"""LangGraph agents and graphs that plan, how they are run, and what their threads contain."""

import asyncio

import pytest
from langchain.agents import create_agent
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import interrupt
from support.scripted import Scripted, calls

from todoplan import Task, commands, plan_of
from todoplan.adapters import langgraph as adapter
from todoplan.adapters.langgraph import PlanMiddleware, PlanState, make_tools, plan_of_state
from todoplan.testing.adapters.host import QUIET

HELLO = {"messages": [("user", "hello")]}
EDIT = commands.CreateTask("Tell Ann")
TWO = plan_of([Task("1", "a"), Task("2", "b")])
ROADS = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])


def thread(name="1"):
    """Return the config of a thread."""
    return {"configurable": {"thread_id": name}}


THREAD = thread()


def agent(*script, toolbox=None, settings=QUIET, planner=None, more=(), **options):
    """Return an agent of a script, or of a model, with our planner and `more` middleware."""
    given = {name: options.pop(name) for name in ("store", "plan_id", "actor") if name in options}
    planner = planner or PlanMiddleware(toolbox, settings=settings, **given)
    is_model = script and isinstance(script[0], Scripted)
    model = script[0] if is_model else Scripted(script=[*script])
    options = {"middleware": [planner, *more], "checkpointer": InMemorySaver(), **options}
    return create_agent(model, **options)


def by_hand(*script, tools=None, state=PlanState, name="model", **options):
    """Return a graph of a model's node and a node that runs all calls of a turn."""
    model, tools = Scripted(script=[*script]), tools or make_tools()
    graph = StateGraph(state, **options)
    graph.add_node(name, lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("tools", ToolNode(tools)).add_edge(START, name).add_edge("tools", name)
    graph.add_conditional_edges(name, tools_condition)
    return graph.compile(checkpointer=InMemorySaver())


@tool
def ask(question: str) -> str:
    """Ask a person."""
    return interrupt(question)


def drive(made, given=HELLO, config=THREAD, *, is_async=False, **how):
    """Run a graph, asynchronously or not, and return its result."""
    if is_async:
        return asyncio.run(made.ainvoke(given, config, **how))
    return made.invoke(given, config, **how)


def change(name, made, *given, config=THREAD, is_async=False, **how):
    """Seed, edit or undo the plan of a thread, asynchronously or not."""
    function = getattr(adapter, f"{'a' * is_async}{name}_plan")
    done = function(made, config, *given, **how)
    return asyncio.run(done) if is_async else done


def create(*names, ids=None, **fields):
    """Return a turn of a model that creates tasks; each call has its task's text as its id."""
    named = zip(names, ids or names, strict=True)
    return calls(*(("TaskCreate", {"subject": name}, call_id) for name, call_id in named), **fields)


def subjects(where, plan_id="1"):
    """Return the texts of the tasks in a store, in the thread of a graph, or in a state."""
    if hasattr(where, "load"):
        plan = where.load(plan_id)
    else:
        plan = plan_of_state(where.get_state(THREAD) if hasattr(where, "get_state") else where)
    return [task.subject for task in plan]


def lines(made):
    """Return id, subject and status of the tasks on the thread."""
    plan = plan_of_state(made.get_state(THREAD))
    return [(task.id, task.subject, task.status.value) for task in plan]


def entries(*pairs):
    """Return a list of todos as LangChain has it."""
    return [{"content": content, "status": status} for content, status in pairs]


def contents(done):
    """Return the texts of the list that a run returns for user interfaces."""
    return [todo["content"] for todo in done["todos"]]


def answers(done):
    """Return what the tools have answered."""
    return [message.text for message in done["messages"] if message.type == "tool"]
