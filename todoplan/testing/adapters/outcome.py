"""
The results of a run, compared with those of the function-calling adapter for the same turns.

The function-calling adapter is the reference because it is only the toolbox with JSON around it: an
adapter that differs from it adds or loses something (law 12).
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

__tracebackhide__ = True  # pytest then ends its traceback at the check

_TIMES = [name for name, field in TASK_FIELDS.items() if field.kind is FieldKind.TIME]
_OTHERS = [name for name in TASK_FIELDS if name not in _TIMES]
_DONE = ModelTurn(text="Done.")  # the answer of `Script` after its last turn
_UNSEEN = re.compile(r" \(since you last looked: [^\n]*\)(?=\. It stands at )")
# Adapters without Capability.CLOCK use the current time, so times are removed before events are
# compared.
_TIME = re.compile(r"datetime\.datetime\((?:[^()]|\([^()]*\))*\)")


@attrs.frozen
class Expected:
    """The expected plan after a run, and the expected replies by call id."""

    plan: Plan
    replies: Mapping[str, Reply]

    @property
    def events(self) -> tuple[Event, ...]:
        """The expected events, in order."""
        return tuple(event for reply in self.replies.values() for event in reply.events)


def expected(setup: Setup, plan: Plan, run: Run) -> Expected:
    """Return what the function-calling adapter makes of a plan in a run."""
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
    A run that has ended: the host's results, the requests to its model and the tools offered, the
    plan after it, and the expected results.
    """

    ran: Ran
    plan: Plan
    wanted: Expected
    requests: Sequence[tuple[Seen, ...]] = ()
    offered: Sequence[tuple[Definition, ...]] = ()

    def request(self, index: int) -> tuple[Seen, ...]:
        """Return the request with an index. Negative indexes count from the last request."""
        count = len(self.requests)
        must(-count <= index < count, f"no request {index}: the model was asked {count} times")
        return self.requests[index]

    def answer(self, call_id: str) -> Seen:
        """Return the stored answer to a call."""
        found = [seen for seen in self.ran.messages if seen.call_id == call_id]
        # Exactly one: providers refuse a request in which a call has no answer.
        ids = [seen.call_id for seen in self.ran.messages if seen.call_id]
        must(
            len(found) == 1,
            f"the call {call_id} has {len(found)} answers, wanted one; the {len(self.ran.messages)}"
            f" messages that host.run returned have answers to {ids}",
        )
        return found[0]

    def agrees(self) -> None:
        """Fail unless the plan and the replies to all calls are the expected ones."""
        self.same_plan()
        self.same_replies()

    def same_plan(self) -> None:
        """
        Fail unless the plan is the expected one: order, ids, edges, next id, revision, but not
        times.
        """
        same_parts(_parts(self.plan), _parts(self.wanted.plan), "the plan")

    def returns_plan(self) -> None:
        """Fail unless the plan in the run's result equals the one that the framework stores."""
        must(self.ran.plan is not None, "Ran(plan=...) is missing: read it from what is returned")
        same_parts(_all(self.ran.plan), _all(self.plan), "the plan in what the run returned")

    def same_times(self) -> None:
        """Fail unless all times in the plan are the expected ones."""
        same_parts(
            _fields(self.plan, _TIMES), _fields(self.wanted.plan, _TIMES), "the times of the plan"
        )

    def same_replies(self) -> None:
        """Fail unless every call is answered with the expected text."""
        replies = self.wanted.replies
        found = {key: self.answer(key).text for key in replies}
        same_parts(found, {key: reply.text for key, reply in replies.items()}, "what is answered")

    def same_marks(self) -> None:
        """Fail unless exactly the errors are marked as errors."""
        replies = self.wanted.replies
        found = [key for key in replies if self.answer(key).is_error]
        same(found, [key for key in replies if replies[key].is_error], "what is marked as an error")

    def same_events(self) -> None:
        """Fail unless the application received the expected events, in order."""
        found, wanted = self.ran.events, self.wanted.events
        same_parts(_numbered(found), _numbered(wanted), "the events that the application was given")

    def ends_with_reminder(self, index: int, kind: ReminderKind, plan: Plan) -> None:
        """
        Fail unless a request ends with a reminder of this kind and contains no other.

        The reminder uses the names of the tool set `tasks`. It may list the changes by others since
        the model last looked.
        """
        # Whether it lists changes by others depends on what this session last saw (law 15).
        wanted, tail = reminder(kind, plan, TASKS), _UNSEEN.sub("", self.request(index)[-1].text)
        # At the end, not alone: for Anthropic the reminder follows the tool results in the same
        # message.
        same(tail[-len(wanted) :], wanted, f"the end of request {index}")
        self.has_reminders(index, times=1)

    def has_reminders(self, index: int, *, times: int) -> None:
        """Fail unless a request contains this number of reminders."""
        found = sum(seen.text.count(f"<{TAG}>") for seen in self.request(index))
        same(found, times, f"how many reminders request {index} holds")

    def keeps_no_reminder(self) -> None:
        """Fail if the stored conversation contains a reminder."""
        kept = [seen.text for seen in self.ran.messages if f"<{TAG}>" in seen.text]
        same(kept, [], "the reminders in what is stored")


@attrs.define
class Transcript:
    """
    The course of a run, for the reader of a failure. `kept` are the messages that the host
    returned.
    """

    session: str
    script: Script
    kept: Sequence[Seen] = ()

    def exchanges(self) -> list[str]:
        """Return the model's answer to each request, and the answers to its calls."""
        requests, turns = self.script.requests, self.script.turns
        answers = {seen.call_id: seen for request in requests for seen in request}
        answers |= {seen.call_id: seen for seen in self.kept}
        # A framework without a model makes no requests and executes all turns.
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
