"""The tools: strict schemas, raw arguments, mistakes as answers, the calls of a turn as one."""

import asyncio
import copy
import json

import pytest
from agents import FunctionTool, RunHooks, ToolGuardrailFunctionOutput, ToolInputGuardrail
from agents.testing import assistant_message, function_call
from hypothesis import given
from hypothesis import strategies as st
from support.openai_agents_runs import agent_of, create, outputs, plan_of, run, scripted

from todoplan import TODOS, Toolbox
from todoplan.adapters.openai_agents import (
    PendingCalls,
    Planning,
    attach,
    carried,
    make_tools,
    portable,
)
from todoplan.dialogue import Call, Settings, tasks
from todoplan.dialogue.tools import TOOLSETS
from todoplan.errors import CodecError

QUIET = Settings(plan_lost=False, unfinished=0)
TASKS = Toolbox(tasks())


@pytest.mark.parametrize("toolset", TOOLSETS.values(), ids=TOOLSETS)
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


class Slowly(RunHooks):
    """Keeps the first calls of a turn waiting until the last has been carried out."""

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


LONE, PAIR = r'{"a": "x\ud800"}', r'{"a": "\ud83d\ude00"}'


WIDE = json.dumps([{}] * 500)


@pytest.mark.parametrize(
    "arguments", ["", "{}", '{"a": "\u00fc"}', PAIR, r'{"a": "\ud800', "\\ud800", WIDE]
)
def test_what_can_be_carried_is_left_alone(arguments):
    """Text without lone surrogates, escapes in what is no JSON, and long lists stay as they are."""
    assert portable(arguments) is arguments


def test_what_cannot_be_carried_is_mended():
    """Lone surrogates become question marks, escaped or not; bottomless lists become a text."""
    assert json.loads(portable(LONE)) == {"a": "x?"}
    assert portable("no json \ud800") == "no json ?"
    deep = "[" * 5_000
    assert json.loads(portable(deep)) == deep


@given(st.dictionaries(st.text(), st.text(st.characters(codec=None))))
def test_what_is_handed_on_can_be_written(value):
    """Whatever a model sends, the SDK can write it as UTF-8."""
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False)):
        sent = portable(text)
        json.dumps(json.loads(sent), ensure_ascii=False).encode()


def test_only_planning_calls_are_touched():
    """Items of other kinds, other tools' calls and sound arguments are the same objects."""
    sound = function_call("write_todos", "{}", call_id="1")
    others = function_call("search", LONE, call_id="2")
    for item in (assistant_message("hi"), sound, others):
        assert carried(item, TODOS) is item
    assert (
        carried(function_call("write_todos", LONE, call_id="3"), TODOS).arguments == '{"a": "x?"}'
    )


def test_the_run_goes_on():
    """The task is there, the reply says what was mended, and the conversation can be sent."""
    planning = Planning()
    sent = r'{"todos": [{"content": "Dig \ud800", "status": "completed"}]}'
    model = scripted(function_call("write_todos", sent, call_id="1"), "Done.")
    result = run(attach(agent_of(model), planning))
    assert "replaced broken characters" in outputs(result)["1"]
    assert [task.subject for task in plan_of(planning)] == ["Dig \ufffd"]
    json.dumps(result.to_input_list(), ensure_ascii=False).encode()


A, B, C = (Call("write_todos", "{}", call_id) for call_id in "abc")
READ, SEARCH = Call("read_todos", "{}", "r"), Call("search", "", "s")
SURE = {"write_todos", "read_todos"}


def heard(*calls, sure=SURE):
    """Return turns that have heard these calls."""
    turns = PendingCalls(Toolbox(TODOS))
    turns.made(calls, sure)
    return turns


@pytest.mark.parametrize(
    ("calls", "sure", "groups"),
    [
        # A write and a read, in their order; another tool's call is left out.
        ((READ, SEARCH, A), SURE, [(READ, A), (SEARCH,)]),
        # Contradicting writes, also if they need approval: none of them can be carried out.
        ((A, READ, B), SURE, [(A, B), (READ,)]),
        ((A, READ, B), set(), [(A, B), (READ,)]),
        # A call that may be denied is not carried out with others.
        ((A, READ), {"read_todos"}, [(A,), (READ,)]),
        # The SDK carries out an exact repetition once.
        ((READ, READ), SURE, [(READ,)]),
    ],
)
def test_calls_of_a_turn_are_one_group(calls, sure, groups):
    """Those that are sure to run; the others are on their own."""
    turns = heard(*calls, sure=sure)
    for group in groups:
        assert [turns.group(call).calls for call in group] == [group] * len(group)
    assert len({id(turns.group(call)) for call in calls}) == len(groups)


def test_an_unheard_call_is_on_its_own():
    """Also one whose id is another's: ids are unique only within a run."""
    turns = heard(A, READ)
    other = Call("write_todos", "[]", "a")
    assert turns.group(other).calls == (other,)
    assert turns.group(C).calls == (C,)


def test_answered_calls_are_forgotten():
    """What the model has seen the answer of is awaited no more; an unknown id is nothing."""
    turns = heard(A, SEARCH)
    assert turns.awaits(["x", "s"])
    turns.answered(["s", "x"])
    assert not turns.awaits(["s"])
    assert turns.awaits(["a"])


def test_abandoned_calls_do_not_pile_up():
    """Only the latest are kept."""
    turns = PendingCalls(Toolbox(TODOS))
    for number in range(300):
        turns.made([Call("read_todos", "{}", str(number))], SURE)
    assert not turns.awaits(["43"])
    assert turns.awaits(["44"])
    assert turns.awaits(["299"])


def test_groups_are_saved():
    """What is not carried out yet belongs together after a restart; what is, is not repeated."""
    turns = heard(A, READ, B)
    restored = PendingCalls(Toolbox(TODOS), turns.to_data())
    assert restored.group(B).calls == (A, B)
    turns.group(A).replies = dict.fromkeys("ab")
    assert [len(calls) for calls in turns.to_data()] == [1, 1, 1]
    assert PendingCalls(Toolbox(TODOS)).to_data() == []


WHOLE = {"name": "write_todos", "arguments": "{}", "call_id": "a"}


@pytest.mark.parametrize(
    "saved", [None, 7, "x", [["x"]], [[{"x": 1}]], [[{**WHOLE, "arguments": {}}]], [[WHOLE], [7]]]
)
def test_damaged_calls_are_an_error(saved):
    """What is no list of lists of calls is never taken for one; the error says what to do."""
    with pytest.raises(CodecError, match="the saved `calls` are damaged"):
        PendingCalls(Toolbox(TODOS), saved)
    assert PendingCalls(Toolbox(TODOS), [[WHOLE]]).awaits(["a"])
