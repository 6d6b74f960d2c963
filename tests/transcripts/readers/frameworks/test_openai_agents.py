"""Traces of the OpenAI Agents SDK, also as the installed version exports them."""

import json

from agents.tracing import TracingProcessor, custom_span, function_span, trace
from agents.tracing.provider import DefaultTraceProvider
from agents.tracing.setup import get_trace_provider, set_trace_provider
from support.recorded import TODOS, calls, lines_file

from todoplan.transcripts.reading import detect


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


def test_what_the_installed_version_exports_is_read(tmp_path):
    """A span for each call, with arguments, answer and error."""
    exported, before, provider = Exported(), get_trace_provider(), DefaultTraceProvider()
    provider.set_processors([exported])
    set_trace_provider(provider)
    try:
        with trace("Garden"):
            with function_span("write_todos", input=json.dumps(TODOS), output="ok"):
                pass
            with custom_span("else"), function_span("write_todos", input="{}") as failed:
                failed.set_error({"message": "no list", "data": None})
    finally:
        set_trace_provider(before)
    path = lines_file(tmp_path, *exported.records)
    assert detect(path) == "openai-agents"
    done, refused = calls(path)
    assert (done.arguments, done.result.text, done.result.is_error) == (TODOS, "ok", False)
    assert (refused.result.text, refused.result.is_error) == ("no list", True)
    assert done.at is not None


def test_a_span_that_is_exported_twice_counts_once(tmp_path):
    """A batch is sent again when its first sending failed; a call may have no answer yet."""
    data = {"type": "function", "name": "write_todos", "input": "{}", "output": None}
    span = {"object": "trace.span", "id": "s", "span_data": data, "error": None}
    (call,) = calls(lines_file(tmp_path, span, span))
    assert call.result is None
