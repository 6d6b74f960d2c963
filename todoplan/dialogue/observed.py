"""
Who looks on: a toolbox may carry an observer, which is told what was called, decided and advised.

Whoever carries a call out for good tells of it: planners after the append, adapters that keep the
plan in a state of theirs after the answer. The toolbox itself tells nobody, for it is asked more
often than that: again where somebody else wrote meanwhile, and for the calls before a parallel one.

Nobody looks on unless a toolbox was made so: then a call costs two looks at its class. An observer
changes nothing, and what it raises is logged.
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
    """
    Is told what happened, in the thread or task of whoever asked for it.
    """

    def called(self, replies: Sequence[Reply], actor: str | None, began: int) -> None:
        """
        Hear of the calls of a turn, which began at a time in nanoseconds, and have ended.
        """
        ...

    def decided(self, decision: Decision, actor: str | None) -> None:
        """
        Hear of a command that no model's tool gave.
        """
        ...

    def advised(self, advice: Advice, plan: Plan) -> None:
        """
        Hear of a reminder.
        """
        ...


@attrs.frozen(repr=False)
class ObservedToolbox(Toolbox):
    """
    A toolbox that somebody looks on at.
    """

    observer: Observer = attrs.field(kw_only=True, eq=False)


def start(toolbox: Toolbox) -> int:
    """
    Return the time in nanoseconds, 0 where nobody looks on.
    """
    return time_ns() if isinstance(toolbox, ObservedToolbox) else 0


def tell_called(toolbox: Toolbox, replies: Sequence[Reply], actor: str | None, began: int) -> None:
    """
    Tell of calls that were carried out, not of those that were answered again by their key.
    """
    if isinstance(toolbox, ObservedToolbox):
        anew = tuple(reply for reply in replies if reply.repeat_of is None)
        _tell(toolbox.observer.called, anew, actor, began)


def tell_decided(toolbox: Toolbox, decision: Decision, actor: str | None) -> None:
    """
    Tell of a command that was carried out or refused.
    """
    if isinstance(toolbox, ObservedToolbox):
        _tell(toolbox.observer.decided, decision, actor)


def guidance_of(toolbox: Toolbox, settings: Settings) -> Guidance:
    """
    Return guidance for a toolbox, observed as that is.

    Raises:
        PlanError: the settings are none.
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
