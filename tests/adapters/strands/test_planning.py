"""What only Strands has: the agent's state, its session managers, cache points."""

import asyncio

import pytest
from strands import Agent
from strands.session.file_session_manager import FileSessionManager
from strands.types.exceptions import EventLoopException
from support.conformance_strands import Scripted, seen

from todoplan import LEAN, Plan, Toolbox
from todoplan.adapters.strands import (
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


def calls(*given, **arguments):
    """A message with calls of the planning tool."""
    found = given or (arguments,)
    return ModelTurn(tuple(Call("plan", each, f"c{id(each)}") for each in found))


def lean(settings=OFF, **more):
    """A planning with the tool set `lean`."""
    return Planning(Toolbox(LEAN), settings, **more)


def agent_of(planning, *turns, meanwhile=None, **more):
    """An agent with a script."""
    model = Scripted(Script(*turns, meanwhile=meanwhile))
    return Agent(model, plugins=[planning], callback_handler=None, **more)


def subjects(plan):
    """The texts of the tasks."""
    return [task.subject for task in plan]


def test_the_plan_is_in_the_agent_s_state():
    """With its journal; an agent that has none has an empty plan."""
    agent = agent_of(lean(), calls(write=["Dig"]), says("ok"))
    assert (plan_of_state(agent), history_of(agent)) == (Plan(), ())
    agent("go")
    assert subjects(plan_of_state(agent)) == ["Dig"]
    assert [entry.cause for entry in history_of(agent)] == ["plan"]


def test_a_damaged_state_is_an_error():
    """And never an empty plan."""
    agent = agent_of(lean())
    agent.state.set(KEY, {"plan": 1})
    with pytest.raises(CodecError):
        plan_of_state(agent)


def test_a_store_keeps_the_plan_and_is_edited_at_any_time():
    """Under a name that is given; the state has the record alone."""
    store = MemoryStore()
    planning = lean(store=store, plan_id="garden")

    def ann():
        asyncio.run(edit_plan(planning, agent, CreateTask("Tell Ann"), actor="ann"))

    agent = agent_of(
        planning, calls(write=["Dig"]), calls(done=[1]), says("ok"), meanwhile={1: ann}
    )
    agent("go")
    assert subjects(store.load("garden")) == ["Dig", "Tell Ann"]
    asyncio.run(undo_plan(planning, agent))
    assert [task.status.value for task in store.load("garden")] == ["in_progress", "pending"]
    with pytest.raises(PlanError, match="a store keeps the plan"):
        plan_of_state(agent)
    with pytest.raises(PlanError):
        lean(store=store)


def test_undo_takes_back_change_after_change():
    """As far as the journal in the state goes."""
    planning = lean()
    agent = agent_of(planning, calls(write=["Dig"]), calls(add=["Sow"]), says("ok"))
    agent("go")
    found = []
    for _ in range(3):
        decision = asyncio.run(undo_plan(planning, agent, actor="ann"))
        found.append((type(decision).__name__, subjects(plan_of_state(agent))))
    assert found == [("Accepted", ["Dig"]), ("Accepted", []), ("Rejected", [])]


def test_an_edit_during_a_run_is_refused_without_a_store():
    """What the run saves next would not have it (law 16); behind the run it is accepted."""
    planning, found = lean(), []

    def ann():
        with pytest.raises(PlanError, match="a run of this agent goes on"):
            asyncio.run(edit_plan(planning, agent, CreateTask("Tell Ann")))
        found.append("refused")

    agent = agent_of(planning, calls(write=["Dig"]), says("ok"), meanwhile={1: ann})
    agent("go")
    asyncio.run(edit_plan(planning, agent, CreateTask("Tell Ann"), actor="ann"))
    assert (found, subjects(plan_of_state(agent))) == (["refused"], ["Dig", "Tell Ann"])


def test_a_run_that_failed_is_over():
    """Its plan may be edited."""
    planning = lean()

    def fails():
        raise ZeroDivisionError

    agent = agent_of(planning, calls(write=["Dig"]), meanwhile={1: fails})
    with pytest.raises(EventLoopException):
        agent("go")
    asyncio.run(edit_plan(planning, agent, CreateTask("Tell Ann")))
    assert subjects(plan_of_state(agent)) == ["Dig", "Tell Ann"]


def test_a_session_manager_keeps_the_plan_and_each_edit(tmp_path):
    """A new agent of the same session has it."""

    def made(*turns):
        files = FileSessionManager("7", tmp_path)
        return agent_of(planning, *turns, session_manager=files, agent_id="a")

    planning = lean()
    made(calls(write=["Dig"]), says("ok"))("go")
    asyncio.run(edit_plan(planning, made(), CreateTask("Tell Ann"), actor="ann"))
    assert subjects(plan_of_state(made())) == ["Dig", "Tell Ann"]
    asyncio.run(seed_plan(planning, made(), plan_of([Task("1", "Anew")])))
    assert subjects(plan_of_state(made())) == ["Anew"]


def test_the_cache_point_stands_in_front_of_a_reminder():
    """Models place it before the blocks that change with each request."""
    agent = agent_of(lean(Settings()), calls(write=["Dig"]), says("Early."), says("Still."))
    agent("go")
    assert agent.model.changing == [0, 0, 1, 1]
    assert not any("reminder" in each.text for each in seen(agent.messages))


def test_calls_of_a_message_are_carried_out_in_order():
    """Each sees what the one before it has done."""
    planning = lean()
    agent = agent_of(
        planning, calls({"write": ["Dig"]}, {"add": ["Sow"]}, {"done": [1]}), says("ok")
    )
    agent("go")
    assert [task.status.value for task in plan_of_state(agent)] == ["completed", "in_progress"]


def test_the_tools_alone_have_no_guidance():
    """Neither prompt nor reminder; and no run, so that each call stands by itself."""
    planning = lean(Settings())
    model = Scripted(Script(calls(write=["Dig"]), says("Early.")))
    agent = Agent(model, tools=make_tools(planning), system_prompt="x", callback_handler=None)
    agent("go")
    assert subjects(plan_of_state(agent)) == ["Dig"]
    assert (len(model.changing), agent.system_prompt) == (2, "x")


def test_a_tool_is_called_by_hand():
    """Outside a message, as `agent.tool.plan(...)` does."""
    agent = agent_of(lean())
    result = agent.tool.plan(write=["Dig"])
    assert result["content"] == [{"text": "0/1: #1 created; #1 started"}]
    assert make_tools(lean())[0].tool_type == KEY


def test_the_prompt_may_be_left_out_or_be_another():
    """It stands behind the agent's own instruction."""
    for given, found in ((None, f"x\n\n{LEAN.system_prompt()}"), ("", "x"), ("y", "x\n\ny")):
        assert agent_of(lean(system_prompt=given), system_prompt="x").system_prompt == found


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Planning(Plan()),
        lambda: Planning(settings="often"),
        lambda: Planning(store="plans.db", plan_id="x"),
        lambda: make_tools("planning"),
        lambda: plan_of_state("agent"),
        lambda: asyncio.run(edit_plan("planning", agent_of(lean()), CreateTask("x"))),
        lambda: asyncio.run(edit_plan(lean(), "agent", CreateTask("x"))),
        lambda: asyncio.run(edit_plan(lean(), agent_of(lean()), CreateTask("x"), policy="lax")),
    ],
)
def test_arguments_of_the_wrong_type_are_refused(wrong):
    """At once, and with what is wanted."""
    with pytest.raises(PlanError):
        wrong()
