"""Guidance beside middleware that selects tools, changes them or tries again."""

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    LLMToolSelectorMiddleware,
    ModelRetryMiddleware,
    wrap_model_call,
)
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver
from support.scripted import Scripted, says, wrote

from todoplan.adapters.langgraph import PlanMiddleware, edit_plan, plan_of_state
from todoplan.core import commands
from todoplan.dialogue.guidance import Settings, is_reminder

HELLO = {"messages": [("user", "hello")]}
THREAD = {"configurable": {"thread_id": "1"}}
OPEN = wrote(("a", "in_progress"), ("b", "pending"))
DONE = wrote(("a", "completed"), ("b", "completed"), call_id="d")


@tool
def search(query: str) -> str:
    """Search."""
    return f"found {query}"


def agent(script, *middleware):
    model = Scripted(script=script)
    made = create_agent(model, tools=[search], middleware=middleware, checkpointer=InMemorySaver())
    return model, made


class Selecting(Scripted):
    """
    Selects one tool, whatever there is.
    """

    def with_structured_output(self, schema, **kwargs):
        return RunnableLambda(lambda _: {"tools": ["search"]})


def test_a_request_without_a_planning_tool_is_left_alone():
    """
    A selector took it out: no prompt, no reminder, no further turn; the plan stays.
    """
    selector = LLMToolSelectorMiddleware(model=Selecting(script=[]))
    model, made = agent([says("1")], selector, PlanMiddleware(settings=Settings(empty=9)))
    edit_plan(made, THREAD, commands.CreateTask("a"))
    done = made.invoke(HELLO, THREAD)
    assert model.tool_names == ["search"]
    assert [[m.type for m in request] for request in model.requests] == [["human"]]
    assert [t.subject for t in plan_of_state(made.get_state(THREAD))] == ["a"]
    assert done["todos"] == [{"content": "a", "status": "pending"}]


@pytest.mark.parametrize("shape", [lambda tool: tool, lambda tool: tool["function"]])
def test_a_planning_tool_is_known_in_any_shape(shape):
    """
    Other middleware may have made a provider's dict of it.
    """

    @wrap_model_call
    def plain(request, handler):
        tools = [shape(convert_to_openai_tool(tool)) for tool in request.tools]
        return handler(request.override(tools=tools))

    @wrap_model_call
    def back(request, handler):
        return handler(request.override(tools=made_tools))

    planner = PlanMiddleware(settings=Settings())
    made_tools = [*planner.tools, search]
    model, made = agent([OPEN, says("early"), DONE, says("done")], plain, planner, back)
    assert made.invoke(HELLO, THREAD)["messages"][-1].text == "done"
    assert is_reminder(model.requests[2][-1].text)


def test_a_retry_listed_before_ours_is_not_asked_for_more():
    """
    What it says for a model that failed is no early answer: each attempt is made once.
    """
    down = ConnectionError("down")
    retry = ModelRetryMiddleware(
        max_retries=1, initial_delay=0, jitter=False, on_failure="continue"
    )
    model, made = agent([OPEN, *[down] * 9], retry, PlanMiddleware(settings=Settings()))
    assert "down" in made.invoke(HELLO, THREAD)["messages"][-1].text
    assert len(model.requests) == 3
