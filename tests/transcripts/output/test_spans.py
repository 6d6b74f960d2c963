"""Recordings as spans, sent to a real receiver of OTLP over HTTP."""

import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class Receiver:
    """A small collector: it reads what comes as protobuf, and answers as the protocol says."""

    def __init__(self, answer=200):
        received = self.received = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                received.append((self.path, ExportTraceServiceRequest.FromString(body)))
                self.send_response(answer)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format, *_):  # noqa: A002 - as the library names it
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()

    @property
    def spans(self):
        """All spans that came."""
        return [
            span
            for _, request in self.received
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]


@pytest.fixture
def collector():
    """A receiver that takes all."""
    with Receiver() as receiver:
        yield receiver


def known(span):
    """The attributes of a span."""
    return {each.key: each.value for each in span.attributes}


def test_a_recording_is_one_trace(recording, todo, tool_call, collector, invoke):
    """The run around its calls and tasks, at the times that are recorded."""
    path = recording(
        todo(1, "~."), tool_call(2, "TodoWrite", {"todos": []}, error="no"), todo(12, "x~")
    )
    result = invoke("replay", path, "--otlp", collector.url)
    assert (result.exit_code, result.stdout) == (0, f"{path}: 5 spans sent\n")
    ((where, _),) = collector.received
    assert where == "/v1/traces"
    names = [span.name for span in collector.spans]
    assert sorted(names) == ["invoke_agent", "plan", "plan", "plan", "task"]
    (root,) = (span for span in collector.spans if span.name == "invoke_agent")
    assert {span.parent_span_id for span in collector.spans if span is not root} == {root.span_id}
    assert len({span.trace_id for span in collector.spans}) == 1
    assert known(root)["todoplan.dialect"].string_value == "claude-code"
    (task,) = (span for span in collector.spans if span.name == "task")
    assert task.start_time_unix_nano == root.start_time_unix_nano
    assert task.end_time_unix_nano == root.end_time_unix_nano
    day = (task.end_time_unix_nano - task.start_time_unix_nano) / 1e9
    assert day == 24 * 3600 + 11
    refused = [span for span in collector.spans if span.events]
    assert [known(span)["error.type"].string_value for span in refused] == ["refused_call"]
    warned = [span for span in collector.spans if "todoplan.call.warnings" in known(span)]
    assert all(span.name == "plan" for span in warned)


def test_a_path_that_is_given_is_kept(recording, todo, collector, invoke, monkeypatch):
    """
    A collector may have another path than the protocol names. It takes no request of any size, so
    many spans are sent in pieces.
    """
    monkeypatch.setattr("todoplan.transcripts.spans._AT_ONCE", 2)
    path = recording(*(todo(number, "~" * number) for number in range(1, 5)))
    assert invoke("replay", path, "--otlp", f"{collector.url}/own/traces").exit_code == 0
    assert [where for where, _ in collector.received] == ["/own/traces"] * 3
    assert len(collector.spans) == 5


def test_a_recording_without_times_or_calls_is_fine(recording, todo, tool_call, collector, invoke):
    """Calls have no length then. An agent need not plan: then there is nothing to send."""
    path = recording(tool_call(1, "Bash", {"command": "ls"}))
    assert invoke("replay", path, "--otlp", collector.url).stdout == f"{path}: 0 spans sent\n"
    assert collector.received == []
    path = recording([{k: line[k] for k in line if k != "timestamp"} for line in todo(1, "x")])
    assert invoke("replay", path, "--otlp", collector.url).stdout == f"{path}: 3 spans sent\n"


def test_what_is_not_taken_is_exit_2(recording, todo, invoke):
    """The line says whose spans, and who did not take them."""
    path = recording(todo(1, "x"))
    with Receiver(answer=400) as refusing:
        result = invoke("replay", path, "--otlp", refusing.url)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"{path}: {refusing.url} did not take its spans" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--otlp", "localhost:4318"), "'localhost:4318' is no address of a collector"),
        (("--otlp", "http://localhost:1", "--json"), "give one of --json, --markdown, --html and"),
    ],
)
def test_what_cannot_be_sent_is_refused_at_once(invoke, arguments, reason):
    """Before anything is read."""
    result = invoke("replay", "--sample", *arguments)
    assert result.exit_code == 2
    assert reason in " ".join(result.stderr.split())


def test_a_missing_extra_is_exit_2(invoke, monkeypatch):
    """The line names the command that brings it."""
    monkeypatch.delitem(sys.modules, "todoplan.transcripts.spans", raising=False)
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    result = invoke("replay", "--sample", "--otlp", "http://localhost:1")
    assert result.exit_code == 2
    assert "pip install 'todoplan[otlp]'" in result.stderr
