"""What only Strands has: the agent's state, its session managers, cache points."""

import asyncio

from strands import Agent
from strands.session.file_session_manager import FileSessionManager
from strands.types.exceptions import EventLoopException
from support.conformance_strands import Scripted, seen
from support.small_adapters import OFF, OWN, SmallAdapter, calls, subjects

from todoplan import LEAN, Toolbox
from todoplan.adapters import strands
from todoplan.adapters.strands import (
    KEY,
    Planning,
    edit_plan,
    make_tools,
    plan_of_state,
)
from todoplan.core.commands import CreateTask
from todoplan.dialogue import Settings
from todoplan.testing.adapters import Script
from todoplan.testing.adapters.host import says


def lean(settings=OFF, **more):
    """A planning with the tool set `lean`."""
    return Planning(Toolbox(LEAN), settings, **more)


def agent_of(planning, *turns, meanwhile=None, **more):
    """An agent with a script."""
    model = Scripted(Script(*turns, meanwhile=meanwhile))
    return Agent(model, plugins=[planning], system_prompt=OWN, callback_handler=None, **more)


class TestStrands(SmallAdapter):
    adapter = strands
    failure = EventLoopException

    def place(self, planning):
        return agent_of(planning)

    def play(self, planning, place, script):
        place.model.script = script
        place("go")

    def play_alone(self, planning, script):
        own = {"tools": make_tools(planning), "system_prompt": OWN, "callback_handler": None}
        agent = Agent(Scripted(script), **own)
        agent("go")
        return agent

    def spoil(self, place):
        place.state.set(KEY, {"plan": 1})


def test_a_session_manager_keeps_the_plan_and_each_edit(tmp_path):
    """A new agent of the same session has it."""

    def made(*turns):
        files = FileSessionManager("7", tmp_path)
        return agent_of(planning, *turns, session_manager=files, agent_id="a")

    planning = lean()
    made(calls(write=["Dig"]), says("ok"))("go")
    asyncio.run(edit_plan(planning, made(), CreateTask("Tell Ann"), actor="ann"))
    assert subjects(plan_of_state(made())) == ["Dig", "Tell Ann"]


def test_the_cache_point_stands_in_front_of_a_reminder():
    """Models place it before the blocks that change with each request."""
    agent = agent_of(lean(Settings()), calls(write=["Dig"]), says("Early."), says("Still."))
    agent("go")
    assert agent.model.changing == [0, 0, 1, 1]
    assert not any("reminder" in each.text for each in seen(agent.messages))


def test_a_tool_is_called_by_hand():
    """Outside a message, as `agent.tool.plan(...)` does."""
    agent = agent_of(lean())
    result = agent.tool.plan(write=["Dig"])
    assert result["content"] == [{"text": "0/1: #1 created; #1 started"}]
    assert make_tools(lean())[0].tool_type == KEY
