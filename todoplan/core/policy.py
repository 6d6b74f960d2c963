"""Which rules hold, and how strictly: a value that is given to `decide`."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Literal

import attrs

from todoplan.core.change import Change
from todoplan.core.events import TaskCreated
from todoplan.core.limits import Limits
from todoplan.core.plan import Plan
from todoplan.core.problems import Problem
from todoplan.core.rules import RULES, Rule
from todoplan.errors import PlanError

__all__ = ["Policy", "Severity", "inspect", "judge"]

SeverityName = Literal["off", "warn", "error"]


class Severity(StrEnum):
    """
    How a rule is taken: not at all, as a warning beside the result, or as a refusal.
    """

    OFF = "off"
    WARN = "warn"
    ERROR = "error"


def _severity(word: str) -> Severity:
    try:
        return Severity(word)
    except ValueError:
        msg = f"a severity is off, warn or error, not {word!r}"
        raise PlanError(msg, seen=word) from None


def _rated(rules: Iterable[tuple[Rule, str]]) -> tuple[tuple[Rule, Severity], ...]:
    return tuple((rule, _severity(level)) for rule, level in rules)


@attrs.frozen
class Policy:
    """
    Rules with a severity each, and the limits they count by.
    """

    rules: tuple[tuple[Rule, Severity], ...] = attrs.field(
        default=tuple((rule, Severity.OFF) for rule in RULES.values()), converter=_rated
    )
    limits: Limits = Limits()
    _active: tuple[tuple[Rule, Severity], ...] = attrs.field(init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        active = tuple(entry for entry in self.rules if entry[1] is not Severity.OFF)
        object.__setattr__(self, "_active", active)

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
    """
    errors: list[Problem] = []
    warnings: list[Problem] = []
    happened = frozenset(map(type, change.events))
    for rule, severity in policy._active:  # noqa: SLF001 - the policy's own cache
        if not rule.on or not rule.on.isdisjoint(happened):
            (errors if severity is Severity.ERROR else warnings).extend(rule.check(change))
    return tuple(errors), tuple(warnings)


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
        for problem in rule.check(change)
    )
