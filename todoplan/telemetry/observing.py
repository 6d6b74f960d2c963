"""Report the calls, decisions and reminders of a traced toolbox to `Spans`."""

from collections.abc import Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version
from time import time_ns

import attrs
from opentelemetry.trace import Tracer, TracerProvider, get_tracer

from todoplan.core.decide.decide import Decision, Rejected
from todoplan.core.plan.plan import Plan
from todoplan.core.problems import Problem
from todoplan.dialogue.application import require
from todoplan.dialogue.calls import Reply
from todoplan.dialogue.guidance.guidance import Advice
from todoplan.dialogue.observed import ObservedToolbox
from todoplan.dialogue.toolbox import Toolbox
from todoplan.telemetry.spans import PlanningCall, Spans

__all__ = ["traced", "tracer_of"]


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
