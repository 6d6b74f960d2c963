"""Recordings of agent frameworks, also as the installed versions write them."""

import asyncio
import json

import pytest
from agents.tracing import TracingProcessor, custom_span, function_span, trace
from agents.tracing.provider import DefaultTraceProvider
from agents.tracing.setup import get_trace_provider, set_trace_provider
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from support.pace import is_linear, seconds
from support.recorded import (
    TODOS,
    answers,
    bad_lines,
    calls,
    compactions,
    document_file,
    lines_file,
)

from todoplan.transcripts.calls import PersonSpoke
from todoplan.transcripts.reading import detect, read

TEXT = json.dumps(TODOS)

# -------- adk --------


def adk_event(author="root", **parts):
    """An event with one part."""
    return {"author": author, "invocationId": "i", "content": {"parts": [parts]}}


def adk_called(call_id="c1"):
    return {"name": "write_todos", "id": call_id, "args": TODOS}


def adk_answered(call_id="c1", **response):
    return {"name": "write_todos", "id": call_id, "response": response}


def test_agents_of_an_adk_session_share_the_plan(tmp_path):
    """
    The agent that calls first is the main one, another is named; the lane is one. JSON has camel
    case, `model_dump` of Python has not.
    """
    path = lines_file(
        tmp_path,
        adk_event("user", text="go"),
        adk_event("root", functionCall=adk_called("a")),
        adk_event("helper", function_call=adk_called("b")),
        adk_event("helper", function_response=adk_answered("b", result="ok")),
    )
    found = [(call.actor, call.lane, call.arguments) for call in calls(path)]
    assert found == [("main", "main", TODOS), ("helper", "main", TODOS)]
    assert answers(path) == [None, "ok"]


def test_answers_of_adk_tell_errors_and_data(tmp_path):
    """An object is kept as data; an error is one by its key, unless that is null."""
    path = lines_file(
        tmp_path,
        *(adk_event(functionCall=adk_called(one)) for one in "abc"),
        adk_event(functionResponse=adk_answered("a", todos=[], error=None)),
        adk_event(functionResponse=adk_answered("b", error="no")),
        adk_event(functionResponse=adk_answered("c", result="Error: no")),
        {"author": "user", "invocationId": "i", "actions": {"compaction": {"x": 1}}},
    )
    assert answers(path) == ['{"todos": [], "error": null}', "!no", "!Error: no"]
    assert calls(path)[0].result.data == {"todos": [], "error": None}
    assert len(compactions(path)) == 1


# -------- ag_ui --------


def event(kind, call_id="c1", **fields):
    """An event about a call."""
    return {"type": kind, "toolCallId": call_id, **fields}


def start(call_id="c1", **fields):
    """A call begins."""
    return event("TOOL_CALL_START", call_id, toolCallName="write_todos", **fields)


def test_a_stream_that_was_saved_as_it_came_is_read(tmp_path):
    """
    Server-sent events: each under `data:`, with other fields and comments between. What is no JSON
    is a bad line like any other.
    """
    events = [start(), event("TOOL_CALL_ARGS", delta=TEXT), event("TOOL_CALL_END")]
    lines = [f"event: message\nid: 1\ndata: {json.dumps(one)}\n" for one in events]
    path = lines_file(tmp_path, ": connected", *lines, "retry: 10", "data: [DONE]", name="run.log")
    assert detect(path) == "ag-ui"
    (call,) = read(path)
    assert call.arguments == TODOS
    path = lines_file(tmp_path, f"data: {json.dumps(start())}", "data: {oops", "data: 5")
    assert [item.line for item in bad_lines(path)] == [2, 3]


CHUNK = event("TOOL_CALL_CHUNK", toolCallName="write_todos", delta=TEXT[:5])
REST = {"type": "TOOL_CALL_CHUNK", "delta": TEXT[5:]}
ARGUMENTS = event("TOOL_CALL_ARGS", delta=TEXT)
STRAY = event("TOOL_CALL_ARGS", "x", delta="y")
REFUSED = event("TOOL_CALL_RESULT", content="Error: no")
HUGE = event("TOOL_CALL_ARGS", delta="[" * 300_000)


@pytest.mark.parametrize(
    ("events", "arguments", "answer"),
    [
        # Chunks are a short form: the first names the call, the others are of the latest call.
        ([CHUNK, REST, {"type": "RUN_FINISHED"}], TODOS, None),
        ([REST, start("")], {}, None),
        # A call that never ends is given at the end. What came of its arguments is no JSON.
        ([start(), event("TOOL_CALL_ARGS", delta=TEXT[:9])], TEXT[:9], None),
        # An answer may come before the end. Pieces without a call are nobody's.
        ([start(), ARGUMENTS, STRAY, REFUSED, event("TOOL_CALL_END")], TODOS, "!Error: no"),
        # A megabyte is more than a plan has: the rest is left out.
        ([start(), *[HUGE] * 9], "[" * 1_200_000, None),
    ],
)
def test_the_pieces_of_a_call_are_put_together(tmp_path, events, arguments, answer):
    """However they come."""
    path = lines_file(tmp_path, *events)
    assert [call.arguments for call in calls(path, "ag-ui")] == [arguments]
    assert answers(path, "ag-ui") == [answer]


def test_a_snapshot_brings_what_was_not_sent(tmp_path):
    """
    Calls with their answers, each once; one without an id cannot be told from others. Calls of one
    message name it as their parent.
    """
    function = {"name": "write_todos", "arguments": TEXT}
    asked = {"id": "m", "role": "assistant", "toolCalls": [{"id": "c1", "function": function}]}
    asked["toolCalls"].append({"function": function})
    told = {"id": "n", "role": "tool", "toolCallId": "c1", "content": "ok"}
    snapshot = {"type": "MESSAGES_SNAPSHOT", "messages": [asked, told]}
    path = lines_file(tmp_path, snapshot, snapshot, start("c2", parentMessageId="n"))
    found = [(call.call_id, call.arguments, call.turn) for call in calls(path)]
    assert found == [("c1", TODOS, "m"), ("c2", {}, "n")]
    assert answers(path) == ["ok", None]


def test_a_run_begins_with_what_the_person_said(tmp_path):
    """Or with the answer of a tool in the browser, which is nobody's message."""
    for role, spoke in (("user", 1), ("tool", 0)):
        messages = {"messages": [{"role": role, "content": "x"}]}
        path = lines_file(tmp_path, {"type": "RUN_STARTED", "input": messages})
        assert sum(isinstance(item, PersonSpoke) for item in read(path)) == spoke


@pytest.mark.parametrize("ended", [True, False])
def test_calls_without_end_are_bounded(tmp_path, ended):
    """The earliest end where there are too many, and take no more arguments; none is lost."""
    begun = [start(f"c{number}") for number in range(200)]
    late = [event("TOOL_CALL_ARGS", call_id, delta=TEXT) for call_id in ("c0", "c199")]
    path = lines_file(tmp_path, *begun, *late, *[{"type": "RUN_FINISHED"}] * ended)
    found = calls(path)
    assert [call.call_id for call in found] == [f"c{number}" for number in range(200)]
    assert (found[0].arguments, found[199].arguments) == ({}, TODOS)


# -------- pydantic_ai --------

NAMED = {"tool_name": "write_todos", "tool_call_id": "c1"}
CALL = {"part_kind": "tool-call", "args": TODOS, **NAMED}
RETURN = {"part_kind": "tool-return", "content": "ok", **NAMED}


def response(*parts, **more):
    """What the model said."""
    return {"kind": "response", "parts": parts, "timestamp": "2026-03-02T10:00:00Z", **more}


def request(*parts):
    """What it was told."""
    return {"kind": "request", "parts": parts}


def test_what_the_installed_version_of_pydantic_ai_writes_is_read(tmp_path):
    """A real run with a scripted model: call and answer, in the form of `all_messages_json`."""

    def model(messages, info):
        if len(messages) == 1:
            return ModelResponse([ToolCallPart("write_todos", TODOS)])
        return ModelResponse([TextPart("done")])

    agent = Agent(FunctionModel(model))

    @agent.tool_plain
    def write_todos(todos: list[dict[str, str]]) -> str:
        return f"kept {len(todos)}"

    # `run_sync` leaves a loop open, which a later test would be blamed for.
    messages = asyncio.run(agent.run("go")).all_messages()
    path = tmp_path / "run.json"
    path.write_bytes(ModelMessagesTypeAdapter.dump_json(messages))
    assert detect(path) == "pydantic-ai"
    (call,) = calls(path)
    assert (call.arguments, call.result.text) == (TODOS, "kept 1")
    assert call.at == messages[1].timestamp


@pytest.mark.parametrize(
    ("records", "answer"),
    [
        # Events have a line each. A result stands under `part`, and stood under `result`.
        ([{"event_kind": "function_tool_result", "part": RETURN}], "ok"),
        ([{"event_kind": "function_tool_result", "result": RETURN}], "ok"),
        # Refusals are told by outcome, by words, or by asking to try again.
        ([request({**RETURN, "outcome": "denied"})], "!ok"),
        ([request({**RETURN, "content": "Error: no"})], "!Error: no"),
        ([request({**NAMED, "part_kind": "retry-prompt", "content": ["x"]})], "!x"),
        # A demand that is about no tool answers none.
        ([request({"part_kind": "retry-prompt", "content": "no"}), request(RETURN)], "ok"),
    ],
)
def test_answers_of_pydantic_ai_tell_refusals(tmp_path, records, answer):
    """In messages and in the events of a run."""
    begun = {"event_kind": "function_tool_call", "part": CALL}
    for first in (begun, response(CALL)):
        path = lines_file(tmp_path, first, {"event_kind": "part_start"}, *records)
        assert [call.arguments for call in calls(path)] == [TODOS]
        assert answers(path) == [answer]


def test_a_tool_of_the_provider_is_answered_within_its_response(tmp_path):
    """Such as one behind the provider's own MCP client."""
    kinds = "builtin-tool-call", "builtin-tool-return"
    parts = ({**part, "part_kind": kind} for part, kind in zip((CALL, RETURN), kinds, strict=True))
    path = lines_file(tmp_path, response(*parts))
    assert [call.arguments for call in calls(path)] == [TODOS]
    assert answers(path) == ["ok"]


def test_parts_of_a_response_are_one_turn(tmp_path):
    """Also under the provider's id; structured answers are data; a summary is met."""
    second = {**CALL, "tool_call_id": "c2"}
    path = lines_file(
        tmp_path,
        response(CALL, second, provider_response_id="p"),
        request({**RETURN, "content": {"todos": []}}),
        response({"part_kind": "compaction", "timestamp": "2026-03-02T09:00:00Z"}),
        response({"part_kind": "text"}),
    )
    assert [call.turn for call in calls(path)] == ["p", "p"]
    assert calls(path)[0].result.data == {"todos": []}
    assert [one.at.day for one in compactions(path)] == [2]


# -------- openai_agents --------


class Exported(TracingProcessor):
    """What a processor is given, as it is exported."""

    def __init__(self):
        self.records = []

    def on_trace_start(self, trace):
        self.records.append(trace.export())

    def on_span_end(self, span):
        self.records.append(span.export())

    def on_trace_end(self, trace): ...

    def on_span_start(self, span): ...

    def shutdown(self): ...

    def force_flush(self): ...


def test_what_the_installed_version_of_openai_agents_exports_is_read(tmp_path):
    """
    A span for each call, with arguments, answer and error. A batch is sent again when its first
    sending failed; a call may have no answer yet.
    """
    exported, before, provider = Exported(), get_trace_provider(), DefaultTraceProvider()
    provider.set_processors([exported])
    set_trace_provider(provider)
    try:
        with trace("Garden"):
            with function_span("write_todos", input=TEXT, output="ok"):
                pass
            with custom_span("else"), function_span("write_todos", input="{}") as failed:
                failed.set_error({"message": "no list", "data": None})
    finally:
        set_trace_provider(before)
    data = {"type": "function", "name": "write_todos", "input": "{}", "output": None}
    open_span = {"object": "trace.span", "id": "s", "span_data": data, "error": None}
    path = lines_file(tmp_path, *exported.records, open_span, open_span)
    assert detect(path) == "openai-agents"
    assert [call.arguments for call in calls(path)] == [TODOS, {}, {}]
    assert answers(path) == ["ok", "!no list", None]
    assert calls(path)[0].at is not None


# -------- otlp --------


def span(*, span_id="b", began=1, status=None, trace="a", **attributes):
    """A span with text attributes; a dot is written as two underscores."""
    listed = [
        {"key": key.replace("__", "."), "value": {"stringValue": text}}
        for key, text in attributes.items()
    ]
    fields = {"traceId": trace, "spanId": span_id, "startTimeUnixNano": str(began)}
    return fields | {"attributes": listed, "status": status or {}}


def batch(*spans):
    """A line of a collector's file."""
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"spans": spans}]}]}


def tool(**more):
    """A call by the conventions for generative AI."""
    named = {"gen_ai__operation__name": "execute_tool", "gen_ai__tool__name": "write_todos"}
    return span(**named, **{"gen_ai__tool__call__arguments": TEXT, **more})


ADK = "gcp__vertex__agent__tool_call_args gcp__vertex__agent__tool_response"
TRACELOOP = "traceloop__entity__name traceloop__entity__input traceloop__entity__output"


@pytest.mark.parametrize(
    ("keys", "kind"),
    [
        ("gen_ai__tool__name tool_arguments tool_response", {}),  # Pydantic AI
        (f"gen_ai__tool__name {ADK}", {"gen_ai__operation__name": "execute_tool"}),
        ("tool__name input__value output__value", {"openinference__span__kind": "TOOL"}),
        (TRACELOOP, {"traceloop__span__kind": "tool"}),
    ],
)
def test_recorders_have_names_of_their_own(tmp_path, keys, kind):
    """The attributes with the tool, the arguments and the answer, and one that names the kind."""
    known = dict(zip(keys.split(), ("write_todos", TEXT, "ok"), strict=True))
    path = lines_file(tmp_path, batch(span(**known, **kind)))
    assert detect(path) == "otlp"
    (call,) = calls(path)
    assert (call.tool, call.arguments, call.result.text) == ("write_todos", TODOS, "ok")


def test_lines_and_documents_hold_the_same(tmp_path):
    """
    A batch a line, a document of batches, or a span a line. What was not acknowledged is sent
    again; spans without ids are all taken.
    """
    spans = [tool(span_id=name) for name in ("s0", "s1", "s2", "s2")]
    document = batch(*spans[:2])
    document["resourceSpans"] += batch(*spans[2:])["resourceSpans"]
    for path in (
        document_file(tmp_path, document),
        lines_file(tmp_path, batch(*spans[:2]), batch(*spans[2:])),
        lines_file(tmp_path, *spans),
    ):
        assert [call.call_id for call in calls(path)] == ["s0", "s1", "s2"]
    assert len(calls(lines_file(tmp_path, tool(span_id=""), tool(span_id="")))) == 2


def test_calls_of_a_batch_are_in_the_order_in_which_they_began(tmp_path):
    """They are exported as they end; a time that is none counts as the first."""
    late = tool(span_id="late", began=3)
    early, odd = tool(span_id="early", began=2), tool(span_id="odd", began="9" * 5000)
    number = {**tool(span_id="number"), "startTimeUnixNano": 1}
    found = calls(lines_file(tmp_path, batch(late, early, odd, number)))
    assert [call.call_id for call in found] == ["odd", "number", "early", "late"]
    assert found[0].at is None


def test_each_conversation_is_a_plan(tmp_path):
    """By its id; where none is named, each trace for itself. The first is the main one."""
    named = [tool(span_id=str(n), gen_ai__conversation__id=name) for n, name in enumerate("xyx")]
    found = calls(lines_file(tmp_path, *named))
    assert [call.lane for call in found] == ["main", "y", "main"]
    many = [tool(trace=f"t{number}") for number in range(1100)]
    lanes = [call.lane for call in calls(lines_file(tmp_path, *many))]
    assert (lanes[:2], len(set(lanes))) == (["main", "t1"], 1000)


def test_a_failed_span_is_a_refusal(tmp_path):
    """With the status's words where there is no answer. Arguments may be an object of OTLP's."""
    value = {"kvlistValue": {"values": [{"key": "todos", "value": {"stringValue": "- [ ] a"}}]}}
    listed = span(openinference__span__kind="TOOL", tool__name="write_todos", span_id="c")
    listed["attributes"].append({"key": "input.value", "value": value})
    path = lines_file(tmp_path, tool(status={"code": 2, "message": "no list"}), listed)
    assert answers(path) == ["!no list", None]
    assert calls(path)[1].arguments == {"todos": "- [ ] a"}


@pytest.mark.parametrize(
    ("dialect", "records"),
    [
        ("ag-ui", lambda n: [start(), *[event("TOOL_CALL_ARGS", delta="x")] * (5 * n)]),
        ("otlp", lambda n: [batch(*[tool(span_id=str(one), began=-one) for one in range(n)])]),
    ],
)
def test_pieces_and_batches_take_linear_time(tmp_path, dialect, records):
    """As many pieces as there are characters, however many spans."""

    def taking(count):
        path = lines_file(tmp_path, *records(count))
        return seconds(lambda: calls(path, dialect))

    assert is_linear(taking, 4_000)
