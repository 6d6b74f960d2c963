"""The tools: strict-clean schemas of any tool set, raw arguments, mistakes as answers."""

import asyncio
import copy

import pytest
from agents import FunctionTool, RunHooks, ToolGuardrailFunctionOutput, ToolInputGuardrail
from agents.testing import function_call
from support.openai_agents_runs import agent_of, create, outputs, plan_of, run, scripted, write

from todoplan import STRICT
from todoplan.adapters.openai_agents import Planning, attach, make_tools
from todoplan.dialogue.guidance import Settings
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import LEAN, TODOS, tasks

QUIET = Settings(plan_lost=False, unfinished=0)
TASKS = Toolbox(tasks())


@pytest.mark.parametrize("toolset", [TODOS, tasks(), tasks("snake"), LEAN], ids=lambda t: t.name)
def test_schemas_are_strict_as_they_are(toolset):
    """The SDK's strict mode leaves our schemas alone: no property becomes required by accident."""
    defined = toolset.definitions(strict=True)
    kept = copy.deepcopy([definition.schema for definition in defined])
    tools = make_tools(Planning(Toolbox(toolset)))
    assert [tool.params_json_schema for tool in tools] == kept
    assert [(tool.name, tool.description) for tool in tools] == [
        (definition.name, definition.description) for definition in defined
    ]
    assert all(isinstance(tool, FunctionTool) and tool.strict_json_schema for tool in tools)


def test_arguments_are_read_as_they_were_sent():
    """Fences and trailing commas are mended by intake, and the reply says so."""
    planning = Planning()
    sent = '```json\n{"todos": [{"content": "Dig", "status": "pending"},]}\n```'
    agent = agent_of(scripted(function_call("write_todos", sent, call_id="1"), "Ok."))
    result = run(agent.clone(tools=make_tools(planning)))
    assert [task.subject for task in plan_of(planning)] == ["Dig"]
    assert "note:" in outputs(result)["1"]


@pytest.mark.parametrize("sent", ["", "nonsense", "null", "[1]", '{"todos": 7}', '{"todos": [{'])
def test_mistakes_are_answers(sent):
    """Nothing that a model sends is raised, under any policy."""
    planning = Planning(Toolbox(policy=STRICT))
    model = scripted(function_call("write_todos", sent, call_id="1"), "Ok.")
    result = run(attach(agent_of(model), planning, settings=QUIET))
    assert outputs(result)["1"].startswith("Nothing was changed.")
    assert result.final_output == "Ok."
    assert plan_of(planning).revision == 0


class Slowly(RunHooks):
    """
    Keeps the first calls of a turn waiting until the last has been carried out.
    """

    def __init__(self, planning):
        self.planning, self.started = planning, []

    async def on_tool_start(self, context, agent, tool):
        await _later(3 - int(context.tool_call_id[-1]))
        self.started.append(context.tool_call_id)


async def _later(turns):
    for _ in range(10 * turns):
        await asyncio.sleep(0)


def test_calls_of_a_turn_count_in_the_models_order():
    """Started backwards, they get the ids and replies of their places (law 13)."""
    planning = Planning(TASKS)
    hooks = Slowly(planning)
    model = scripted(create("A", "B", "C"), "Ok.")
    result = run(attach(agent_of(model), planning, settings=QUIET), hooks=hooks)
    assert hooks.started == ["c2", "c1", "c0"]
    assert [(t.id, t.subject) for t in plan_of(planning)] == [
        ("1", "A"),
        ("2", "B"),
        ("3", "C"),
    ]
    told = [f"0/{n}: #{n} created" for n in (1, 2, 3)]
    assert [outputs(result)[f"c{n}"] for n in range(3)] == told


def test_two_whole_list_writes_are_both_refused():
    """Each has its own error; a call of another tool beside them is carried out."""
    planning = Planning()
    calls = [
        write(("A", "pending"), call_id="1"),
        function_call("read_todos", {}, call_id="2"),
        write(("B", "pending"), call_id="3"),
    ]
    told = outputs(run(attach(agent_of(scripted(calls, "Ok.")), planning)))
    assert told["1"] == told["3"]
    assert told["1"].startswith("Nothing was changed.")
    assert not told["2"].startswith("Nothing was changed.")
    assert plan_of(planning).revision == 0


def test_a_denied_call_is_not_carried_out():
    """A guardrail of the user's rejects the first call; the one behind it runs."""

    def check(data):
        denied = data.context.tool_call_id == "c0"
        behaviour = ToolGuardrailFunctionOutput.reject_content("No.")
        return behaviour if denied else ToolGuardrailFunctionOutput.allow()

    planning = Planning(TASKS)
    agent = attach(agent_of(scripted(create("A", "B"), "Ok.")), planning, settings=QUIET)
    agent.tools[0].tool_input_guardrails = [ToolInputGuardrail(guardrail_function=check)]
    assert outputs(run(agent)) == {"c0": "No.", "c1": "0/1: #1 created"}
    assert [task.subject for task in plan_of(planning)] == ["B"]


def test_a_call_that_waits_for_approval_is_not_carried_out():
    """A call beside it is, and the plan stays as it was until somebody approves."""
    planning = Planning(TASKS)
    look = function_call("TaskList", {}, call_id="l")
    agent = attach(agent_of(scripted([*create("A"), look])), planning, settings=QUIET)
    agent.tools[0].needs_approval = True
    result = run(agent)
    assert [waiting.call_id for waiting in result.interruptions] == ["c0"]
    assert len(plan_of(planning)) == 0


def test_without_a_guided_model_calls_count_as_they_come():
    """The tools alone serve any model; the SDK starts calls in order."""
    planning = Planning(TASKS)
    agent = agent_of(scripted(create("A", "B"), "Ok."), tools=make_tools(planning))
    assert outputs(run(agent)) == {"c0": "0/1: #1 created", "c1": "0/2: #2 created"}
