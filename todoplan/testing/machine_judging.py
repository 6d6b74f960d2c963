"""What came of a step, and what is wrong with it: law 2 and 3, and the model's answer."""

from collections.abc import Iterator, Mapping

import attrs

from todoplan.core.commands import Command, RestorePlan
from todoplan.core.decide.decide import Accepted, Decision, Rejected, decide
from todoplan.core.events.apply import replay
from todoplan.core.events.types import Event
from todoplan.core.plan.plan import Plan
from todoplan.core.rules.builtin import RULES, Rule
from todoplan.core.rules.change import Change
from todoplan.core.rules.policy import Policy, Severity
from todoplan.dialogue.toolbox import Reply
from todoplan.testing.machine_checks import differences, in_itself
from todoplan.testing.machine_model import Model
from todoplan.testing.machine_rules import RULES as NAIVE_RULES
from todoplan.testing.machine_step import Step

__all__ = ["Answer", "Expected", "Outcome", "expected", "outcome", "verdict"]

Answer = Decision | Reply | Plan
"""What a step returns: all that was decided, or only the plan as it stands then."""


@attrs.frozen
class Outcome:
    """
    An answer in one form. What it does not tell is `None`.
    """

    plan: Plan
    events: tuple[Event, ...] | None = None
    refused: bool | None = None
    codes: frozenset[str] | None = None


@attrs.frozen(eq=False)
class Expected:
    """
    What should come: the model after the step, and why it is refused, if it is.

    `codes` is `None` where only the refusal matters; `changed` says whether anything should happen,
    `restores` whether an earlier plan is brought back.
    """

    model: Model
    refused: bool = False
    codes: frozenset[str] | None = frozenset()
    changed: bool = False
    restores: bool = False


def outcome(before: Plan, answer: Answer) -> Outcome:
    """
    Return an answer in one form.
    """
    match answer:
        case Plan():
            return Outcome(answer)
        case Rejected(problems):
            return Outcome(
                before, (), refused=True, codes=frozenset(problem.code for problem in problems)
            )
        case Accepted():
            return Outcome(answer.plan, answer.events, refused=False, codes=frozenset())
    codes = frozenset(problem.code for problem in answer.problems)
    return Outcome(answer.plan, answer.events, answer.is_error, codes)


def expected(plan: Plan, policy: Policy, step: Step) -> Expected:
    """
    Return what the model, and the policy's own rules, say of a command.
    """
    known = {
        rule.name: level
        for rule, level in policy.rules
        if RULES.get(rule.name) is rule and rule.name in NAIVE_RULES
    }
    codes = step.problems(known, policy.limits)
    if not any(step.faults.values()):
        codes |= set(_own_codes(plan, policy, step.command, known))
    if codes:
        told = None if "no_plan" in codes else frozenset(codes)
        return Expected(step.before, refused=True, codes=told)
    restores = any(isinstance(part, RestorePlan) for part in step.commands)
    return Expected(step.after, changed=step.changed, restores=restores)


def _own_codes(
    plan: Plan, policy: Policy, command: Command, known: Mapping[str, str]
) -> Iterator[str]:
    """
    Yield what rules that the model does not know say of a command, asked one by one.
    """
    own = [rule for rule, level in policy.rules if level is Severity.ERROR]
    for rule in (rule for rule in own if rule.name not in known):
        yield from _codes_of(rule, plan, policy, command)


def _codes_of(rule: Rule, plan: Plan, policy: Policy, command: Command) -> Iterator[str]:
    answer = decide(plan, command, Policy((), policy.limits))
    if isinstance(answer, Accepted):
        change = Change(plan, answer.plan, command, answer.events, policy.limits)
        yield from (problem.code for problem in rule.check(change))


def verdict(before: Plan, out: Outcome, wanted: Expected, *, times: bool) -> Iterator[str]:
    """
    Yield what is wrong with a step, in sentences.
    """
    if out.refused is not None and out.refused != wanted.refused:
        should = f"be refused ({_listed(wanted.codes)})" if wanted.refused else "be accepted"
        yield f"it was {_done(out)}, it should {should}"
    elif wanted.codes is not None and out.codes not in (None, wanted.codes):
        yield f"it was refused for {_listed(out.codes)}, it should be for {_listed(wanted.codes)}"
    if out.refused and out.plan != before:
        yield "it was refused, and changed the plan"
    yield from _revision(before, out, wanted)
    yield from differences(out.plan, wanted.model, times=times)
    yield from in_itself(out.plan, wanted.model)


def _revision(before: Plan, out: Outcome, wanted: Expected) -> Iterator[str]:
    grown = out.plan.revision - before.revision
    if out.events is not None:
        if replay(before, out.events) != out.plan:
            yield "replaying its events does not give its plan"
        if grown != len(out.events):
            yield f"the revision grew by {grown}, there were {len(out.events)} events"
    if grown < 0 or bool(grown) != wanted.changed:
        should = "grow" if wanted.changed else "stay"
        yield f"the revision went from {before.revision} to {out.plan.revision}, it should {should}"


def _done(out: Outcome) -> str:
    return f"refused ({_listed(out.codes)})" if out.refused else "accepted"


def _listed(codes: frozenset[str] | None) -> str:
    return ", ".join(sorted(codes or ())) or "no reason known"
