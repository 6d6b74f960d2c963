"""Guidance through real runs, streamed or not: at the tail, unsaved, capped; how it is attached."""

import asyncio
import copy
from dataclasses import fields

import pytest
from agents import (
    Agent,
    Model,
    ModelProvider,
    ModelRetryBackoffSettings,
    ModelRetrySettings,
    ModelSettings,
    RunConfig,
    RunHooks,
    function_tool,
)
from agents.exceptions import ModelBehaviorError
from agents.run import CallModelData, ModelInputData
from agents.testing import ModelStep, assistant_message, function_call
from agents.usage import Usage
from openai.types.responses import (
    ResponseCompletedEvent,
    ResponseFunctionWebSearch,
    ResponseOutputItemDoneEvent,
    ResponseUsage,
)
from openai.types.responses.response_output_item import McpApprovalRequest
from pydantic import BaseModel
from support.openai_agents_runs import (
    agent_of,
    create,
    done,
    edit,
    outputs,
    plan_of,
    refuse,
    run,
    scripted,
    stream,
    tails,
    turns,
)

from todoplan import Toolbox, commands
from todoplan.adapters.openai_agents import (
    Planning,
    answers_in,
    attach,
    calls_in,
    conversation,
    edit_plan,
    guided_model,
    make_tools,
    neutral,
    summed,
    with_reminder,
)
from todoplan.dialogue import Call, Settings, tasks
from todoplan.dialogue.guidance import TAG, is_final_answer, is_refusal
from todoplan.errors import PlanError

# -------- guidance --------


TASKS = Toolbox(tasks())
LOST = Settings(unfinished=0)
LIST = function_call("TaskList", {}, call_id="l")


def planned(*subjects):
    """Return a planning with tasks that the application has made."""
    planning = Planning(TASKS)
    edit(planning, commands.CreateTasks(tuple(map(commands.CreateTask, subjects))))
    return planning


def reminded(model):
    """Say for each request how many reminders it holds."""
    return [str(call.input).count(f"<{TAG}>") for call in model.calls]


def go(planning, *turns, settings=Settings(), given="go", **options):  # noqa: B008 - a value
    """Return the model and the result of a run."""
    model = scripted(*turns)
    return model, run(attach(agent_of(model), planning, settings=settings), given, **options)


def test_what_a_filter_leaves_is_looked_at():
    """A user's filter that cuts the history stays, and the plan is told where it is cut off."""

    def cut(data: CallModelData):
        return ModelInputData(data.model_data.input[:1], data.model_data.instructions)

    config = RunConfig(call_model_input_filter=cut)
    model, _ = go(planned("Dig"), LIST, "Ok.", settings=LOST, run_config=config)
    assert reminded(model) == [1, 1]
    assert [len(call.input) for call in model.calls] == [2, 2]


def test_a_filter_that_speaks_at_the_tail_renews_nothing():
    """A request that answers calls goes on with its run, whatever stands behind the answers."""

    def nag(data: CallModelData):
        nagging = {"role": "user", "content": "Hurry."}
        return ModelInputData([*data.model_data.input, nagging], data.model_data.instructions)

    looks = [function_call("TaskList", {}, call_id=str(n)) for n in range(3)]
    script = (looks[0], "1", "2", looks[1], "3")
    config = RunConfig(call_model_input_filter=nag)
    model, result = go(planned("A"), *script, run_config=config)
    assert result.final_output == "3"
    assert len(model.calls) == 5


class Report(BaseModel):
    """A structured answer."""

    text: str


@pytest.mark.parametrize(
    ("kind", "answers", "final"),
    [(Report, ['{"text": "Early."}'], Report(text="Early.")), (str, "123", "3")],
)
def test_a_structured_answer_is_never_sent_back(kind, answers, final):
    """Its shape is what was asked for; an answer that is a text is sent back."""
    model = scripted(LIST, *answers)
    agent = attach(agent_of(model, output_type=kind), planned("A"))
    assert run(agent).final_output == final
    assert len(model.calls) == 1 + len(answers)


@pytest.mark.parametrize(
    ("all_done", "script", "final"),
    [
        ("always", ["The report.", "That was all."], "The report.\n\nThat was all."),
        ("always", ["The report.", []], "The report."),
        ("always", ["The report.", refuse()], "The report."),
        # If the model goes on after all, its first answer does not stand.
        ("always", ["All.", create("B"), done("2"), "Now all.", "Yes."], "Now all.\n\nYes."),
        # An answer without words is replaced by the one that follows.
        ("if_silent", [[assistant_message("")], "Here."], "Here."),
    ],
)
def test_both_answers_stand_behind_a_question_whether_all_was_said(all_done, script, final):
    """What was answered first is not lost to a short confirmation, a refusal or silence."""
    settings = Settings(all_done=all_done)
    model, result = go(planned("A"), done("1"), *script, settings=settings)
    assert TAG in tails(model)[2]
    assert len(model.calls) == 1 + len(script)
    assert result.final_output == final


@pytest.mark.parametrize("kept", [{"conversation_id": "c"}, {"previous_response_id": "r"}])
def test_where_the_provider_keeps_the_conversation_nothing_is_lost_each_time(kept):
    """Requests hold only what is new: the plan is told once, not in each of them."""
    looks = [function_call("TaskList", {}, call_id=str(n)) for n in range(4)]
    model, _ = go(planned("A"), *looks, "Ok.", settings=LOST, **kept)
    assert reminded(model) == [1, 0, 0, 0, 0]
    model, _ = go(Planning(TASKS), create("A"), *looks, "Ok.", settings=LOST, **kept)
    assert reminded(model) == [0] * 6


def test_a_kept_conversation_is_not_sent_again():
    """Behind an early answer the provider is sent the reminder alone, in its conversation."""
    model, result = go(planned("A"), LIST, "Early.", done("1"), "Ok.", conversation_id="c")
    assert len(model.calls[2].input) == 1
    assert TAG in model.calls[2].input[0]["content"]
    assert {call.conversation_id for call in model.calls} == {"c"}
    assert result.final_output == "Ok."


def test_a_response_that_is_gone_on_from_is_branched():
    """The further turn goes on from the same response: what was new, the answer, the reminder."""
    model, _ = go(planned("A"), "Early.", done("1"), "Ok.", previous_response_id="r")
    assert [call.previous_response_id for call in model.calls[:2]] == ["r", "r"]
    assert [item["role"] for item in model.calls[1].input] == ["user", "assistant", "user"]


class Meddler(RunHooks):
    """Changes the plan just before the model's own call does."""

    def __init__(self, planning):
        self.planning = planning

    async def on_tool_start(self, context, agent, tool):
        await edit_plan(self.planning, commands.CreateTask("B"))


def test_a_change_of_others_in_between_is_told():
    """The model's own change does not hide it: its answer tells of it, no reminder does."""
    planning, settings = Planning(TASKS), Settings(plan_lost=False, unfinished=0, changed=True)
    model, result = go(planning, create("A"), "Ok.", settings=settings, hooks=Meddler(planning))
    assert outputs(result)["c0"].startswith("since you last looked: #1 B created")
    assert reminded(model) == [0, 0]


def test_other_tools_calls_are_not_the_plans():
    """They are awaited, since their answers belong to the run, but each on its own."""
    planning, seen = Planning(TASKS), []

    @function_tool
    async def search() -> str:
        """Search."""
        seen.extend(planning.pending.to_data())
        return "found"

    model = scripted([function_call("search", {}, call_id="s"), *create("A", "B")], "Ok.")
    run(attach(agent_of(model, tools=[search]), planning, settings=LOST))
    assert [[call["call_id"] for call in calls] for calls in seen] == [["s"], ["c0", "c1"]]


def test_a_repetition_is_not_carried_out():
    """The SDK leaves out a call that it has answered; what stands beside it is carried out."""
    planning = Planning(TASKS)
    _, result = go(planning, create("A"), [*create("A"), LIST], "Ok.", settings=LOST)
    assert [task.subject for task in plan_of(planning)] == ["A"]
    assert outputs(result)["c0"] == "0/1: #1 created"


def costing(*given, tokens=10):
    """Return turns that cost tokens each."""
    usage = Usage(requests=1, input_tokens=tokens, output_tokens=1, total_tokens=tokens + 1)
    return [ModelStep(output=turn, usage=usage) for turn in given]


SCRIPT = [create("A"), [assistant_message("Early.")], done("1"), [assistant_message("Ok.")]]


def worker(*given, **options):
    """Return a model, a planning and the agent attached to it."""
    model, planning = scripted(), Planning(TASKS)
    model.extend(given)
    return model, planning, attach(agent_of(model), planning, **options)


BOTH = pytest.mark.parametrize("go", [run, lambda agent: asyncio.run(stream(agent))[0]])


@BOTH
def test_what_a_sent_back_answer_cost_is_counted(go):
    """Each request of a run is part of its usage; a stream's last completion reports all tokens."""
    _, _, agent = worker(*costing(*SCRIPT))
    usage = go(agent).context_wrapper.usage
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens) == (40, 4, 44)
    assert go is not run or usage.requests == 4


def test_an_answer_that_is_sent_back_is_streamed_without_completion():
    """Its words were seen; one completion stands behind each turn, and one answer is kept."""
    _, _, agent = worker(*SCRIPT)
    _, events = asyncio.run(stream(agent))
    raw = [event.data for event in events if event.type == "raw_response_event"]
    texts = [event.delta for event in raw if event.type == "response.output_text.delta"]
    assert texts == ["Early.", "Ok."]
    assert sum(event.type == "response.completed" for event in raw) == 3
    items = [event.item for event in events if event.type == "run_item_stream_event"]
    answers = [item.raw_item for item in items if item.type == "message_output_item"]
    assert [answer.content[0].text for answer in answers] == ["Ok."]


@BOTH
def test_what_has_no_planning_tools_passes_through(go):
    """No tools, no guidance."""
    planning, model = Planning(TASKS), scripted("Ok.")
    assert go(agent_of(guided_model(planning, model))).final_output == "Ok."
    assert turns(planning) == 0


@BOTH
def test_an_error_of_the_model_is_its_own(go):
    """It ends the run, and nothing is remembered of the request that failed."""
    _, planning, agent = worker(ModelStep.raise_error(OSError("down")))
    with pytest.raises(OSError, match="down"):
        go(agent)
    assert turns(planning) == 0


def test_a_request_that_is_tried_again_is_one_turn():
    """The SDK retries behind our back; caps and reminders are those of one request."""
    retry = ModelRetrySettings(
        max_retries=1, policy=lambda _: True, backoff=ModelRetryBackoffSettings(initial_delay=0)
    )
    model, planning = scripted(OSError("down"), create("A"), "1", "2", "3"), Planning(TASKS)
    agent = agent_of(model, model_settings=ModelSettings(retry=retry))
    assert run(attach(agent, planning)).final_output == "3"
    assert turns(planning) == 2
    assert [TAG in tail for tail in tails(model)] == [False, False, False, True, True]


def test_everything_else_is_the_models_own():
    """Its methods, its attributes, and none that it does not have; copying looks up no model."""
    model = scripted()
    guided = guided_model(Planning(), model)
    assert isinstance(guided, Model)
    assert guided.assert_complete == model.assert_complete
    assert asyncio.run(guided.close()) is None
    with pytest.raises(AttributeError):
        _ = guided.no_such_thing
    assert isinstance(copy.copy(guided_model(Planning(), "local")), Model)


HELLO = assistant_message("Hello.")


def completion(*output):
    """Return the completion of a response."""
    response = ResponseCompletedEvent.model_fields["response"].annotation.model_construct(
        id="r", output=[*output], usage=None
    )
    return ResponseCompletedEvent.model_construct(type="response.completed", response=response)


def item(output):
    """Return the event that an item is done."""
    return ResponseOutputItemDoneEvent.model_construct(
        item=output, type="response.output_item.done"
    )


def streamed(*events):
    """Return the result of a run whose model streams these events, and what was passed on."""
    agent = attach(agent_of(scripted({"stream_events": [*events]})), Planning())
    return asyncio.run(stream(agent))


@pytest.mark.parametrize("output", [[HELLO], []])
def test_only_the_completion_is_held_back(output):
    """Its output is the answer, or the items if it has none, as some providers send it."""
    result, events = streamed(item(HELLO), completion(*output))
    raw = [event.data for event in events if event.type == "raw_response_event"]
    assert [each.type for each in raw] == ["response.output_item.done", "response.completed"]
    assert raw[-1].response.output == [HELLO]
    assert result.final_output == "Hello."


def usage(tokens, **more):
    """Return the cost of an answer, as a provider reports it."""
    told = {"input_tokens": tokens, "output_tokens": 1, "total_tokens": tokens + 1}
    details = {"cached_tokens": tokens, "cache_write_tokens": 0, **more}
    return ResponseUsage.model_validate(
        {**told, "input_tokens_details": details, "output_tokens_details": {"reasoning_tokens": 3}}
    )


def test_costs_are_summed():
    """Every count, also those that only one of them has; an unknown cost adds nothing."""
    both = summed(usage(2), usage(3, new_tokens=4)).model_dump()
    assert both["input_tokens_details"].items() >= {"cached_tokens": 5, "new_tokens": 4}.items()
    assert (both["input_tokens"], both["output_tokens"], both["total_tokens"]) == (5, 2, 7)
    assert both["output_tokens_details"]["reasoning_tokens"] == 6
    for one, other in ((None, usage(2)), (usage(2), None)):
        assert summed(one, other) == usage(2)
    assert summed(None, None) is None


class Streaming:
    """A model's stream that is no generator, or one that can be closed."""

    def __init__(self, model, events, closed):
        self.model, self.events, self.closed = model, events, closed

    def stream_response(self, **given):
        return self if self.closed is None else self._generator()

    def __aiter__(self):
        return self

    async def __anext__(self):
        if not self.events:
            raise StopAsyncIteration
        return self.events.pop(0)

    async def _generator(self):
        try:
            for event in self.events:
                yield event
        finally:
            self.closed.append(True)


def guided(model, closed=None):
    """Return the model of an attached agent, whose stream is this one."""
    inner = Streaming(model, [item(HELLO), completion(HELLO)], closed)
    model.stream_response = inner.stream_response
    return attach(agent_of(model), Planning())


def test_a_stream_that_is_left_is_closed():
    """Half read, a generator would keep its connection until it is collected."""
    closed = []

    async def left():
        agent = guided(scripted(), closed)
        names = ("previous_response_id", "conversation_id", "prompt")
        given = (None, "go", None, agent.tools, None, [], None)
        events = agent.model.stream_response(*given, **dict.fromkeys(names))
        await anext(events)
        await events.aclose()

    asyncio.run(left())
    assert closed == [True]


def test_a_stream_that_cannot_be_closed_is_read_to_its_end():
    """Not every provider's is a generator."""
    result, _ = asyncio.run(stream(guided(scripted())))
    assert result.final_output == "Hello."


def test_a_stream_that_breaks_off_is_the_runs_error():
    """Without a completion nothing is judged, and the SDK says what it says."""
    planning = Planning()
    agent = attach(agent_of(scripted({"stream_events": [item(HELLO)]})), planning)
    with pytest.raises(ModelBehaviorError, match="final response"):
        asyncio.run(stream(agent))
    assert turns(planning) == 0


CALL = {"type": "function_call", "name": "write_todos", "call_id": "1", "arguments": "{}"}
USER = {"role": "user", "content": "go"}
SEARCH = ResponseFunctionWebSearch.model_construct(id="ws", type="web_search_call")


def answer(output, call_id="1"):
    """Return a tool's answer."""
    return {"type": "function_call_output", "call_id": call_id, "output": output}


@pytest.mark.parametrize(
    ("items", "read"),
    [
        ([USER, CALL, answer("0/1: #1 created")], [("write_todos", True, "1")]),
        ([answer("fine")], [("", True, "1")]),
        ([CALL, answer([{"type": "input_text", "text": "x"}])], [("write_todos", True, "1")]),
        # An error is known by its words, a preview by the trimmer's.
        ([CALL, answer("Nothing was changed. Why.")], [("write_todos", False, "1")]),
        ([CALL, answer("[Trimmed: write_todos output]")], [("write_todos", False, "1")]),
        ([CALL, answer("[Trimmed]")], [("write_todos", False, "1")]),
    ],
)
def test_answers_have_the_names_of_their_calls(items, read):
    """Messages and calls are no answers; an answer whose call is gone has no name."""
    found = [(r.name, r.ok, r.call_id) for m in conversation(items) for r in m.results]
    assert found == read
    assert conversation("go") == []


def test_answered_calls_are_told():
    """Answers of every kind of tool, and nothing else."""
    shell = {"type": "local_shell_call_output", "call_id": "2", "output": ""}
    assert answers_in([CALL, answer(""), shell, USER]) == ["1", "2"]
    assert answers_in("go") == []


ASKS = McpApprovalRequest.model_construct(id="m", type="mcp_approval_request", name="x")
WAIT = assistant_message("Let me see.")
THOUGHT = {"type": "reasoning", "content": [{"type": "reasoning_text", "text": "Easy."}]}


@pytest.mark.parametrize(
    ("output", "text", "is_final"),
    [
        ([SEARCH, assistant_message("a"), assistant_message("b")], "ab", True),
        ([], "", True),
        ([refuse()], "", True),
        ([WAIT, function_call("search", "{}", call_id="1")], "Let me see.", False),
        ([WAIT, ASKS], "Let me see.", False),
        ([THOUGHT, assistant_message("a")], "a", True),
    ],
)
def test_a_text_is_a_final_answer(output, text, is_final):
    """
    Also behind a search that the provider has made itself. A call, or a question whether a tool
    may be used, is to be carried out; the words of a refusal, or of a thought, are no answer.
    """
    read = neutral(output)
    assert (read.text, is_final_answer(read)) == (text, is_final)
    assert is_refusal(read) is ("refusal" in str(output))


def test_calls_are_read_in_order():
    """With their arguments as text; items without an id of a call are none."""
    custom = {"type": "custom_tool_call", "name": "sh", "call_id": "2", "input": "ls"}
    sent = [SEARCH, function_call("write_todos", "{", call_id="1"), custom]
    assert calls_in(sent) == [Call("write_todos", "{", "1"), Call("sh", "", "2")]


def test_a_reminder_is_a_message_at_the_tail():
    """Behind a text or items; without one the input is the same object."""
    items, told = [USER], {"role": "user", "content": "Mind."}
    assert with_reminder("go", "Mind.") == with_reminder(items, "Mind.") == [USER, told]
    assert with_reminder(items, "") is items


# -------- attaching --------


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
