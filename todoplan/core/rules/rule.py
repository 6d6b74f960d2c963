"""
Rules: a rule is a named check, declared together with all its properties.

Theory. A check is a pure function of a change, and yields the problems in it. It does not decide
their severity: the same check refuses under one policy and warns under another. A rule about the
plan yields only new violations. A violation that existed before is not reported for a command that
does not add to it, so that a stricter policy never blocks all work on a plan.

Most changes cannot break most rules, and running a check costs more than changing a task's status.
So each rule names what can break it (`on`), and a policy caches which rules are affected by which
events.

To write your own rule, create a `Rule` whose check is a function of a `Change`, and add it with
`Policy.adding`.
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
"""The presets, most permissive first. Each inherits the severities of the one before it."""


class Severity(StrEnum):
    """The effect of a rule: none, a warning with the result, or a refusal."""

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
        # A rule on a trigger that never occurs would be silently off.
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
    return value  # type: ignore[no-any-return]  # its result is checked when it runs


@attrs.frozen(repr=False)
class Rule:
    """
    A named check.

    A rule `about_plan` can also check a plan as it is, with `todoplan.core.rules.policy.inspect` or
    `todoplan check`: every task then counts as created.

    `on` names the triggers that can break the rule; without one of them the check is not run. A
    trigger is a type of event, a status change as (old, new), or `NoneType` for a command without
    events. If `on` is empty, the check runs for every change.

    `new_tasks_need` is a task field without which the rule refuses every new task. A tool set
    without an argument for that field could create no tasks, and is refused under such a policy.

    `limit` is the field of `Limits` that a number given for the rule sets: `but(max_items=50)`.
    `presets` has the severity from one step of `STEPS` on; before the first of them the rule is
    off. An `opt_in` rule requires a program or person who checks, so no preset has it on, not even
    the strict one.
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
        """Return True if one of these triggers can break the rule."""
        # A user's own rule may name the class instead of all status changes.
        moved = StatusChanged in self.on and any(type(trigger) is tuple for trigger in triggers)
        return moved or not self.on or not self.on.isdisjoint(triggers)

    def severity_in(self, preset: str) -> Severity:
        """
        Return the rule's severity in a preset.

        In "strict" every rule is an error, unless it is `opt_in`; for "" every rule is off.
        """
        if self.opt_in:
            return Severity.OFF
        if preset == "strict":
            return Severity.ERROR
        so_far = STEPS[: STEPS.index(preset) + 1] if preset else ()
        declared = [level for step, level in self.presets if step in so_far]
        return Severity(declared[-1]) if declared else Severity.OFF


def trigger_of(event: Event) -> Trigger:
    """Return the trigger for an event, as used in a rule's `on`."""
    return (event.old, event.new) if type(event) is StatusChanged else type(event)


def moves(to: Iterable[Status] = Status, *, of: Iterable[Status] = Status) -> set[Trigger]:
    """Return the triggers of all changes from the statuses `of` to the statuses `to`."""
    return {(old, new) for old in of for new in to if old is not new}


def registering(rules: dict[str, Rule]) -> Callable[..., Callable[[Check], Check]]:
    """
    Return a decorator that adds a check to `rules`, under its own name without outer underscores.

    The check itself is unchanged and stays in its module under its name, so that a policy can be
    pickled.
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
    """Return the ids of the first tasks, at most as many as a problem names."""
    return tuple(task.id for task in islice(tasks, MOST_NAMED))
