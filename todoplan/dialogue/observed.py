"""
Observers: callbacks for the calls, decisions and reminders of a toolbox.

The code that commits a call notifies the observer: planners do so after the append, and adapters
that keep the plan in a framework's state after the reply. The toolbox itself does not, because it
may compute a reply that is not committed: it is asked again after a conflicting write, and it
repeats the earlier calls of a turn to answer a parallel one.

Without an observer, a call costs two checks of the toolbox's class. An observer cannot change
anything, and its exceptions are logged.
"""

import logging
from collections.abc import Callable, Sequence
from time import time_ns
from typing import Any, Protocol

import attrs

from todoplan.core.decide.decide import Decision
from todoplan.core.plan.plan import Plan
from todoplan.dialogue.calls import Reply
from todoplan.dialogue.guidance.guidance import Advice, Guidance, Settings
from todoplan.dialogue.toolbox import Toolbox

__all__ = [
    "ObservedToolbox",
    "Observer",
    "guidance_of",
    "start",
    "tell_called",
    "tell_decided",
]

_logger = logging.getLogger("todoplan")


class Observer(Protocol):
    """Callbacks that run in the thread or task of the caller."""

    def called(self, replies: Sequence[Reply], actor: str | None, began: int) -> None:
        """
        Handle the finished calls of a turn, which began at `began` (nanoseconds since the epoch).
        """
        ...

    def decided(self, decision: Decision, actor: str | None) -> None:
        """Handle a command that did not come from a model's tool call."""
        ...

    def advised(self, advice: Advice, plan: Plan) -> None:
        """Handle a reminder that was given."""
        ...


@attrs.frozen(repr=False)
class ObservedToolbox(Toolbox):
    """A toolbox with an observer."""

    observer: Observer = attrs.field(kw_only=True, eq=False)


def start(toolbox: Toolbox) -> int:
    """Return the time in nanoseconds since the epoch, or 0 if the toolbox has no observer."""
    return time_ns() if isinstance(toolbox, ObservedToolbox) else 0


def tell_called(toolbox: Toolbox, replies: Sequence[Reply], actor: str | None, began: int) -> None:
    """
    Notify the observer of the calls that were carried out.

    Retries that were answered by their idempotency key are left out.
    """
    if isinstance(toolbox, ObservedToolbox):
        anew = tuple(reply for reply in replies if reply.repeat_of is None)
        _tell(toolbox.observer.called, anew, actor, began)


def tell_decided(toolbox: Toolbox, decision: Decision, actor: str | None) -> None:
    """Notify the observer of a command that was carried out or refused."""
    if isinstance(toolbox, ObservedToolbox):
        _tell(toolbox.observer.decided, decision, actor)


def guidance_of(toolbox: Toolbox, settings: Settings) -> Guidance:
    """
    Return guidance for a toolbox, with the toolbox's observer if it has one.

    Raises:
        PlanError: `settings` is not an instance of `Settings`.
    """
    if isinstance(toolbox, ObservedToolbox):
        observer = toolbox.observer
        return _ObservedGuidance(toolbox.toolset, settings, toolbox.policy, observer=observer)
    return Guidance(toolbox.toolset, settings, toolbox.policy)


@attrs.frozen
class _ObservedGuidance(Guidance):
    observer: Observer = attrs.field(kw_only=True, eq=False)

    def before_model(self, plan: Plan, *given: Any, **more: Any) -> Advice:
        return self._told(super().before_model(plan, *given, **more), plan)

    def after_model(self, plan: Plan, *given: Any, **more: Any) -> Advice:
        return self._told(super().after_model(plan, *given, **more), plan)

    def _told(self, advice: Advice, plan: Plan) -> Advice:
        if advice.kind:
            _tell(self.observer.advised, advice, plan)
        return advice


def _tell(hear: Callable[..., None], *happened: Any) -> None:
    try:
        hear(*happened)
    except Exception:
        _logger.exception("an observer failed")
