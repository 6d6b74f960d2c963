"""A reply that goes on from a state without the answers does nothing twice."""

import asyncio

import pytest
from agentscope.message import AssistantMsg
from agentscope.state import AgentState
from agentscope.tool import Toolkit
from support.agentscope_agent import use
from support.cut_off import Cut, CutMemory

from todoplan import Planner
from todoplan.adapters.agentscope import make_tools
from todoplan.core import commands
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import tasks


def asked(*subjects):
    """Return a session, as it was saved, in which the model has just made calls."""
    calls = [use("TaskCreate", subject=each, description=each) for each in subjects]
    state = AgentState(session_id="1")
    state.context.append(AssistantMsg(name="helper", content=calls))
    return calls, state.model_dump_json()


def answered(store, saved, calls):
    """Answer calls in a process that has just loaded the session."""
    state = AgentState.model_validate_json(saved)
    kit = Toolkit(tools=make_tools(Toolbox(tasks()), store=store))

    async def go():
        return [[part async for part in kit.call_tool(call, state)][-1] for call in calls]

    texts = [part.content[0].text for part in asyncio.run(go())]
    return texts, [task.subject for task in state.tasks_context.tasks]


def test_a_call_whose_answer_was_lost_is_answered_again_and_not_done_again():
    """The list of the session is that of the plan; what others did meanwhile is told."""
    store = CutMemory()
    calls, saved = asked("a")
    with pytest.raises(Cut):
        answered(store, saved, calls)
    Planner(store, "1").apply(commands.CreateTask("b"), actor="ann")
    texts, listed = answered(store, saved, calls)
    assert texts[0].endswith("0/1: #1 created")
    assert listed == ["a", "b"]
    assert len(store.entries("1")) == 2


def test_the_same_call_in_another_message_is_another_one():
    """Some providers number the calls of each response anew."""
    store = CutMemory()
    store.is_cut = False
    for _ in range(2):
        calls, saved = asked("a")
        state = AgentState.model_validate_json(saved)
        answered(store, state.model_dump_json(), calls)
    assert [task.subject for task in store.load("1")] == ["a", "a"]
