"""Policies: which rules are on, and how severe they are. A policy is a value passed to `decide`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from difflib import get_close_matches
from types import NoneType
from typing import Any, NoReturn, TypedDict, Unpack

import attrs

from todoplan.core.events.types import Event, StatusChanged, TaskCreated
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.validation import short_repr
from todoplan.core.problems import Problem
from todoplan.core.rules.builtin import RULES
from todoplan.core.rules.change import Change
from todoplan.core.rules.limits import Limits
from todoplan.core.rules.rule import STEPS, Rule, Severity, SeverityName, Trigger, trigger_of
from todoplan.errors import PlanError

__all__ = ["Policy", "RuleSettings", "Severity", "inspect", "judge"]

# Bounded, because a batch may have any set of triggers, and a preset lives as long as the program.
_MOST_KEPT = 256
_ERROR = Severity.ERROR
_Rated = tuple[tuple[Rule, Severity], ...]


# Spelled out for type checkers, so that a misspelled rule is an error; a test compares it to RULES.
class RuleSettings(TypedDict, total=False):
    """
    The arguments of `Policy.but`: a severity for each rule, for some rules alternatively a number.
    """

    limits: Limits
    active_form_required: SeverityName | Severity
    approval_required: SeverityName | Severity
    approved_changed: SeverityName | Severity
    batch_completion: SeverityName | Severity
    blocked_complete: SeverityName | Severity
    blocked_start: SeverityName | Severity
    child_of_closed: SeverityName | Severity
    completed_is_final: SeverityName | Severity
    dropped_open_items: SeverityName | Severity
    duplicate_content: SeverityName | Severity
    empty_write: SeverityName | Severity
    evidence_required: SeverityName | Severity
    first_in_progress: SeverityName | Severity
    linear_status: SeverityName | Severity
    max_depth: SeverityName | Severity | int
    max_edges: SeverityName | Severity | int
    max_history: SeverityName | Severity | int
    max_items: SeverityName | Severity | int
    max_metadata: SeverityName | Severity | int
    max_text: SeverityName | Severity
    no_op_write: SeverityName | Severity
    owner_taken: SeverityName | Severity
    parent_complete: SeverityName | Severity
    priority_required: SeverityName | Severity
    single_in_progress: SeverityName | Severity
    some_in_progress: SeverityName | Severity


def _severity(word: object) -> Severity:
    try:
        return Severity(word)  # type: ignore[arg-type]  # any other word is refused below
    except ValueError:
        msg = f"a severity is off, warn or error, not {word!r}"
        raise PlanError(msg, seen=word) from None


def _rated(rules: Iterable[tuple[Rule, SeverityName | Severity]]) -> _Rated:
    return tuple((rule, _severity(level)) for rule, level in rules)


def _all_off() -> _Rated:
    return tuple((rule, Severity.OFF) for rule in RULES.values())


def _by_name(policy: Policy) -> dict[str, Severity]:
    return {rule.name: level for rule, level in policy.rules}


@attrs.frozen(repr=False)
class Policy:
    """
    Rules with a severity each, and the limits that they use.

    Start from a preset and state the differences: `DEFAULT.but(single_in_progress="error")`.
    """

    rules: _Rated = attrs.field(factory=_all_off, converter=_rated)
    limits: Limits = Limits()
    # A mutable cache: finding the rules that an event can break costs more than running them. It
    # only contains data derived from `rules`. So it is not part of equality, each policy starts
    # with an empty one, and several threads may fill it at the same time.
    _heeding: dict[Any, _Rated] = attrs.field(factory=dict, init=False, eq=False)
    # Read at every call of a model.
    _levels: dict[str, Severity] = attrs.field(
        default=attrs.Factory(_by_name, takes_self=True), init=False, eq=False
    )
    _begun_as: str = attrs.field(default="", eq=False, alias="_begun_as")

    @classmethod
    def preset(cls, name: str) -> Policy:
        """
        Return the policy with the severities that the rules declare for a preset.

        Raises:
            PlanError: there is no preset of that name.
        """
        if name not in (known := (*STEPS, "strict")):
            msg = f"there is no preset {short_repr(name)}; the presets are {', '.join(known)}"
            raise PlanError(msg, seen=name)
        rules = tuple((rule, rule.severity_in(name)) for rule in RULES.values())
        return cls(rules, _begun_as=name)

    def __repr__(self) -> str:
        name = self._begun_as.upper().replace("-", "_") or "Policy()"
        changes = [
            f"{rule.name}={level.value!r}"
            for rule, level in self.rules
            if RULES.get(rule.name) is rule and level is not rule.severity_in(self._begun_as)
        ]
        if self.limits != Limits():
            changes.append(f"limits={self.limits!r}")
        own = [
            f".adding({rule!r}, {level.value!r})"
            for rule, level in self.rules
            if RULES.get(rule.name) is not rule
        ]
        return name + (f".but({', '.join(changes)})" if changes else "") + "".join(own)

    def heeding(self, events: Sequence[Event]) -> _Rated:
        """Return the rules that are on and that these events can break."""
        # A single status change is the usual case: its trigger is computed without a set or a call.
        triggers: Any
        if len(events) != 1:
            triggers = frozenset(map(trigger_of, events))
        elif type(event := events[0]) is StatusChanged:
            triggers = event.old, event.new
        else:
            triggers = type(event)
        found = self._heeding.get(triggers)
        if found is None:
            found = self._work_out(triggers if isinstance(triggers, frozenset) else {triggers})
            if len(self._heeding) < _MOST_KEPT:
                self._heeding[triggers] = found
        return found

    def _work_out(self, triggers: AbstractSet[Trigger]) -> _Rated:
        # The rule `no_op_write` is triggered by a command without events.
        happened = triggers or {NoneType}
        on = (entry for entry in self.rules if entry[1] is not Severity.OFF)
        return tuple(entry for entry in on if entry[0].heeds(happened))

    def but(self, **changes: Unpack[RuleSettings]) -> Policy:
        """
        Return this policy with other severities for the named rules, or with other limits.

        A number for a rule with a limit sets that limit, and sets the rule to error if it is off:
        `but(max_items=50)`. Other limits are set with `but(limits=Limits(open_items=20))`, which
        replaces all limits set before; numbers in the same call are applied after it.

        Raises:
            PlanError: no rule has that name, or the value is neither off, warn, error nor a number
                for a rule with a limit.
        """
        given: dict[str, Any] = dict(changes)
        limits = given.pop("limits", self.limits)
        if not isinstance(limits, Limits):
            msg = f"{short_repr(limits)} was given as the limits; write limits=Limits(items=50)"
            raise PlanError(msg, seen=limits)
        known = {rule.name for rule, _ in self.rules}
        unknown = sorted(set(given) - known)
        if unknown:
            _refuse_names(unknown, known)
        rules = []
        for rule, old in self.rules:
            new = given.get(rule.name, old)
            if isinstance(new, int) and not isinstance(new, bool):
                limits = _limited(limits, rule, new)
                new = Severity.ERROR if old is Severity.OFF else old
            rules.append((rule, new))
        return attrs.evolve(self, rules=rules, limits=limits)

    def adding(self, rule: Rule, severity: SeverityName | Severity = "error") -> Policy:
        """
        Return this policy with your own rule, which replaces a rule of the same name.

        Raises:
            PlanError: `rule` is not a rule, or the severity is none of off, warn, error.
        """
        _must_be_a_rule(rule)
        kept = tuple(entry for entry in self.rules if entry[0].name != rule.name)
        return attrs.evolve(self, rules=(*kept, (rule, severity)))

    def severity(self, name: str) -> Severity:
        """Return the severity of the named rule; off for a rule that the policy does not have."""
        return self._levels.get(name, Severity.OFF)


def _must_be_a_rule(given: object) -> None:
    if not isinstance(given, Rule):
        msg = f'{short_repr(given)} is no rule; write Rule("my_rule", check)'
        raise PlanError(msg, seen=given)


def _refuse_names(unknown: Sequence[str], known: AbstractSet[str]) -> NoReturn:
    near = [name for word in unknown for name in get_close_matches(word, known, 1)]
    meant = f"did you mean {', '.join(near)}? " if near else ""
    msg = f"no rule is called {', '.join(unknown)}; {meant}the rules are {', '.join(sorted(known))}"
    raise PlanError(msg, unknown=list(unknown))


def _limited(limits: Limits, rule: Rule, number: int) -> Limits:
    if not rule.limit:
        fields = ", ".join(f"{field.name}=..." for field in attrs.fields(Limits))
        msg = (
            f"a severity is off, warn or error, not {number!r}: {rule.name} does not count by one"
            f" number. Limits are set by but(limits=Limits({fields})), each if wanted"
        )
        raise PlanError(msg, seen=number)
    return attrs.evolve(limits, **{rule.limit: number})


def judge(policy: Policy, change: Change) -> tuple[tuple[Problem, ...], tuple[Problem, ...]]:
    """
    Return the problems for which the policy refuses a change, and its warnings.

    Raises:
        PlanError: a check returned something that is not a problem.
    """
    errors: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()
    for rule, severity in policy.heeding(change.events):
        try:
            answer = rule.check(change)
            if type(answer) is tuple and not answer:  # the usual result of most rules
                continue
            found = _problems(rule, answer)
        except Exception as error:
            error.add_note(f"raised by the rule {rule.name}")
            raise
        if severity is _ERROR:
            errors += found
        else:
            warnings += found
    return errors, warnings


def _problems(rule: Rule, answer: Any) -> tuple[Problem, ...]:
    try:
        found: tuple[Any, ...] = tuple(answer)
    except TypeError:
        # If the result is iterable, the check itself raised this error, and its author must see it.
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
    """Return the violations, in a plan as it is, of rules about plans with severity error."""
    # Every task counts as created, so rules that look only at new tasks see all of them.
    created: Iterable[TaskCreated] = map(TaskCreated, plan)
    change = Change(Plan(), plan, None, tuple(created), policy.limits)
    return tuple(
        problem
        for rule, severity in policy.rules
        if rule.about_plan and severity is Severity.ERROR
        for problem in _problems(rule, rule.check(change))
    )
