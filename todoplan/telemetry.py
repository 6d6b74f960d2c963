"""
OpenTelemetry spans for plans: `pip install 'todoplan[otel]'`, which installs only the API.

`traced(toolbox)` returns a toolbox with tracing, for any adapter and any planner. Other toolboxes
are not traced. The SDK that the application configures determines where spans are sent. `todoplan
replay --otlp` writes the same spans for a recording.

The section `spans` turns calls and tasks into spans; `observing` connects them to a toolbox.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from time import time_ns

import attrs

from todoplan.errors import MissingExtraError

try:
    import opentelemetry.trace  # noqa: F401 - imported only to check that it is installed
except ModuleNotFoundError as error:
    raise MissingExtraError.of(error.name, "otel") from error

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import Status, StatusCode, Tracer, TracerProvider, get_tracer

from todoplan.core.decide import Decision, Rejected
from todoplan.core.events.types import Event, StatusChanged, TaskClaimed, TaskCreated
from todoplan.core.plan import model
from todoplan.core.plan.model import Task
from todoplan.core.plan.plan import Plan
from todoplan.core.problems import Problem
from todoplan.dialogue.calls import Reply
from todoplan.dialogue.guidance import Advice
from todoplan.dialogue.toolbox import ObservedToolbox, Toolbox, require
from todoplan.lazy import listing

__all__ = ["traced"]
__dir__ = listing(__all__)


# -------- spans --------
# Planning calls and tasks as spans.
#
# Names follow OpenTelemetry's GenAI conventions. A name that these conventions lack has the prefix
# `todoplan.`.
#
# - A planning call is a `plan` span (`gen_ai.operation.name`). The span's name contains the agent's
#   name.
# - A task is a span from its start to its completion. The plan stores both times, so the span is
#   written when the task is closed. No state is needed: one process may start a task, and another
#   process may complete it.
# - Refusals, reminders and lost claims have no duration. They are events on the current span, or
#   spans of zero length if there is no current span, so that they are not lost.
#
# Texts of tasks and people may be secret, so attributes contain these texts only with
# `content=True`.


_Value = str | int | float | bool | Sequence[str]
_STALE = "stale_fence"


@attrs.frozen
class PlanningCall:
    """A tool call of a model. `problems` and `warnings` are codes; times are in nanoseconds."""

    tool: str
    plan: Plan
    events: tuple[Event, ...] = ()
    is_error: bool = False
    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    repairs: int = 0
    call_id: str = ""
    actor: str | None = None
    began: int = 0
    ended: int = 0


@attrs.frozen
class Spans:
    """Writes spans with a tracer. `content` adds the texts of tasks to the attributes."""

    tracer: Tracer
    content: bool = False

    def call(self, call: PlanningCall, context: Context | None = None) -> None:
        """
        Write the span of a call, and the spans of the tasks that the call closed.

        `context` may have the parent span; by default, it is the current one.
        """
        counts = call.plan.counts
        attributes: dict[str, _Value] = {
            "gen_ai.operation.name": "plan",
            "gen_ai.tool.name": call.tool,
            "todoplan.plan.revision": call.plan.revision,
            "todoplan.plan.tasks": counts.total,
            "todoplan.plan.completed": counts.completed,
            "todoplan.plan.open": counts.open,
            "todoplan.call.events": len(call.events),
            "todoplan.call.repairs": call.repairs,
        }
        if call.warnings:
            attributes["todoplan.call.warnings"] = call.warnings
        if call.call_id:
            attributes["gen_ai.tool.call.id"] = call.call_id
        if call.actor:
            attributes["gen_ai.agent.name"] = call.actor
        name = f"plan {call.actor}" if call.actor else "plan"
        span = self.tracer.start_span(
            name, context, attributes=attributes, start_time=call.began or None
        )
        ended = call.ended or None
        if call.is_error:
            span.add_event("todoplan.refused", {"todoplan.problems": call.problems}, ended)
            span.set_attribute("error.type", call.problems[0] if call.problems else "_OTHER")
            span.set_status(Status(StatusCode.ERROR))
        for lost in _lost(call.events):
            span.add_event("todoplan.claim_lost", lost, ended)
        span.end(ended)
        self.closed(call.events, call.plan, call.actor, context, call.ended)

    def closed(
        self,
        events: Iterable[Event],
        plan: Plan,
        actor: str | None,
        context: Context | None = None,
        at: int = 0,
    ) -> None:
        """
        Write the spans of the tasks that `events` closed. `plan` is the plan after the events.

        A task that has no time of its end gets the time `at`, in nanoseconds.
        """
        # One span for each task, even if one call closes it, reopens it and closes it again.
        closed: dict[str, None] = {}
        for event in events:
            if isinstance(event, StatusChanged) and event.new.closed:
                closed[event.task_id] = None
            if isinstance(event, TaskCreated) and event.task.status.closed:
                closed[event.task.id] = None
        for task in filter(None, map(plan.get, closed)):
            if task.status.closed:
                self._task(task, actor, context, at)

    def _task(self, task: Task, actor: str | None, context: Context | None, at: int) -> None:
        ended = nanoseconds(task.completed_at or task.updated_at) or at or time_ns()
        began = nanoseconds(task.started_at)
        attributes: dict[str, _Value] = {
            "todoplan.task.id": task.id,
            "todoplan.task.status": task.status.value,
            # A task that was never started gets a span of zero length.
            "todoplan.task.started": bool(began),
        }
        worker = task.owner or actor
        optional = {"gen_ai.agent.name": worker, "todoplan.task.parent": task.parent}
        if self.content:
            optional["todoplan.task.subject"] = task.subject
        attributes |= {name: value for name, value in optional.items() if value is not None}
        span = self.tracer.start_span(
            "task", context, attributes=attributes, start_time=min(began or ended, ended)
        )
        if task.status is model.Status.FAILED:
            span.set_attribute("error.type", "task_failed")
            span.set_status(Status(StatusCode.ERROR))
        span.end(ended)

    def refused(self, problems: tuple[str, ...]) -> None:
        """Record the refusal of a command that did not come from a model."""
        if _STALE in problems:
            self.note("todoplan.claim_lost", {})
        self.note("todoplan.refused", {"todoplan.problems": problems})

    def taken_over(self, events: Iterable[Event]) -> None:
        """Record each claim that was lost through a command that did not come from a model."""
        for lost in _lost(events):
            self.note("todoplan.claim_lost", lost)

    def note(self, name: str, attributes: Mapping[str, _Value]) -> None:
        """
        Record something without a duration: as an event on the current span, or else as a new span.
        """
        span = trace.get_current_span()
        if span.is_recording():
            span.add_event(name, attributes)
        else:
            self.tracer.start_span(name, attributes=attributes).end()


def _lost(events: Iterable[Event]) -> Iterator[dict[str, _Value]]:
    """Yield the attributes of each claim that was lost."""
    for event in events:
        if isinstance(event, TaskClaimed) and event.lost_by is not None:
            lost_by = str(event.lost_by)
            yield {"todoplan.task.id": event.task_id, "todoplan.claim.lost_by": lost_by}


def nanoseconds(at: datetime | None) -> int:
    """Return a time in nanoseconds since the epoch, as OpenTelemetry counts it; 0 for `None`."""
    return 0 if at is None else int(at.timestamp() * 1_000_000) * 1_000


# -------- observing --------
# Report the calls, decisions and reminders of a traced toolbox to `Spans`.


def traced(
    toolbox: Toolbox | None = None,
    *,
    provider: TracerProvider | None = None,
    content: bool = False,
) -> Toolbox:
    """
    Return a toolbox whose calls, tasks, refusals, reminders and lost claims become spans.

    `provider` defaults to the global tracer provider. `content=True` adds the subjects of tasks to
    the attributes.

    Raises:
        PlanError: `toolbox` is not a toolbox.
    """
    box = Toolbox() if toolbox is None else require(toolbox, Toolbox)
    fields = {field.name: getattr(box, field.name) for field in attrs.fields(Toolbox)}
    return ObservedToolbox(**fields, observer=_Tracing(Spans(tracer_of(provider), content)))


def tracer_of(provider: TracerProvider | None) -> Tracer:
    """Return this package's tracer from a provider, or from the global provider if it is `None`."""
    try:
        ours = version("todoplan")
    except PackageNotFoundError:  # a checkout that was not installed
        ours = "0"
    return get_tracer("todoplan", ours, tracer_provider=provider)


@attrs.frozen
class _Tracing:
    spans: Spans

    def called(self, replies: Sequence[Reply], actor: str | None, began: int) -> None:
        ended = time_ns()
        for reply in replies:
            self.spans.call(
                PlanningCall(
                    reply.name,
                    reply.plan,
                    reply.events,
                    reply.is_error,
                    _codes(reply.problems),
                    _codes(reply.warnings),
                    len(reply.repairs),
                    reply.call_id,
                    actor,
                    began,
                    ended,
                )
            )

    def decided(self, decision: Decision, actor: str | None) -> None:
        if isinstance(decision, Rejected):
            self.spans.refused(_codes(decision.problems))
            return
        self.spans.taken_over(decision.events)
        self.spans.closed(decision.events, decision.plan, actor)

    def advised(self, advice: Advice, plan: Plan) -> None:
        known = {"todoplan.reminder": advice.kind, "todoplan.plan.revision": plan.revision}
        self.spans.note("todoplan.reminder", known)


def _codes(problems: Iterable[Problem]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(problem.code for problem in problems))
