"""
The one road from a call to a reply: pure, and never an exception for what a model sends.

A framework that owns the state calls it with the plan from there; `Planner` wraps it for the rest.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

import attrs

from todoplan.core.commands import Command
from todoplan.core.decide.decide import Rejected, decide_with_change
from todoplan.core.events.types import Event
from todoplan.core.plan.fast_constructor import fast_constructor
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.validation import short_repr
from todoplan.core.problems import Problem
from todoplan.core.rules.change import Change
from todoplan.core.rules.policy import Policy
from todoplan.core.rules.presets import DEFAULT
from todoplan.dialogue.intake.cleaning import quoted
from todoplan.dialogue.intake.fields import shown_path
from todoplan.dialogue.intake.jsonish import InputLimits
from todoplan.dialogue.intake.read import read
from todoplan.dialogue.intake.repairs import Repair, loss_by_guess
from todoplan.dialogue.replies.error_texts import error_text, repairs_text, warnings_text
from todoplan.dialogue.replies.phrasing import done_note, receipt, steps, untold
from todoplan.dialogue.replies.views import ids_text, list_text, task_text
from todoplan.dialogue.tools.demands import refuse_unmet
from todoplan.dialogue.tools.todos import TODOS
from todoplan.dialogue.tools.toolset import Query, Request, Tool, ToolSet
from todoplan.errors import PlanError

__all__ = ["Call", "Reply", "Toolbox", "Turn"]


@attrs.frozen(weakref_slot=False)
class Call:
    """
    One tool call of a turn: the name that the model used, and the arguments as they came.
    """

    name: str
    arguments: Any
    call_id: str = ""


@attrs.frozen(weakref_slot=False)
class Reply:
    """
    What a call answers. On an error `plan` is the one given and `events` is empty.
    """

    plan: Plan
    text: str
    events: tuple[Event, ...] = ()
    is_error: bool = False
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()
    repairs: tuple[Repair, ...] = ()
    name: str = ""
    call_id: str = ""


_reply = fast_constructor(Reply)


@attrs.frozen
class Turn:
    """
    What the calls of one model turn made of a plan: a reply for each, in their order.
    """

    plan: Plan
    replies: tuple[Reply, ...]

    @property
    def events(self) -> tuple[Event, ...]:
        """
        All events of the turn, in order.
        """
        return tuple(event for reply in self.replies for event in reply.events)


@attrs.frozen
class Toolbox:
    """
    A tool set under a policy. One that no call of the set could ever satisfy is a PlanError.

    Two notes cost tokens and are off: `show_list` puts the whole list behind the answer to each
    change, `say_done` says when nothing is open any more.
    """

    toolset: ToolSet = TODOS
    policy: Policy = DEFAULT
    limits: InputLimits = InputLimits()
    show_list: bool = False
    say_done: bool = False

    def __attrs_post_init__(self) -> None:
        for given, kind in ((self.toolset, ToolSet), (self.policy, Policy)):
            if not isinstance(given, kind):
                msg = (
                    f"{short_repr(given)} is no {kind.__name__}; write Toolbox(TASKS, DEFAULT), say"
                )
                raise PlanError(msg, seen=given)
        refuse_unmet(self.toolset, self.policy)

    def call(
        self, plan: Plan, name: str, arguments: object = None, *, at: datetime | None = None
    ) -> Reply:
        """
        Answer one call. `arguments` is a JSON text or a mapping; `at` an aware time, or `None`.
        """
        tool = self.toolset.find(name)
        if tool is None:
            return self._unknown(plan, name)
        intake = read(arguments, tool.fields, self.limits)
        exchange = _Exchange(self, plan, tool, name, intake.repairs, at)
        if intake.problems:
            return exchange.refused(*intake.problems)
        return exchange.carried_out(tool.request(intake.values))

    def _unknown(self, plan: Plan, name: str) -> Reply:
        legal = ", ".join(self.toolset.tool_names)
        problem = Problem("unknown_tool", seen=quoted(name), legal=legal)
        return Reply(plan, error_text((problem,)), is_error=True, problems=(problem,), name=name)

    def turn(self, plan: Plan, calls: Sequence[Call], *, at: datetime | None = None) -> Turn:
        """
        Answer all planning calls of one model turn, in order as one (law 13).

        Granular calls build on each other. Of several whole-list writes none is carried out, and
        each is answered with an error; the other calls are.
        """
        clashing = self.clashing([call.name for call in calls])
        problem = Problem("parallel_write", seen=str(len(clashing)))
        replies: list[Reply] = []
        for index, call in enumerate(calls):
            if index in clashing:
                text = error_text((problem,))
                reply = Reply(plan, text, is_error=True, problems=(problem,), name=call.name)
            else:
                reply = self.call(plan, call.name, call.arguments, at=at)
            plan = reply.plan
            replies.append(attrs.evolve(reply, call_id=call.call_id))
        return Turn(plan, tuple(replies))

    def clashing(self, names: Sequence[str]) -> frozenset[int]:
        """
        Return the positions of the whole-list writes in a turn, if there is more than one.
        """
        found = map(self.toolset.find, names)
        whole = [index for index, tool in enumerate(found) if tool is not None and tool.whole_list]
        return frozenset(whole) if len(whole) > 1 else frozenset()


@attrs.define
class _Exchange:
    toolbox: Toolbox
    plan: Plan
    tool: Tool
    name: str
    repairs: tuple[Repair, ...]
    at: datetime | None

    def refused(self, *problems: Problem) -> Reply:
        """
        Answer arguments that make no request, with a correct example.
        """
        toolset, key = self.toolbox.toolset, f"{self.tool.key}.example"
        later = toolset.text(f"{key}.later") if len(self.plan) else ""
        return self._error(problems, later or toolset.text(key))

    def _error(self, problems: tuple[Problem, ...], example: str = "") -> Reply:
        text = error_text(problems, example)
        return self._reply(self.plan, text, problems=problems)

    def carried_out(self, request: Request) -> Reply:
        if isinstance(request, Problem):
            return self.refused(self._as_shown(request))
        return self._read(request) if isinstance(request, Query) else self._decided(request)

    def _read(self, query: Query) -> Reply:
        mends = repairs_text(self.repairs)
        if query.task_id is None:
            return self._reply(self.plan, _lines(list_text(self.plan), mends))
        task = self.plan.get(query.task_id)
        if task is None:
            legal = ids_text(task.id for task in self.plan)
            return self._error((Problem("unknown_task", (), query.task_id, legal),))
        return self._reply(self.plan, _lines(mends, task_text(self.plan, task)))

    def _decided(self, command: Command) -> Reply:
        decision, change = decide_with_change(self.plan, command, self.toolbox.policy, self.at)
        if isinstance(decision, Rejected):
            return self._error(tuple(map(self._as_shown, decision.problems)))
        if self.repairs and (loss := loss_by_guess(self.repairs, change)):
            return self.refused(loss)
        short_repr = receipt(change) if self.tool.whole_list else steps(change)
        notes = self._notes(change, decision.warnings)
        text = _lines(short_repr, *notes) if notes else short_repr
        return self._reply(decision.plan, text, decision.events, warnings=decision.warnings)

    def _notes(self, change: Change, warnings: tuple[Problem, ...]) -> list[str]:
        notes = [*warnings_text(untold(warnings))] if warnings else []
        if self.repairs:
            notes.append(repairs_text(self.repairs))
        if self.toolbox.say_done or self.toolbox.show_list:
            notes.extend(self._extras(change))
        return notes

    def _extras(self, change: Change) -> Iterator[str]:
        if change.events and self.toolbox.say_done and not change.after.counts.open:
            yield done_note(change)
        if change.events and self.toolbox.show_list:
            yield list_text(change.after)

    def _as_shown(self, problem: Problem) -> Problem:
        return attrs.evolve(problem, path=shown_path(problem.path, self.tool.fields))

    def _reply(
        self,
        plan: Plan,
        text: str,
        events: tuple[Event, ...] = (),
        problems: tuple[Problem, ...] = (),
        warnings: tuple[Problem, ...] = (),
    ) -> Reply:
        failed = bool(problems)
        return _reply(plan, text, events, failed, problems, warnings, self.repairs, self.name)


def _lines(*parts: str) -> str:
    return "\n".join(part for part in parts if part)
