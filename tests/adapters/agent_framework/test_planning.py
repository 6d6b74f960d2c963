"""What only Microsoft's Agent Framework has: its sessions, its checks of arguments, its streams."""

import asyncio
import gc
import threading

import pytest
from agent_framework import Agent, AgentSession, FunctionTool
from support.conformance_agent_framework import SCRIPT, Scripted

from todoplan import LEAN, Plan, Toolbox
from todoplan.adapters.agent_framework import (
    KEY,
    Planning,
    edit_plan,
    history_of,
    make_tools,
    plan_of_state,
    seed_plan,
    undo_plan,
)
from todoplan.core.commands import CreateTask
from todoplan.core.decide import plan_of
from todoplan.core.plan.model import Task
from todoplan.dialogue import Call, Settings
from todoplan.errors import CodecError, PlanError
from todoplan.stores.memory import MemoryStore
from todoplan.testing.adapters import ModelTurn, Script
from todoplan.testing.adapters.host import says

OFF = Settings(unfinished=0)


def calls(*given, tool="plan", **arguments):
    """A message with calls of the planning tool."""
    found = given or (arguments,)
    return ModelTurn(tuple(Call(tool, each, f"c{id(each)}") for each in found))


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


def subjects(plan):
    """The texts of the tasks."""
    return [task.subject for task in plan]


def test_the_plan_is_in_the_session_s_state():
    """`to_dict` saves it; a session that has none has an empty plan."""
    session = AgentSession()
    assert (plan_of_state(session), history_of(session)) == (Plan(), ())
    run(agent_of(lean()), session, calls(write=["Dig"]), says("ok"))
    again = AgentSession.from_dict(session.to_dict())
    assert subjects(plan_of_state(again)) == ["Dig"]
    assert [entry.cause for entry in history_of(again)] == ["plan"]


def test_a_damaged_state_is_an_error():
    """And never an empty plan."""
    session = AgentSession()
    session.state[KEY] = {"plan": 1}
    with pytest.raises(CodecError):
        plan_of_state(session)


def test_a_store_keeps_the_plan_and_is_edited_at_any_time():
    """Under the session's id, or one that is given; the state has the record alone."""
    for plan_id in (None, "garden"):
        store = MemoryStore()
        planning, session = lean(store=store, plan_id=plan_id), AgentSession(session_id="s1")

        def ann(planning=planning, session=session):
            asyncio.run(edit_plan(planning, session, CreateTask("Tell Ann"), actor="ann"))

        script = (calls(write=["Dig"]), calls(done=[1]), says("ok"))
        run_in_thread = {1: lambda ann=ann: in_thread(ann)}
        run(agent_of(planning), session, *script, meanwhile=run_in_thread)
        plan = store.load(plan_id or "s1")
        assert subjects(plan) == ["Dig", "Tell Ann"]
        asyncio.run(undo_plan(planning, session))
        found = [task.status.value for task in store.load(plan_id or "s1")]
        assert found == ["in_progress", "pending"]
        with pytest.raises(PlanError, match="a store keeps the plan"):
            plan_of_state(session)


def in_thread(job):
    """Do a job in a thread of its own, where no loop runs."""
    failed = []

    def attempt():
        try:
            job()
        except Exception as error:  # noqa: BLE001 - given on
            failed.append(error)

    thread = threading.Thread(target=attempt)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]


def test_undo_takes_back_change_after_change():
    """As far as the journal in the state goes."""
    planning, session = lean(), AgentSession()
    run(agent_of(planning), session, calls(write=["Dig"]), calls(add=["Sow"]), says("ok"))
    found = []
    for _ in range(3):
        decision = asyncio.run(undo_plan(planning, session, actor="ann"))
        found.append((type(decision).__name__, subjects(plan_of_state(session))))
    assert found == [("Accepted", ["Dig"]), ("Accepted", []), ("Rejected", [])]


def test_an_edit_during_a_run_is_refused_without_a_store():
    """What the run saves next would not have it (law 16); behind the run it is accepted."""
    planning, session, found = lean(), AgentSession(), []

    def ann():
        with pytest.raises(PlanError, match="a run of this session goes on"):
            asyncio.run(edit_plan(planning, session, CreateTask("Tell Ann")))
        found.append("refused")

    meanwhile = {1: lambda: in_thread(ann)}
    run(agent_of(planning), session, calls(write=["Dig"]), says("ok"), meanwhile=meanwhile)
    asyncio.run(edit_plan(planning, session, CreateTask("Tell Ann"), actor="ann"))
    assert (found, subjects(plan_of_state(session))) == (["refused"], ["Dig", "Tell Ann"])
    asyncio.run(seed_plan(planning, session, plan_of([Task("1", "Anew")])))
    assert subjects(plan_of_state(session)) == ["Anew"]


def test_a_run_that_failed_is_over():
    """Its plan may be edited."""
    planning, session = lean(), AgentSession()

    def fails():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run(agent_of(planning), session, calls(write=["Dig"]), says("ok"), meanwhile={1: fails})
    gc.collect()
    asyncio.run(edit_plan(planning, session, CreateTask("Tell Ann")))
    assert subjects(plan_of_state(session)) == ["Dig", "Tell Ann"]


def test_what_the_schema_does_not_allow_is_repaired():
    """The framework would refuse it before the tool is called."""
    session = AgentSession()
    run(agent_of(lean()), session, calls(write=["Dig"]), calls(done="1"), says("ok"))
    assert [task.status.value for task in plan_of_state(session)] == ["completed"]


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


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Planning(Plan()),
        lambda: Planning(settings="often"),
        lambda: Planning(store="plans.db"),
        lambda: make_tools("planning"),
        lambda: plan_of_state("session"),
        lambda: history_of("session"),
        lambda: asyncio.run(edit_plan("planning", AgentSession(), CreateTask("x"))),
        lambda: asyncio.run(edit_plan(lean(), "session", CreateTask("x"))),
        lambda: asyncio.run(edit_plan(lean(), AgentSession(), CreateTask("x"), policy="lax")),
    ],
)
def test_arguments_of_the_wrong_type_are_refused(wrong):
    """At once, and with what is wanted."""
    with pytest.raises(PlanError):
        wrong()
