"""What only Microsoft's Agent Framework has: its sessions, its checks of arguments, its streams."""

import asyncio

from agent_framework import Agent, AgentSession, FunctionTool
from support.conformance_agent_framework import SCRIPT, Scripted
from support.small_adapters import OFF, OWN, SmallAdapter, calls, subjects

from todoplan import LEAN, Toolbox
from todoplan.adapters import agent_framework
from todoplan.adapters.agent_framework import (
    KEY,
    Planning,
    make_tools,
    plan_of_state,
)
from todoplan.dialogue import Settings
from todoplan.testing.adapters import Script
from todoplan.testing.adapters.host import says


def lean(settings=OFF, **more):
    """A planning with the tool set `lean`."""
    return Planning(Toolbox(LEAN), settings, **more)


def agent_of(*planning, **more):
    """An agent with a planning."""
    return Agent(Scripted(), OWN, context_providers=[*planning], **more)


def run(agent, session, script, *, stream=False):
    """Run an agent with a script, and return the text of its answer, or its streamed parts."""

    async def talk():
        SCRIPT.set(script)
        if not stream:
            return (await agent.run("go", session=session)).text
        found = agent.run("go", session=session, stream=True)
        return [update.text async for update in found if update.text]

    return asyncio.run(talk())


class TestAgentFramework(SmallAdapter):
    adapter = agent_framework
    between = "\n"

    def place(self, planning):
        return AgentSession()

    def id_of(self, place):
        return place.session_id

    def play(self, planning, place, script):
        run(agent_of(planning), place, script)

    def play_alone(self, planning, script):
        session = AgentSession()
        run(agent_of(tools=make_tools(planning)), session, script)
        return session

    def spoil(self, place):
        place.state[KEY] = {"plan": 1}


def test_a_session_is_saved_with_its_plan():
    """By `to_dict`."""
    session = AgentSession()
    run(agent_of(lean()), session, Script(calls(write=["Dig"]), says("ok")))
    assert subjects(plan_of_state(AgentSession.from_dict(session.to_dict()))) == ["Dig"]


def test_an_early_answer_is_sent_back_also_in_a_stream():
    """Its parts have been streamed by then; the reason is in no message."""
    for stream in (False, True):
        session, planning = AgentSession(), lean(Settings())
        script = Script(calls(write=["Dig"]), says("Early."), calls(done=[1]), says("Done."))
        said = run(agent_of(planning), session, script, stream=stream)
        assert said == (["Early.", "Done."] if stream else "Done.")
        assert "while tasks of your plan are open" in script.requests[2][-1].text


def test_other_tools_are_the_framework_s_own():
    """They are called as without a plan."""
    tool = FunctionTool(
        name="dig", description="", func=lambda: "dug", approval_mode="never_require"
    )
    session = AgentSession()
    agent = agent_of(lean(), tools=[tool])
    script = Script(calls(tool="dig"), calls(write=["Dig"]), says("ok"))
    run(agent, session, script)
    assert "dug" in str(script.requests[1])
    assert subjects(plan_of_state(session)) == ["Dig"]


def test_a_tool_without_a_session_says_that_there_is_no_plan():
    """As when a program calls it by hand."""
    (tool,) = make_tools(lean())
    (answer,) = asyncio.run(tool.invoke(arguments={"write": ["Dig"]}))
    assert answer.text.startswith("There is no session")
