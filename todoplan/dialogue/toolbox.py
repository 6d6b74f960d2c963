"""
The toolbox turns a tool call into a reply. It is pure: it does no I/O and has no state.

A call passes through these steps: the tool set finds the tool, intake reads the arguments into
values, the tool makes a command or a query of the values, the core decides, and `replies` words
the result. No other code combines these steps, so every framework gives equal replies to equal
calls (law 12). A framework that owns the state passes its plan to the toolbox; `Planner` wraps the
toolbox for everybody else.

This module contains only the order of the steps and the code that connects them. A mistake of the
model never raises: it gives a `Reply` with `is_error` and the unchanged plan. A mistake of the
developer raises a `PlanError` at once, for example a wrong type, or a policy that no call of the
tool set could satisfy.

The calls of one turn are carried out in order, each on the plan after the one before it (law 13).
There is one exception: of several whole-list writes in a turn, none is carried out. The model wrote
each of them without the result of the others, so the last one would undo the rest.
"""

from __future__ import annotations  # help() shows short names, without the module path

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any

import attrs

from todoplan.core.arguments import as_seconds
from todoplan.core.commands import Batch, ClaimTask, Command, UpdateTask
from todoplan.core.decide.decide import Rejected, decide_with_change
from todoplan.core.events.base import Base, Note
from todoplan.core.events.types import TaskCreated
from todoplan.core.plan.fast_constructor import fast_constructor
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.validation import short_repr, tuple_of
from todoplan.core.problems import Problem
from todoplan.core.rules.change import Change
from todoplan.core.rules.policy import Policy, Severity
from todoplan.core.rules.presets import DEFAULT
from todoplan.dialogue.calls import Call, Reply, Turn, checked_base, checked_plan
from todoplan.dialogue.held_claims import NO_FENCES, Fences, fences_after, keeping_claims
from todoplan.dialogue.intake.cleaning import quoted
from todoplan.dialogue.intake.fields import shown_path
from todoplan.dialogue.intake.parsing import InputLimits
from todoplan.dialogue.intake.read import read
from todoplan.dialogue.intake.repairs import Repair, loss_by_guess
from todoplan.dialogue.replies.error_texts import error_text, repairs_text, warnings_text
from todoplan.dialogue.replies.phrasing import (
    all_done_text,
    change_text,
    claims_in_vain,
    not_in_reply,
    whole_list_text,
)
from todoplan.dialogue.replies.unseen import news_text
from todoplan.dialogue.replies.views import ids_text, list_text, task_text
from todoplan.dialogue.tools.lean import not_started
from todoplan.dialogue.tools.todos import TODOS
from todoplan.dialogue.tools.toolset import (
    CLAIM,
    Ignoring,
    Query,
    Tool,
    ToolSet,
    plain_name,
    require_met,
)
from todoplan.errors import PlanError

__all__ = ["Call", "Reply", "Toolbox", "Turn"]


# Takes positional arguments: keyword arguments take twice as long, about 3 % of a call.
_reply = fast_constructor(Reply)
_fields_before_id = attrgetter(*(field.name for field in attrs.fields(Reply)[:8]))
_FINE, _ERROR = False, True
_NOTHING = Note()
_NOBODY = "an agent"  # the owner of a claim if the caller passes no actor


@attrs.frozen
class Toolbox:
    """
    A tool set with a policy.

    `limits` bounds the size of the arguments of one call. Two notes cost tokens and are off by
    default: `show_list` adds the whole list to the reply to each change, and `say_done` adds a note
    when no task is open any more. Each planning call of a session extends its claims to `lease`
    seconds from that call.

    Raises:
        PlanError: an argument has the wrong type, or no call of the tool set could satisfy the
            policy.
    """

    toolset: ToolSet = TODOS
    policy: Policy = DEFAULT
    limits: InputLimits = InputLimits()
    show_list: bool = False
    say_done: bool = False
    # Longer than a worker's: a model that runs a test suite makes no planning call meanwhile.
    lease: float = attrs.field(default=900.0, converter=as_seconds)

    def __attrs_post_init__(self) -> None:
        for name, kind in (("toolset", ToolSet), ("policy", Policy), ("limits", InputLimits)):
            seen = getattr(self, name)
            if not isinstance(seen, kind):
                msg = (
                    f"{short_repr(seen)} is no {kind.__name__}; write Toolbox(TASKS, DEFAULT), say"
                )
                raise PlanError(msg, seen=seen)
        require_met(self.toolset, self.policy)

    def __repr__(self) -> str:
        options = [
            f", {field.name}={getattr(self, field.name)!r}"
            for field in attrs.fields(Toolbox)[2:]
            if getattr(self, field.name) != field.default
        ]
        return f"Toolbox({self.toolset!r}, {self.policy!r}{''.join(options)})"

    def call(  # noqa: PLR0913 - a call and its context
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
        """
        Answer one call.

        `arguments` is a JSON text or a mapping. `at` is an aware time, or `None`. `actor` is the
        author of the call, for claims and for rules that depend on the author. `fences` are the
        fencing tokens of the claims from the session's earlier calls (see `fences_after`); this
        call extends those claims.

        `base` is the merge base of the caller's session. Without one, the session is taken to be
        the only one, and to have listed all tasks. Changes by others are kept, and the reply
        reports them. After a successful reply, the new merge base is
        `base.advanced(plan, reply.plan, [reply.note])`.

        Raises:
            PlanError: `plan` is not a plan, or `base` is not a merge base. Nothing that a model
                sends raises.
        """
        if type(plan) is not Plan:
            checked_plan(plan)
        if base is not None:
            checked_base(base)
        reply = self._answer(plan, name, arguments, at, base, actor, fences)
        return _with_unseen(reply, plan, base)

    def _answer(  # noqa: PLR0913, PLR0917 - one return for each outcome
        self,
        plan: Plan,
        name: str,
        arguments: object,
        at: datetime | None,
        base: Base | None,
        actor: str | None,
        fences: Fences,
    ) -> Reply:
        tool = self.toolset.find(name)
        if tool is None:
            name = plain_name(name)
            legal = ", ".join(self.toolset.tool_names)
            problem = Problem("unknown_tool", seen=quoted(name), legal=legal)
            return _refusal(plan, name, (problem,))
        intake = read(arguments, tool.fields, self.limits)
        repairs = intake.repairs
        if intake.problems:
            return _refusal(plan, name, intake.problems, repairs, self._example(plan, tool))
        values = intake.values
        if tool.for_hand:
            values = {**values, CLAIM: ClaimTask(actor or _NOBODY, self.lease)}
        request = tool.request(values)
        if isinstance(request, Problem):
            problems = _with_shown_paths((request,), tool)
            return _refusal(plan, name, problems, repairs, self._example(plan, tool))
        if isinstance(request, Ignoring):
            repairs = (*repairs, *_ignored(request, tool, values))
            request = request.command
        if isinstance(request, Query):
            shown = self._show(plan, name, request, repairs)
            return keeping_claims(shown, fences, self.lease, at) if fences else shown
        if type(request) is Batch and self._holds_back(plan):
            request = not_started(request)
        decision, change = decide_with_change(plan, request, self.policy, at, base, actor, fences)
        if isinstance(decision, Rejected):
            # No example: the arguments are well formed and only violate a rule.
            return _refusal(plan, name, _with_shown_paths(decision.problems, tool), repairs)
        # Law 17 is checked after the decision: only the change shows whether a task would be lost.
        if repairs and (loss := loss_by_guess(repairs, change)):
            return _refusal(plan, name, (loss,), repairs, self._example(plan, tool))
        text = whole_list_text(change) if tool.whole_list else change_text(change)
        if tool.for_hand and (vain := claims_in_vain(change)):
            text = f"{text}; {vain}"
        if decision.warnings or repairs or self.say_done or self.show_list:
            text = _lines(text, *self._notes(change, decision.warnings, repairs))
        after, events, warnings = decision.plan, decision.events, decision.warnings
        note = _NOTHING
        if base is not None:
            created = (event.task.id for event in events if type(event) is TaskCreated)
            note = Note(change.lines, (*named_by(request), *created))
        reply = _reply(after, text, events, _FINE, (), warnings, repairs, name, "", None, note)
        return keeping_claims(reply, fences, self.lease, at) if fences else reply

    def _holds_back(self, plan: Plan) -> bool:
        return plan.approved is None and self.policy.severity("approval_required") is Severity.ERROR

    def _notes(
        self, change: Change, warnings: tuple[Problem, ...], repairs: tuple[Repair, ...]
    ) -> Iterator[str]:
        """
        Yield the notes after the reply to a change: warnings, repairs, and the optional notes.
        """
        yield from warnings_text(not_in_reply(warnings))
        yield repairs_text(repairs)
        if change.events and self.say_done and not change.after.counts.open:
            yield all_done_text(change)
        if change.events and self.show_list:
            yield list_text(change.after)

    def _show(self, plan: Plan, name: str, query: Query, repairs: tuple[Repair, ...]) -> Reply:
        if query.task_id is None:
            text = _lines(list_text(plan), repairs_text(repairs))
        elif task := plan.get(query.task_id):
            # A task ends with its description, which may contain any text: so notes precede it.
            text = _lines(repairs_text(repairs), task_text(plan, task))
        else:
            legal = ids_text(task.id for task in plan)
            problem = Problem("unknown_task", (), query.task_id, legal)
            return _refusal(plan, name, (problem,), repairs)
        note = Note(read=query.task_id or "")
        return _reply(plan, text, (), _FINE, (), (), repairs, name, "", None, note)

    def _example(self, plan: Plan, tool: Tool) -> str:
        """Return example arguments for a tool; a plan with tasks may have another example."""
        # Only `lean` has a later example: its first one writes a new plan.
        key = f"{tool.key}.example"
        later = self.toolset.text(f"{key}.later") if len(plan) else ""
        return later or self.toolset.text(key)

    def turn(  # noqa: PLR0913 - as `call`
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
        Answer all planning calls of one model turn, in order (law 13).

        Each call works on the plan after the previous one. Of several whole-list writes, none is
        carried out and each gets an error; the other calls are carried out. `base`, `actor` and
        `fences` have the same meaning as in `call` and are those before the turn, because the model
        wrote all calls before it read any reply.

        Raises:
            PlanError: `plan` is not a plan, `base` is not a merge base, or `calls` contains
                something other than calls.
        """
        checked_plan(plan)
        calls = tuple_of(calls, Call, 'the calls of a turn, such as [Call("TaskList", {})]')
        seen = None if base is None else checked_base(base)
        clashing = self.clashing([call.name for call in calls])
        replies: list[Reply] = []
        for index, call in enumerate(calls):
            if index in clashing:
                problem = Problem("parallel_write", seen=str(len(clashing)))
                reply = _refusal(plan, call.name, (problem,))
            else:
                reply = self._answer(plan, call.name, call.arguments, at, seen, actor, fences)
                if self.toolset.team:
                    fences = fences_after(fences, reply.events)
                if seen is not None and not reply.is_error:
                    reply = _with_unseen(reply, plan, seen)
                if seen is not None and index + 1 < len(calls):
                    seen = seen.with_own(reply.events)  # own changes are no news to a session
                    # The first reply has reported the changes by others; later ones do not repeat.
                    if not reply.is_error or seen.heard is not None:
                        seen = attrs.evolve(seen, heard=reply.plan)
            plan = reply.plan
            if call.call_id != reply.call_id:
                reply = _with_id(reply, call.call_id)
            replies.append(reply)
        return Turn(plan, tuple(replies))

    def clashing(self, names: Sequence[str]) -> frozenset[int]:
        """Return the positions of the whole-list writes in a turn, if there is more than one."""
        found = map(self.toolset.find, names)
        whole = [index for index, tool in enumerate(found) if tool is not None and tool.whole_list]
        return frozenset(whole) if len(whole) > 1 else frozenset()


def named_by(command: Command) -> tuple[str, ...]:
    """
    Return the task ids that a command contains, without the task that `lean` starts by itself.
    """
    if isinstance(command, Batch):
        return tuple(name for part in command.commands for name in named_by(part))
    if isinstance(command, UpdateTask | ClaimTask) and command.task_id is not None:
        return (command.task_id,)
    return ()


def _with_id(reply: Reply, call_id: str) -> Reply:
    # `attrs.evolve` takes a fifth of the time of a call for this.
    return _reply(*_fields_before_id(reply), call_id, reply.repeat_of, reply.note)


def _with_unseen(reply: Reply, plan: Plan, base: Base | None) -> Reply:
    # The news come first: a reply may end with a description, which may contain any text.
    if base is None or reply.is_error:
        return reply
    news = news_text(base, plan, reply)
    return attrs.evolve(reply, text=_lines(news, reply.text)) if news else reply


def _refusal(
    plan: Plan,
    name: str,
    problems: tuple[Problem, ...],
    repairs: tuple[Repair, ...] = (),
    example: str = "",
) -> Reply:
    text = error_text(problems, example)
    return _reply(plan, text, (), _ERROR, problems, (), repairs, name)


def _ignored(request: Ignoring, tool: Tool, values: Mapping[str, Any]) -> tuple[Repair, ...]:
    return tuple(
        Repair("ignored_key", field.name, quoted(values[field.target]))
        for field in tool.fields
        if field.target in request.ignored
    )


def _with_shown_paths(problems: tuple[Problem, ...], tool: Tool) -> tuple[Problem, ...]:
    """Return the core's problems, with paths in the argument names that the model sees."""
    return tuple(
        attrs.evolve(problem, path=shown_path(problem.path, tool.fields)) for problem in problems
    )


def _lines(*parts: str) -> str:
    return "\n".join(part for part in parts if part)
