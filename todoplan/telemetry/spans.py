"""
Planning calls and tasks as spans, by the names of OpenTelemetry's GenAI conventions where they have
one, and under `todoplan.` where they have none yet.

- A planning call is a `plan` span (`gen_ai.operation.name`), named by the agent.
- A task is a span from its start to its completion, written when it is closed: the plan has both
  times. So it needs no memory, and a task may be started by one process and completed by another.
- What has no length is an event on the span around it: refusals, reminders, lost claims. Where
  there is no span around it, it is a span of no length, so that it is not lost.

What tasks and people say is in no attribute unless that is asked for: it may be anybody's secret.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from time import time_ns

import attrs
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import Span, Status, StatusCode, Tracer

from todoplan.core.events.types import Event, StatusChanged, TaskClaimed, TaskCreated
from todoplan.core.plan import model
from todoplan.core.plan.model import Task
from todoplan.core.plan.plan import Plan

__all__ = ["PlanningCall", "Spans", "nanoseconds"]

_Value = str | int | float | bool | Sequence[str]
_STALE = "stale_fence"


@attrs.frozen
class PlanningCall:
    """
    A call that a model made; `problems` and `warnings` are codes, times in nanoseconds.
    """

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
    """
    Writes spans with a tracer; `content` says whether texts of tasks are among the attributes.
    """

    tracer: Tracer
    content: bool = False

    def call(self, call: PlanningCall, context: Context | None = None) -> None:
        """
        Write the span of a call, and those of the tasks that it has closed.
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
        if call.is_error:
            _refuse(span, call.problems, call.ended)
        self._claims(span, call.events, call.ended)
        span.end(call.ended or None)
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
        Write the spans of the tasks that were closed by events; `plan` is the one after them.
        """
        # By its id: one that is closed, reopened and closed again by one call ended once.
        for task in filter(None, map(plan.get, dict.fromkeys(_closed(events)))):
            if task.status.closed:
                self._task(task, actor, context, at)

    def _task(self, task: Task, actor: str | None, context: Context | None, at: int) -> None:
        ended = nanoseconds(task.completed_at or task.updated_at) or at or time_ns()
        began = nanoseconds(task.started_at)
        attributes: dict[str, _Value] = {
            "todoplan.task.id": task.id,
            "todoplan.task.status": task.status.value,
            # Nobody saw it being worked on, so the span has no length.
            "todoplan.task.started": bool(began),
        }
        worker = task.owner or actor
        given = {"gen_ai.agent.name": worker, "todoplan.task.parent": task.parent}
        if self.content:
            given["todoplan.task.subject"] = task.subject
        attributes |= {name: value for name, value in given.items() if value is not None}
        span = self.tracer.start_span(
            "task", context, attributes=attributes, start_time=min(began or ended, ended)
        )
        if task.status is model.Status.FAILED:
            span.set_attribute("error.type", "task_failed")
            span.set_status(Status(StatusCode.ERROR))
        span.end(ended)

    def refused(self, problems: tuple[str, ...]) -> None:
        """
        Note that a command was refused that no model gave.
        """
        if _STALE in problems:
            self.note("todoplan.claim_lost", {})
        self.note("todoplan.refused", {"todoplan.problems": problems})

    def taken_over(self, events: Iterable[Event]) -> None:
        """
        Note each claim that somebody lost by events of a command that no model gave.
        """
        for event in events:
            if lost := _lost(event):
                self.note("todoplan.claim_lost", lost)

    def note(self, name: str, attributes: Mapping[str, _Value]) -> None:
        """
        Note what has no length: on the span around it, or as a span by itself.
        """
        span = trace.get_current_span()
        if span.is_recording():
            span.add_event(name, attributes)
        else:
            self.tracer.start_span(name, attributes=attributes).end()

    def _claims(self, span: Span, events: Iterable[Event], at: int) -> None:
        for event in events:
            if lost := _lost(event):
                span.add_event("todoplan.claim_lost", lost, at or None)


def _refuse(span: Span, problems: tuple[str, ...], at: int) -> None:
    span.add_event("todoplan.refused", {"todoplan.problems": problems}, at or None)
    span.set_attribute("error.type", problems[0] if problems else "_OTHER")
    span.set_status(Status(StatusCode.ERROR))


def _closed(events: Iterable[Event]) -> Iterator[str]:
    for event in events:
        if isinstance(event, StatusChanged) and event.new.closed:
            yield event.task_id
        if isinstance(event, TaskCreated) and event.task.status.closed:
            yield event.task.id


def _lost(event: Event) -> dict[str, _Value]:
    if isinstance(event, TaskClaimed) and event.lost_by is not None:
        return {"todoplan.task.id": event.task_id, "todoplan.claim.lost_by": str(event.lost_by)}
    return {}


def nanoseconds(at: datetime | None) -> int:
    """
    Return a time as OpenTelemetry counts it, 0 for none.
    """
    return 0 if at is None else int(at.timestamp() * 1_000_000) * 1_000
