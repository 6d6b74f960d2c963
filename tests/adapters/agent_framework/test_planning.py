"""What only Microsoft's Agent Framework has: its sessions, its checks of arguments, its streams."""

import asyncio

from agent_framework import Agent, AgentSession, FunctionTool
from support.conformance_agent_framework import SCRIPT, Scripted
from support.small_adapters import OFF, SmallAdapter, calls, subjects

from todoplan import LEAN, Toolbox
from todoplan.adapters import agent_framework
from todoplan.adapters.agent_framework import (
    KEY,
    Planning,
    make_tools,
    plan_of_state,
)
from todoplan.dialogue import Settings
from todoplan.stores.memory import MemoryStore
from todoplan.testing.adapters import Script
from todoplan.testing.adapters.host import says


def lean(settings=OFF, **more):
    """A planning with the tool set `lean`."""
    return Planning(Toolbox(LEAN), settings, **more)


def agent_of(*planning, **more):
    """An agent with a planning."""
    return Agent(Scripted(), "You work.", context_providers=[*planning], **more)


def run(agent, session, *turns, meanwhile=None, stream=False):
    """Run an agent with a script, and return the text of its answer and the script."""

    async def talk():
        script = Script(*turns, meanwhile=meanwhile)
        SCRIPT.set(script)
        if not stream:
            return (await agent.run("go", session=session)).text, script
        found = agent.run("go", session=session, stream=True)
        parts = [update.text async for update in found if update.text]
        return parts, script

    return asyncio.run(talk())


class TestAgentFramework(SmallAdapter):
    adapter = agent_framework

    def place(self, planning):
        return AgentSession()

    def run(self, planning, place, *turns, meanwhile=None):
        run(agent_of(planning), place, *turns, meanwhile=meanwhile)

    def spoil(self, place):
        place.state[KEY] = {"plan": 1}


def test_a_session_is_saved_with_its_plan():
    """By `to_dict`."""
    session = AgentSession()
    run(agent_of(lean()), session, calls(write=["Dig"]), says("ok"))
    assert subjects(plan_of_state(AgentSession.from_dict(session.to_dict()))) == ["Dig"]


def test_in_a_store_the_session_s_id_is_the_plan_s():
    """Unless another id is given."""
    store, session = MemoryStore(), AgentSession(session_id="s1")
    run(agent_of(lean(store=store)), session, calls(write=["Dig"]), says("ok"))
    assert subjects(store.load("s1")) == ["Dig"]


def test_an_early_answer_is_sent_back_also_in_a_stream():
    """Its parts have been streamed by then; the reason is in no message."""
    for stream in (False, True):
        session, planning = AgentSession(), lean(Settings())
        script = (calls(write=["Dig"]), says("Early."), calls(done=[1]), says("Done."))
        said, asked = run(agent_of(planning), session, *script, stream=stream)
        assert said == (["Early.", "Done."] if stream else "Done.")
        assert "while tasks of your plan are open" in asked.requests[2][-1].text


def test_other_tools_are_the_framework_s_own():
    """They are called as without a plan."""
    tool = FunctionTool(
        name="dig", description="", func=lambda: "dug", approval_mode="never_require"
    )
    session = AgentSession()
    agent = agent_of(lean(), tools=[tool])
    _, script = run(agent, session, calls(tool="dig"), calls(write=["Dig"]), says("ok"))
    assert "dug" in str(script.requests[1])
    assert subjects(plan_of_state(session)) == ["Dig"]


def test_the_tools_alone_have_no_guidance():
    """Neither prompt nor reminder; and without a session there is no plan."""
    planning, session = lean(Settings()), AgentSession()
    agent = agent_of(tools=make_tools(planning))
    said, script = run(agent, session, calls(write=["Dig"]), says("Early."))
    assert (said, len(script.requests)) == ("Early.", 2)
    assert subjects(plan_of_state(session)) == ["Dig"]
    (tool,) = make_tools(planning)
    (answer,) = asyncio.run(tool.invoke(arguments={"write": ["Dig"]}))
    assert answer.text.startswith("There is no session")


def test_the_prompt_may_be_left_out_or_be_another():
    """It stands behind the agent's own instruction."""
    for given, found in ((None, LEAN.system_prompt()), ("", "You work."), ("Plan.", "Plan.")):
        _, script = run(agent_of(lean(system_prompt=given)), AgentSession(), says("ok"))
        assert script.requests[0][0].text.endswith(found)
