"""Tools and guidance in a real agent, streamed or not: at the tail, unsaved, capped, remembered."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from pydantic import BaseModel
from pydantic_ai import Agent, NativeOutput, PromptedOutput, RunContext, ToolOutput, UsageLimits
from pydantic_ai.capabilities import AbstractCapability, ProcessHistory
from pydantic_ai.exceptions import RetryModelRequest, UsageLimitExceeded
from pydantic_ai.messages import (
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.test import TestModel
from support.pydantic_ai_agent import (
    Script,
    planner,
    record_of,
    response,
    returns,
    run,
    saved,
    streamed,
    texts,
    use,
    wrote,
)
from support.talk import BOXES

from todoplan import LEAN, TODOS, MemoryStore, Plan, Planner, Toolbox, commands, decide
from todoplan.adapters.pydantic_ai import (
    _LENIENT,
    KEY,
    Planning,
    edit_plan,
    make_tools,
    neutral,
    plan_of_state,
    seed_plan,
    turn_of,
    with_reminder,
)
from todoplan.dialogue import Call, Message, Settings, ToolResult
from todoplan.dialogue.guidance import TAG, is_final_answer, is_reminder, reminder
from todoplan.errors import PlanError

# -------- planning --------


OPEN = wrote(("A", "in_progress"), ("B", "pending"))
QUIET = Settings(unfinished=0)
FINAL = use("final_result", {"x": 1}, "f")
MORE = wrote(("A", "completed"), ("C", "completed"), call_id="more")
DONE = wrote(("A", "completed"), ("B", "completed"), call_id="done")


class Answer(BaseModel):
    """A structured answer."""

    x: int


def two_open():
    """Return a plan of two open tasks."""
    return decide(Plan(), commands.WriteTodos((commands.Todo("A"), commands.Todo("B")))).plan


def is_ours(text):
    """Say whether a text is a reminder."""
    return isinstance(text, str) and text.startswith(f"<{TAG}>")


def test_a_further_turn_is_no_request_of_the_run():
    """It counts for the limits of tokens, and not for that of requests."""
    script = Script(OPEN, "1", "2", "3")
    limits = UsageLimits(request_limit=2)
    assert run(planner(script, Planning()), usage_limits=limits).output == "3"
    with pytest.raises(UsageLimitExceeded, match="total_tokens_limit"):
        run(planner(Script(OPEN, *"123"), Planning()), usage_limits=_tokens_of(OPEN, "1"))


def _tokens_of(*steps):
    spent = run(planner(Script(*steps), Planning(settings=Settings(unfinished=0)))).usage
    return UsageLimits(total_tokens_limit=spent.total_tokens)


def test_usage_counts_what_was_sent_back():
    """Every request to the model is paid, and none is hidden."""
    script = Script(OPEN, "early", DONE, "final")
    result = run(planner(script, Planning()))
    silent = run(planner(Script(OPEN, DONE, "final"), Planning()))
    assert result.usage.input_tokens > silent.usage.input_tokens
    (attempt,) = result.all_messages()[3].failed_attempts
    assert attempt.outcome == "rejected"


@pytest.mark.parametrize(
    ("output", "answers", "reminded"),
    [
        # By whatever way the framework asks for it.
        (Answer, [FINAL], False),
        (NativeOutput(Answer), ['{"x": 1}'], False),
        (PromptedOutput(Answer), ['{"x": 1}'], False),
        # Where text is allowed, text is an answer like any other.
        ([Answer, str], ["early", FINAL], True),
        # Where none is allowed, the framework asks for the structured answer itself.
        (ToolOutput(Answer), ["early", FINAL], False),
    ],
)
def test_a_structured_answer_is_never_sent_back(output, answers, reminded):
    """A text beside it is, where it is allowed."""
    script = Script(OPEN, *answers)
    result = run(planner(script, Planning(), output_type=output))
    assert result.output == Answer(x=1)
    assert len(script.requests) == 1 + len(answers)
    assert any(map(is_ours, script.tails)) is reminded


def test_a_plan_out_of_sight_is_shown_again():
    """The request that the model would get without it ends with the plan; nothing is kept."""
    first = run(planner(Script(OPEN, "ok"), Planning(settings=QUIET)))
    cut = ProcessHistory(lambda messages: messages[-1:])
    script = Script(use("read_todos", {}, "r"), "ok")
    agent = Agent(script.model, capabilities=[cut, Planning(settings=QUIET)])
    second = run(agent, "more", message_history=saved(first))
    plan = plan_of_state(first)
    lost = reminder("plan_lost", plan, TODOS)
    assert [part.content for part in script.requests[0][-1].parts] == ["more", lost]
    assert plan_of_state(second) == plan
    assert not any(map(is_ours, texts(second.all_messages())))


def test_a_plan_survives_messages_that_are_cut_away():
    """If all that held it is gone from the history, the next response holds it."""

    class Forget(AbstractCapability):
        async def before_model_request(self, ctx, request_context):
            if len(ctx.messages) > 2:
                ctx.messages[:] = ctx.messages[-1:]
                return replace(request_context, messages=[*ctx.messages])
            return request_context

    script = Script(OPEN, use("other", {}, "1"), use("other", {}, "2"), "ok")
    agent = Agent(script.model, capabilities=[Forget(), Planning(settings=QUIET)])
    agent.tool_plain(lambda: "fine", name="other")
    result = run(agent)
    assert not any(p.tool_name == "write_todos" for p in returns(result.all_messages()))
    assert [task.subject for task in plan_of_state(saved(result))] == ["A", "B"]


def test_a_cleared_plan_stays_cleared():
    """An empty plan is a plan: nothing is put back, and no id is used twice."""
    store_less = run(planner(Script(OPEN, "ok"), Planning(settings=QUIET)))
    _, messages = edit_plan(Planning(), store_less.all_messages(), commands.ClearPlan())
    again = Script(wrote(("C", "pending"), call_id="c"), "ok")
    result = run(planner(again, Planning(settings=QUIET)), message_history=messages)
    assert [(task.id, task.subject) for task in plan_of_state(result)] == [("3", "C")]


def test_the_plan_is_not_kept_twice():
    """A response holds it only where the messages have lost it."""
    result = run(planner(Script(OPEN, DONE, "ok"), Planning()))
    notes = [m.metadata[KEY] for m in result.all_messages() if isinstance(m, ModelResponse)]
    assert [sorted(note) for note in notes] == [["session"]] * 3


def test_a_change_in_a_store_during_a_run_is_told():
    """Also one that happens between the model's turns."""
    store, settings = MemoryStore(), Settings(changed=True, unfinished=0)

    def meddle(_):
        Planner(store, "c").apply(commands.CreateTask("Z"))
        return use("other", {}, "o")

    script = Script(OPEN, meddle, "ok")
    agent = planner(script, Planning(store=store, settings=settings))
    agent.tool_plain(lambda: "fine", name="other")
    run(agent, conversation_id="c")
    assert [is_ours(text) for text in script.tails] == [False, False, True]


@pytest.mark.parametrize(
    ("script", "output"),
    [
        (["Sent.", "Yes."], "Sent.\n\nYes."),
        # If the work goes on after the question, the early answer is none.
        (["Sent.", MORE, "Now.", "Yes."], "Now.\n\nYes."),
    ],
)
def test_a_last_check_keeps_both_answers(script, output):
    """What was answered before the question whether all was said is not lost."""
    script = Script(DONE, *script)
    result = run(planner(script, Planning(settings=Settings(all_done="always"))))
    assert result.output == output
    assert is_ours(script.tails[-1])
    assert not any(map(is_ours, texts(result.all_messages())))


class Again(AbstractCapability):
    """A retry by another capability, after a failure."""

    async def on_model_request_error(self, ctx, *, request_context, error):
        raise RetryModelRequest


def test_another_attempt_of_others_is_the_same_request():
    """It counts once and loses no reminder; also the exchange after an early answer is kept."""
    script = Script(ValueError("down"), "ok")
    agent = Agent(script.model, capabilities=[Again(), Planning(settings=Settings(empty=1))])
    result = run(agent)
    assert [is_ours(text) for text in script.tails] == [True, True]
    assert record_of(result.all_messages()).memory.turn == 1
    script = Script(OPEN, "early", ValueError("down"), DONE, "ok")
    run(Agent(script.model, capabilities=[Again(), Planning()]))
    assert script.requests[2] == script.requests[3]


def test_a_paused_response_goes_on_as_it_is():
    """No reminder comes between it and its continuation."""
    paused = ModelResponse(parts=[TextPart("well")], state="suspended")
    messages = [
        *seed_plan(Planning(), [ModelRequest(parts=[UserPromptPart("go")])], two_open()),
        paused,
    ]
    script = Script("ok")
    agent = planner(script, Planning(settings=QUIET))
    result = asyncio.run(agent.run(message_history=messages))
    assert not any(map(is_ours, script.tails))
    assert record_of(result.all_messages()).memory.turn == 0


def test_one_run_may_bring_its_own_planning():
    """A capability given to a run alone does what one of the agent's does."""
    script = Script(OPEN, "early", DONE, "final")
    result = asyncio.run(Agent(script.model).run("go", capabilities=[Planning()]))
    assert result.output == "final"
    assert plan_of_state(result).counts.open == 0


def test_a_streamed_answer_that_was_seen_is_kept():
    """The model goes on behind it; answer and reminder stay in the history."""
    script = Script(OPEN, "early", DONE, "final")
    _, result = asyncio.run(streamed(planner(script, Planning())))
    said = texts(result.all_messages())
    assert [text for text in said if not is_reminder(text)] == ["go", "early", "final"]
    assert is_reminder(said[2])
    assert result.output == "final"
    assert plan_of_state(saved(result)).counts.open == 0


def test_a_stream_of_the_first_answer_ends_with_it():
    """`run_stream` takes the first answer for the last; it stands."""

    async def first_answer(agent):
        async with agent.run_stream("go") as stream:
            return await stream.get_output(), stream.all_messages()

    output, messages = asyncio.run(first_answer(planner(Script(OPEN, "early"), Planning())))
    assert output == "early"
    assert len(plan_of_state(messages)) == 2


def test_a_stream_tells_every_change():
    """`FunctionToolResultEvent` carries what happened, and the plan after it."""
    events, result = asyncio.run(streamed(planner(Script(OPEN, DONE, "ok"), Planning())))
    told = [e.part.metadata[KEY] for e in events if e.event_kind == "function_tool_result"]
    assert [note["entry"]["revision"] for note in told] == [2, 4]
    assert told[-1]["plan"]["revision"] == plan_of_state(result).revision


def test_texts_calls_and_results_are_read():
    """Thoughts and prompts are none of them."""
    failed = ToolReturnPart("b", "no", tool_call_id="2", outcome="failed")
    returns = [ToolReturnPart("a", "ok", tool_call_id="1"), failed]
    messages = [
        ModelRequest(parts=[SystemPromptPart("Be good."), UserPromptPart("go")]),
        ModelResponse(parts=[ThinkingPart("hm"), TextPart("well"), use("a", {}, "1")]),
        ModelRequest(parts=returns),
    ]
    won, lost = ToolResult("a", ok=True, call_id="1"), ToolResult("b", ok=False, call_id="2")
    assert [*map(neutral, messages)] == [
        Message("user"),
        Message("assistant", "well", ("a",)),
        Message("user", results=(won, lost)),
    ]


@pytest.mark.parametrize(
    ("fields", "final"),
    [
        ({}, True),
        ({"finish_reason": "stop"}, True),
        ({"finish_reason": "tool_call"}, False),
        ({"state": "suspended"}, False),
        ({"state": "interrupted"}, False),
    ],
)
def test_what_goes_on_is_no_final_answer(fields, final):
    """A response that is paused, cut off or about to call tools ends no work."""
    assert is_final_answer(neutral(ModelResponse(parts=[TextPart("x")], **fields))) is final


def test_a_turn_is_the_calls_of_the_calls_own_response():
    """Not of an earlier one, and none for a call that nobody made; time and id name it."""
    first = response([use("a", {}, "1")])
    second = response([use("b", {}, "2"), use("c", "{", "3")])
    messages = [first, ModelRequest(parts=[]), second]
    calls = Call("b", {}, "2"), Call("c", "{", "3")
    assert turn_of(messages, "3") == ((second.timestamp.isoformat(), ""), calls)
    assert turn_of(messages, "1") == ((first.timestamp.isoformat(), ""), (Call("a", {}, "1"),))
    assert turn_of(messages, "9") == turn_of([], None) == ((), ())


def test_a_reminder_stands_behind_the_last_request():
    """In a copy: the message itself is not touched, nor is anything added for no text."""
    messages = [response("x"), ModelRequest(parts=[UserPromptPart("go")])]
    sent = with_reminder(messages, "remember")
    assert [part.content for part in sent[-1].parts] == ["go", "remember"]
    assert len(messages[-1].parts) == 1
    assert with_reminder(messages, "") == messages
    assert with_reminder(messages[:1], "remember") == messages[:1]


# -------- tools --------


NOON = datetime(2025, 1, 31, 12, tzinfo=UTC)


def at_noon():
    """Return the time of every change here."""
    return NOON


def work(box, *turns, messages=()):
    """Return the result of a run with the tools alone, whose model makes these turns of calls."""
    script = Script(*turns, "ok")
    agent = Agent(script.model, toolsets=[make_tools(box, clock=at_noon)])
    return run(agent, message_history=[*messages])


@pytest.mark.parametrize("own", ["Be good.", None])
@pytest.mark.parametrize(
    ("given", "added"), [(None, TODOS.system_prompt()), ("Plan.", "Plan."), ("", None)]
)
def test_the_prompt_is_static_and_behind_the_agents_own(own, given, added):
    """Another prompt may be given, or none; it is the same in every request, so caches hold."""
    script = Script("ok", "ok")
    agent = planner(script, Planning(system_prompt=given), instructions=own)
    run(agent, message_history=run(agent).all_messages())
    wanted = "\n\n".join(filter(None, (own, added))) or None
    assert [info.instructions for info in script.infos] == [wanted, wanted]
    parts = script.infos[0].model_request_parameters.instruction_parts or []
    assert not any(part.dynamic for part in parts)


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
    for box in (*BOXES, Toolbox(LEAN.renamed(plan="todo"))):
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
