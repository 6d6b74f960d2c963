"""
What a rule is: a named check, with all that is said of it in one place.

Theory. A check is a pure function of a change, and yields what is wrong with it. It says nothing of
how bad that is: the same check refuses under one policy and warns under another. A rule about the
plan yields only what a change breaks anew; what was wrong before is not held against a command that
does not add to it, so that a stricter policy never locks a plan up.

Most changes cannot break most rules, and to ask a rule costs more than to move a task. So each
names what can break it (`on`), and a policy remembers which rules heed which events.

A rule of your own is a `Rule` whose check is a function of a `Change`; `Policy.adding` takes it in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from enum import StrEnum
from itertools import islice
from types import NoneType
from typing import Any, Literal, get_args

import attrs

from todoplan.core.events.types import Event, StatusChanged
from todoplan.core.plan.model import Status, Task
from todoplan.core.plan.validation import as_text, short_repr
from todoplan.core.problems import MOST_NAMED, Problem
from todoplan.core.rules.change import Change
from todoplan.errors import PlanError

__all__ = [
    "STEPS",
    "Check",
    "Rule",
    "Severity",
    "SeverityName",
    "Trigger",
    "first_ids",
    "moves",
    "registering",
    "trigger_of",
]

Trigger = type | tuple[Status, Status]
Check = Callable[[Change], Iterable[Problem]]
SeverityName = Literal["off", "warn", "error"]

_TYPES = frozenset({*get_args(Event), NoneType})

STEPS = ("langchain", "agentscope", "default", "claude", "claude-strict")
"""The presets from the most permissive one on: each takes over what the one before it says."""


class Severity(StrEnum):
    """
    How a rule is taken: not at all, as a warning beside the result, or as a refusal.
    """

    OFF = "off"
    WARN = "warn"
    ERROR = "error"


def _triggers(on: Iterable[Trigger]) -> frozenset[Trigger]:
    if isinstance(on, str | type) or not isinstance(on, Iterable):
        msg = (
            f"{short_repr(on)} was given as what a rule is on; give several, such as (TaskCreated,)"
        )
        raise PlanError(msg, seen=on)
    given = tuple(on)
    for each in given:
        # A rule that waits for what never comes is off, and nobody is told.
        if not (each in _TYPES if isinstance(each, type) else _is_move(each)):
            msg = (
                f"{short_repr(each)} was given as something that a rule is on; give types of events"
                " (todoplan.core.events), NoneType, or moves, such as moves([Status.COMPLETED])"
            )
            raise PlanError(msg, seen=each)
    return frozenset(given)


def _is_move(value: object) -> bool:
    ends = value if isinstance(value, tuple) else ()
    return len(ends) == 2 and all(isinstance(end, Status) for end in ends)  # noqa: PLR2004


def _check(value: Any) -> Check:
    if not callable(value):
        msg = f"{short_repr(value)} was given as a check; give a function of a Change"
        raise PlanError(msg, seen=value)
    return value  # type: ignore[no-any-return]  # what it returns is judged when it does


@attrs.frozen(repr=False)
class Rule:
    """
    A named check. `about_plan`: it can also be asked of a plan as it stands, by
    `todoplan.core.rules.policy.inspect` and `todoplan check`: every task counts as created then.

    `on` names what can break it, so that nothing else need be looked at: types of events, moves as
    (old, new) status, `NoneType` for a command without events. Empty: it is asked of every change.

    `new_tasks_need` is the field of a task without which the rule refuses every new task: a tool
    set that has no argument for that field could create none, and is refused under such a policy.

    `limit` is the field of `Limits` that a number given for the rule sets: `but(max_items=50)`.
    `presets` has the severity from a step of `STEPS` on; before the first it is off. A rule that
    asks for somebody who looks is `opt_in`: no preset has it on, not the strict one either.
    """

    name: str = attrs.field(converter=as_text)
    check: Check = attrs.field(converter=_check)
    about_plan: bool = False
    on: frozenset[Trigger] = attrs.field(default=frozenset(), converter=_triggers)
    new_tasks_need: str = ""
    limit: str = ""
    presets: tuple[tuple[str, SeverityName], ...] = ()
    opt_in: bool = False

    def __repr__(self) -> str:
        return f"<Rule {self.name}>"

    def heeds(self, triggers: AbstractSet[Trigger]) -> bool:
        """
        Say whether something among what happened can break the rule.
        """
        # A rule of a user's own may name the class instead of all moves.
        moved = StatusChanged in self.on and any(type(trigger) is tuple for trigger in triggers)
        return moved or not self.on or not self.on.isdisjoint(triggers)

    def severity_in(self, preset: str) -> Severity:
        """
        Return how a preset takes the rule, by the preset's name; "strict" refuses all, "" nothing.
        """
        if self.opt_in:
            return Severity.OFF
        if preset == "strict":
            return Severity.ERROR
        so_far = STEPS[: STEPS.index(preset) + 1] if preset else ()
        declared = [level for step, level in self.presets if step in so_far]
        return Severity(declared[-1]) if declared else Severity.OFF


def trigger_of(event: Event) -> Trigger:
    """
    Return what a rule's `on` calls an event.
    """
    return (event.old, event.new) if type(event) is StatusChanged else type(event)


def moves(to: Iterable[Status] = Status, *, of: Iterable[Status] = Status) -> set[Trigger]:
    """
    Return the triggers of all changes to some statuses, or of some.
    """
    return {(old, new) for old in of for new in to if old is not new}


def registering(rules: dict[str, Rule]) -> Callable[..., Callable[[Check], Check]]:
    """
    Return a decorator that takes a check into `rules`, under its own name without underscores.

    The check stays what it is and is found by its name in its module: a policy can be pickled.
    """

    def rule(
        *on: Trigger,
        about_plan: bool = False,
        new_tasks_need: str = "",
        limit: str = "",
        presets: dict[str, SeverityName] | None = None,
        opt_in: bool = False,
    ) -> Callable[[Check], Check]:
        declared = tuple((presets or {}).items())

        def keep(check: Check) -> Check:
            name = check.__name__.strip("_")
            rules[name] = Rule(
                name, check, about_plan, frozenset(on), new_tasks_need, limit, declared, opt_in
            )
            return check

        return keep

    return rule


def first_ids(tasks: Iterable[Task]) -> tuple[str, ...]:
    """
    Return the ids that a problem about these tasks names.
    """
    return tuple(task.id for task in islice(tasks, MOST_NAMED))
