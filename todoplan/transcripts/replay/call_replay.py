"""
One recorded call, replayed on its lane's plan.

What happened, happened. A call that was accepted when it was made is carried out again under no
policy at all, and judged by one afterwards: if the policy refused it, the plan would stand still
from there on, and every later finding would be about a plan that never was. A call that the
recording says was refused changes nothing. So there are five outcomes: `applied`, `read`, `refused`
(then), `unreadable` (no arguments that we understand) and `impossible` (no plan can hold the
result).
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

import attrs

from todoplan.core.commands import (
    UNSET,
    ClearPlan,
    Command,
    CreateTask,
    DeleteTask,
    UpdateTask,
    WriteTodos,
)
from todoplan.core.decide.decide import Rejected, decide
from todoplan.core.events.types import Event, StatusChanged, TaskCreated, TaskDeleted
from todoplan.core.plan.model import Status
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.questions import open_tasks
from todoplan.core.problems import Problem
from todoplan.core.rules.change import Change
from todoplan.core.rules.policy import Policy, Severity, judge
from todoplan.dialogue.intake.parsing import InputLimits
from todoplan.dialogue.intake.read import read
from todoplan.dialogue.intake.repairs import Repair
from todoplan.dialogue.replies.error_texts import repairs_text, sentence
from todoplan.dialogue.replies.views import ids_text, one_line
from todoplan.dialogue.tools.toolset import Query
from todoplan.transcripts.calls import PlanningCall
from todoplan.transcripts.replay.findings import AUDIT, Finding, recording_finding, rule_finding
from todoplan.transcripts.replay.recorded_tools import FOREIGN_STATUS_WORDS, RECORDED, merged
from todoplan.transcripts.replay.shown_state import (
    ShownTask,
    is_new_list,
    shown_tasks,
    shows_all,
    shows_none,
    status_before,
)
from todoplan.transcripts.replay.translation import Lane, Translation
from todoplan.transcripts.tools import canonical_tool

__all__ = ["CallReplay", "Outcome", "Step"]

Outcome = Literal["applied", "read", "refused", "unreadable", "impossible"]

# Wider than for a live model: what a recording holds has already been accepted once.
_LIMITS = InputLimits(chars=16_777_216, items=10_000)
_ANYTHING_GOES = Policy()
# Nobody's mistake in planning: Claude Code and Gemini drop a call whose neighbour failed, or that
# the person stopped.
_CANCELLED = re.compile(
    r"Sibling tool call errored|Cancelled: parallel tool call|Request interrupted by user"
    r"|user doesn't want to proceed|Operation Cancelled"
)
_CLIP = 120
_SHOWN = 3
_SEVERAL = 2


@attrs.frozen
class Step:
    """
    What one planning call did: `plan` is its lane's after it, `chars` what call and answer cost.
    """

    line: int
    lane: str
    actor: str
    tool: str
    at: datetime | None
    outcome: Outcome
    plan: Plan
    events: tuple[Event, ...]
    findings: tuple[Finding, ...]
    chars: int


@attrs.define
class CallReplay:
    """
    One call being replayed.
    """

    lane: Lane
    call: PlanningCall
    policy: Policy
    findings: list[Finding] = attrs.Factory(list)
    made_elsewhere: list[Event] = attrs.Factory(list)

    def carry_out(self) -> Step:
        """
        Carry the call out as the recording says it went, and judge it.
        """
        result = self.call.result
        if result is not None and result.is_error:
            code = "cancelled_call" if _CANCELLED.search(result.text) else "refused_call"
            self._note(code, answer=one_line(result.text, _CLIP))
            return self._step("refused")
        if result is None:
            self._note("no_result")
        tool = RECORDED[canonical_tool(self.call.tool) or self.call.tool]
        intake = read(self.call.arguments, tool.fields, _LIMITS)
        request = None if intake.problems else tool.request(intake.values)
        if request is None or isinstance(request, Problem):
            problems = intake.problems or (request,)
            reasons = " ".join(sentence(one) for one in problems[:_SHOWN] if one)
            self._note("unreadable_arguments", problems=reasons)
            return self._step("unreadable")
        if repairs := tuple(filter(_is_model_mistake, intake.repairs)):
            self._note("repaired_arguments", repairs=repairs_text(repairs))
        if isinstance(request, Query):
            self._follow_shown_tasks()
            return self._step("read")
        if isinstance(request, WriteTodos):
            # Hosts carry out both and let the later one win; agents that send two rarely mean it.
            if self.call.turn and self.lane.written_in == self.call.turn:
                self._note("parallel_write")
            self.lane.written_in = self.call.turn
            if is_new_list(result, self.lane.plan):
                self._note("new_plan")
                self._follow(ClearPlan())
            merges = bool(intake.values.get("merge"))
            return self._decided(merged(self.lane.plan, request) if merges else request)
        if (before := status_before(result)) and self._follow_shown_task(before):
            self._note("changed_elsewhere", before.id, tasks=ids_text((before.id,)))
        return self._decided(self._translation.of(request))

    @property
    def _translation(self) -> Translation:
        return Translation(self.lane, self.call, self.findings, self.made_elsewhere)

    def _follow_shown_tasks(self) -> None:
        """
        Set the lane's plan to what the answer shows, and note what was different.
        """
        result, plan = self.call.result, self.lane.plan
        if result is None:
            return
        if shows_none(result) and (left := open_tasks(plan)):
            ids = (task.id for task in left)
            self._note("lost_plan", *ids, open=len(left), total=len(plan))
            return
        shown = shown_tasks(result)
        different = [one.id for one in shown if self._follow_shown_task(one)]
        if shown and shows_all(result):
            known = {self.lane.shown.get(one.id, one.id) for one in shown}
            gone = [task.id for task in self.lane.plan if task.id not in known]
            different += [task_id for task_id in gone if self._follow(DeleteTask(task_id))]
        if different:
            self._note("changed_elsewhere", *different, tasks=ids_text(different))

    def _follow_shown_task(self, shown: ShownTask) -> bool:
        """
        Make a task what it is shown to be; say whether it was something else.
        """
        task = self.lane.plan.get(self.lane.shown.get(shown.id, shown.id))
        if task is None:
            if not shown.subject:
                return False
            self._translation.claim_ids((shown.id,))
            return self._follow(CreateTask(shown.subject, status=shown.status))
        status = UNSET if task.status is shown.status else shown.status
        renamed = shown.exact and task.subject != shown.subject
        if status is UNSET and not renamed:
            return False
        return self._follow(
            UpdateTask(task.id, status=status, subject=shown.subject if renamed else UNSET)
        )

    def _follow(self, command: Command) -> bool:
        decision = decide(self.lane.plan, command, _ANYTHING_GOES, at=self.call.at)
        if isinstance(decision, Rejected):
            return False
        self.lane.plan = decision.plan
        self.made_elsewhere += decision.events
        return bool(decision.events)

    def _note(self, code: str, *task_ids: str, **values: object) -> None:
        self.findings.append(
            recording_finding(code, self.call.line, self.lane.name, *task_ids, **values)
        )

    def _step(self, outcome: Outcome, plan: Plan | None = None, *events: Event) -> Step:
        call = self.call
        answer = call.result.text if call.result else ""
        return Step(
            call.line,
            call.lane,
            call.actor,
            call.tool,
            call.at,
            outcome,
            self.lane.plan if plan is None else plan,
            (*self.made_elsewhere, *events),
            tuple(self.findings),
            _length(call.arguments) + len(answer),
        )

    def _decided(self, command: Command) -> Step:
        before = self.lane.plan
        decision = decide(before, command, _ANYTHING_GOES, at=self.call.at)
        if isinstance(decision, Rejected):
            # No plan can hold it (a cycle, an empty text). The recorded system accepted it all the
            # same: the audit describes, and does not call that an error.
            severity = Severity.WARN if self.policy == AUDIT else Severity.ERROR
            self._judge(decision.problems, severity)
            return self._step("impossible")
        change = Change(before, decision.plan, command, decision.events, self.policy.limits)
        errors, warnings = judge(self.policy, change)
        self._judge(errors, Severity.ERROR)
        self._judge(warnings, Severity.WARN)
        self._describe(command, decision.events)
        return self._step("applied", decision.plan, *decision.events)

    def _describe(self, command: Command, events: Sequence[Event]) -> None:
        """
        Note what no rule is about: it is legal, and still says how the plan was kept.
        """
        if isinstance(command, UpdateTask) and not events:
            self._note("no_effect", command.task_id)
        born = [
            e.task.id
            for e in events
            if isinstance(e, TaskCreated) and e.task.status is Status.COMPLETED
        ]
        # A completed item that is reworded leaves and comes back: it had been planned before.
        if born and not any(isinstance(e, TaskDeleted) for e in events):
            self._note("born_completed", *born, tasks=ids_text(born))
        if isinstance(command, UpdateTask) and self.call.turn:
            turn, ids = self.lane.completed_in
            done = tuple(
                e.task_id
                for e in events
                if isinstance(e, StatusChanged) and e.new is Status.COMPLETED
            )
            ids = (*ids, *done) if turn == self.call.turn else done
            self.lane.completed_in = (self.call.turn, ids)
            if done and len(ids) == _SEVERAL:
                self._note("parallel_completion", *ids, tasks=ids_text(ids))

    def _judge(self, problems: Iterable[Problem], severity: Severity) -> None:
        line, lane = self.call.line, self.lane.name
        self.findings.extend(rule_finding(problem, severity, line, lane) for problem in problems)


def _length(arguments: Mapping[str, Any] | str) -> int:
    if isinstance(arguments, str):
        return len(arguments)
    return len(json.dumps(arguments, ensure_ascii=False, separators=(",", ":")))


def _is_model_mistake(repair: Repair) -> bool:
    """
    Say whether the model was at fault: not where its system has more keys or words of its own.
    """
    # More keys than ours, ids and wrappers are the system's own.
    if repair.code in {"ignored_key", "id", "wrapper"}:
        return False
    return not (repair.code == "word" and repair.seen in FOREIGN_STATUS_WORDS)
