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
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Literal

import attrs

from todoplan.core.commands import Command, WriteTodos
from todoplan.core.decide.decide import Rejected, decide
from todoplan.core.events.types import Event
from todoplan.core.plan.plan import Plan
from todoplan.core.problems import Problem
from todoplan.core.rules.change import Change
from todoplan.core.rules.policy import Policy, Severity, judge
from todoplan.dialogue.intake.read import read
from todoplan.dialogue.intake.repairs import Repair
from todoplan.dialogue.replies.error_texts import repairs_text, sentence
from todoplan.dialogue.replies.views import one_line
from todoplan.dialogue.tools.toolset import Query
from todoplan.transcripts.calls import Compaction, PersonSpoke, PlanningCall
from todoplan.transcripts.replay.describing import describe, describe_silence
from todoplan.transcripts.replay.findings import AUDIT, Finding, rule_findings
from todoplan.transcripts.replay.following import ANYTHING_GOES, Follower
from todoplan.transcripts.replay.recorded_tools import FOREIGN_STATUS_WORDS, RECORDED, listed
from todoplan.transcripts.replay.rewording import meaning, merged, unnumbered
from todoplan.transcripts.replay.shown_state import LIMITS, is_new_list, shown_list
from todoplan.transcripts.replay.translation import Lane, Translation
from todoplan.transcripts.tools import canonical_tool

__all__ = ["CallReplay", "Mark", "Outcome", "Step"]

Mark = Compaction | PersonSpoke
Outcome = Literal["applied", "read", "refused", "unreadable", "impossible"]

# Nobody's mistake in planning: Claude Code and Gemini drop a call whose neighbour failed, or that
# the person stopped.
_CANCELLED = re.compile(
    r"Sibling tool call errored|Cancelled: parallel tool call|Request interrupted by user"
    r"|user doesn't want to proceed|Operation Cancelled"
)
_WHOLE = RECORDED["write_todos"].key
_CLIP = 120
_SHOWN = 3


@attrs.frozen
class Step:
    """
    What one planning call did: `plan` is its lane's after it, `chars` what call and answer cost.

    `before` has what happened in the conversation since the step before it, `was` the plan that all
    its events happened to, where that is known.
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
    before: tuple[Mark, ...] = ()
    was: Plan | None = None


@attrs.define
class CallReplay:
    """
    One call being replayed.
    """

    lane: Lane
    call: PlanningCall
    policy: Policy
    findings: list[Finding] = attrs.Factory(list)
    events: list[Event] = attrs.Factory(list)
    before: tuple[Mark, ...] = ()

    def carry_out(self) -> Step:
        """
        Carry the call out as the recording says it went, and judge it.
        """
        result = self.call.result
        self.events += self.lane.shown_between
        self.lane.shown_between.clear()
        describe_silence(self.lane, self.call, self._follower.note)
        if result is not None and result.is_error:
            code = "cancelled_call" if _CANCELLED.search(result.text) else "refused_call"
            self._follower.note(code, answer=one_line(result.text, _CLIP), detail=result.text)
            return self._step("refused")
        if result is None:
            self._follower.note("no_result")
        tool = RECORDED[canonical_tool(self.call.tool) or self.call.tool]
        arguments = self.call.arguments
        if tool.key == _WHOLE:
            arguments = listed(arguments)
        intake = read(arguments, tool.fields, LIMITS)
        request = None if intake.problems else tool.request(intake.values)
        if request is None or isinstance(request, Problem):
            problems = intake.problems or (request,)
            reasons = " ".join(sentence(one) for one in problems[:_SHOWN] if one)
            self._follower.note("unreadable_arguments", problems=reasons)
            return self._step("unreadable")
        if repairs := tuple(filter(_is_model_mistake, intake.repairs)):
            self._follower.note("repaired_arguments", repairs=repairs_text(repairs))
        if isinstance(request, Query):
            if result is not None:
                self._follower.read(result)
            return self._step("read")
        if isinstance(request, WriteTodos):
            merges = bool(intake.values.get("merge"))
            return self._written(request, merges=merges)
        self._follower.before_update()
        translation = Translation(self.lane, self.call, self.findings, self.events)
        return self._decided(translation.of(request))

    @property
    def _follower(self) -> Follower:
        return Follower(self.lane, self.call, self.findings, self.events)

    def _written(self, request: WriteTodos, *, merges: bool) -> Step:
        # Hosts carry out both and let the later one win; agents that send two rarely mean it.
        if self.call.turn and self.lane.written_in == self.call.turn:
            self._follower.note("parallel_write")
        self.lane.written_in = self.call.turn
        # What others did comes first: else it would seem to be done by this call.
        self._follower.before_write()
        if merges:
            command = merged(self.lane.plan, request, self.lane.shown)
        else:
            meant = meaning(self.lane.plan, request)
            command = meant.command
            if meant.begins or is_new_list(self.call.result, self.lane.plan):
                self._follower.begin()
                # Ids would name tasks of the old plan, and none is used twice (law 6).
                command = attrs.evolve(command, todos=unnumbered(command.todos))
        step = self._decided(command)
        # Ids of a list are its writer's own: a later merge names tasks by them.
        for todo, task in zip(request.todos, self.lane.plan, strict=False):
            if todo.id is not None and not merges:
                self.lane.shown[todo.id] = task.id
        # The answer has the last word on how the plan stands.
        if shown := shown_list(self.call.result):
            self._follower.whole(shown)
        return self._step(step.outcome)

    def _step(self, outcome: Outcome) -> Step:
        call = self.call
        answer = call.result.text if call.result else ""
        return Step(
            call.line,
            call.lane,
            call.actor,
            call.tool,
            call.at,
            outcome,
            self.lane.plan,
            tuple(self.events),
            tuple(self.findings),
            _length(call.arguments) + len(answer),
            self.before,
        )

    def _decided(self, command: Command) -> Step:
        before = self.lane.plan
        decision = decide(before, command, ANYTHING_GOES, at=self.call.at)
        if isinstance(decision, Rejected):
            # No plan can hold it (a cycle, an empty text). The recorded system accepted it all the
            # same: the audit describes, and does not call that an error.
            severity = Severity.WARN if self.policy == AUDIT else Severity.ERROR
            self._judge(decision.problems, severity, before)
            return self._step("impossible")
        change = Change(before, decision.plan, command, decision.events, self.policy.limits)
        errors, warnings = judge(self.policy, change)
        self._judge(errors, Severity.ERROR, before)
        self._judge(warnings, Severity.WARN, before)
        self.lane.plan = decision.plan
        self.events += decision.events
        describe(self.lane, self.call, change, self._follower.note)
        return self._step("applied")

    def _judge(self, problems: Iterable[Problem], severity: Severity, before: Plan) -> None:
        line, lane = self.call.line, self.lane.name
        self.findings.extend(rule_findings(problems, severity, line, lane, before))


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
