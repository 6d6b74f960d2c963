"""
Verification of a task's check by the program, before a model may complete the task.

A call that completes a task with a check is decided twice. The first decision ignores the rule
`evidence_required`, to learn which tasks the call would complete. The second decision applies the
full policy, with the verifier's findings recorded as evidence. The evidence events precede the
call's own events. Law 20 is enforced by the core with its rule `evidence_required`; this module
only supplies the evidence that the rule needs.

A verifier may take long and does I/O, so it does not run in this pure package. Tasks without a
finding are collected in `missing`, and the reply is discarded. The code that carries out the calls
then runs the verifier and calls again (see `todoplan.planner.verifying`). A finding is valid only
for the version of the task that was verified: if others have changed the task since, it is verified
again.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

import attrs

from todoplan.core.commands import RecordEvidence
from todoplan.core.decide.decide import decide_with_change
from todoplan.core.events.base import Base
from todoplan.core.events.types import Event, StatusChanged
from todoplan.core.plan.model import Status, Task
from todoplan.core.plan.plan import Plan
from todoplan.core.problems import Problem, ids_text
from todoplan.core.rules.policy import Policy, Severity
from todoplan.dialogue.calls import Call, Reply, Turn
from todoplan.dialogue.held_claims import NO_FENCES, Fences
from todoplan.dialogue.replies.error_texts import error_text
from todoplan.dialogue.toolbox import Toolbox
from todoplan.texts.cleaning import clipped, one_line
from todoplan.texts.wording import say

__all__ = ["CheckedToolbox", "Finding", "Findings", "Found"]

_ANYTHING_GOES = Policy()


class Finding(NamedTuple):
    """The result of a verifier: whether the check passed, and a short summary of what was seen."""

    passed: bool
    summary: str = ""


Found = Finding | str | None
"""A finding; the reason why there is none; or `None` if the verifier does not handle the check."""


@attrs.define(eq=False)
class Findings:
    """
    The findings about the tasks that the calls of a turn complete.

    `by` is the verifier's name. `upon` is the plan before the turn. `missing` are the tasks that
    must still be verified, each with the plan before its call.
    """

    by: str
    upon: Plan = attrs.field(factory=Plan)
    missing: list[tuple[Task, Plan]] = attrs.field(factory=list)
    _found: dict[str, tuple[Task | None, Found]] = attrs.field(factory=dict, alias="found")

    def beside(self) -> "Findings":
        """
        Return an object for another call of the same turn, which shares the recorded findings.
        """
        return Findings(self.by, found=self._found)

    def begin(self, plan: Plan) -> None:
        """Start answering calls on a plan: forget the missing tasks."""
        self.upon, self.missing = plan, []

    def put(self, task_id: str, found: Found) -> None:
        """Record the finding about a task in its version before the turn."""
        self._found[task_id] = self.upon.get(task_id), found

    def knows(self, task_id: str) -> bool:
        """Return whether the present version of a task was verified."""
        return task_id in self._found and self._found[task_id][0] == self.upon.get(task_id)

    def of(self, task_id: str) -> Found:
        """Return the finding about a task that was verified."""
        return self._found[task_id][1]


@attrs.frozen
class CheckedToolbox(Toolbox):
    """
    A toolbox that completes a task with a check only after a verifier has found that it passes.

    Its own policy is that of `strict` without the rule `evidence_required`; it serves to learn what
    a call would complete. The final decision uses the policy of `strict`.
    """

    strict: Toolbox = attrs.field(kw_only=True)
    findings: Findings = attrs.field(kw_only=True, eq=False)

    @classmethod
    def of(cls, toolbox: Toolbox, findings: Findings) -> "CheckedToolbox":
        """Return a checked version of a toolbox, which uses these findings."""
        # Only the fields of `Toolbox`: an observed toolbox has more, and is notified elsewhere.
        named = [field.name for field in attrs.fields(Toolbox)]
        fields, policy = {name: getattr(toolbox, name) for name in named}, toolbox.policy
        if policy.severity("evidence_required") is not Severity.OFF:
            fields["policy"] = policy.but(evidence_required="off")
        return cls(**fields, strict=toolbox, findings=findings)

    def upon(self, findings: Findings) -> "CheckedToolbox":
        """Return this toolbox with the findings of another turn."""
        return attrs.evolve(self, findings=findings)

    def call(  # noqa: PLR0913 - as `Toolbox.call`
        self,
        plan: Plan,
        name: str,
        arguments: object = None,
        *,
        at: datetime | None = None,
        base: Base | None = None,
        actor: str | None = None,
        fences: Fences = NO_FENCES,
    ) -> Reply:
        """Answer one call. The reply is valid only if no finding is `missing` afterwards."""
        self.findings.begin(plan)
        return super().call(plan, name, arguments, at=at, base=base, actor=actor, fences=fences)

    def turn(  # noqa: PLR0913 - as `Toolbox.turn`
        self,
        plan: Plan,
        calls: Sequence[Call],
        *,
        at: datetime | None = None,
        base: Base | None = None,
        actor: str | None = None,
        fences: Fences = NO_FENCES,
    ) -> Turn:
        """
        Answer all planning calls of one model turn.

        The replies are valid only if no finding is `missing` afterwards.
        """
        self.findings.begin(plan)
        return super().turn(plan, calls, at=at, base=base, actor=actor, fences=fences)

    def _answer(  # noqa: PLR0913, PLR0917 - as `Toolbox._answer`
        self,
        plan: Plan,
        name: str,
        arguments: object,
        at: datetime | None,
        base: Base | None,
        actor: str | None,
        fences: Fences,
    ) -> Reply:
        trial = super()._answer(plan, name, arguments, at, base, actor, fences)
        claimed = [] if trial.is_error else [*_claimed(plan, trial)]
        unknown = [(task, plan) for task in claimed if not self.findings.knows(task.id)]
        if unknown:
            # The turn goes on as if the checks had passed, so that one round collects all tasks.
            self.findings.missing += unknown
            return trial
        found = {task.id: self.findings.of(task.id) for task in claimed}
        before, events = _recorded(plan, found, self.findings.by, at)
        if unable := _unable(claimed, found):
            reply = _refused(trial, before, unable)
        else:
            strict = self.strict._answer  # noqa: SLF001 - another toolbox
            reply = strict(before, name, arguments, at, base, actor, fences)
            if reply.is_error and events:
                reply = _refused(reply, before, _explained(reply.problems, found))
        if not claimed:
            return reply
        text = "\n".join((reply.text, *_seen(found, refused=reply.is_error)))
        return attrs.evolve(reply, text=text, events=(*events, *reply.events))


def _claimed(plan: Plan, trial: Reply) -> Iterator[Task]:
    """Yield the tasks with a check that a call completes, in their version before the call."""
    completed = dict.fromkeys(
        event.task_id
        for event in trial.events
        if isinstance(event, StatusChanged) and event.new is Status.COMPLETED
    )
    for task_id in completed:
        task, after = plan.get(task_id), trial.plan.get(task_id)
        # A check that the call itself sets or changes is not verified. Nor is a closed task:
        # reopening it would drop the evidence (law 20).
        stays = task and after and task.check and after.check == task.check
        if task and after and stays and not task.status.closed and after.status is Status.COMPLETED:
            yield task


def _recorded(
    plan: Plan, found: dict[str, Found], by: str, at: datetime | None
) -> tuple[Plan, tuple[Event, ...]]:
    """Return the plan with the findings recorded as evidence, without rules, and the events."""
    events: tuple[Event, ...] = ()
    for task_id, finding in found.items():
        if isinstance(finding, Finding):
            command = RecordEvidence(task_id, finding.passed, finding.summary, by)
            _, change = decide_with_change(plan, command, _ANYTHING_GOES, at, None, by)
            plan, events = change.after, (*events, *change.events)
    return plan, events


def _refused(reply: Reply, plan: Plan, problems: tuple[Problem, ...]) -> Reply:
    kept = attrs.evolve(reply, plan=plan, text=error_text(problems), problems=problems)
    return attrs.evolve(kept, is_error=True, events=(), warnings=())


def _explained(problems: tuple[Problem, ...], found: dict[str, Found]) -> tuple[Problem, ...]:
    """Replace "evidence required" by the failed finding, for each task that was verified."""
    return tuple(
        attrs.evolve(
            each, code="check_failed", legal=each.seen, seen=_summary(found[each.task_ids[0]])
        )
        if each.code == "evidence_required" and isinstance(found.get(each.task_ids[0]), Finding)
        else each
        for each in problems
    )


def _summary(found: Found) -> str:
    seen = clipped(one_line(found.summary)) if isinstance(found, Finding) else ""
    return seen or say("replies", "check_nothing_seen")


def _unable(claimed: list[Task], found: dict[str, Found]) -> tuple[Problem, ...]:
    return tuple(
        Problem("check_not_made", (task.id,), seen=why, legal=task.check or "")
        for task in claimed
        if isinstance(why := found[task.id], str)
    )


def _seen(found: dict[str, Found], *, refused: bool) -> Iterator[str]:
    """
    Yield the lines about checks that follow the reply; a refusal itself names the failed ones.
    """
    passed = [each for each, one in found.items() if isinstance(one, Finding) and one.passed]
    if passed:
        yield say("replies", "check_passed", ids=ids_text(passed))
    for task_id, one in found.items():
        if isinstance(one, Finding) and not one.passed and not refused:
            yield say("replies", "check_failed", id=task_id, summary=_summary(one))
