"""Guidance in AgentScope: at the tail, unsaved, never twice, never about absent tools."""

import asyncio
from itertools import pairwise

import pytest
from agentscope.agent import ContextConfig, InjectionConfig
from agentscope.event import ReplyEndEvent
from agentscope.message import (
    AssistantMsg,
    HintBlock,
    TextBlock,
    ToolResultBlock,
    ToolResultState,
    UserMsg,
)
from agentscope.middleware import MiddlewareBase
from agentscope.state import AgentState
from agentscope.tool import TaskList, Toolkit
from pydantic import BaseModel
from support.agentscope_agent import agent_of, reply, results, theirs, use

from todoplan import AGENTSCOPE, LEAN, TODOS, Toolbox
from todoplan.adapters.agentscope import (
    PlanMiddleware,
    as_sent,
    attach,
    calls_in_turn,
    kept_in,
    last_answer,
    neutral,
    plan_of_state,
)
from todoplan.dialogue import Settings, tasks
from todoplan.dialogue.guidance import is_reminder
from todoplan.errors import PlanError

NOT_INJECTED = InjectionConfig(inject_runtime_state=False)
CREATE = {"subject": "a"}
DONE = {"task_id": "1", "status": "completed"}


def helper(*turns, state=None, toolbox=None, config=NOT_INJECTED, **settings):
    """Return an agent with tools and guidance."""
    planning = attach(toolbox, settings=Settings(**settings), injection_config=config)
    return agent_of(*turns, state=state, **planning)


def seeded(*tasks):
    """Return a state with these tasks."""
    state = AgentState()
    state.tasks_context.tasks.extend(tasks or [theirs("a", id="1")])
    return state


def saved(agent):
    """Return the agent's context as text."""
    return "".join(message.model_dump_json() for message in agent.state.context)


def test_a_plan_lost_in_compression_is_shown_again():
    """After AgentScope's own compression no planning call is visible: one reminder, then quiet."""
    first = use("TaskCreate", subject="a", description="x" * 2000)
    summary = use(
        "generate_structured_output",
        task_overview="t",
        current_state="s",
        important_discoveries="d",
        next_steps="n",
        context_to_preserve="c",
    )
    agent = helper(first, "ok", unfinished=0)
    reply(agent)
    agent.model.turns += [summary, use("TaskList"), "ok"]
    config = ContextConfig(trigger_ratio=0.01, reserve_ratio=0.000001, context_buffer_ratio=0.0)
    asyncio.run(agent.compress_context(config))
    assert "tool_result" not in saved(agent)
    reply(agent)
    assert [is_reminder(agent.model.tail(n)) for n in (-2, -1)] == [True, False]
    assert "todoplan-reminder" not in saved(agent)


def test_a_change_between_two_calls_is_not_hidden_by_the_second():
    """Edited while the reply streams, followed by the model's own call: its answer tells it."""
    agent = helper(
        use("TaskCreate", **CREATE), use("TaskCreate", **CREATE), "ok", changed=True, unfinished=0
    )

    async def run():
        async for event in agent.reply_stream(UserMsg(name="user", content="go")):
            if event.type == "TOOL_CALL_START" and agent.state.tasks_context.tasks:
                agent.state.tasks_context.tasks[0].subject = "edited"

    asyncio.run(run())
    assert "since you last looked: #1 edited (was: a) updated" in results(agent)[1][1]
    assert not is_reminder(agent.model.tail(2))


def test_the_prefix_stays_byte_identical():
    """As the provider gets it, each request begins with the whole one before, reminders apart."""
    agent = helper(
        use("TaskCreate", **CREATE),
        "no",
        [use("TaskUpdate", **DONE), use("TaskUpdate", task_id="2", status="completed")],
        "yes",
        state=seeded(theirs("old", id="1")),
        config=InjectionConfig(),
    )
    reply(agent)
    assert len({str(tools) for tools in agent.model.tools}) == 1
    sent = [asyncio.run(agent.model.formatter.format(each)) for each in agent.model.requests]
    assert is_reminder(agent.model.tail(0))
    assert is_reminder(agent.model.tail(2))
    for early, late in pairwise(sent):
        reminded = "todoplan-reminder" in str(early[-1])
        kept = early[:-1] if reminded else early
        if kept[-1].get("content") == [{"type": "text", "text": "no"}]:
            kept = kept[:-1]  # AgentScope joins an answer and the calls that follow it
        assert late[: len(kept)] == kept


@pytest.mark.parametrize("toolset", [TODOS, LEAN])
def test_agentscopes_own_line_names_no_absent_tool(toolset):
    """With another tool set and open tasks the model never hears of `TaskList`."""
    toolbox = Toolbox(toolset, AGENTSCOPE)
    for settings in ({}, {"plan_lost": False}):
        agent = helper("ok", state=seeded(), toolbox=toolbox, config=None, unfinished=0, **settings)
        reply(agent)
        assert "TaskList" not in agent.model.sent()
        assert "<current-time>" in agent.model.sent()
        assert is_reminder(agent.model.tail()) == (not settings)


def test_agentscopes_own_line_is_not_said_beside_ours():
    """With its own tool names: ours if `plan_lost` is on, its own if it is off, never both."""
    for on in (True, False):
        agent = helper("ok", state=seeded(), config=None, unfinished=0, plan_lost=on)
        reply(agent)
        assert ("in-progress tasks" in agent.model.sent()) != on
        assert is_reminder(agent.model.tail()) == on


def test_an_injection_that_held_only_that_line_goes_whole():
    """No empty reminder is left; hints of others are let be."""
    agent = helper("ok", "ok", "ok", state=seeded(), config=None, unfinished=0)
    reply(agent)
    agent.state.context.clear()
    stamp = HintBlock(hint="<current-time>2999-01-01T00:00:00</current-time>", source="other")
    parts = HintBlock(
        hint=[TextBlock(text="parts")], source=agent.injection_config.injection_source
    )
    text = agent.injection_config.template.replace("{runtime_state}", "<tasks>3 open</tasks>")
    alone = HintBlock(hint=text, source=agent.injection_config.injection_source)
    agent.state.append_context("helper", [stamp, parts, alone])
    reply(agent)
    assert "3 open" not in agent.model.sent()
    assert "3 open" in saved(agent)
    hints = agent.model.requests[-1][1].get_content_blocks("hint")
    assert [block.id for block in hints] == [stamp.id, parts.id]


def test_a_structured_answer_is_never_sent_back():
    """A reply that must be structured ends when it is."""

    class Answer(BaseModel):
        text: str

    agent = helper(use("GenerateStructuredOutput", text="x"), state=seeded())

    async def run():
        name = next(iter(agent.model.turns)).name
        assert name
        return await agent.reply(UserMsg(name="user", content="go"), structured_schema=Answer)

    final = asyncio.run(run())
    assert final.structured_output == {"text": "x"}


def test_only_completed_replies_are_kept_back():
    """One that ran out of turns ends."""
    agent = helper(*[use("TaskGet", task_id="1")] * 2, "out of turns", state=seeded())
    agent.react_config.max_iters = 2
    *_, final = reply(agent)
    assert final.finished_reason == "exceed_max_iters"


def test_a_broken_list_stops_no_agent():
    """Guidance is silent, and the next planning call says what is wrong."""
    state = seeded(theirs("a", id="1", blocks=["2"]), theirs("b", id="2", blocks=["1"]))
    agent = helper(use("TaskList"), "ok", state=state)
    *_, final = reply(agent)
    assert final.get_text_content() == "ok"
    assert [ok for ok, _ in results(agent)] == [False]
    assert "cycle" in results(agent)[0][1]


class Breaks(MiddlewareBase):
    """An application may write at any time: after a call, or while the model answers."""

    async def on_acting(self, agent, input_kwargs, next_handler):
        async for chunk in next_handler(**input_kwargs):
            yield chunk
        agent.state.tasks_context.tasks[0].state = "bogus"


class BreaksRequests(MiddlewareBase):
    """The same, while the model answers."""

    async def on_model_call(self, agent, input_kwargs, next_handler):
        agent.state.tasks_context.tasks[0].state = "bogus"
        return await next_handler(**input_kwargs)


@pytest.mark.parametrize("breaks", [Breaks, BreaksRequests])
def test_a_list_that_breaks_during_a_reply_stops_no_agent(breaks):
    """The next planning call reports it."""
    planning = attach(injection_config=NOT_INJECTED)
    planning["middlewares"].append(breaks())
    agent = agent_of(use("TaskCreate", **CREATE), "ok", state=seeded(), **planning)
    *_, final = reply(agent)
    assert final.get_text_content() == "ok"


def test_other_tools_and_reads_do_not_count_as_progress():
    """Only what the model changed through our tools is known to it."""
    state = seeded()
    agent = helper(use("Nothing"), use("TaskList"), "ok", state=state, changed=True, unfinished=0)
    reply(agent)
    assert (
        plan_of_state(state).revision
        == agent.state.middle_context["todoplan"]["session"]["guidance"]["revision"]
    )


def test_confirmed_calls_go_on_in_the_same_reply():
    """A reply that is resumed by an event keeps its counters."""
    agent = helper("no", state=seeded(), plan_lost=False, unfinished=1)
    agent.model.turns.append("no")
    reply(agent)
    asked = agent.state.middle_context["todoplan"]["session"]["guidance"]["asked"]
    middleware = PlanMiddleware()

    async def run():
        async def nothing(**_):
            return
            yield

        event = ReplyEndEvent(session_id="s", reply_id="r")
        return [e async for e in middleware.on_reply(agent, {"inputs": event}, nothing)]

    assert asyncio.run(run()) == []
    assert agent.state.middle_context["todoplan"]["session"]["guidance"]["asked"] == asked == 1
    assert not kept_in(agent.state).is_new_run


@pytest.mark.parametrize("given", [None, "", "Plan!"])
def test_the_system_prompt_says_what_the_tools_are_for(given):
    """Behind the agent's own; the tool set's words, others, or none."""
    agent = agent_of("ok", **attach(system_prompt=given, injection_config=NOT_INJECTED))
    reply(agent)
    wanted = tasks("snake").system_prompt() if given is None else given
    assert agent.model.requests[0][0].get_text_content() == f"You work.\n\n{wanted}".strip()


def test_attach_keeps_what_is_there():
    """Tools and middlewares of the caller stay, ours come behind them; the config is a copy."""

    class Other(MiddlewareBase):
        pass

    toolkit, other, config = Toolkit(), Other(), InjectionConfig(timezone="Asia/Tokyo")
    box = Toolbox(LEAN, AGENTSCOPE)
    given = attach(box, toolkit=toolkit, middlewares=[other], injection_config=config)
    assert given["toolkit"] is toolkit
    assert given["middlewares"][0] is other
    assert given["injection_config"].timezone == "Asia/Tokyo"
    assert given["injection_config"].task_tool_names == ["plan"]
    assert config.task_tool_names != ["plan"]


def test_attach_refuses_a_second_planner():
    """AgentScope would take the last of two tools with one name, and only log it."""
    with pytest.raises(PlanError, match="has TaskList already"):
        attach(toolkit=Toolkit(tools=[TaskList()]))


def result(call, state=ToolResultState.SUCCESS):
    """Return the result of a call."""
    return ToolResultBlock(id=call.id, name=call.name, output="x", state=state)


def said(*blocks):
    """Return a context whose last message has these blocks."""
    return [AssistantMsg(name="helper", content=list(blocks))]


def test_messages_are_read():
    """Role, text, the names of calls, and which results are good."""
    a, b = use("a"), use("b")
    blocks = [TextBlock(text="t"), a, b, result(a), result(b, ToolResultState.ERROR)]
    user, answer = map(neutral, [UserMsg(name="user", content="hi"), *said(*blocks)])
    assert (user.role, user.text) == ("user", "hi")
    assert (answer.role, answer.text, answer.calls) == ("assistant", "t", ("a", "b"))
    assert [(each.name, each.ok) for each in answer.results] == [("a", True), ("b", False)]


def test_the_last_answer_is_what_stands_behind_results_and_hints():
    """Earlier turns of the same reply do not count."""
    a = use("a")
    one = said(TextBlock(text="early"), a, result(a), TextBlock(text="late"), TextBlock(text="r"))
    assert (last_answer(one).text, last_answer(one).calls) == ("later", ())
    assert last_answer(said(TextBlock(text="x"), HintBlock(hint="h"))).text == ""
    assert last_answer([]).text == ""


A, B, C = use("a"), use("b"), use("c")


@pytest.mark.parametrize(
    ("context", "names"),
    [
        ([], ()),
        (said(A, result(A)), ()),
        (said(TextBlock(text="x"), A, B), ("a", "b")),
        (said(C, result(C), TextBlock(text="x"), A, B, result(A)), ("a", "b")),
        (said(C, HintBlock(hint="h"), A), ("a",)),
    ],
)
def test_the_calls_of_the_turn_that_is_being_answered(context, names):
    """Also while some are answered; none once all are, and none of earlier turns."""
    calls, waiting = calls_in_turn(context)
    assert (tuple(call.name for call in calls) if waiting else ()) == names


@pytest.mark.parametrize(
    ("sent", "given", "wanted"),
    [
        ('{"subject": "Dig", "subject": "Lay"}', {"subject": "Lay"}, "sent"),
        ('{"subject": "Di', {"subject": "Di"}, "sent"),
        ('{"subject": "Dig"}', {"subject": "Edited by a person"}, "given"),
        ("", {}, "given"),
    ],
)
def test_arguments_are_read_as_the_model_sent_them(sent, given, wanted):
    """What AgentScope mends in silence is read from the text; what a person edits counts."""
    assert as_sent(sent, given) == {"sent": sent, "given": given}[wanted]
