"""
The plan in a message history, as metadata: no model sees it, and it goes where the messages go.

Pydantic AI keeps no state but the messages, and its capabilities are shared by all runs. So the
plan lives in the messages: a `ToolReturnPart` holds it as it was after its call, whole, so that one
message is enough, whichever others are summarised away, and the call's entry of the journal; a
`ModelResponse` holds what guidance remembers, and the plan too if the history has lost it. Those
two are written by a run; between runs `edit_plan` and `seed_plan` write to the last message, of a
copy: whoever edits a history goes on with what is returned. They put beside it the plan as the
model last saw it (law 15), which the next look of the model ends.

Where a store keeps the plan, a mark says so instead. Reminders are in no message that is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Protocol, TypeVar

from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, ToolReturnPart

from todoplan.codec import entry_from_data, entry_to_data, plan_from_data, plan_to_data
from todoplan.codec.states import base_from_data, base_to_data, read_recent, with_entry
from todoplan.core.events.base import Base
from todoplan.core.events.journal import Entry
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.validation import in_utc, short_repr
from todoplan.dialogue.application import unseen_by_model
from todoplan.dialogue.guidance.guidance import Memory
from todoplan.dialogue.toolbox import Reply
from todoplan.dialogue.undoing import Start
from todoplan.errors import CodecError, PlanError

__all__ = [
    "KEY",
    "Result",
    "State",
    "base_of",
    "earlier_plans",
    "history_of",
    "memory_of",
    "messages_of",
    "news",
    "noting",
    "plan_of_state",
    "refuse_stored",
    "remembering",
    "with_plan",
]

KEY = "todoplan"
_PLAN = "plan"
_MEMORY = "memory"
_STORED = "stored"
_ENTRY = "entry"
_EDITS = "edits"
_BASE = "base"
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
        PlanError: a store keeps the plan of this conversation, or this is none.
    """
    messages = messages_of(state)
    refuse_stored(messages)
    return next((plan_from_data(document) for document in _found(messages, _PLAN)), Plan())


def history_of(state: State) -> tuple[Entry, ...]:
    """
    Return what happened to the plan, oldest first: when, by whom (`actor`; `None` for the model)
    and by which tool or command (`cause`). It goes as far back as the messages do; of the edits
    that follow each other, the latest 50, fewer if long.

    Raises:
        CodecError, PlanError: as of `plan_of_state`.
    """
    messages = messages_of(state)
    refuse_stored(messages)
    return tuple(entry for note in _life(messages) for entry in _entries_in(note))


def messages_of(state: object) -> Sequence[ModelMessage]:
    """
    Return the messages of a history, or of a run's result.

    Raises:
        PlanError: it is neither.
    """
    result: Any = state
    found = result.all_messages() if hasattr(state, "all_messages") else state
    kinds = ModelRequest | ModelResponse
    if isinstance(found, list | tuple) and all(isinstance(one, kinds) for one in found):
        return found
    msg = (
        f"{short_repr(state)} was given; give a run's result, or its messages:"
        " result.all_messages(), or what ModelMessagesTypeAdapter has read"
    )
    raise PlanError(msg, seen=state)


def refuse_stored(messages: Sequence[ModelMessage], *, stored: bool = False) -> None:
    """
    Raise if a store keeps the plan of these messages, as a mark in them or the caller says.

    Raises:
        PlanError: it does.
    """
    if stored or any(mark is True for mark in _found(messages, _STORED)):
        msg = (
            "a store keeps the plan of this conversation, not its messages: use "
            "AsyncPlanner(store, conversation_id), and give store= to every agent that goes on"
        )
        raise PlanError(msg)


def earlier_plans(messages: Sequence[ModelMessage]) -> tuple[Start, ...]:
    """
    Return the plans that stand in the messages, each with the entries that it comes after.

    Raises:
        CodecError: what stands there is no plan, or no entry.
    """
    found, entries = [], 0
    for note in _life(messages):
        entries += len(_entries_in(note))
        if _PLAN in note:
            found.append(Start(plan_from_data(note[_PLAN]), entries))
    return tuple(found)


def _life(messages: Sequence[ModelMessage]) -> Iterator[Mapping[str, Any]]:
    """
    Yield the notes of ours, the oldest first.

    Raises:
        CodecError: one is damaged.
    """
    for message in messages:
        # `_metadata` gives the latest first, a journal begins with the oldest.
        for metadata in reversed([*_metadata(message)]):
            note = metadata.get(KEY, {}) if isinstance(metadata, Mapping) else {}
            if not isinstance(note, Mapping):
                msg = f"what stands under {KEY!r} in a message is damaged: {note!r:.60}"
                raise CodecError(msg)
            yield note


def _entries_in(note: Mapping[str, Any]) -> list[Entry]:
    own = [entry_from_data(note[_ENTRY])] if _ENTRY in note else []
    return [*own, *read_recent(note.get(_EDITS))]


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
    for note in _notes(messages):
        # A damaged note is handed on, for its reader to refuse: it is never taken for none.
        if not isinstance(note, Mapping) or key in note:
            yield note[key] if isinstance(note, Mapping) else note


def _notes(messages: Sequence[ModelMessage]) -> Iterator[Any]:
    # The latest first: a conversation of a thousand messages has its plan in one of the last.
    for message in reversed(messages):
        for metadata in _metadata(message):
            if isinstance(metadata, Mapping) and KEY in metadata:
                yield metadata[KEY]


def base_of(messages: Sequence[ModelMessage]) -> Base | None:
    """
    Return the plan as the model last saw it; `None` if it has seen all.

    Raises:
        CodecError: what stands there is no base.
    """
    for note in _notes(messages):
        # Whoever writes a plan says in the same note what of it is unseen.
        if isinstance(note, Mapping) and (_PLAN in note or _BASE in note):
            kept = note.get(_BASE)
            return None if kept is None else base_from_data(kept)
    return None


def _metadata(message: ModelMessage) -> Iterator[Any]:
    yield message.metadata
    for part in reversed(message.parts):
        if isinstance(part, ToolReturnPart):
            yield part.metadata


def news(reply: Reply, *, at: datetime, whole: bool, told: bool = False) -> dict[str, Any] | None:
    """
    Return the metadata of a reply: what it did, for user interfaces, and the `whole` plan, unless
    a store keeps that. `told` says that the reply tells what others did, which is seen by that.
    """
    if not reply.events:
        return {KEY: {_BASE: None}} if told else None
    entry = entry_to_data(Entry(reply.revision, reply.events, in_utc(at), cause=reply.name))
    plan = {_PLAN: plan_to_data(reply.plan)} if whole else {_STORED: True}
    return {KEY: {_ENTRY: entry, **plan}}


def remembering(
    response: ModelResponse,
    memory: Memory,
    plan: Plan | None,
    messages: Sequence[ModelMessage],
    base: Base | None = None,
) -> ModelResponse:
    """
    Return the response with the memory, and with the plan and its base, if the messages do not hold
    them as they are; without a plan, a store keeps it.
    """
    note: dict[str, Any] = {_MEMORY: memory.to_data()}
    if plan is None:
        note[_STORED] = True
    # A response carries a plan only where the messages have lost it: most stay small.
    elif next(_found(messages, _PLAN), {"revision": 0})["revision"] != plan.revision:
        note[_PLAN] = plan_to_data(plan)
        if base is not None:
            note[_BASE] = base_to_data(base)
    return noting(response, note)


def noting(message: _M, note: dict[str, Any]) -> _M:
    """
    Return a message with a note beside what else is kept of it.
    """
    metadata = message.metadata or {}
    return replace(message, metadata={**metadata, KEY: {**metadata.get(KEY, {}), **note}})


def with_plan(
    messages: Sequence[ModelMessage], plan: Plan, entry: Entry, before: Plan
) -> list[ModelMessage]:
    """
    Return the messages with a plan in the last one, the entry that tells how it came about, and
    what the model saw last, if that was not the plan `before` it.
    """
    # The plan of a conversation that has not begun needs a message to stand in, if an empty one.
    *earlier, last = messages or [ModelRequest(parts=[])]
    # Several edits may follow each other upon one message: its journal goes on.
    kept = (last.metadata or {}).get(KEY, {}).get(_EDITS)
    base = unseen_by_model(base_of(messages), before, entry)
    note = {_PLAN: plan_to_data(plan), _EDITS: with_entry(kept, entry), _BASE: base_to_data(base)}
    return [*earlier, noting(last, note)]
