"""What the function-calling adapter makes of a run: what every other adapter must make of it."""

import json
from collections.abc import Mapping
from typing import Any

import attrs

from todoplan.adapters.functions import openai_chat
from todoplan.core.events.types import Event
from todoplan.core.plan.plan import Plan
from todoplan.dialogue.toolbox import Call, Reply
from todoplan.testing.adapters.hosting import Setup
from todoplan.testing.adapters.script import ModelTurn
from todoplan.testing.adapters.talks import Run

__all__ = ["Expected", "expected"]


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
