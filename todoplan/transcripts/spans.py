"""
`todoplan replay --otlp`: sends recordings as the spans that a traced toolbox would have written.

A recording is one trace: a span for the agent's run with the planning calls and the tasks as its
children, at the recorded times. The spans are sent over HTTP, as OTLP with protobuf. This module
needs the extra "otlp", and is imported only for the option `--otlp`.
"""

from time import time_ns
from urllib.parse import urlsplit

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from todoplan.render.terminal import Screen
from todoplan.telemetry import PlanningCall, Spans, nanoseconds, tracer_of
from todoplan.texts import plural
from todoplan.transcripts.calls import MAIN_LANE
from todoplan.transcripts.output import Run
from todoplan.transcripts.replay import Replay

_TRACES = "/v1/traces"
_AT_ONCE = 500  # spans in a request; collectors accept a few megabytes
_REFUSED = {"refused_call", "cancelled_call"}


class SpanPrinter:
    """Sends the spans of each replay to an endpoint when the replay is complete."""

    def __init__(self, endpoint: str, screen: Screen) -> None:
        self._endpoint, self._screen = endpoint, screen
        self._unsent: list[tuple[str, str]] = []
        # An address without a path gets the protocol's default path.
        whole = endpoint if urlsplit(endpoint).path.strip("/") else endpoint.rstrip("/") + _TRACES
        self._exporter = OTLPSpanExporter(endpoint=whole)
        self._kept = InMemorySpanExporter()
        provider = TracerProvider(resource=Resource.create({"service.name": "todoplan"}))
        provider.add_span_processor(SimpleSpanProcessor(self._kept))
        self._tracer = tracer_of(provider)

    def recording(self, replay: Replay) -> None:
        """Consume the replay and send it."""
        planning, root, at = Spans(self._tracer), None, 0
        for step in replay.steps():
            # If a recording has no times, a call begins where the previous one ended.
            at = nanoseconds(step.at) or at or time_ns()
            if root is None:
                known = {
                    "gen_ai.operation.name": "invoke_agent",
                    "todoplan.recording": replay.file,
                    "todoplan.dialect": replay.dialect,
                }
                root = self._tracer.start_span("invoke_agent", attributes=known, start_time=at)
            codes = tuple(dict.fromkeys(finding.code for finding in step.findings))
            call = PlanningCall(
                step.tool,
                step.plan,
                step.events,
                is_error=step.outcome == "refused",
                problems=tuple(code for code in codes if code in _REFUSED),
                warnings=tuple(code for code in codes if code not in _REFUSED),
                actor=None if step.actor == MAIN_LANE else step.actor,
                began=at,
                ended=at,
            )
            planning.call(call, trace.set_span_in_context(root))
        if root is not None:
            root.end(at)
        spans = self._kept.get_finished_spans()
        self._kept.clear()
        for first in range(0, len(spans), _AT_ONCE):
            if self._exporter.export(spans[first : first + _AT_ONCE]) != SpanExportResult.SUCCESS:
                reason = f"{replay.file}: {self._endpoint} did not take its spans"
                self._unsent.append((replay.file, reason))
                return
        self._screen.write(f"{replay.file}: {plural(len(spans), 'span')} sent\n")

    def close(self, run: Run) -> None:
        """Report the recordings that could not be sent."""
        for file, reason in self._unsent:
            run.fail(file, reason)
        self._exporter.shutdown()  # type: ignore[no-untyped-call]  # as the SDK has it
