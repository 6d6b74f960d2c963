"""Traces in OTLP's JSON, by whatever names the recorder has for a tool's call."""

import json

import pytest
from support.pace import is_linear, seconds
from support.recorded import TODOS, calls, document_file, lines_file

from todoplan.transcripts.reading import detect

TEXT = json.dumps(TODOS)


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


# The attributes with the tool, the arguments and the answer, and one that says what the span is.
RECORDERS = {
    "pydantic ai": ("gen_ai__tool__name tool_arguments tool_response", {}),
    "adk": (
        "gen_ai__tool__name gcp__vertex__agent__tool_call_args gcp__vertex__agent__tool_response",
        {"gen_ai__operation__name": "execute_tool"},
    ),
    "openinference": (
        "tool__name input__value output__value",
        {"openinference__span__kind": "TOOL"},
    ),
    "openllmetry": (
        "traceloop__entity__name traceloop__entity__input traceloop__entity__output",
        {"traceloop__span__kind": "tool"},
    ),
}


@pytest.mark.parametrize(("keys", "kind"), RECORDERS.values(), ids=RECORDERS)
def test_recorders_have_names_of_their_own(tmp_path, keys, kind):
    """Arguments and answer are found under each of them."""
    known = dict(zip(keys.split(), ("write_todos", TEXT, "ok"), strict=True))
    path = lines_file(tmp_path, batch(span(**known, **kind)))
    assert detect(path) == "otlp"
    (call,) = calls(path)
    assert (call.tool, call.arguments, call.result.text) == ("write_todos", TODOS, "ok")


def test_lines_and_documents_hold_the_same(tmp_path):
    """A batch a line, a document of batches, or a span a line."""
    spans = [tool(span_id=f"s{number}") for number in range(3)]
    document = batch(*spans[:2]) | {}
    document["resourceSpans"] += batch(spans[2])["resourceSpans"]
    for path in (
        document_file(tmp_path, document),
        lines_file(tmp_path, batch(*spans[:2]), batch(spans[2])),
        lines_file(tmp_path, *spans),
    ):
        assert [call.call_id for call in calls(path)] == ["s0", "s1", "s2"]


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
    traces = [tool(trace=name) for name in ("t1", "t2")]
    assert [call.lane for call in calls(lines_file(tmp_path, *traces))] == ["main", "t2"]
    many = [tool(trace=f"t{number}") for number in range(1100)]
    assert len({call.lane for call in calls(lines_file(tmp_path, *many))}) == 1000


def test_a_failed_span_is_a_refusal(tmp_path):
    """With the status's words where there is no answer."""
    failed = tool(status={"code": 2, "message": "no list"})
    (call,) = calls(lines_file(tmp_path, failed))
    assert (call.result.text, call.result.is_error) == ("no list", True)
    (silent,) = calls(lines_file(tmp_path, tool()))
    assert silent.result is None


def test_arguments_may_be_an_object(tmp_path):
    """Of OTLP's own kind."""
    value = {"kvlistValue": {"values": [{"key": "todos", "value": {"stringValue": "- [ ] a"}}]}}
    call = span(openinference__span__kind="TOOL", tool__name="write_todos")
    call["attributes"].append({"key": "input.value", "value": value})
    (found,) = calls(lines_file(tmp_path, call))
    assert found.arguments == {"todos": "- [ ] a"}


def test_a_span_that_stands_twice_counts_once(tmp_path):
    """A collector may send again what was not acknowledged; spans without ids are all taken."""
    assert len(calls(lines_file(tmp_path, tool(), tool()))) == 1
    assert len(calls(lines_file(tmp_path, tool(span_id=""), tool(span_id="")))) == 2


def test_a_batch_takes_linear_time(tmp_path):
    """However many spans stand in it."""

    def taking(spans):
        path = lines_file(tmp_path, batch(*[tool(span_id=str(n), began=-n) for n in range(spans)]))
        return seconds(lambda: calls(path, "otlp"))

    assert is_linear(taking, 4_000)
