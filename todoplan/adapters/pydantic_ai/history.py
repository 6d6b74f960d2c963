"""
The plan in a message history, as metadata: no model sees it, and it goes where the messages go.

A `ToolReturnPart` holds the plan after its call, whole, so that one message is enough, whichever
others are summarised away; a `ModelResponse` holds what guidance remembers, and the plan too if the
history has lost it. Where a store keeps the plan, a mark says so instead.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeVar

from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, ToolReturnPart

from todoplan.codec import entry_to_data, plan_from_data, plan_to_data
from todoplan.core.commands import Command
from todoplan.core.decide.decide import Accepted, Decision, decide
from todoplan.core.events.journal import Entry
from todoplan.core.plan.plan import Plan
from todoplan.core.rules.policy import Policy
from todoplan.core.rules.presets import DEFAULT
from todoplan.dialogue.clock import utc_now
from todoplan.dialogue.guidance.guidance import Memory
from todoplan.dialogue.toolbox import Reply
from todoplan.errors import PlanError

__all__ = [
    "KEY",
    "Result",
    "edit_plan",
    "memory_of",
    "news",
    "plan_of_state",
    "remembering",
    "seed_plan",
]

KEY = "todoplan"
_PLAN = "plan"
_MEMORY = "memory"
_STORED = "stored"
_M = TypeVar("_M", bound=ModelRequest | ModelResponse)


class Result(Protocol):
    """
    What a run returns: anything that has all its messages.
    """

    def all_messages(self) -> list[ModelMessage]:
        """
        Return the messages, also those of earlier runs.
        """
        ...


State = Sequence[ModelMessage] | Result


def plan_of_state(state: State) -> Plan:
    """
    Return the plan of a message history, or of a run's result; the empty plan if there is none yet.

    Raises:
        CodecError: what stands there is no plan.
        PlanError: a store keeps the plan of this conversation.
    """
    messages = state if isinstance(state, Sequence) else state.all_messages()
    _refuse_stored(messages)
    return next((plan_from_data(document) for document in _found(messages, _PLAN)), Plan())


def _refuse_stored(messages: Sequence[ModelMessage]) -> None:
    if any(mark is True for mark in _found(messages, _STORED)):
        msg = (
            "a store keeps the plan of this conversation, not its messages: use "
            "AsyncPlanner(store, conversation_id), and give store= to every agent that goes on"
        )
        raise PlanError(msg)


def memory_of(messages: Sequence[ModelMessage]) -> Memory:
    """
    Return what guidance remembers of a conversation.
    """
    found = next(_found(messages, _MEMORY), None)
    return Memory.of(found if isinstance(found, Mapping) else None)


def _found(messages: Sequence[ModelMessage], key: str) -> Iterator[Any]:
    """
    Yield what stands under a key, the latest first; a note of ours that is damaged, as it is.
    """
    for message in reversed(messages):
        for metadata in _metadata(message):
            note = metadata.get(KEY, {}) if isinstance(metadata, Mapping) else {}
            if not isinstance(note, Mapping) or key in note:
                yield note[key] if isinstance(note, Mapping) else note


def _metadata(message: ModelMessage) -> Iterator[Any]:
    yield message.metadata
    for part in reversed(message.parts):
        if isinstance(part, ToolReturnPart):
            yield part.metadata


def news(reply: Reply, *, whole: bool) -> dict[str, Any] | None:
    """
    Return the metadata of a reply: what it did, for user interfaces, and the `whole` plan, unless
    a store keeps that.
    """
    if not reply.events:
        return None
    entry = entry_to_data(Entry(reply.plan.revision, reply.events, cause=reply.name))
    plan = {_PLAN: plan_to_data(reply.plan)} if whole else {_STORED: True}
    return {KEY: {"entry": entry, **plan}}


def remembering(
    response: ModelResponse, memory: Memory, plan: Plan | None, messages: Sequence[ModelMessage]
) -> ModelResponse:
    """
    Return the response with the memory, and with the plan, if the messages do not hold it as it is;
    without a plan, a store keeps it.
    """
    note: dict[str, Any] = {_MEMORY: memory.to_data()}
    if plan is None:
        note[_STORED] = True
    elif not _is_kept(plan, messages):
        note[_PLAN] = plan_to_data(plan)
    return _noting(response, note)


def _is_kept(plan: Plan, messages: Sequence[ModelMessage]) -> bool:
    kept = next(_found(messages, _PLAN), {"revision": 0})
    return bool(kept["revision"] == plan.revision)


def _noting(message: _M, note: dict[str, Any]) -> _M:
    metadata = message.metadata or {}
    return replace(message, metadata={**metadata, KEY: {**metadata.get(KEY, {}), **note}})


def seed_plan(messages: Sequence[ModelMessage], plan: Plan) -> list[ModelMessage]:
    """
    Return the message history with this plan in it, whatever was there: give it as
    `message_history=` to the next run.

    A conversation that begins with one is no new one to Pydantic AI, which then leaves
    `Agent(system_prompt=...)` out: use `instructions=`, or the capability `ReinjectSystemPrompt`.

    Raises:
        PlanError: a store keeps the plan of this conversation.
    """
    _refuse_stored(messages)
    *earlier, last = messages or [ModelRequest(parts=[])]
    return [*earlier, _noting(last, {_PLAN: plan_to_data(plan)})]


def edit_plan(
    messages: Sequence[ModelMessage], command: Command, policy: Policy = DEFAULT
) -> tuple[Decision, list[ModelMessage]]:
    """
    Carry out a command on the plan of a message history, or say why not; `ClearPlan()` clears it.

    Returns what was decided, and the history to go on with.

    Raises:
        CodecError, PlanError: as of `plan_of_state`.
    """
    decision = decide(plan_of_state(messages), command, policy, at=utc_now())
    if not isinstance(decision, Accepted) or not decision.events:
        return decision, [*messages]
    return decision, seed_plan(messages, decision.plan)
