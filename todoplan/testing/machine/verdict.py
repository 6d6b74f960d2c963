"""What should come of a step, what came of it, and what is wrong with that: laws 2 and 3."""

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from todoplan.core.commands import DeleteTask, RestorePlan
from todoplan.core.decide.decide import Accepted, Decision, Rejected, decide
from todoplan.core.events.apply import replay
from todoplan.core.events.types import Event
from todoplan.core.plan.plan import Plan
from todoplan.core.problems import Problem
from todoplan.core.rules.builtin import RULES
from todoplan.core.rules.change import Change
from todoplan.core.rules.policy import Policy, Severity
from todoplan.dialogue.intake.read import read
from todoplan.dialogue.toolbox import Reply
from todoplan.dialogue.tools.toolset import Query, Tool
from todoplan.testing.machine.comparison import differences
from todoplan.testing.machine.decision import NaiveDecision
from todoplan.testing.machine.model import Model
from todoplan.testing.machine.rules import NAIVE_RULES, problems

__all__ = [
    "Answer",
    "Expected",
    "Outcome",
    "expected_of_call",
    "expected_of_command",
    "outcome",
    "verdict",
]

Answer = Decision | Reply | Plan
"""What a step returns: all that was decided, or only the plan as it stands then."""


@attrs.frozen
class Outcome:
    """
    An answer in one form. What the answer does not say is `None`.
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
    `restores` whether an earlier plan is brought back, `repeats` whether something is found again
    that was known, which is news only by its time.
    """

    model: Model
    refused: bool = False
    codes: frozenset[str] | None = frozenset()
    changed: bool = False
    restores: bool = False
    repeats: bool = False


def outcome(before: Plan, answer: Answer) -> Outcome:
    """
    Return an answer in one form.
    """
    match answer:
        case Plan():
            return Outcome(answer)
        case Rejected(found):
            return Outcome(before, (), refused=True, codes=frozenset(each.code for each in found))
        case Accepted():
            return Outcome(answer.plan, answer.events, refused=False, codes=frozenset())
    codes = frozenset(problem.code for problem in answer.problems)
    return Outcome(answer.plan, answer.events, answer.is_error, codes)


def expected_of_command(plan: Plan, policy: Policy, decision: NaiveDecision) -> Expected:
    """
    Return what the model says of a command, with the policy's rules that the model does not know:
    those are the user's own, and asked for their opinion one by one.
    """
    known = {
        rule.name: level
        for rule, level in policy.rules
        # By identity: a rule of the user's own may have the name of one of ours.
        if RULES.get(rule.name) is rule and rule.name in NAIVE_RULES
    }
    codes = problems(decision, known, policy.limits)
    if not any(decision.faults.values()):
        # Under no rules: a rule of the user's is asked of the change that would be made.
        no_rules, at, actor = Policy((), policy.limits), decision.at, decision.actor
        fences = decision.held
        answer = decide(plan, decision.command, no_rules, at=at, actor=actor, fences=fences)
        if isinstance(answer, Accepted):  # else there is no change that a rule could look at
            made = answer.plan, decision.command, answer.events
            change = Change(plan, *made, policy.limits, actor)
            codes |= _own_codes(policy, change, known)
    if codes:
        # What is no plan has several names, by what is found first; the model has only one. And of
        # several edges that cannot be together, some may not be named, or as something else.
        edges = decision.faults["cycle"] + decision.faults["edge_within"]
        vague = "no_plan" in codes or edges > 1
        return Expected(decision.before, refused=True, codes=None if vague else frozenset(codes))
    restores = any(isinstance(part, RestorePlan) for part in decision.commands)
    return Expected(
        decision.after, changed=decision.changed, restores=restores, repeats=decision.repeats
    )


def _own_codes(policy: Policy, change: Change, known: Mapping[str, str]) -> set[str]:
    own = [rule for rule, level in policy.rules if level is Severity.ERROR]
    return {p.code for rule in own if rule.name not in known for p in rule.check(change)}


def expected_of_call(  # noqa: PLR0913 - where it stands, and what was sent
    plan: Plan,
    model: Model,
    policy: Policy,
    tool: Tool,
    meant: Mapping[str, Any] | None,
    *,
    sent: object,
) -> Expected:
    """
    Return what a call should come to that means these well-formed arguments; `None`: a refusal.

    `sent` are the arguments as they are sent: a guess about their container removes nothing.
    """
    request = None if meant is None else tool.request(read(meant, tool.fields).values)
    if request is None or isinstance(request, Problem):
        return Expected(model, refused=True, codes=None)
    if isinstance(request, Query):
        unknown = request.task_id is not None and request.task_id not in model.ids()
        return Expected(model, refused=unknown, codes=None)
    decision = NaiveDecision(model, request)
    wanted = expected_of_command(plan, policy, decision)
    if not wanted.refused and _drops_unnamed(decision) and read(sent, tool.fields).guessed:
        return Expected(model, refused=True, codes=frozenset({"guessed_container"}))
    return wanted


def _drops_unnamed(decision: NaiveDecision) -> bool:
    named = {part.task_id for part in decision.commands if isinstance(part, DeleteTask)}
    # `clear` with an empty list means all of them: that is as good as naming each.
    emptied = any(part.clear and not part.todos for part in decision.writes())
    gone = set(decision.before.ids()) - set(decision.after.ids()) - named
    return bool(gone) and not emptied


def verdict(before: Plan, out: Outcome, wanted: Expected, *, times: bool) -> Iterator[str]:
    """
    Yield what is wrong with a step, in sentences.
    """
    if out.refused is not None and out.refused != wanted.refused:
        done = f"refused ({_listed(out.codes)})" if out.refused else "accepted"
        should = f"be refused ({_listed(wanted.codes)})" if wanted.refused else "be accepted"
        yield f"it was {done}, it should {should}"
    elif wanted.codes is not None and out.codes not in (None, wanted.codes):
        yield f"it was refused for {_listed(out.codes)}, it should be for {_listed(wanted.codes)}"
    if out.refused and out.plan != before:
        yield "it was refused, and changed the plan"
    grown = out.plan.revision - before.revision
    if out.events is not None and replay(before, out.events) != out.plan:
        yield "replaying its events does not give its plan"
    if out.events is not None and grown != len(out.events):
        yield f"the revision grew by {grown}, there were {len(out.events)} events"
    # Where the host has a clock that the model does not see, its finding may be a later one.
    unsure = wanted.repeats and not times
    if grown < 0 or (bool(grown) != wanted.changed and not unsure):
        should = "grow" if wanted.changed else "stay"
        yield f"the revision went from {before.revision} to {out.plan.revision}, it should {should}"
    yield from _approved_now(before, out.plan, wanted.model)
    yield from differences(out.plan, wanted.model, times=times)


def _approved_now(before: Plan, after: Plan, model: Model) -> Iterator[str]:
    """
    Yield whether an approval of this step names another revision than one of this step.
    """
    fresh = model.approved is not None and model.approved["revision"] is None
    if fresh and after.approved is not None:
        named = after.approved.revision
        if not before.revision < named <= after.revision:
            yield f"revision {named} is approved, it should be one of this step"


def _listed(codes: frozenset[str] | None) -> str:
    return ", ".join(sorted(codes or ())) or "no reason known"
