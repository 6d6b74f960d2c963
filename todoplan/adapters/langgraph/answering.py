"""
A call of a turn, answered: upon the plan in the state, or in a store.

All calls of a turn run at once, on the state before the turn. Law 13: each is answered as if the
calls before it had been carried out, by carrying them out again, here and for itself. Calls that
are answered already, refused by a guard or a person, are left out of that: they never happened. A
store has one plan for all of them: there they are carried out once, by one of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, cast
from zlib import crc32

import attrs
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langgraph.prebuilt import ToolRuntime
from langgraph.types import Command

from todoplan.adapters.langgraph.seen import SEEN, base_of
from todoplan.adapters.langgraph.state import (
    PLAN,
    plan_in,
    publishing,
    step_update,
    value_in,
)
from todoplan.adapters.langgraph.stored_plans.mark import fences_in, mark
from todoplan.adapters.langgraph.stored_plans.plan_store import PlanStore
from todoplan.codec import entry_to_data
from todoplan.codec.foreign.branches import Step, head_of
from todoplan.core.events.base import Base
from todoplan.core.events.journal import Entry
from todoplan.core.plan.validation import in_utc
from todoplan.dialogue.clock import Clock
from todoplan.dialogue.held_claims import fences_after
from todoplan.dialogue.observed import start, tell_called
from todoplan.dialogue.parallel_calls import answered_beside
from todoplan.dialogue.toolbox import Call, Reply, Toolbox, Turn
from todoplan.planner.verifying.looking import Verifying

__all__ = ["Answering", "answered_calls", "messages_in"]

# A private key of HumanInTheLoopMiddleware: the calls that a person has edited, by id.
_EDITS = "hitl_edited_tool_calls"

_Done = tuple[tuple[Reply, ...], datetime, Base | None]
"""The replies to the calls up to one's own, when they were decided, and what was unseen then."""


def messages_in(state: Any) -> Sequence[BaseMessage]:
    """
    Return the messages of a state: a mapping, an object with attributes, or the list itself.
    """
    return state if isinstance(state, list) else value_in(state, "messages") or ()


def answered_calls(messages: Sequence[BaseMessage]) -> tuple[AIMessage | None, set[str]]:
    """
    Return the model's last message, and which calls have their answer behind it, by id.
    """
    answered: set[str] = set()
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            return message, answered
        if isinstance(message, ToolMessage):
            answered.add(message.tool_call_id)
    return None, answered


class _Fresh(Command[Any]):
    """
    The command of one call, which nobody else holds: `ToolNode` copies each in depth, and need not.
    """

    def __deepcopy__(self, memo: object) -> _Fresh:
        return self


@attrs.frozen
class Answering:
    """
    What answers the calls of one agent's tools: upon its `plans` in a store, or else the state's;
    `actor` is whose calls they are.
    """

    toolbox: Toolbox
    clock: Clock
    emit_events: bool
    plans: PlanStore | None = None
    verifying: Verifying | None = None
    actor: str | None = None

    def answer(self, runtime: ToolRuntime | None, own: Call) -> Command[Any]:
        """
        Answer one call of a turn as if the calls before it had been answered: they all see the
        state before the turn.
        """
        state: Any = runtime.state if runtime else {}
        own = attrs.evolve(own, call_id=runtime.tool_call_id or "") if runtime else own
        turn, calls = self._turn(state, own)
        if self.plans:
            plan_id = self.plans.id_of(_config(runtime))
            told = self.plans.answer(state, plan_id, _message(runtime, state), calls, own)
            return self._stored(runtime, plan_id, own, *told)
        attempt, began = partial(self._attempt, state, calls, own), start(self.toolbox)
        if self.verifying is None:
            done = attempt(self.toolbox)
        else:
            self.verifying.verifier.refuse_awaited("ainvoke or astream")
            with self.verifying.of_turn(*_name_of(runtime, turn, calls, own)) as shared:
                done = self.verifying.answer(attempt, shared)
        tell_called(self.toolbox, done[0][-1:], self.actor, began)
        return self._kept(runtime, state, turn, calls, own, done)

    def _attempt(self, state: Any, calls: Sequence[Call], own: Call, box: Toolbox) -> _Done:
        at, base = in_utc(self.clock()), base_of(value_in(state))
        upon: dict[str, Any] = {"at": at, "base": base, "actor": self.actor}
        done = answered_beside(box, plan_in(state), calls, calls.index(own), **upon)
        return done, at, base

    def _kept(  # noqa: PLR0913, PLR0917 - a call, its turn, and what came of it
        self,
        runtime: ToolRuntime | None,
        state: Any,
        turn: str,
        calls: Sequence[Call],
        own: Call,
        done: _Done,
    ) -> Command[Any]:
        (*earlier, reply), at, base = done
        message = _told(reply, own)
        # What this call follows from: the last call before it that did something, or the state.
        parent = _head(earlier, calls) or head_of(value_in(state))
        if not reply.events:
            # Also an answer that changed nothing was a look, if others had done something.
            looked = base is not None and not reply.is_error
            look = {PLAN: {SEEN: parent}} if looked else {}
            return _Fresh(update={**look, "messages": [message]})
        name = _name(own) if len(calls) > 1 else own.call_id
        step = Step(reply.plan, reply.events, name, parent, turn)
        self._tell(runtime, step.entry(), reply, own)
        entry = Entry(reply.plan.revision, reply.events, at, self.actor, reply.name)
        # A refusal that records what a verifier has found tells nothing of what others did.
        told = base is None or not reply.is_error
        update = step_update(step, state, entry, by_model=told)
        return _Fresh(update={**update, "messages": [message]})

    async def aanswer(self, runtime: ToolRuntime | None, own: Call) -> Command[Any]:
        """
        As `answer`, where a store keeps the plan or a verifier looks, awaited.
        """
        state: Any = runtime.state if runtime else {}
        own = attrs.evolve(own, call_id=runtime.tool_call_id or "") if runtime else own
        turn, calls = self._turn(state, own)
        if self.plans is None:
            verifying, began = cast("Verifying", self.verifying), start(self.toolbox)
            with verifying.of_turn(*_name_of(runtime, turn, calls, own)) as shared:
                attempt = partial(self._attempt, state, calls, own)
                done = await verifying.aanswer(attempt, shared)
            tell_called(self.toolbox, done[0][-1:], self.actor, began)
            return self._kept(runtime, state, turn, calls, own, done)
        plans = self.plans
        plan_id = plans.id_of(_config(runtime))
        told = await plans.aanswer(state, plan_id, _message(runtime, state), calls, own)
        return self._stored(runtime, plan_id, own, *told)

    def _stored(
        self, runtime: ToolRuntime | None, plan_id: str, own: Call, reply: Reply, seen: Turn | None
    ) -> Command[Any]:
        update: dict[str, Any] = {"messages": [_told(reply, own)]}
        if reply.events:
            entry = entry_to_data(Entry(reply.revision, reply.events))
            self._tell(runtime, entry, reply, own)
        if seen is not None:
            held = fences_in(value_in(runtime.state) if runtime else None, plan_id)
            fences = fences_after(held, seen.events) if self.toolbox.toolset.team else held
            marked = mark(plan_id, seen.plan.revision, held, fences)
            update |= {PLAN: marked, **publishing(seen.plan)}
        return _Fresh(update=update)

    def _tell(
        self, runtime: ToolRuntime | None, entry: dict[str, Any], reply: Reply, own: Call
    ) -> None:
        if self.emit_events and runtime:
            news = {**entry, "tool": reply.name, "call_id": own.call_id}
            runtime.stream_writer({PLAN: news})

    def _turn(self, state: Any, own: Call) -> tuple[str, list[Call]]:
        """
        Return the name of the turn that a call is part of, and the turn's open planning calls.
        """
        message, answered = answered_calls(messages_in(state))
        if message is None:
            return own.call_id, [own]
        # Where a person has edited a call, the message still holds what the model sent.
        edits = value_in(state, _EDITS) or {}
        calls = []
        for call in message.tool_calls:
            action = edits.get(call["id"], call)
            # Carried out again, a call that a guard or a person refused would come back to life.
            if call["id"] not in answered and self.toolbox.toolset.find(action["name"]):
                calls.append(Call(action["name"], action["args"], call["id"] or ""))
        if own not in calls:
            # A `wrap_tool_call` has changed its arguments on the way: what runs is what counts.
            calls = [own if call.call_id == own.call_id else call for call in calls]
        # `add_messages` gives every message an id; a state with a list of its own need not.
        turn = message.id or " ".join(call["id"] or "" for call in message.tool_calls)
        # A call that the application made up is answered upon the plan as it is.
        return turn, calls if own in calls else [own]


def _name_of(
    runtime: ToolRuntime | None, turn: str, calls: Sequence[Call], own: Call
) -> tuple[object, list[str], str]:
    """
    Return what the looks of a turn are shared by: its name, in its thread, and its calls.
    """
    config = _config(runtime)
    key = config.get("thread_id"), config.get("checkpoint_ns", "").rpartition("|")[0], turn
    # Of no use to a run that has no thread, nor a message with a name: another might have both.
    return (key if turn else object()), [call.call_id for call in calls], own.call_id


def _config(runtime: ToolRuntime | None) -> Mapping[str, Any]:
    config: Mapping[str, Any] = runtime.config.get("configurable", {}) if runtime else {}
    return config


def _message(runtime: ToolRuntime | None, state: Any) -> tuple[str, str] | None:
    """
    Return which of the model's messages the calls are in: its thread, and its id if it has one.
    """
    message, _ = answered_calls(messages_in(state))
    if message is None or not message.id:
        return None
    return str(_config(runtime).get("thread_id", "")), message.id


def _told(reply: Reply, own: Call) -> ToolMessage:
    status = "error" if reply.is_error else "success"
    return ToolMessage(reply.text, name=reply.name, tool_call_id=own.call_id, status=status)


def _head(earlier: Sequence[Reply], calls: Sequence[Call]) -> str:
    done = (at for at in range(len(earlier) - 1, -1, -1) if earlier[at].events)
    return next((f"{earlier[at].plan.revision}:{_name(calls[at])}" for at in done), "")


def _name(call: Call) -> str:
    """
    Name a call by what is carried out: one beside it that saw it otherwise does not follow from it.
    """
    # Not `hash`: it is salted for each process, and a turn may be resumed in another one.
    return f"{crc32(repr((call.name, call.arguments)).encode()):x}:{call.call_id}"
