"""
Plans in Pydantic AI: `pip install 'todoplan[pydantic-ai]'`.

`Planning` is a capability with the tools, the prompt and the guidance (reminders to the model), for
`Agent(capabilities=[...])`. `make_tools` returns only the tools, for `Agent(toolsets=[...])`.

The plan is kept in the metadata of the message history, which the model does not see.
`plan_of_state` and `history_of` read the plan; `seed_plan`, `edit_plan` and `undo_plan` change it.

Pydantic AI has no state except the messages, and its capabilities are shared by all runs. So each
session saves its data in the metadata of the messages:

- The `ToolReturnPart` of a call has the call's journal entry, the session's record (which tasks the
  session has listed, and what it has last seen of the plan), and the whole plan after the call. So
  one such message is enough, even if all other messages are replaced by a summary.
- A `ModelResponse` has the record, and also the plan if the earlier messages no longer have it.
- Between runs, `seed_plan`, `edit_plan` and `undo_plan` write the entry, the record and the plan to
  the last message of a copy of the history.
- If a store keeps the plan, the metadata has a flag that says so, and no plan.

A run uses copies of the capability and of the toolset, with a session that is read from the
messages at the start of the run. A reminder is added to one request to the model
(`prepare_model_request`) and is not saved. If the model answers while tasks are open, it is asked
again, and the early answer is not saved either. When streaming, the user has already seen the early
answer, so it stays in the history together with its reminder.
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

from todoplan.errors import CodecError, MissingExtraError, PlanError

try:
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
except ModuleNotFoundError as error:
    raise MissingExtraError.of(error.name, "pydantic-ai") from error

from todoplan.codec import entry_from_data, entry_to_data, plan_from_data, plan_to_data
from todoplan.codec.documents import read_recent, with_entry
from todoplan.core.commands import Command
from todoplan.core.decide import Decision, Rejected
from todoplan.core.events.apply import Entry
from todoplan.core.plan.model import in_utc, short_repr
from todoplan.core.plan.plan import Plan
from todoplan.core.rules import Policy
from todoplan.dialogue.calls import Call, Clock, utc_now
from todoplan.dialogue.guidance import Message, Settings, ToolResult, is_final_answer
from todoplan.dialogue.toolbox import Start, Toolbox, require, whole_entry
from todoplan.lazy import listing
from todoplan.planner import AnyStore
from todoplan.planner.session import (
    SESSION,
    AsyncSession,
    BasePlanning,
    Session,
    opened,
    record_to_data,
)
from todoplan.planner.verifying import Verify

__all__ = [
    "PlanToolset",
    "Planning",
    "edit_plan",
    "history_of",
    "make_tools",
    "plan_of_state",
    "seed_plan",
    "undo_plan",
]
__dir__ = listing(__all__)

KEY = "todoplan"
PLAN = "plan"
STORED = "stored"
ENTRY = "entry"
EDITS = "edits"
# The keys that 0.2.0 wrote instead of a record.
_MEMORY = "memory"
_BASE = "base"
_M = TypeVar("_M", bound=ModelRequest | ModelResponse)
_FINISHES = {"tool_call": "tool_calls"}  # Pydantic AI's finish reason -> guidance's
_UNDER_WAY = "pause_turn"  # Anthropic's finish reason for a turn to be continued
_Context = RunContext[Any]
_GAP = TextPart("\n\n")
_AS_SENT = "the arguments as sent"  # no parameter of a tool has this name


class Result(Protocol):
    """The result of a run: any object with the method `all_messages`."""

    def all_messages(self) -> list[ModelMessage]:
        """Return the messages, including those of earlier runs."""
        ...


State = Sequence[ModelMessage] | Result


def plan_of_state(state: State) -> Plan:
    """
    Return the plan in a message history or a run's result, or an empty plan if there is none.

    Raises:
        CodecError: the saved plan is damaged.
        PlanError: a store keeps the plan of this conversation, or `state` has the wrong type.
    """
    note = _latest(messages_of(state), PLAN)
    return plan_from_data(note[PLAN]) if note else Plan()


def history_of(state: State) -> tuple[Entry, ...]:
    """
    Return the journal entries of the plan, oldest first.

    Each entry has the time, the actor (`None` for an agent without a name) and the tool or command
    (`cause`). The journal goes back as far as the messages do. Of successive edits by the
    application, the latest 50 are kept, or fewer if they are long.

    Raises:
        CodecError, PlanError: see `plan_of_state`.
    """
    return _journal(messages_of(state))[0]


def _journal(messages: Sequence[ModelMessage]) -> tuple[tuple[Entry, ...], Iterator[Start]]:
    """
    Return the journal entries in the messages, oldest first, and the plans that are saved there.

    Raises:
        CodecError: a saved entry is damaged. The iterator of plans reads each plan when it gets to
            it, and raises the error then if the plan is damaged.
    """
    entries: list[Entry] = []
    saved: list[tuple[Any, int]] = []
    for note in reversed([*_notes(messages)]):
        entries += [entry_from_data(note[ENTRY])] if ENTRY in note else []
        entries += read_recent(note.get(EDITS))
        saved += [(note[PLAN], len(entries))] if PLAN in note else []
    return tuple(entries), (Start(plan_from_data(plan), number) for plan, number in saved)


def messages_of(state: object, *, stored: bool = False) -> Sequence[ModelMessage]:
    """
    Return the messages of a history or of a run's result.

    Raises:
        PlanError: `state` is neither; or a store keeps the plan, as `stored` or the messages say.
    """
    result: Any = state
    messages = result.all_messages() if hasattr(state, "all_messages") else state
    kinds = ModelRequest | ModelResponse
    if isinstance(messages, list | tuple) and all(
        isinstance(message, kinds) for message in messages
    ):
        refuse_stored(messages, stored=stored)
        return messages
    msg = (
        f"{short_repr(state)} was given; give a run's result, or its messages:"
        " result.all_messages(), or what ModelMessagesTypeAdapter has read"
    )
    raise PlanError(msg, seen=state)


def refuse_stored(messages: Sequence[ModelMessage], *, stored: bool = False) -> None:
    """
    Raise if a store keeps the plan of these messages.

    That is the case if the messages have a flag that says so, or if `stored` is true.

    Raises:
        PlanError: a store keeps the plan.
    """
    if stored or any(note.get(STORED) is True for note in _notes(messages)):
        msg = (
            "a store keeps the plan of this conversation, not its messages: use "
            "AsyncPlanner(store, conversation_id), and pass store= to every agent"
        )
        raise PlanError(msg)


def _notes(messages: Sequence[ModelMessage]) -> Iterator[Mapping[str, Any]]:
    """
    Yield the notes that todoplan has saved in the metadata of the messages, the latest first.

    In this order, the plan of a long conversation is found in one of the first notes.

    Raises:
        CodecError: a note is damaged. It is never ignored.
    """
    for message in reversed(messages):
        parts = [part for part in reversed(message.parts) if isinstance(part, ToolReturnPart)]
        for holder in (message, *parts):
            metadata: Any = holder.metadata
            if isinstance(metadata, Mapping) and KEY in metadata:
                note = metadata[KEY]
                if not isinstance(note, Mapping):
                    msg = f"the data under {KEY!r} in a message is damaged: {note!r:.60}"
                    raise CodecError(msg)
                yield note


def _latest(messages: Sequence[ModelMessage], *names: str) -> Mapping[str, Any]:
    """Return the latest note that has one of these keys, or an empty note."""
    return next((note for note in _notes(messages) if any(name in note for name in names)), {})


def kept_in(messages: Sequence[ModelMessage], *, stored: bool) -> dict[str, Any]:
    """
    Return the saved values of a session, from which `opened` makes the session again. `stored` says
    that a store has the plan.

    Raises:
        CodecError: a note in the messages is damaged.
        PlanError: a store keeps the plan, and `stored` is false.
    """
    kept: dict[str, Any] = {}
    if not stored:
        refuse_stored(messages)
        kept[PLAN] = _latest(messages, PLAN).get(PLAN, _NO_PLAN)
    note = _latest(messages, SESSION, _MEMORY, PLAN)
    if note.get(STORED, False) is not stored:
        return kept  # the record is about another plan than the one in use
    if SESSION in note:
        kept[SESSION] = note[SESSION]
    elif note:
        kept[_MEMORY] = _latest(messages, _MEMORY).get(_MEMORY, {})
        # The note that has the plan also has the merge base: the plan as the model saw it last.
        kept[_BASE] = None if stored else _latest(messages, PLAN, _BASE).get(_BASE)
    return kept


_NO_PLAN = plan_to_data(Plan())


def note_of(session: Session | AsyncSession, *, plan: bool) -> dict[str, Any]:
    """
    Return the note to save for a session. If `plan` is true and no store keeps the plan, the note
    has the plan.
    """
    note: dict[str, Any] = {SESSION: session.record}
    if session.slot is None:
        note[STORED] = True
    elif plan:
        note[PLAN] = session.slot.slot[PLAN]
    return note


def noting(message: _M, note: Mapping[str, Any]) -> _M:
    """Return a message with a note merged into its metadata."""
    metadata = message.metadata or {}
    return replace(message, metadata={**metadata, KEY: {**metadata.get(KEY, {}), **note}})


def neutral(message: ModelMessage) -> Message:
    """
    Convert a message to the neutral form that guidance reads. A response that the provider will
    continue does not count as a final answer.
    """
    if isinstance(message, ModelResponse):
        calls = tuple(call.tool_name for call in message.tool_calls)
        reason = message.finish_reason or ""
        finish = _FINISHES.get(reason, reason) if message.state == "complete" else _UNDER_WAY
        return Message("assistant", message.text or "", calls, finish=finish)
    returns = (part for part in message.parts if isinstance(part, ToolReturnPart))
    # The result of a failed or denied call has not shown the plan to the model.
    results = [ToolResult(p.tool_name, p.outcome == "success", p.tool_call_id) for p in returns]
    return Message("user", results=tuple(results))


def turn_of(
    messages: Sequence[ModelMessage], call_id: str | None
) -> tuple[tuple[str, ...], tuple[Call, ...]]:
    """
    Return the name of the response that made a call, and all calls of that response.

    The name is the same in every process that resumes the run. The result is `((), ())` if no
    message has the call.
    """
    for message in reversed(messages):
        if isinstance(message, ModelResponse):
            calls = [Call(c.tool_name, c.args, c.tool_call_id) for c in message.tool_calls]
            if any(call.call_id == call_id for call in calls):
                named = message.timestamp.isoformat(), message.provider_response_id or ""
                return named, tuple(calls)
    return (), ()


def with_reminder(messages: Sequence[ModelMessage], text: str) -> list[ModelMessage]:
    """Return the messages of one request with a text appended; "" adds nothing."""
    *earlier, last = messages
    if text and isinstance(last, ModelRequest):
        # Added to the last request after its tool results: Anthropic requires a single user turn
        # that begins with the results.
        return [*earlier, replace(last, parts=[*last.parts, UserPromptPart(text)])]
    return [*messages]


# If Pydantic AI refuses arguments, that counts as a retry, and a tool has one retry by default.
class _Lenient:
    """A validator that accepts all arguments. Intake validates them and explains the errors."""

    def validate_json(self, input: Any, **_: Any) -> dict[str, Any]:  # noqa: A002 - Pydantic's name
        """Return the JSON object in a text, or the text itself under `_AS_SENT`."""
        try:
            # NaN is kept as text. As a number it is not equal to itself, and `call_tool` would
            # conclude that a hook has changed the arguments.
            arguments = json.loads(input, parse_constant=str)
        except (ValueError, RecursionError):
            arguments = None
        return self.validate_python(arguments if isinstance(arguments, dict) else input)

    def validate_python(self, input: Any, **_: Any) -> dict[str, Any]:  # noqa: A002 - same
        """Return the arguments by name; arguments that are not a dict are put under `_AS_SENT`."""
        return input if isinstance(input, dict) else {_AS_SENT: input}


_LENIENT = _Lenient()


class PlanToolset(BasePlanning, AbstractToolset[Any]):
    """
    The tools of a toolbox, for `Agent(toolsets=[...])`; `make_tools` makes it. It has no plan
    itself: each run uses a copy with the session of its conversation.
    """

    def prepare(self) -> None:
        """Set up the toolset, at first without a session."""
        self.session: AsyncSession | None = None
        self._shown: list[ToolDefinition] = []  # made once, and shared with all copies

    @property
    def id(self) -> str:
        """The toolset's id. It is constant, because an agent has one plan."""
        return KEY

    async def for_run(self, ctx: _Context) -> PlanToolset:
        """Return the toolset for one run, with the session of its conversation."""
        # The capability's toolset already has a session.
        return self if self.session else self.begun(ctx)

    def begun(self, ctx: _Context) -> PlanToolset:
        """Return a copy with the session that is saved in the run's messages."""
        own = copy(self)
        kept = kept_in(ctx.messages, stored=self.store is not None)
        own.session = self.opened(kept, ctx.conversation_id)
        return own

    async def get_tools(self, ctx: _Context) -> dict[str, ToolsetTool[Any]]:
        """Return the tools. They are sequential: the calls of a turn are carried out in order."""
        if not self._shown:
            self._shown += (
                ToolDefinition(
                    name=definition.name,
                    description=definition.description,
                    parameters_json_schema=definition.schema,
                    # Pydantic AI runs the calls of a turn concurrently; law 13 requires order.
                    sequential=True,
                )
                for definition in self.toolbox.toolset.definitions()
            )
        more: Any = {"max_retries": ctx.max_retries, "args_validator": _LENIENT}
        return {
            definition.name: ToolsetTool(toolset=self, tool_def=definition, **more)
            for definition in self._shown
        }

    async def call_tool(
        self,
        name: str,
        tool_args: dict[str, Any],
        ctx: _Context,
        tool: ToolsetTool[Any],  # noqa: ARG002 - Pydantic AI's signature
    ) -> ToolReturn[str]:
        """
        Answer one call. What has to be saved is in the metadata of the returned value.

        Raises:
            ToolFailed: the reply is an error. The model reads it, and no retry is counted.
            PlanError: the tool was called outside a run.
        """
        session = self.session
        if session is None:
            msg = f"{name} needs the plan of a run: give the toolset to an agent"
            raise PlanError(msg, tool=name)
        response, turn = turn_of(ctx.messages, ctx.tool_call_id)
        sent = {made.call_id: made.arguments for made in turn}.get(ctx.tool_call_id or "")
        # The text as sent has details that an object has lost, such as a duplicate key. It is not
        # used if a hook has changed the arguments.
        is_unchanged = isinstance(sent, str) and _LENIENT.validate_json(sent or "{}") == tool_args
        arguments = sent if is_unchanged else tool_args.get(_AS_SENT, tool_args)
        call = Call(name, arguments, ctx.tool_call_id or "")
        ours = [made for made in turn if self.toolbox.toolset.find(made.name)] or [call]
        # Some providers restart the numbers of calls in each response, so the response's name is
        # added to the first call's id.
        ours[0] = attrs.evolve(ours[0], call_id=" ".join((ours[0].call_id, *response)))
        before, at = session.state, self.clock()
        # A run that is resumed from messages without the answer repeats the call.
        reply = await session.answer_one(call, ours, response or None)
        if reply.is_error:
            raise ToolFailed(reply.text)  # ModelRetry would count as a retry of the run
        note: dict[str, Any] = {}
        if reply.events:
            if session.slot:  # its journal has the time of the change
                at = session.slot.entries(PLAN)[-1].at or at
            entry = Entry(reply.revision, reply.events, in_utc(at), session.actor, reply.name)
            note = {ENTRY: entry_to_data(entry)}
        now = session.state
        # The memory of guidance and the numbers of the turn are saved with each response anyway.
        before = attrs.evolve(before, memory=now.memory, answered=now.answered, asked=now.asked)
        if reply.events or now != before:
            note |= note_of(session, plan=bool(reply.events))
        return ToolReturn(reply.text, metadata={KEY: note} if note else None)


def make_tools(
    toolbox: Toolbox | None = None,
    *,
    store: AnyStore | None = None,
    clock: Clock = utc_now,
    verify: Verify | None = None,
) -> PlanToolset:
    """
    Return the tools of a toolbox for `Agent(toolsets=[...])`, without prompt and reminders.

    With a store, the plan is kept there under `conversation_id`, and not in the message history.
    `clock` returns the current time with its time zone, and `verify` checks whether a task is done
    (see `AsyncPlanner`).

    Raises:
        PlanError: the toolbox, the clock or the verifier has the wrong type.
    """
    return PlanToolset(toolbox, store=store, clock=clock, verify=verify)


@dataclass
class Planning(AbstractCapability[Any]):
    """
    The planning capability of an agent.

    It has no plan itself, and any number of agents and conversations may share it. The plan is kept
    in the message history, or, with a `store`, in that store under `conversation_id`.

    `toolbox` has the tools and their policy, `settings` configure the reminders to the model,
    `clock` returns the current time with its time zone, and `verify` checks whether a task is done
    (see `AsyncPlanner`). `system_prompt` is the instruction about the tools; the default is the
    tool set's prompt, and "" adds none. `actor` is the agent's name in the journal.

    In the agent's `capabilities`, list the planning after the capabilities that change requests, so
    that it reads the changed requests.
    """

    toolbox: Toolbox = field(default_factory=Toolbox)
    settings: Settings = field(default_factory=Settings)
    store: AnyStore | None = None
    clock: Clock = utc_now
    verify: Verify | None = None
    system_prompt: str | None = None
    actor: str | None = None
    _tools: PlanToolset = field(init=False, repr=False, compare=False)
    _is_new: bool = field(default=True, init=False, repr=False)
    _sent_back: tuple[ModelMessage, ...] = field(default=(), init=False, repr=False)
    _stands: tuple[ModelResponsePart, ...] = field(default=(), init=False, repr=False)
    # The number of active runs of this agent, by conversation.
    _runs: Counter[str] = field(default_factory=Counter, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        given: Any = {"store": self.store, "clock": self.clock, "verify": self.verify}
        given |= {"system_prompt": self.system_prompt, "actor": self.actor}
        self._tools = PlanToolset(require(self.toolbox, Toolbox), self.settings, **given)

    async def for_run(self, ctx: _Context) -> Planning:
        """
        Return the capability for one run, with the session of its conversation.

        Raises:
            CodecError: the plan in the messages is damaged.
            PlanError: a store is given, and the conversation has no id; or no store is given, and
                a store keeps the plan.
        """
        own = copy(self)  # the agent's instance is shared by all runs and users
        own._tools = self._tools.begun(ctx)  # noqa: SLF001 - its own kind
        return own

    async def wrap_run(self, ctx: _Context, *, handler: WrapRunHandler) -> AgentRunResult[Any]:
        """Count the active runs, because an edit during a run would be lost and is refused."""
        conversation = ctx.conversation_id or ""
        self._runs[conversation] += 1
        try:
            return await handler()
        finally:
            self._runs[conversation] -= 1

    def get_instructions(self) -> str | None:
        """Return the instruction about the tools, which is the same in every request."""
        # It never has the plan, because a changed prompt invalidates the provider's prompt cache.
        return self._tools.system_prompt or None

    def get_toolset(self) -> PlanToolset:
        """Return the tools. In the copy for a run, they have the session of the run."""
        return self._tools

    @property
    def _session(self) -> AsyncSession:
        return cast("AsyncSession", self._tools.session)

    # Since Pydantic AI 2.64, the minimum version, this is the last hook before the request. Other
    # capabilities shorten the history in this hook, so only here are the messages those that are
    # really sent. `before_model_request` is not used: up to Pydantic AI 2.50, its additions were
    # kept in the history.
    async def prepare_model_request(
        self,
        ctx: _Context,  # noqa: ARG002 - Pydantic AI's signature
        request_context: ModelRequestContext,
    ) -> ModelRequestContext:
        """Append the due reminder, if any, to this request. The reminder is not saved."""
        messages = [*request_context.messages, *self._sent_back]
        # No reminder is added if the model is asked again after an early answer, because the
        # reminder about this answer ends the request. None is added either if the provider paused
        # its response and only continues it.
        silent = bool(self._sent_back) or isinstance(messages[-1], ModelResponse)
        seen = () if silent else [*map(neutral, messages)]
        request = await self._session.before_model(seen, silent=silent, is_new=self._is_new)
        return replace(request_context, messages=with_reminder(messages, request.text))

    async def after_model_request(
        self, ctx: _Context, *, request_context: ModelRequestContext, response: ModelResponse
    ) -> ModelResponse:
        """
        Ask the model again if it answers too early, and save the session.

        The early answer and its reminder are not kept in the history. When streaming, the user has
        already seen the answer, so the answer and the reminder stay in the history.

        Raises:
            PlanError: the model keeps giving final answers despite open tasks, and the settings
                say to raise.
        """
        asked, answer = request_context.model_request_parameters, neutral(response)
        # Structured output in either form: the provider's output schema, or an output tool.
        structured = asked.output_object is not None or not asked.allow_text_output
        advice = await self._session.after_model(answer, structured=structured)
        self._is_new = False
        if advice.verdict == "again" and request_context.streaming:
            with suppress(UserError):  # `run_stream` ends with the first answer, which is kept
                ctx.enqueue(advice.text)
        elif advice.verdict == "again":
            # The model is asked again within the same step. This counts towards the limit of
            # tokens, but not towards the limit of requests, and is not in the history. A retry from
            # an `output_validator` is not used, because only one is allowed by default.
            reminder = ModelRequest.user_text_prompt(advice.text)
            self._sent_back = (*self._sent_back, response, reminder)
            self._stands = (*response.parts, _GAP) if advice.keeps(answer) else ()
            raise RetryModelRequest
        # If the model was asked whether its answer is complete, both answers are kept.
        stands = self._stands if is_final_answer(answer) else ()
        self._sent_back = self._stands = ()
        response = replace(response, parts=[*stands, *response.parts]) if stands else response
        session, is_lost = self._session, False
        if session.slot is not None:  # the messages with the plan may have been removed
            kept = _latest(ctx.messages, PLAN).get(PLAN, _NO_PLAN)
            is_lost = kept["revision"] != session.slot.slot[PLAN]["revision"]
        return noting(response, note_of(session, plan=is_lost))


def seed_plan(
    planning: Planning | PlanToolset, state: State, plan: Plan, *, actor: str | None = None
) -> list[ModelMessage]:
    """
    Return the message history with this plan, which replaces any earlier plan.

    Pass the result as `message_history=` to the next run of the agent that has this planning.
    `actor` is the name for the journal.

    If the history was empty, Pydantic AI no longer treats the conversation as new and leaves out
    `Agent(system_prompt=...)`. Use `instructions=` or the capability `ReinjectSystemPrompt`
    instead.

    Raises:
        PlanError: a store keeps the plan of this conversation; a run of this conversation is
            active in this `Planning`; or an argument has the wrong type.
    """
    own, messages, session = _editing(planning, state)
    at = in_utc(own.clock())
    entry = whole_entry(require(plan, Plan), "seed_plan", at=at, actor=actor)
    (before, base), known = session.unseen(), session.state
    if known.revision == plan.revision:
        # An application that cuts messages away may seed the same plan again. The session then
        # keeps its record.
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
    Carry out a command on the plan of a message history. `ClearPlan()` clears the plan.

    `policy` decides whether the command is accepted; by default it is the policy of `planning`.
    `actor` is the name for the journal. Returns the decision, which may be a rejection, and a new
    message history; `state` is not changed.

    Raises:
        CodecError: the saved plan is damaged.
        PlanError: see `seed_plan`; or the policy has the wrong type.
    """
    _, messages, session = _editing(planning, state)
    decision = session.edit(command, actor=actor, policy=policy)
    return decision, _after(decision, messages, session)


def undo_plan(
    planning: Planning | PlanToolset, state: State, *, actor: str | None = None
) -> tuple[Decision, list[ModelMessage]]:
    """
    Undo the last change of the plan that is not undone yet, whoever made it.

    Repeated calls undo earlier changes. Returns the decision and a new message history; `state` is
    not changed. `actor` is the name for the journal.

    Raises:
        CodecError: the saved plan is damaged.
        PlanError: see `seed_plan`; or the messages do not have the plan before the change.
    """
    _, messages, session = _editing(planning, state)
    # The messages have more of the journal than the session, which has only the latest entries.
    journal, earlier = _journal(messages)
    decision = session.undo(actor=actor, kept=journal, earlier=tuple(earlier))
    return decision, _after(decision, messages, session)


def _editing(
    given: object, state: State
) -> tuple[Planning | PlanToolset, Sequence[ModelMessage], Session]:
    """
    Return the planning, the messages, and the session that is saved in them, for an edit.

    Raises:
        PlanError: an argument has the wrong type, a store keeps the plan, or a run is active.
    """
    remedy = "the agent's Planning (or what make_tools returned), and then its messages"
    own = given if isinstance(given, PlanToolset) else require(given, Planning, remedy)
    messages = messages_of(state, stored=own.store is not None)
    runs = own._runs if isinstance(own, Planning) else Counter()  # noqa: SLF001 - its own kind
    if any(runs[message.conversation_id or ""] > 0 for message in messages):
        PlanToolset.refuse_edit_beside("a run of this conversation", "edit what it returns")
    kept = kept_in(messages, stored=False)
    # Several edits may be saved in one message. The journal of the earlier edits is continued.
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
    """Return the messages with a note and the entries of the edits in the last one."""
    # A conversation without messages gets an empty one to carry the plan.
    *earlier, last = messages or [ModelRequest(parts=[])]
    return [*earlier, noting(last, {**note, EDITS: edits})]
