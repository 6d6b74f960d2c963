"""`attach`: one line gives an agent tools, prompt and guidance; the agent itself is left alone."""

from dataclasses import fields

import pytest
from agents import Agent, Model, ModelProvider, ModelSettings, RunConfig, function_tool
from agents.testing import function_call
from support.openai_agents_runs import agent_of, create, done, plan_of, run, scripted, tails

from todoplan import Toolbox
from todoplan.adapters.openai_agents import Planning, attach, guided_model, make_tools
from todoplan.dialogue import Settings, tasks
from todoplan.dialogue.guidance import TAG
from todoplan.errors import PlanError

TASKS = Toolbox(tasks())
PROMPT = TASKS.toolset.system_prompt()
QUIET = Settings(plan_lost=False, unfinished=0)


def instructions(agent):
    """Return the system instructions that each request of a run had."""
    model = scripted(create("A"), "Ok.")
    run(attach(agent.clone(model=model), Planning(TASKS), settings=QUIET))
    return [call.system_instructions for call in model.calls]


@function_tool
def search(query: str) -> str:
    """Search."""
    return query


def test_the_agent_itself_is_left_alone():
    """The copy has the tools behind its own; nothing else changes."""
    agent = agent_of(scripted("Ok."), tools=[search])
    copy = attach(agent, Planning(TASKS))
    assert [tool.name for tool in agent.tools] == ["search"]
    assert [tool.name for tool in copy.tools] == ["search", *TASKS.toolset.tool_names]
    assert (agent.instructions, copy.name) == ("Work.", agent.name)
    assert isinstance(copy.model, Model)


def test_the_prompt_is_behind_the_instructions():
    """A text, none, or a function, awaited or not: the same bytes in every request."""

    async def awaited(context, agent):
        return f"I am {agent.name}."

    base = Agent(name="worker")
    for given, wanted in (
        ("Work.", f"Work.\n\n{PROMPT}"),
        (None, PROMPT),
        (lambda context, agent: "Work.", f"Work.\n\n{PROMPT}"),
        (awaited, f"I am worker.\n\n{PROMPT}"),
    ):
        assert instructions(base.clone(instructions=given)) == [wanted] * 2


def test_the_prompt_is_the_users():
    """Another one, or none."""
    for prompt, wanted in (("Plan.", "Work.\n\nPlan."), ("", "Work.")):
        copy = attach(agent_of(scripted()), Planning(), system_prompt=prompt)
        assert copy.instructions == wanted
    bare = attach(Agent(name="x", model=scripted()), Planning(), system_prompt="")
    assert bare.instructions is None


def test_twins_are_refused():
    """An agent has one plan: tools of the same names would hide each other."""
    once = attach(agent_of(scripted()), Planning(TASKS))
    with pytest.raises(PlanError, match="TaskCreate"):
        attach(once, Planning(TASKS))


def test_settings_of_the_model_are_kept():
    """Also those that come with a model's name."""
    for agent in (
        Agent(name="x", model="gpt-5"),
        Agent(name="x"),
        Agent(name="x", model="gpt-4o", model_settings=ModelSettings(temperature=0.5)),
    ):
        assert attach(agent, Planning()).model_settings == agent.model_settings


class Provider(ModelProvider):
    """Gives one model, and notes for which name."""

    def __init__(self, model):
        self.model, self.names = model, []

    def get_model(self, model_name):
        self.names.append(model_name)
        return self.model


def test_every_list_of_the_copy_is_its_own():
    """What is added to one session's agent is neither in another's nor in the agent itself."""
    agent = agent_of(scripted())
    given = {f.name: getattr(agent, f.name) for f in fields(agent)}
    lists = {name for name, value in given.items() if isinstance(value, list | dict)}
    assert lists >= {"handoffs", "mcp_servers", "input_guardrails", "output_guardrails"}
    copy = attach(agent, Planning(TASKS))
    assert [name for name in lists if getattr(copy, name) is given[name]] == []
    assert all(getattr(copy, name) == given[name] for name in lists - {"tools"})


def test_agents_that_name_each_other_stay_with_their_session():
    """Two sessions of the same two agents, each going from one to the other and back."""
    triage, worker = agent_of(None), Agent(name="helper")
    plannings = {"Ann": Planning(TASKS), "Bo": Planning(TASKS)}
    starts = {}
    for name, planning in plannings.items():
        back = [function_call("transfer_to_worker", "{}", call_id="b")]
        there = [function_call("transfer_to_helper", "{}", call_id="h")]
        helps = attach(worker.clone(model=scripted(create(name), back)), planning, settings=QUIET)
        start = attach(triage.clone(model=scripted(there, "Ok.")), planning, settings=QUIET)
        start.handoffs.append(helps)
        helps.handoffs.append(start)
        starts[name] = start
    for start in starts.values():
        run(start)
    assert [[t.subject for t in plan_of(p)] for p in plannings.values()] == [["Ann"], ["Bo"]]
    assert triage.handoffs == worker.handoffs == []


def test_a_model_is_looked_up_by_name_once():
    """When it is first needed, and with the provider that was given."""
    provider = Provider(scripted(create("A"), "Ok."))
    agent = Agent(name="x", model="local")
    copy = attach(agent, Planning(TASKS), settings=QUIET, model_provider=provider)
    assert provider.names == []
    run(copy)
    assert provider.names == ["local"]


def test_a_run_may_bring_another_model():
    """With guidance if it is a guided one."""
    planning, model = Planning(TASKS), scripted(create("A"), "Early.", done("1"), "Ok.")
    guided = guided_model(planning, model)
    run(attach(agent_of(scripted()), planning), run_config=RunConfig(model=guided))
    assert [TAG in tail for tail in tails(model)] == [False, False, True, False]


def test_a_handoff_shares_the_plan():
    """The second agent goes on with what the first began, if it is attached to the same plan."""
    planning = Planning(TASKS)
    model = scripted("Early.", done("1"), "Ok.")
    helper = attach(agent_of(model).clone(name="helper"), planning)
    start = scripted(create("A"), [function_call("transfer_to_helper", "{}", call_id="h")])
    result = run(attach(agent_of(start, handoffs=[helper]), planning))
    assert result.last_agent is helper
    assert plan_of(planning).counts.open == 0
    assert [TAG in tail for tail in tails(model)] == [False, True, False]


def test_an_agent_that_is_not_attached_has_no_plan():
    """It has no planning tools, and is not reminded, also by a guided model."""
    planning = Planning(TASKS)
    model = scripted("Ok.")
    helper = Agent(name="helper", model=guided_model(planning, model))
    start = scripted(create("A"), [function_call("transfer_to_helper", "{}", call_id="h")])
    assert run(attach(agent_of(start, handoffs=[helper]), planning)).final_output == "Ok."
    assert len(model.calls) == 1
    assert model.last_call.tools == []


def test_an_agent_as_a_tool_may_work_on_the_plan():
    """With the tools alone it answers when it likes; the tasks stay those of the caller."""
    planning = Planning(TASKS)
    inner = scripted(done("1"), "One is done.")
    helper = agent_of(inner, tools=make_tools(planning))
    tool = helper.as_tool("helper", "Helps.")
    ask = function_call("helper", {"input": "go"}, call_id="h")
    outer = scripted(create("A", "B"), ask, done("2"), "Ok.")
    run(attach(agent_of(outer, tools=[tool]), planning))
    assert plan_of(planning).counts.resolved == 2
    assert len(inner.calls) == 2
