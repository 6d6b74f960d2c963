"""
What came of a run, beside what must have come of it: what function calling makes of the same turns.

The function-calling adapter is the measure because it is nothing but the toolbox with JSON around
it: an adapter that differs from it adds or loses something (law 12).
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs

from todoplan.adapters.functions import openai_chat
from todoplan.core.events.types import Event
from todoplan.core.plan.model import TASK_FIELDS, FieldKind
from todoplan.core.plan.plan import Plan
from todoplan.dialogue.guidance.reminders import TAG, ReminderKind, reminder
from todoplan.dialogue.toolbox import Call, Reply
from todoplan.dialogue.tools.toolset import Definition
from todoplan.testing.adapters.conversations import TASKS, Run
from todoplan.testing.adapters.host import ModelTurn, Ran, Script, Seen, Setup
from todoplan.testing.assertions import must, same, same_parts

__all__ = ["Expected", "Outcome", "Transcript", "expected"]

__tracebackhide__ = True  # pytest ends its traceback in the check

_TIMES = [name for name, field in TASK_FIELDS.items() if field.kind is FieldKind.TIME]
_OTHERS = [name for name in TASK_FIELDS if name not in _TIMES]
_DONE = ModelTurn(text="Done.")  # as of `Script`, behind its last turn
_UNSEEN = re.compile(r" \(since you last looked: [^\n]*\)(?=\. It stands at )")
# Adapters without Capability.CLOCK take the time of day: it is cut out before events are compared.
_TIME = re.compile(r"datetime\.datetime\((?:[^()]|\([^()]*\))*\)")


@attrs.frozen
class Expected:
    """
    The plan after a run, and its replies by the ids of their calls.
    """

    plan: Plan
    replies: Mapping[str, Reply]

    @property
    def events(self) -> tuple[Event, ...]:
        """
        What happened, in order.
        """
        return tuple(event for reply in self.replies.values() for event in reply.events)


def expected(setup: Setup, plan: Plan, run: Run) -> Expected:
    """
    Return what the function-calling adapter makes of a plan in a run.
    """
    replies: dict[str, Reply] = {}
    for turn in run:
        answered = openai_chat.answer(setup.toolbox, plan, _message(turn), at=setup.clock())
        plan = answered.plan
        replies |= {reply.call_id: reply for reply in answered.replies}
    return Expected(plan, replies)


def _message(turn: ModelTurn) -> dict[str, Any]:
    return {"role": "assistant", "content": turn.text, "tool_calls": [*map(_call, turn.calls)]}


def _call(call: Call) -> dict[str, Any]:
    sent = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)
    function = {"name": call.name, "arguments": sent}
    return {"id": call.call_id, "type": "function", "function": function}


@attrs.frozen
class Outcome:
    """
    A run that is over: what the host says of it, what its model was sent and offered, the plan it
    left, and what must have come of it.
    """

    ran: Ran
    plan: Plan
    wanted: Expected
    requests: Sequence[tuple[Seen, ...]] = ()
    offered: Sequence[tuple[Definition, ...]] = ()

    def request(self, index: int) -> tuple[Seen, ...]:
        """
        Return what the model was sent; from -1 on, counted from the last.
        """
        count = len(self.requests)
        must(-count <= index < count, f"no request {index}: the model was asked {count} times")
        return self.requests[index]

    def answer(self, call_id: str) -> Seen:
        """
        Return the answer to a call, as it is kept.
        """
        found = [seen for seen in self.ran.messages if seen.call_id == call_id]
        # Exactly one: providers refuse a request whose calls are not all answered.
        ids = [seen.call_id for seen in self.ran.messages if seen.call_id]
        must(
            len(found) == 1,
            f"the call {call_id} has {len(found)} answers, wanted one; the {len(self.ran.messages)}"
            f" messages that host.run returned have answers to {ids}",
        )
        return found[0]

    def agrees(self) -> None:
        """
        Fail unless the plan is the wanted one, and every call is answered in the wanted words.
        """
        self.same_plan()
        self.same_replies()

    def same_plan(self) -> None:
        """
        Fail unless the plan is the wanted one: order, ids, edges, next id, revision; not the times.
        """
        same_parts(_parts(self.plan), _parts(self.wanted.plan), "the plan")

    def returns_plan(self) -> None:
        """
        Fail unless the plan in what the run returned is the one that the framework keeps.
        """
        must(self.ran.plan is not None, "Ran(plan=...) is missing: read it from what is returned")
        same_parts(_all(self.ran.plan), _all(self.plan), "the plan in what the run returned")

    def same_times(self) -> None:
        """
        Fail unless every time in the plan is the wanted one.
        """
        same_parts(
            _fields(self.plan, _TIMES), _fields(self.wanted.plan, _TIMES), "the times of the plan"
        )

    def same_replies(self) -> None:
        """
        Fail unless every call is answered in the words of the reply.
        """
        replies = self.wanted.replies
        found = {key: self.answer(key).text for key in replies}
        same_parts(found, {key: reply.text for key, reply in replies.items()}, "what is answered")

    def same_marks(self) -> None:
        """
        Fail unless exactly the errors are marked as such.
        """
        replies = self.wanted.replies
        found = [key for key in replies if self.answer(key).is_error]
        same(found, [key for key in replies if replies[key].is_error], "what is marked as an error")

    def same_events(self) -> None:
        """
        Fail unless the application was told of the wanted events, in order.
        """
        found, wanted = self.ran.events, self.wanted.events
        same_parts(_numbered(found), _numbered(wanted), "the events that the application was given")

    def ends_with_reminder(self, index: int, kind: ReminderKind, plan: Plan) -> None:
        """
        Fail unless a request ends with the reminder of this kind, in the names of the set `tasks`,
        and holds no other. It may say who has changed what since the model last looked.
        """
        # Whether this hand is told who did what depends on what it last saw (law 15).
        wanted, tail = reminder(kind, plan, TASKS), _UNSEEN.sub("", self.request(index)[-1].text)
        # At the end, not alone: for Anthropic it stands behind the tool results, in their turn.
        same(tail[-len(wanted) :], wanted, f"the end of request {index}")
        self.has_reminders(index, times=1)

    def has_reminders(self, index: int, *, times: int) -> None:
        """
        Fail unless a request holds so many reminders.
        """
        found = sum(seen.text.count(f"<{TAG}>") for seen in self.request(index))
        same(found, times, f"how many reminders request {index} holds")

    def keeps_no_reminder(self) -> None:
        """
        Fail if a reminder stands in the conversation that is stored.
        """
        kept = [seen.text for seen in self.ran.messages if f"<{TAG}>" in seen.text]
        same(kept, [], "the reminders in what is stored")


@attrs.define
class Transcript:
    """
    A run as it went, for whoever reads why a check failed: `kept` are the messages of the host.
    """

    session: str
    script: Script
    kept: Sequence[Seen] = ()

    def exchanges(self) -> list[str]:
        """
        Return what the model said to each request, and how its calls were answered.
        """
        requests, turns = self.script.requests, self.script.turns
        answers = {seen.call_id: seen for request in requests for seen in request}
        answers |= {seen.call_id: seen for seen in self.kept}
        # Without a model nothing is asked: all of its turns are carried out.
        count = len(requests) or len(turns)
        told = []
        for place, turn in enumerate((*turns, *[_DONE] * count)[:count]):
            lines = [f"session {self.session}, exchange {place + 1}:"]
            if requests and requests[place] and not requests[place][-1].call_id:
                lines.append(f"  {_line(requests[place][-1])}")
            lines += [f"  model: {turn.text!r}"] if turn.text or not turn.calls else []
            for call in turn.calls:
                lines.append(f"  model: {call.name}({call.arguments!r}) as {call.call_id}")
                answer = answers.get(call.call_id)
                lines.append(f"  {_line(answer) if answer else 'no answer is kept'}")
            told.append("\n".join(lines))
        return told


def _line(seen: Seen) -> str:
    mark = f" {seen.call_id}" if seen.call_id else ""
    return f"{seen.role}{mark}{' (error)' if seen.is_error else ''}: {seen.text!r}"


def _parts(plan: Plan) -> dict[str, object]:
    whole = {"revision": plan.revision, "next id": plan.next_id, "ids": [task.id for task in plan]}
    return {**whole, **_fields(plan, _OTHERS)}


def _all(plan: Plan | None) -> dict[str, object]:
    return {} if plan is None else {**_parts(plan), **_fields(plan, _TIMES)}


def _fields(plan: Plan, names: Iterable[str]) -> dict[str, object]:
    return {f"#{task.id} {name}": getattr(task, name) for task in plan for name in names}


def _numbered(events: Iterable[Event]) -> dict[str, object]:
    return {str(n): _TIME.sub("time", repr(event)) for n, event in enumerate(events, 1)}
