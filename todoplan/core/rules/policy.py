"""Which rules hold, and how strictly: a value that is given to `decide`."""

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

# Bounded: a batch may bring any set of triggers, and a preset lives as long as the program.
_MOST_KEPT = 256
_ERROR = Severity.ERROR
_Rated = tuple[tuple[Rule, Severity], ...]


# Spelled out for type checkers, so that a misspelled rule is an error; a test compares it to RULES.
class RuleSettings(TypedDict, total=False):
    """
    What `Policy.but` takes: for each rule how it is taken, and for some a number instead.
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
        return Severity(word)  # type: ignore[arg-type]  # what is no severity is refused below
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
    Rules with a severity each, and the limits they count by.

    Begin with a preset and say what differs: `DEFAULT.but(single_in_progress="error")`.
    """

    rules: _Rated = attrs.field(factory=_all_off, converter=_rated)
    limits: Limits = Limits()
    # A cache, and mutable: working out which rules heed an event costs more than to ask them. It
    # holds nothing but what follows from `rules`, so nobody sees it change: it is no part of
    # equality, each policy starts with its own, and threads may fill it at once.
    _heeding: dict[Any, _Rated] = attrs.field(factory=dict, init=False, eq=False)
    # Asked for at every call of a model.
    _levels: dict[str, Severity] = attrs.field(
        default=attrs.Factory(_by_name, takes_self=True), init=False, eq=False
    )
    _begun_as: str = attrs.field(default="", eq=False, alias="_begun_as")

    @classmethod
    def preset(cls, name: str) -> Policy:
        """
        Return the policy that the rules declare under a preset's name.

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
        """
        Return the rules that are on and that what happened can break.
        """
        # One change of status is the usual case: it needs no set, and no call to name it.
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
        # A command without events is what `no_op_write` is on.
        happened = triggers or {NoneType}
        on = (entry for entry in self.rules if entry[1] is not Severity.OFF)
        return tuple(entry for entry in on if entry[0].heeds(happened))

    def but(self, **changes: Unpack[RuleSettings]) -> Policy:
        """
        Return this policy with the named rules at other severities, or with other limits.

        A number for a rule that counts sets its limit, and switches it to error if it is off:
        `but(max_items=50)`. The other limits are set by `but(limits=Limits(open_items=20))`, which
        takes the place of all that were set before; numbers in the same call count on top of it.

        Raises:
            PlanError: no rule has that name, or what is given for it is neither off, warn, error
                nor a number that it counts by.
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
        Return this policy with a rule of your own, in place of one with the same name.

        Raises:
            PlanError: what is given is no rule, or the severity is none of off, warn, error.
        """
        _must_be_a_rule(rule)
        kept = tuple(entry for entry in self.rules if entry[0].name != rule.name)
        return attrs.evolve(self, rules=(*kept, (rule, severity)))

    def severity(self, name: str) -> Severity:
        """
        Return how the named rule is taken; a rule that the policy does not have is off.
        """
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
    Return what the policy refuses about a change, and what it warns of.

    Raises:
        PlanError: a check gave what is no problem.
    """
    errors: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()
    for rule, severity in policy.heeding(change.events):
        try:
            answer = rule.check(change)
            if type(answer) is tuple and not answer:  # what most rules say on most days
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
        # An answer that can be iterated: then the check itself has raised, for its author to see.
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
    # As if from nothing: rules that look only at what is new then see every task.
    created: Iterable[TaskCreated] = map(TaskCreated, plan)
    change = Change(Plan(), plan, None, tuple(created), policy.limits)
    return tuple(
        problem
        for rule, severity in policy.rules
        if rule.about_plan and severity is Severity.ERROR
        for problem in _problems(rule, rule.check(change))
    )
