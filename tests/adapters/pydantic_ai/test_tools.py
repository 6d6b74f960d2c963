"""The planning tools in a real agent: any tool set and policy, in order, never the end of a run."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from pydantic_ai import Agent, RunContext, UsageLimits
from pydantic_ai.models.test import TestModel
from support.pydantic_ai_agent import (
    Script,
    planner,
    returns,
    run,
    saved,
    use,
    wrote,
)
from support.talk import BOXES

from todoplan import LEAN, MemoryStore, Planner, Toolbox
from todoplan.adapters.pydantic_ai import _LENIENT, KEY, Planning, make_tools, plan_of_state
from todoplan.dialogue import Settings
from todoplan.errors import PlanError

NOON = datetime(2025, 1, 31, 12, tzinfo=UTC)
QUIET = Settings(unfinished=0)


def at_noon():
    """Return the time of every change here."""
    return NOON


def work(box, *turns, messages=()):
    """Return the result of a run with the tools alone, whose model makes these turns of calls."""
    script = Script(*turns, "ok")
    agent = Agent(script.model, toolsets=[make_tools(box, clock=at_noon)])
    return run(agent, message_history=[*messages])


@pytest.mark.parametrize("box", [*BOXES, Toolbox(LEAN.renamed(plan="todo"))])
def test_the_model_sees_the_tools_of_any_set(box):
    """Names, descriptions and schemas are the tool set's; the prompt is static."""
    script = Script("ok", "ok")
    agent = planner(script, Planning(box), instructions="Be good.")
    run(agent, message_history=run(agent).all_messages())
    assert tuple(script.tool_names) == box.toolset.tool_names
    for shown, told in zip(script.infos[0].function_tools, box.toolset.definitions(), strict=True):
        assert shown.description == told.description
        assert shown.parameters_json_schema == told.schema
    first, second = (info.instructions for info in script.infos)
    assert first == second == f"Be good.\n\n{box.toolset.system_prompt()}"
    assert not any(
        part.dynamic for part in script.infos[0].model_request_parameters.instruction_parts
    )


def test_the_prompt_can_be_other_words_or_none():
    """What is given stands, "" for nothing."""
    script = Script("ok", "ok")
    run(planner(script, Planning(system_prompt="Plan.")))
    run(planner(script, Planning(system_prompt="")))
    assert [info.instructions for info in script.infos] == ["Plan.", None]


def test_no_number_of_errors_ends_a_run():
    """They are told to the model, as failed results, and use up no retries."""
    wrong = ['{"todos": [', "no", {"todos": 7}, {"other": 1}, None, '["a", {}]', {"todos": [{}]}]
    calls = [use("write_todos", arguments, f"{n}") for n, arguments in enumerate(wrong * 3)]
    result = work(None, *calls)
    got = returns(result.all_messages())
    assert {part.outcome for part in got} == {"failed"}
    assert all(part.content.startswith("Nothing was changed.") for part in got)
    assert result.output == "ok"


def test_hooks_of_others_see_the_arguments():
    """What is a JSON object reaches them as one."""
    seen = []

    class Peek(Planning):
        async def after_tool_validate(self, ctx, *, call, tool_def, args):
            seen.append(args)
            return args

    run(planner(Script(use("read_todos", '{"a": 1}', "1"), "ok"), Peek()))
    assert seen == [{"a": 1}]


def test_arguments_that_a_hook_changed_are_the_hooks():
    """What an application puts in place of the model's own words stands."""

    class Rewrite(Planning):
        async def after_tool_validate(self, ctx, *, call, tool_def, args):
            return {"todos": [{"content": "B", "status": "pending"}]}

    for sent in ({"todos": [{"content": "A", "status": "pending"}]}, '{"todos": [{}]}', "no"):
        script = Script(use("write_todos", sent, "1"), "ok")
        result = run(planner(script, Rewrite(settings=QUIET)))
        assert [task.subject for task in plan_of_state(result)] == ["B"]


def test_a_call_that_no_message_holds_is_answered():
    """As a sandbox makes it, that calls tools on its own."""
    tools, given = make_tools(), ['{"todos": [{"content": "A"}]}', '{"todos": [{"content": "B"},]}']

    async def sandbox(ctx: RunContext) -> list[str]:
        own, inner = await tools.for_run(ctx), replace(ctx, tool_call_id="inner")
        sent = [_LENIENT.validate_json(text) for text in given]
        told = [await own.call_tool("write_todos", each, inner, None) for each in sent]
        return [one.return_value for one in told]

    result = run(Agent(Script(use("sandbox", {}, "s"), "ok").model, tools=[sandbox]))
    first, second = returns(result.all_messages())[0].content
    assert first == "ok, 0/1 completed"
    assert "note: " in second


def test_a_test_model_calls_every_tool():
    """Pydantic AI's own model, which makes arguments up from the schemas."""
    for box in BOXES:
        result = run(Agent(TestModel(), capabilities=[Planning(box, QUIET)]))
        called = {part.tool_name for part in returns(result.all_messages())}
        assert called == set(box.toolset.tool_names)


def test_a_capability_brings_tools_once():
    """Two planners in one agent are refused, not merged."""
    with pytest.raises(Exception, match="write_todos"):
        run(Agent(Script("ok").model, capabilities=[Planning()], toolsets=[make_tools()]))


def test_without_a_run_there_is_no_plan():
    """A toolset that no agent has is not called by mistake."""

    async def call():
        return await make_tools().call_tool("read_todos", {}, None, None)

    with pytest.raises(PlanError, match="give the toolset to an agent"):
        asyncio.run(call())


def test_a_store_keeps_the_plan_by_conversation():
    """Not in the messages; an application changes it by a planner, and the model sees that."""
    store = MemoryStore()
    script = Script(wrote(("A", "pending")), "ok", use("read_todos", {}, "r"), "ok")
    agent = planner(script, Planning(store=store, settings=QUIET))
    first = run(agent, conversation_id="c-1")
    (part,) = returns(first.all_messages())
    assert "plan" not in part.metadata[KEY]
    with pytest.raises(PlanError, match="a store keeps the plan"):
        plan_of_state(first)
    assert [task.subject for task in store.load("c-1")] == ["A"]
    Planner(store, "c-1").call("write_todos", {"todos": [{"content": "B"}], "force": True})
    second = run(agent, message_history=saved(first))
    assert "B" in returns(second.all_messages())[-1].content
    assert store.entries("c-1")[0].cause == "write_todos"


def test_a_limit_on_tool_calls_still_holds():
    """The framework's own limits are not gone around."""
    agent = planner(Script(*[use("read_todos", {}, "r")] * 9), Planning())
    with pytest.raises(Exception, match="limit"):
        run(agent, usage_limits=UsageLimits(tool_calls_limit=3))
