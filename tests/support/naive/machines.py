"""What the naive model expects of a step, and machines that compare each step (laws 2 and 3)."""

from collections.abc import Iterator, Mapping
from typing import Any

import attrs
from hypothesis.stateful import invariant
from support.naive.decision import NO_FENCES, NaiveDecision
from support.naive.model import Model, as_dict
from support.naive.rules import NAIVE_RULES, Given, problems

from todoplan.core.commands import DeleteTask, RestorePlan
from todoplan.core.decide import Accepted, decide, plan_of
from todoplan.core.plan.model import Approval, Status, Task
from todoplan.core.plan.plan import Counts, Plan
from todoplan.core.plan.questions import unresolved_blockers
from todoplan.core.problems import Problem
from todoplan.core.rules import RULES, Change, Policy, Severity
from todoplan.dialogue.intake import GUESSES, read
from todoplan.dialogue.replies import list_text
from todoplan.dialogue.tools import Ignoring, Query, Tool
from todoplan.testing.machine import (
    Outcome,
    PlanMachine,
    ToolMachine,
    call_text,
    command_text,
    differences,
)


def given_plan(given: Given) -> Plan:
    """Return the plan that an example of a rule begins with."""
    return plan_of(given.tasks, revision=given.revision, approved=given.approved)


def as_model(plan: Plan) -> Model:
    """Return the model of a plan."""
    model = Model()
    model.tasks = [as_dict(task) for task in plan]
    model.edges = [(end, task.id) for task in plan for end in task.blocked_by]
    model.next_id = plan.next_id
    model.approved = plan.approved and attrs.asdict(plan.approved)
    return model


def as_plan(model: Model, revision: int = 0) -> Plan:
    """Return a plan of the model's tasks; `revision` is that of an approval at the step at hand."""
    tasks = [
        Task(
            **task,
            blocks=tuple(b for a, b in model.edges if a == task["id"]),
            blocked_by=tuple(a for a, b in model.edges if b == task["id"]),
        )
        for task in model.tasks
    ]
    approved = model.approved
    if approved is not None and approved["revision"] is None:
        approved = {**approved, "revision": revision}
    return plan_of(tasks, next_id=model.next_id, approved=approved and Approval(**approved))


def unlike_model(plan: Plan, model: Model, *, times: bool) -> Iterator[str]:
    """
    Yield where a plan is not the model: what it holds, and what it says of itself (blockers,
    children, counts, lists), which the model counts anew.
    """
    revision = plan.approved.revision if plan.approved else 0
    yield from differences(plan, as_plan(model, revision), times=times)
    statuses = [task["status"] for task in model.tasks]
    counts = Counts(**{status.value: statuses.count(status) for status in Status})
    opinions: dict[str, tuple[object, object]] = {"counts": (plan.counts, counts)}
    for name, tasks, wanted in (
        ("ready", plan.ready(), model.ready()),
        ("in progress", plan.active(), model.active()),
        ("waiting", plan.waiting(), model.waiting()),
    ):
        opinions[f"tasks {name}"] = [task.id for task in tasks], wanted
    for task in plan:
        if task.id in model.ids():
            blockers = {*unresolved_blockers(plan, task)}, {*model.blockers(task.id)}
            opinions[f"blockers of #{task.id}"] = blockers
            opinions[f"children of #{task.id}"] = (
                [*plan.children(task.id)],
                model.children(task.id),
            )
    for what, (found, wanted) in opinions.items():
        if found != wanted:
            yield f"the {what}: {found}, by the naive model {wanted}"


@attrs.frozen(eq=False)
class Expected:
    """
    The expected result of a step: the model after it, and the problem codes if it is refused.

    `codes` is `None` if only the refusal matters. `changed` is whether anything should change,
    `restores` whether an earlier plan is restored, and `repeats` whether the step may change only a
    time (known evidence is recorded again, or a claim renewed).
    """

    model: Model
    refused: bool = False
    codes: frozenset[str] | None = frozenset()
    changed: bool = False
    restores: bool = False
    repeats: bool = False


def expected_of_command(plan: Plan, policy: Policy, decision: NaiveDecision) -> Expected:
    """
    Return what the model expects of a command. Rules of the user's own, which the model does not
    know, are called themselves.
    """
    known = {
        rule.name: level
        for rule, level in policy.rules
        # By identity: a rule of the user's own may have the name of one of ours.
        if RULES.get(rule.name) is rule and rule.name in NAIVE_RULES
    }
    codes = problems(decision, known, policy.limits)
    if not any(decision.faults.values()):
        # Without rules: a rule of the user's own gets the change that would be made.
        no_rules, at, actor = Policy((), policy.limits), decision.at, decision.actor
        fences = decision.held
        answer = decide(plan, decision.command, no_rules, at=at, actor=actor, fences=fences)
        if isinstance(answer, Accepted):  # else there is no change that a rule could look at
            made = answer.plan, decision.command, answer.events
            change = Change(plan, *made, policy.limits, actor)
            codes |= _own_codes(policy, change, known)
    if codes:
        # An invalid plan may have one of several codes; the model has only one. Of several edges
        # that contradict each other, some may not be named, or may have another code.
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
    Return the expected result of a call that means these well-formed arguments; `None`: a refusal.

    `sent` are the arguments as they are sent. If intake guesses their container, the call removes
    no task.
    """
    request = None if meant is None else tool.request(read(meant, tool.fields).values)
    if request is None or isinstance(request, Problem):
        return Expected(model, refused=True, codes=None)
    if isinstance(request, Ignoring):
        request = request.command
    if isinstance(request, Query):
        unknown = request.task_id is not None and request.task_id not in model.ids()
        return Expected(model, refused=unknown, codes=None)
    decision = NaiveDecision(model, request)
    wanted = expected_of_command(plan, policy, decision)
    is_guess = any(repair.code in GUESSES for repair in read(sent, tool.fields).repairs)
    if not wanted.refused and is_guess and _drops_unnamed(decision):
        return Expected(model, refused=True, codes=frozenset({"guessed_container"}))
    return wanted


def _drops_unnamed(decision: NaiveDecision) -> bool:
    named = {part.task_id for part in decision.commands if isinstance(part, DeleteTask)}
    # `clear` with an empty list means all of them: that is as good as naming each.
    emptied = any(part.clear and not part.todos for part in decision.writes())
    gone = set(decision.before.ids()) - set(decision.after.ids()) - named
    return bool(gone) and not emptied


def faults(before: Plan, out: Outcome, wanted: Expected, *, times: bool) -> Iterator[str]:
    """Yield a sentence for each difference between the result of a step and the expected one."""
    if out.refused is not None and out.refused != wanted.refused:
        yield f"refused: {out.refused} {out.codes}, the model: {wanted.refused} {wanted.codes}"
    elif wanted.codes is not None and out.codes not in (None, wanted.codes):
        yield f"it was refused for {out.codes}, it should be for {wanted.codes}"
    grown = out.plan.revision - before.revision
    # If the code under test has a clock of its own, its evidence may have a later time.
    unsure = wanted.repeats and not times
    if bool(grown) != wanted.changed and not unsure:
        yield f"the revision grew by {grown}, for the model something changed: {wanted.changed}"
    fresh = wanted.model.approved is not None and wanted.model.approved["revision"] is None
    if fresh and not before.revision < out.plan.approved.revision <= out.plan.revision:
        yield f"revision {out.plan.approved.revision} is approved, it should be one of this step"
    yield from unlike_model(out.plan, wanted.model, times=times)


class _Beside:
    """Adds the model to a machine. It makes each step too, and is compared after it."""

    def __init__(self) -> None:
        super().__init__()
        self.model = Model()

    def agree(self, step: str, before: Plan, wanted: Expected) -> None:
        """Compare the last step with what the model expects, and let the model make the step."""
        found = [*faults(before, self.latest, wanted, times=self.times)]
        if found:
            self.fail(
                f"after {step}, beside the naive model", found, list_text(as_plan(wanted.model))
            )
        self.model = wanted.model
        if self.model.approved is not None:
            # The model does not count events: it learns which revision was meant.
            self.model.approved["revision"] = self.plan.approved.revision

    @invariant()
    def plan_is_model(self) -> None:
        """
        Compare tasks, order, edges, next id, counts, ready and waiting with what counting gives.
        """
        found = [*unlike_model(self.plan, self.model, times=self.times)]
        if found:
            self.fail("between two steps", found, list_text(as_plan(self.model)))


class NaiveMachine(_Beside, PlanMachine):
    """The shipped machine of commands, with the naive model as a second opinion on each step."""

    def do(self, command, at=None, actor=None, fences=NO_FENCES):
        """Take a command through all three, and compare."""
        before, at = self.plan, at if self.times else None
        decision = NaiveDecision(self.model, command, at, actor, fences)
        wanted = expected_of_command(before, self.policy, decision)
        super().do(command, at, actor, fences)
        self.agree(command_text(command), before, wanted)


class NaiveToolMachine(_Beside, ToolMachine):
    """The shipped machine of calls, with the naive model as a second opinion on each."""

    def send(self, call, meant):
        """Take a call through all three, and compare."""
        before = self.plan
        tool = next(tool for tool in self.toolset.tools if tool is self.toolset.find(call.name))
        wanted = expected_of_call(before, self.model, self.policy, tool, meant, sent=call.arguments)
        super().send(call, meant)
        self.agree(call_text(call), before, wanted)
