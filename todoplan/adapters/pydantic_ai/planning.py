"""
`Planning`, the capability of an agent: tools, prompt and guidance in one; the tools alone; and the
application's own edits of a message history.

Pydantic AI keeps no state but the messages, and its capabilities are shared by all runs. So the
slot of a session is the metadata of messages, which no model sees and which goes where they go. A
call's `ToolReturnPart` has its journal entry, the whole plan after it, so that one message is
enough whichever others are summarised away, and the record. A `ModelResponse` has the record, and
the plan too if the messages have lost it. Between runs, `edit_plan` and the like write all three to
the last message of a copy. Where a store keeps the plan, a mark says so in its place.

A run works on copies of the capability and of the toolset, with a session that is read from the
messages when the run begins. Guidance works within one request to the model
(`prepare_model_request`), so that neither a reminder nor an answer that is sent back is kept. What
was streamed has been seen: there both stay.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar, cast

import attrs
from pydantic_ai.capabilities import AbstractCapability, WrapRunHandler
from pydantic_ai.exceptions import RetryModelRequest, ToolFailed, UserError
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ToolReturn,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.run import AgentRunResult
from pydantic_ai.tools import RunContext, ToolDefinition
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool

from todoplan.codec import entry_from_data, entry_to_data, plan_from_data, plan_to_data
from todoplan.codec.states import read_recent, with_entry
from todoplan.core.commands import Command
from todoplan.core.decide.decide import Decision, Rejected
from todoplan.core.events.journal import Entry
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.validation import in_utc, short_repr
from todoplan.core.rules.policy import Policy
from todoplan.dialogue.application import require, require_clock, whole_entry
from todoplan.dialogue.clock import Clock, utc_now
from todoplan.dialogue.guidance.conversation import Message, ToolResult, is_final_answer
from todoplan.dialogue.guidance.guidance import Settings
from todoplan.dialogue.toolbox import Call, Toolbox
from todoplan.dialogue.undoing import Start, last_change, plan_before, starts, undone
from todoplan.errors import CodecError, PlanError
from todoplan.planner import AnyStore
from todoplan.planner.record import Record, record_to_data
from todoplan.planner.session import SESSION, AsyncSession, Session, opened, opened_async
from todoplan.planner.verifying.verifier import Verify, verifier_of

KEY = "todoplan"
PLAN = "plan"
STORED = "stored"
ENTRY = "entry"
EDITS = "edits"
# What 0.2.0 wrote in place of a record.
_MEMORY = "memory"
_BASE = "base"
_M = TypeVar("_M", bound=ModelRequest | ModelResponse)
_FINISHES = {"tool_call": "tool_calls"}  # Pydantic AI's word, and the one that guidance knows
_UNDER_WAY = "pause_turn"  # Anthropic's word for a turn that is to be continued
_Context = RunContext[Any]
_GAP = TextPart("\n\n")
_AS_SENT = "the arguments as sent"  # no parameter of a tool has this name


class Result(Protocol):
    """What a run returns: anything that has all its messages."""

    def all_messages(self) -> list[ModelMessage]:
        """Return the messages, also those of earlier runs."""
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
    found = _latest(messages, PLAN)
    return plan_from_data(found[PLAN]) if found else Plan()


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
    return tuple(entry for note in reversed([*_notes(messages)]) for entry in _entries_in(note))


def earlier_plans(messages: Sequence[ModelMessage]) -> tuple[Start, ...]:
    """
    Return the plans that stand in the messages, each with the entries that it comes after.

    Raises:
        CodecError: what stands there is no plan, or no entry.
    """
    found, entries = [], 0
    for note in reversed([*_notes(messages)]):
        entries += len(_entries_in(note))
        if PLAN in note:
            found.append(Start(plan_from_data(note[PLAN]), entries))
    return tuple(found)


def _entries_in(note: Mapping[str, Any]) -> list[Entry]:
    own = [entry_from_data(note[ENTRY])] if ENTRY in note else []
    return [*own, *read_recent(note.get(EDITS))]


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
    if stored or any(note.get(STORED) is True for note in _notes(messages)):
        msg = (
            "a store keeps the plan of this conversation, not its messages: use "
            "AsyncPlanner(store, conversation_id), and give store= to every agent that goes on"
        )
        raise PlanError(msg)


def _notes(messages: Sequence[ModelMessage]) -> Iterator[Mapping[str, Any]]:
    """
    Yield what is kept in the metadata, the latest first: a conversation of a thousand messages has
    its plan in one of the last.

    Raises:
        CodecError: one is damaged. It is never taken for none.
    """
    for message in reversed(messages):
        parts = [part for part in reversed(message.parts) if isinstance(part, ToolReturnPart)]
        for holder in (message, *parts):
            metadata: Any = holder.metadata
            if isinstance(metadata, Mapping) and KEY in metadata:
                note = metadata[KEY]
                if not isinstance(note, Mapping):
                    msg = f"what stands under {KEY!r} in a message is damaged: {note!r:.60}"
                    raise CodecError(msg)
                yield note


def _latest(messages: Sequence[ModelMessage], *names: str) -> Mapping[str, Any]:
    """Return the latest note that has one of these; an empty one if there is none."""
    return next((note for note in _notes(messages) if any(name in note for name in names)), {})


def kept_in(messages: Sequence[ModelMessage], *, stored: bool) -> dict[str, Any]:
    """
    Return what messages keep of a session, for `opened`; `stored` says that a store has its plan.

    Raises:
        CodecError: something in the messages is damaged.
        PlanError: a store keeps the plan, and none is given.
    """
    kept: dict[str, Any] = {}
    if not stored:
        refuse_stored(messages)
        kept[PLAN] = _latest(messages, PLAN).get(PLAN, _NO_PLAN)
    note = _latest(messages, SESSION, _MEMORY, PLAN)
    if note.get(STORED, False) is not stored:
        return kept  # a record is about the one plan that it was written with
    if SESSION in note:
        kept[SESSION] = note[SESSION]
    elif note:
        kept[_MEMORY] = _latest(messages, _MEMORY).get(_MEMORY, {})
        # Whoever wrote a plan said in the same note what of it the model had not seen.
        kept[_BASE] = None if stored else _latest(messages, PLAN, _BASE).get(_BASE)
    return kept


_NO_PLAN = plan_to_data(Plan())


def note_of(session: Session | AsyncSession, *, plan: bool) -> dict[str, Any]:
    """Return what is to be kept of a session; its `plan` too, unless a store has it."""
    note: dict[str, Any] = {SESSION: session.record}
    if session.slot is None:
        note[STORED] = True
    elif plan:
        note[PLAN] = session.slot.slot[PLAN]
    return note


def with_session(
    response: ModelResponse, session: AsyncSession, messages: Sequence[ModelMessage]
) -> ModelResponse:
    """Return a response with the session, and with its plan if the messages have lost that."""
    is_lost = False
    if session.slot is not None:
        held = _latest(messages, PLAN).get(PLAN, _NO_PLAN)
        is_lost = held["revision"] != session.slot.slot[PLAN]["revision"]
    return noting(response, note_of(session, plan=is_lost))


def noting(message: _M, note: Mapping[str, Any]) -> _M:
    """Return a message with a note beside what else is kept of it."""
    metadata = message.metadata or {}
    return replace(message, metadata={**metadata, KEY: {**metadata.get(KEY, {}), **note}})


def neutral(message: ModelMessage) -> Message:
    """Return a message as guidance reads it; a response to be continued counts as calling tools."""
    if isinstance(message, ModelResponse):
        calls = tuple(call.tool_name for call in message.tool_calls)
        reason = message.finish_reason or ""
        finish = _FINISHES.get(reason, reason) if message.state == "complete" else _UNDER_WAY
        return Message("assistant", message.text or "", calls, finish=finish)
    returns = (part for part in message.parts if isinstance(part, ToolReturnPart))
    # A failed or denied call has shown the model nothing of the plan.
    results = [ToolResult(p.tool_name, p.outcome == "success", p.tool_call_id) for p in returns]
    return Message("user", results=tuple(results))


def turn_of(
    messages: Sequence[ModelMessage], call_id: str | None
) -> tuple[tuple[str, ...], tuple[Call, ...]]:
    """
    Return what names the response that made a call, in this process and in any that resumes the
    run, and its calls; ((), ()) if no message has it.
    """
    for message in reversed(messages):
        if isinstance(message, ModelResponse):
            calls = [Call(c.tool_name, c.args, c.tool_call_id) for c in message.tool_calls]
            if any(call.call_id == call_id for call in calls):
                named = message.timestamp.isoformat(), message.provider_response_id or ""
                return named, tuple(calls)
    return (), ()


def with_reminder(messages: Sequence[ModelMessage], text: str) -> list[ModelMessage]:
    """Return the messages of one request with a text at their tail; nothing is added for ""."""
    *earlier, last = messages
    if text and isinstance(last, ModelRequest):
        # In the same request, behind its results: Anthropic wants one user turn, results first.
        return [*earlier, replace(last, parts=[*last.parts, UserPromptPart(text)])]
    return [*messages]


# Arguments that Pydantic AI refuses count as a retry, of which a tool has one by default.
class _Lenient:
    """
    A validator that lets every argument pass: ours are read by intake, which says what is wrong.
    """

    def validate_json(self, input: Any, **_: Any) -> dict[str, Any]:  # noqa: A002 - Pydantic's name
        """Return the object that a text is, or else the text itself."""
        try:
            # NaN as a text: as a number it equals nothing, and `_as_sent` would find it changed.
            found = json.loads(input, parse_constant=str)
        except (ValueError, RecursionError):
            found = None
        return self.validate_python(found if isinstance(found, dict) else input)

    def validate_python(self, input: Any, **_: Any) -> dict[str, Any]:  # noqa: A002 - same
        """Return the arguments under their names; what has no names stands under one of ours."""
        return input if isinstance(input, dict) else {_AS_SENT: input}


_LENIENT = _Lenient()


def _as_sent(given: dict[str, Any], sent: Any) -> Any:
    """
    Return a call's arguments as the model sent them, for intake, unless a hook has changed them.
    """
    # The text shows what an object has lost, such as a key that stood twice.
    unchanged = isinstance(sent, str) and _LENIENT.validate_json(sent or "{}") == given
    return sent if unchanged else given.get(_AS_SENT, given)


class PlanToolset(AbstractToolset[Any]):
    """The tools of a toolbox. It holds no plan: each run has a copy of its own, with a session."""

    def __init__(
        self,
        toolbox: Toolbox | None = None,
        *,
        store: AnyStore | None = None,
        clock: Clock = utc_now,
        verify: Verify | None = None,
    ) -> None:
        self.toolbox = Toolbox() if toolbox is None else require(toolbox, Toolbox)
        self.verify = verifier_of(verify)
        self.store = store
        self.clock = require_clock(clock)
        self.session: AsyncSession | None = None
        self._shown: list[ToolDefinition] = []  # made once, and shared with all copies

    @property
    def id(self) -> str:
        """One name for all: an agent has one plan."""
        return KEY

    async def for_run(self, ctx: _Context) -> PlanToolset:
        """Return the toolset for one run, with the session of its conversation."""
        # The capability's has read it already.
        return self if self.session else self.opened(ctx, Settings())

    def opened(self, ctx: _Context, settings: Settings) -> PlanToolset:
        """Return a copy with the session that a run goes on from."""
        own, stored = copy(self), self.store is not None
        own.session = opened_async(
            kept_in(ctx.messages, stored=stored),
            toolbox=self.toolbox,
            settings=settings,
            store=self.store,
            plan_id=ctx.conversation_id if stored else None,
            clock=self.clock,
            verify=self.verify,
        )
        return own

    async def get_tools(self, ctx: _Context) -> dict[str, ToolsetTool[Any]]:
        """Return the tools; each is a barrier, so that calls of a turn are carried out in order."""
        if not self._shown:
            self._shown += (
                ToolDefinition(
                    name=one.name,
                    description=one.description,
                    parameters_json_schema=one.schema,
                    # Pydantic AI runs the calls of a turn at once; law 13 wants them in order.
                    sequential=True,
                )
                for one in self.toolbox.toolset.definitions()
            )
        more: Any = {"max_retries": ctx.max_retries, "args_validator": _LENIENT}
        return {one.name: ToolsetTool(toolset=self, tool_def=one, **more) for one in self._shown}

    async def call_tool(
        self,
        name: str,
        tool_args: dict[str, Any],
        ctx: _Context,
        tool: ToolsetTool[Any],  # noqa: ARG002 - Pydantic AI's signature
    ) -> ToolReturn[str]:
        """
        Answer one call.

        Raises:
            ToolFailed: the reply is an error: told to the model, and no retry is counted.
            PlanError: it is called outside a run.
        """
        session = self.session
        if session is None:
            msg = f"{name} needs the plan of a run: give the toolset to an agent"
            raise PlanError(msg, tool=name)
        response, turn = turn_of(ctx.messages, ctx.tool_call_id)
        sent = {one.call_id: one.arguments for one in turn}.get(ctx.tool_call_id or "")
        call = Call(name, _as_sent(tool_args, sent), ctx.tool_call_id or "")
        ours = [one for one in turn if self.toolbox.toolset.find(one.name)] or [call]
        # Some providers number the calls of each response anew: the first bears its name.
        ours[0] = attrs.evolve(ours[0], call_id=" ".join((ours[0].call_id, *response)))
        before, at = session.state, self.clock()
        # A run that is resumed from messages without the answer makes the call again.
        reply = await session.answer_one(call, ours, response or None)
        if reply.is_error:
            raise ToolFailed(reply.text)  # an answer; ModelRetry would count against the run
        note: dict[str, Any] = {}
        if reply.events:
            if session.slot:  # its journal knows the time
                at = session.slot.entries(PLAN)[-1].at or at
            entry = Entry(reply.revision, reply.events, in_utc(at), cause=reply.name)
            note = {ENTRY: entry_to_data(entry)}
        if reply.events or _has_heard(before, session.state):
            note |= note_of(session, plan=bool(reply.events))
        return ToolReturn(reply.text, metadata={KEY: note} if note else None)


def _has_heard(before: Record, now: Record) -> bool:
    # What guidance remembers, and a turn's number, are kept with each response.
    return now != attrs.evolve(before, memory=now.memory, answered=now.answered, asked=now.asked)


def make_tools(
    toolbox: Toolbox | None = None,
    *,
    store: AnyStore | None = None,
    clock: Clock = utc_now,
    verify: Verify | None = None,
) -> PlanToolset:
    """
    Return the tools of a toolbox for `Agent(toolsets=[...])`: without prompt and guidance.

    With a store, the plan is kept there under `conversation_id`, and not in the message history.
    `clock` gives aware times, `verify` looks whether a task is done (see `AsyncPlanner`).

    Raises:
        PlanError: what was given is no toolbox, no clock or no verifier.
    """
    return PlanToolset(toolbox, store=store, clock=clock, verify=verify)


@dataclass
class Planning(AbstractCapability[Any]):
    """
    Planning for an agent. It holds no plan and may serve any number of agents and conversations.

    The plan is kept in the message history, or with a `store` there, under `conversation_id`.
    `verify` looks whether a task is done (see `AsyncPlanner`).
    `system_prompt` is a static instruction ("" for none), by default the tool set's. List it behind
    capabilities that change requests: it looks at what it is handed.
    """

    toolbox: Toolbox = field(default_factory=Toolbox)
    settings: Settings = field(default_factory=Settings)
    store: AnyStore | None = None
    clock: Clock = utc_now
    verify: Verify | None = None
    system_prompt: str | None = None
    _tools: PlanToolset = field(init=False, repr=False, compare=False)
    _is_new: bool = field(default=True, init=False, repr=False)
    _sent_back: tuple[ModelMessage, ...] = field(default=(), init=False, repr=False)
    _stands: tuple[ModelResponsePart, ...] = field(default=(), init=False, repr=False)
    # The conversations that this agent is at work on: of each, so many runs.
    _runs: Counter[str] = field(default_factory=Counter, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require(self.settings, Settings)
        given: Any = {"store": self.store, "clock": self.clock, "verify": self.verify}
        self._tools = PlanToolset(require(self.toolbox, Toolbox), **given)
        self.verify = self._tools.verify

    async def for_run(self, ctx: _Context) -> Planning:
        """
        Return the capability for one run, with the session of its conversation.

        Raises:
            CodecError: what stands in the messages is no plan.
            PlanError: a store is given, and the conversation has no id; or none is, and a store
                keeps the plan.
        """
        own = replace(self)  # the agent's is shared by all runs, and so by all users
        own._tools = self._tools.opened(ctx, self.settings)  # noqa: SLF001 - its own kind
        own._runs = self._runs  # noqa: SLF001 - its own kind
        return own

    async def wrap_run(self, ctx: _Context, *, handler: WrapRunHandler) -> AgentRunResult[Any]:
        """Note that a run goes on: its messages are its own, and an edit would not be in them."""
        conversation = ctx.conversation_id or ""
        self._runs[conversation] += 1
        try:
            return await handler()
        finally:
            self._runs[conversation] -= 1

    def works_on(self, messages: Sequence[ModelMessage]) -> bool:
        """Say whether a run of this conversation goes on, in this process."""
        return any(self._runs[message.conversation_id or ""] > 0 for message in messages)

    def get_instructions(self) -> str | None:
        """Say what the tools are for, in the same words in every request."""
        # Never the plan itself: a prompt that changes ends the cache of all behind it.
        given = self.system_prompt
        return (self.toolbox.toolset.system_prompt() if given is None else given) or None

    def get_toolset(self) -> PlanToolset:
        """Return the tools, with the session of the run if this is a run's."""
        return self._tools

    @property
    def _session(self) -> AsyncSession:
        return cast("AsyncSession", self._tools.session)

    # The last hook before the request, since 2.64, our floor: others compact the history in it, so
    # that only here is seen what is really sent.
    # Not `before_model_request`: what that adds was kept in the history up to Pydantic AI 2.50.
    async def prepare_model_request(
        self,
        ctx: _Context,  # noqa: ARG002 - Pydantic AI's signature
        request_context: ModelRequestContext,
    ) -> ModelRequestContext:
        """Put what is due at the tail of this one request; it is kept nowhere."""
        messages = [*request_context.messages, *self._sent_back]
        # No reminder behind an answer that was sent back, whose own one ends the request, nor where
        # the provider paused and just goes on.
        silent = bool(self._sent_back) or isinstance(messages[-1], ModelResponse)
        seen = () if silent else [*map(neutral, messages)]
        request = await self._session.before_model(seen, silent=silent, is_new=self._is_new)
        return replace(request_context, messages=with_reminder(messages, request.text))

    async def after_model_request(
        self, ctx: _Context, *, request_context: ModelRequestContext, response: ModelResponse
    ) -> ModelResponse:
        """
        Send a final answer back, if the model is to go on, and remember.

        Neither the answer nor the reminder is kept. What was streamed has been seen: there both
        stay in the history.

        Raises:
            PlanError: the model goes on answering over open tasks, and the settings say to raise.
        """
        asked, said = request_context.model_request_parameters, neutral(response)
        # By any of Pydantic AI's ways: a schema of the provider's, or a tool that takes the output.
        structured = asked.output_object is not None or not asked.allow_text_output
        advice = await self._session.after_model(said, structured=structured)
        self._is_new = False
        if advice.verdict == "again" and request_context.streaming:
            with suppress(UserError):  # `run_stream` ends with the first answer: it stands
                ctx.enqueue(advice.text)
        elif advice.verdict == "again":
            # Asked again within the same step: the history and the limit of requests do not know
            # of it, the limit of tokens does. `output_validator` has one retry by default.
            reminder = ModelRequest.user_text_prompt(advice.text)
            self._sent_back = (*self._sent_back, response, reminder)
            self._stands = (*response.parts, _GAP) if advice.keeps(said) else ()
            raise RetryModelRequest
        # After a question whether all was said, both answers are kept.
        stands = self._stands if is_final_answer(said) else ()
        self._sent_back = self._stands = ()
        response = replace(response, parts=[*stands, *response.parts]) if stands else response
        return with_session(response, self._session, ctx.messages)


def seed_plan(
    planning: Planning | PlanToolset, state: State, plan: Plan, *, actor: str | None = None
) -> list[ModelMessage]:
    """
    Return the message history with this plan in it, whatever was there: give it as
    `message_history=` to the next run of the agent that has this planning. `actor` is who does it,
    for the journal.

    A conversation that begins with one is no new one to Pydantic AI, which then leaves
    `Agent(system_prompt=...)` out: use `instructions=`, or the capability `ReinjectSystemPrompt`.

    Raises:
        PlanError: a store keeps the plan of this conversation; a run of it goes on, as far as this
            `Planning` knows; what was given is no `Planning`, no history or no plan.
    """
    own, messages, session = _editing(planning, state)
    at = in_utc(own.clock())
    entry = whole_entry(require(plan, Plan), "seed_plan", at=at, actor=actor)
    (before, base), known = session.unseen(), session.state
    if known.revision == plan.revision:
        # A plan that is taken along where messages are cut away is one that the session knows.
        if before not in (plan, Plan()):
            known = attrs.evolve(known, revision=None, listed=None, mine={}, told=0)
    elif known.revision is not None:
        known = attrs.evolve(known, behind=base.after(entry.events, actor))
    note = {PLAN: plan_to_data(plan), SESSION: record_to_data(known, plan)}
    return _with_edit(messages, note, with_entry(_edits_in(messages), entry))


def edit_plan(
    planning: Planning | PlanToolset,
    state: State,
    command: Command,
    *,
    actor: str | None = None,
    policy: Policy | None = None,
) -> tuple[Decision, list[ModelMessage]]:
    """
    Carry out a command on the plan of a message history, or say why not; `ClearPlan()` clears it.

    It is judged by the policy of the planning unless another is given. `actor` is who does it, for
    the journal.

    Returns what was decided, and the history to go on with; the one that was given is as it was.

    Raises:
        CodecError: what stands there is no plan.
        PlanError: as of `seed_plan`; what was given is no policy.
    """
    _, messages, session = _editing(planning, state)
    decision = session.edit(command, actor=actor, policy=policy)
    return decision, _after(decision, messages, session)


def undo_plan(
    planning: Planning | PlanToolset, state: State, *, actor: str | None = None
) -> tuple[Decision, list[ModelMessage]]:
    """
    Take the last change of a message history's plan back that still stands, whoever made it; again,
    the one before it.

    Returns what was decided, and the history to go on with; the one that was given is as it was.

    Raises:
        CodecError: what stands there is no plan.
        PlanError: as of `seed_plan`; or the messages do not say what was before the change.
    """
    own, messages, session = _editing(planning, state)
    plan, journal = session.plan, history_of(messages)
    # The messages know more of the plan's life than a slot, which keeps the latest entries.
    change, known = last_change(journal), (*starts(journal), *earlier_plans(messages))
    before = None if change is None else plan_before(change, plan, journal, known)
    decision, entry = undone(plan, change, before, at=in_utc(own.clock()), actor=actor)
    if entry is not None and session.slot is not None:
        session.slot.append(PLAN, plan.revision, (entry,), decision.unwrap())
    return decision, _after(decision, messages, session)


def _editing(
    given: object, state: State
) -> tuple[Planning | PlanToolset, Sequence[ModelMessage], Session]:
    """Return a planning, the messages, and the session that is kept in them; or refuse the edit."""
    remedy = "the agent's Planning (or what make_tools returned), and then its messages"
    own = given if isinstance(given, PlanToolset) else require(given, Planning, remedy)
    messages = messages_of(state)
    refuse_stored(messages, stored=own.store is not None)
    if isinstance(own, Planning) and own.works_on(messages):
        # Law 16: whoever goes on with what the run returns would go on without the edit.
        msg = (
            "a run of this conversation goes on, which would not see the edit: edit what it"
            " returns, or keep the plan in a store, Planning(store=...), and edit it there"
        )
        raise PlanError(msg)
    kept = kept_in(messages, stored=False)
    # Several edits may follow each other upon one message: its journal goes on.
    kept["journal"] = _edits_in(messages)
    return own, messages, opened(kept, toolbox=own.toolbox, clock=own.clock)


def _edits_in(messages: Sequence[ModelMessage]) -> Any:
    return ((messages[-1].metadata or {}) if messages else {}).get(KEY, {}).get(EDITS)


def _after(
    decision: Decision, messages: Sequence[ModelMessage], session: Session
) -> list[ModelMessage]:
    if isinstance(decision, Rejected) or not decision.events or session.slot is None:
        return [*messages]
    return _with_edit(messages, note_of(session, plan=True), session.slot.slot["journal"])


def _with_edit(
    messages: Sequence[ModelMessage], note: dict[str, Any], edits: list[str]
) -> list[ModelMessage]:
    """Return the messages with a plan in the last one, and the entries that led to it."""
    # The plan of a conversation that has not begun needs a message to stand in, if an empty one.
    *earlier, last = messages or [ModelRequest(parts=[])]
    return [*earlier, noting(last, {**note, EDITS: edits})]
