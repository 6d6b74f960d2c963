"""Which rules hold, and how strictly: a value that is given to `decide`."""

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from enum import StrEnum
from types import NoneType
from typing import Any, Literal

import attrs

from todoplan.core.events.types import Event, TaskCreated
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.validation import short_repr
from todoplan.core.problems import Problem
from todoplan.core.rules.builtin import RULES
from todoplan.core.rules.change import Change
from todoplan.core.rules.limits import Limits
from todoplan.core.rules.rule import Rule, Trigger, trigger_of
from todoplan.errors import PlanError

__all__ = ["Policy", "Severity", "inspect", "judge"]

_MOST_KEPT = 256

SeverityName = Literal["off", "warn", "error"]


class Severity(StrEnum):
    """
    How a rule is taken: not at all, as a warning beside the result, or as a refusal.
    """

    OFF = "off"
    WARN = "warn"
    ERROR = "error"


_ERROR = Severity.ERROR
_Rated = tuple[tuple[Rule, Severity], ...]


def _severity(word: str) -> Severity:
    try:
        return Severity(word)
    except ValueError:
        msg = f"a severity is off, warn or error, not {word!r}"
        raise PlanError(msg, seen=word) from None


def _rated(rules: Iterable[tuple[Rule, str]]) -> _Rated:
    return tuple((rule, _severity(level)) for rule, level in rules)


@attrs.frozen
class Policy:
    """
    Rules with a severity each, and the limits they count by.

    `_heeding` is a cache, and mutable: working out which rules heed an event costs more than to
    ask them. It holds nothing but what follows from `rules`, so that nobody sees it change: it is
    no part of equality, each policy starts with its own, and threads may fill it at once.
    """

    rules: _Rated = attrs.field(
        default=tuple((rule, Severity.OFF) for rule in RULES.values()), converter=_rated
    )
    limits: Limits = Limits()
    _heeding: dict[Any, _Rated] = attrs.field(factory=dict, init=False, eq=False, repr=False)

    def heeding(self, events: Sequence[Event]) -> _Rated:
        """
        Return the rules that are on and that what happened can break.
        """
        triggers = trigger_of(events[0]) if len(events) == 1 else frozenset(map(trigger_of, events))
        found = self._heeding.get(triggers)
        if found is None:
            found = self._work_out(triggers if isinstance(triggers, frozenset) else {triggers})
            if len(self._heeding) < _MOST_KEPT:
                self._heeding[triggers] = found
        return found

    def _work_out(self, triggers: AbstractSet[Trigger]) -> _Rated:
        happened = triggers or {NoneType}
        on = (entry for entry in self.rules if entry[1] is not Severity.OFF)
        return tuple(entry for entry in on if entry[0].heeds(happened))

    def but(self, **severities: SeverityName) -> "Policy":
        """
        Return this policy with the named rules at other severities.

        Raises:
            PlanError: no rule has that name, or the severity is none of off, warn, error.
        """
        known = {rule.name for rule, _ in self.rules}
        unknown = sorted(set(severities) - known)
        if unknown:
            msg = (
                f"no rule is called {', '.join(unknown)}; the rules are {', '.join(sorted(known))}"
            )
            raise PlanError(msg, unknown=unknown)
        rules = tuple((rule, severities.get(rule.name, old)) for rule, old in self.rules)
        return attrs.evolve(self, rules=rules)

    def adding(self, rule: Rule, severity: SeverityName = "error") -> "Policy":
        """
        Return this policy with a rule of your own, in place of one with the same name.
        """
        kept = tuple(entry for entry in self.rules if entry[0].name != rule.name)
        return attrs.evolve(self, rules=(*kept, (rule, severity)))

    def severity(self, name: str) -> Severity:
        """
        Return how the named rule is taken; a rule that the policy does not have is off.
        """
        return next((level for rule, level in self.rules if rule.name == name), Severity.OFF)


def judge(policy: Policy, change: Change) -> tuple[tuple[Problem, ...], tuple[Problem, ...]]:
    """
    Return what the policy refuses about a change, and what it warns of.

    Raises:
        PlanError: a check gave what is no problem.
    """
    errors: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()
    for rule, severity in policy.heeding(change.events):
        found = _asked(rule, change)
        if found and severity is _ERROR:
            errors += found
        elif found:
            warnings += found
    return errors, warnings


def _asked(rule: Rule, change: Change) -> tuple[Problem, ...]:
    answer = rule.check(change)
    try:
        found = tuple(answer)
    except TypeError:
        _must_be(Iterable, answer, rule)
        raise
    for each in found:
        _must_be(Problem, each, rule)
    return found


def _must_be(kind: type, answer: object, rule: Rule) -> None:
    if not isinstance(answer, kind):
        msg = (
            f"the rule {rule.name} gave {short_repr(answer)}; a check yields problems,"
            " or returns a tuple of them, () if nothing is wrong"
        )
        raise PlanError(msg, rule=rule.name, seen=answer) from None


def inspect(plan: Plan, policy: Policy) -> tuple[Problem, ...]:
    """
    Return where a plan as it stands breaks the rules about plans that the policy has at error.
    """
    created: Iterable[TaskCreated] = map(TaskCreated, plan)
    change = Change(Plan(), plan, None, tuple(created), policy.limits)
    return tuple(
        problem
        for rule, severity in policy.rules
        if rule.about_plan and severity is Severity.ERROR
        for problem in _asked(rule, change)
    )
