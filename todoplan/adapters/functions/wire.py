"""
The calls, messages and runs of function calling, for each provider's format.

`Wire` has what is the same for all providers. Its four subclasses say how each provider names
tools, calls, results and messages. `Run` is an agent's loop with guidance.

No data from a model or a provider raises an error, except in `Run.after_model`. A developer's
mistake, such as a wrong type for the plan or a response of `None`, raises an error at once, even if
the response has no calls.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, Self

import attrs

from todoplan.core.events.apply import Entry
from todoplan.core.events.base import Base
from todoplan.core.events.types import Event
from todoplan.core.plan.plan import Plan
from todoplan.dialogue.calls import Call, Clock, Reply, Turn, utc_now
from todoplan.dialogue.guidance import Message, Role, Settings, ToolResult, is_final_answer
from todoplan.dialogue.replies import is_error_text
from todoplan.dialogue.toolbox import Toolbox, require, start, tell_called
from todoplan.dialogue.tools import ToolSet
from todoplan.errors import PlanError
from todoplan.planner import AnyStore, Planner
from todoplan.planner.session import Session, opened
from todoplan.planner.verifying import Verify

Tools = Toolbox | ToolSet
Shape = Any
"""
A plain dict in a provider's format. Untyped, since an SDK's TypedDict rejects `dict[str, Any]`.
"""
Next = Literal["again", "answer", "stop"]
"""The loop's next step after a response: ask the model again, answer its calls, or stop."""
OtherTools = Callable[[Call], "str | Reply"]
"""Carries out a call of a tool other than the planning tools; returns a text or a `Reply`."""

_WHAT = "what run.to_data() returned"
_SENT_BACK = "sent_back"
_ROLES: dict[object, Role] = {
    "assistant": "assistant",
    "model": "assistant",  # Gemini
    "system": "system",
    "developer": "system",  # OpenAI, for reasoning models
    "tool": "tool",
}
_FAILED = {"failed", "cancelled"}


def field(value: object, *names: str) -> Any:
    """Return the first non-empty value that a mapping or an object has under these names."""
    entry = None
    for name in names:
        entry = value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
        if entry:
            break
    return entry


def entries(value: object, name: str) -> Sequence[Any]:
    """Return the list under a name; an empty one if there is no list."""
    entry = field(value, name)
    return entry if isinstance(entry, list | tuple) else ()


def plain(value: Any) -> Any:
    """Return an SDK's object as the dict that the SDK's API accepts. A dict is copied."""
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "to_dict"):  # OpenAI and Anthropic; leaves out unset fields
        return value.to_dict()
    # Google. JSON mode would change the signature of a thought.
    return value.model_dump(exclude_none=True) if hasattr(value, "model_dump") else value


def as_text(value: object) -> str:
    """Return the value if it is a text, otherwise ""."""
    return value if isinstance(value, str) else ""


def text_in(content: object) -> str:
    """
    Return the text of a message's content, which is a text or a list of objects or dicts.

    Thoughts and other kinds of parts are left out.
    """
    if not isinstance(content, list | tuple):
        return as_text(content)
    return "".join(
        as_text(part) or as_text(field(part, "text"))
        for part in content
        # Gemini's parts have no type, but a flag for thoughts. Responses has input and output
        # texts.
        if field(part, "type") in {None, "text", "input_text", "output_text"}
        and not field(part, "thought")
    )


def call_of(call: object, arguments: str, call_id: object) -> Call:
    """
    Return a call; `arguments` is the name of the field with the call's arguments.

    A tool name or an id that is not a text counts as missing.
    """
    # The arguments stay unchanged, text or object. `intake` repairs them, and reports the repairs
    # (law 10).
    return Call(as_text(field(call, "name")), field(call, arguments), as_text(call_id))


def message_of(
    role: object, text: str = "", *, finish: object = "", results: Iterable[ToolResult] = ()
) -> Message:
    """Return a message without calls; `finish` is the finish reason. Unknown roles are "user"."""
    known = _ROLES.get(role, "user") if isinstance(role, str) else "user"
    return Message(known, text, results=tuple(results), finish=as_text(finish))


def _result_of(text: str, call_id: object) -> Message:
    result = ToolResult("", not is_error_text(text), str(call_id))
    return message_of("tool", results=[result])


def _toolset(tools: Tools) -> ToolSet:
    if isinstance(tools, Toolbox):
        return tools.toolset
    return require(tools, ToolSet, "a toolbox, Toolbox(TASKS, STRICT), or a tool set, TASKS")


@attrs.frozen
class Answered:
    """
    An answered turn of the model: the plan after the turn, and `messages` for the conversation.

    Append `messages` to the conversation. `others` are the calls of other tools, in order; the
    caller must answer them. `base` is the merge base (what the model has last seen of the plan), or
    `None`; store it beside the plan, for the next answer.
    """

    plan: Plan
    messages: tuple[Shape, ...] = ()
    replies: tuple[Reply, ...] = ()
    others: tuple[Call, ...] = ()
    base: Base | None = None

    @property
    def events(self) -> tuple[Event, ...]:
        """All events of the turn, in order."""
        return Turn(self.plan, self.replies).events


class Wire(ABC):
    """
    One provider's message formats. Its public methods are the functions of the provider's module.

    The abstract methods are different for each provider. The methods after them, up to
    `is_blocked`, are different for some providers. `schema` is the key of a tool's JSON schema.
    `choice` is the key of the choices in a response, and the key of the message in a choice.
    `response_id` has the possible names of the field with a response's id.
    """

    schema = "parameters"
    choice: tuple[str, str] = ("choices", "message")
    response_id: tuple[str, ...] = ("id",)

    @abstractmethod
    def define(self, tools: list[Shape], *, strict: bool) -> list[Shape]:
        """Return the definitions of tools, each given by its name, description and schema."""

    @abstractmethod
    def calls(self, entry: object) -> Iterator[Call]:
        """Yield the calls of a message or a response, in order."""

    @abstractmethod
    def results(self, replies: Sequence[Reply]) -> list[Shape]:
        """Return the messages that give the model these replies."""

    @abstractmethod
    def read(self, entry: object) -> Message:
        """Convert a message or a response, without its calls, to the form that guidance reads."""

    def message(self, response: object) -> tuple[Any, Any]:
        """
        Return the message of a response's first choice, and that choice. If `response` is a message
        already, return it and `None`.
        """
        choices, message = self.choice
        found = entries(response, choices)
        return (field(found[0], message), found[0]) if found else (response, None)

    def kept(self, response: object) -> list[Shape]:
        """Return a response as the messages to append to the conversation."""
        return [plain(self.message(response)[0])]

    def tail(self, messages: Sequence[Shape], text: str) -> list[Shape]:
        """Return the messages of a request followed by a text of the user."""
        return [*messages, {"role": "user", "content": text}]

    def is_blocked(self, response: object) -> bool:  # noqa: ARG002 - only Gemini reports it
        """Return whether the provider blocked the prompt."""
        return False

    def make_tools(self, tools: Tools, *, strict: bool = False) -> list[Shape]:
        """
        Return the tool definitions for a request. With `strict`, the schemas are strict, and the
        provider is asked to enforce them; Gemini cannot do that.
        """
        shapes = [
            {"name": tool.name, "description": tool.description, self.schema: tool.schema}
            for tool in _toolset(tools).definitions(strict=strict)
        ]
        return self.define(shapes, strict=strict)

    def split(self, tools: Tools, response: object) -> tuple[tuple[Call, ...], tuple[Call, ...]]:
        """Return the planning calls of a response, and its calls of other tools, each in order."""
        toolset = _toolset(tools)
        if response is None:
            msg = "None was given; give the provider's response, or its message"
            raise PlanError(msg, seen=response)
        calls = tuple(self.calls(response))
        ours = tuple(call for call in calls if toolset.find(call.name))
        return ours, tuple(call for call in calls if not toolset.find(call.name))

    def calls_in(self, tools: Tools, response: object) -> tuple[Call, ...]:
        """
        Return the planning calls of a response (its first choice) or of a message, in order.

        Raises:
            PlanError: `tools` is not a toolbox or a tool set, or `response` is `None`.
        """
        return self.split(tools, response)[0]

    def results_of(self, turn: Turn | Iterable[Reply]) -> list[Shape]:
        """
        Return the messages with these replies for the model; an empty list if there are none.

        A `Reply` may also contain the result of one of the caller's tools.

        Anthropic and Gemini require all results of a turn in one message. If a turn calls other
        tools too, pass their replies together with the plan's, or extend the returned message.
        """
        return self.results(turn.replies if isinstance(turn, Turn) else tuple(turn))

    def answer(
        self,
        toolbox: Toolbox,
        plan: Plan,
        response: object,
        *,
        at: datetime | None = None,
        base: Base | None = None,
    ) -> Answered:
        """
        Answer all planning calls of a response in order, as one turn, and return the other calls.

        `at` is the time of the change, with its time zone, or `None`. If others work on the plan
        too, `base` is the merge base (what the model has last seen of the plan) that the previous
        answer returned. Changes by others are kept, and the reply reports them once. Store the
        returned merge base for the next answer. It is `None` if the model has listed all tasks.

        If somebody else applies a command, update the merge base. `before` is the plan before this
        command, and `Base` is in `todoplan.core.events.base`:

            base = (base or Base(before)).after(decision.events, "ann")

        Raises:
            PlanError: an argument has the wrong type, or `response` is `None`.
        """
        planning, others = self.split(require(toolbox, Toolbox), response)
        # All calls are answered together (law 13): otherwise each of two whole-list writes would
        # look like the only one.
        began = start(toolbox)
        turn = toolbox.turn(require(plan, Plan), planning, at=at, base=base)
        tell_called(toolbox, turn.replies, None, began)
        if base is not None and not all(reply.is_error for reply in turn.replies):
            base = base.advanced(plan, turn.plan, [reply.note for reply in turn.replies])
            base = None if base.is_alone else base
        elif base is not None:  # a refused call changes nothing but a verifier's evidence
            base = base.with_own(turn.events)
        return Answered(turn.plan, tuple(self.results_of(turn)), turn.replies, others, base)

    def read_messages(self, messages: Iterable[object]) -> tuple[Message, ...]:
        """
        Convert messages, or whole responses, for guidance; one `Message` for each.

        Pass all messages of a request. A result names its call only by id, so without the message
        that has the call, the tool of the result is unknown. Guidance would then assume that the
        model no longer sees the plan, and would send the plan again.
        """
        names: dict[str, str] = {}
        read = []
        for entry in messages:
            calls, message = tuple(self.calls(entry)), self.read(entry)
            names.update((call.call_id, call.name) for call in calls)
            results = tuple(
                attrs.evolve(result, name=result.name or names.get(result.call_id, ""))
                for result in message.results
            )
            named = tuple(call.name for call in calls if call.name)
            # A message with a call is no final answer, even if the tool's name is missing.
            invalid = len(calls) - len(named)
            read.append(attrs.evolve(message, calls=named, results=results, invalid_calls=invalid))
        return tuple(read)

    def with_reminder(self, messages: Sequence[Shape], text: str) -> list[Shape]:
        """
        Return the messages of one request with a text appended; do not save it.

        An empty text adds nothing.
        """
        return self.tail(messages, text) if text else [*messages]

    def start_run(  # noqa: PLR0913 - the settings of every adapter, and what was saved
        self,
        toolbox: Toolbox | None = None,
        *,
        settings: Settings = Settings(),  # noqa: B008 - a frozen value
        store: AnyStore | None = None,
        clock: Clock = utc_now,
        verify: Verify | None = None,
        plan_id: str | None = None,
        saved: dict[str, Any] | None = None,
        actor: str | None = None,
    ) -> Run:
        """
        Begin a `Run`: one run of an agent's loop, from a user's request to the final answer.

        `toolbox` has the tools and their policy, `settings` configure the reminders to the model,
        `clock` returns the current time with its time zone, `verify` checks whether a task is done
        (see `Planner`), and `actor` is this agent's name in the journal. With a `store`, the plan
        is kept there under `plan_id`, and others may change it at any time; without a store, the
        plan is part of the run's `to_data()`. For the next user request, start a new run, and pass
        as `saved` what `to_data()` returned.

        Raises:
            CodecError: the saved data is damaged.
            PlanError: the plan would be both in the store and in the saved data, or in neither; or
                an argument has the wrong type.
        """
        kept = {} if saved is None else dict(require(saved, dict, _WHAT))
        back = kept.pop(_SENT_BACK, None)
        sent_back = None if back is None else _SentBack.of(back)
        session = opened(
            kept,
            toolbox=toolbox,
            settings=settings,
            store=store,
            clock=clock,
            verify=verify,
            plan_id=plan_id,
            actor=actor,
        )
        return Run(self, session, sent_back)


class _OpenAIChat(Wire):
    """The OpenAI Chat Completions API."""

    def define(self, tools: list[Shape], *, strict: bool) -> list[Shape]:
        more = {"strict": True} if strict else {}
        return [{"type": "function", "function": {**tool, **more}} for tool in tools]

    def calls(self, entry: object) -> Iterator[Call]:
        for call in entries(self.message(entry)[0], "tool_calls"):
            yield call_of(field(call, "function"), "arguments", field(call, "id"))

    def results(self, replies: Sequence[Reply]) -> list[Shape]:
        # There is no error flag: the text itself marks an error.
        return [
            {"role": "tool", "tool_call_id": reply.call_id, "content": reply.text}
            for reply in replies
        ]

    def read(self, entry: object) -> Message:
        message, choice = self.message(entry)
        role, text = field(message, "role"), text_in(field(message, "content"))
        if role == "tool":
            return _result_of(text, field(message, "tool_call_id"))
        # A refusal is in a field of its own, whatever the finish reason.
        finish = "refusal" if field(message, "refusal") else field(choice, "finish_reason")
        return message_of(role, text, finish=finish)


class _OpenAIResponses(Wire):
    """The OpenAI Responses API, in which requests and responses consist of items."""

    def define(self, tools: list[Shape], *, strict: bool) -> list[Shape]:
        # Always set, since the API's default is true.
        return [{"type": "function", **tool, "strict": strict} for tool in tools]

    def _items(self, response: object) -> Sequence[Any]:
        # The items of a conversation that the caller stores are a list, without a response object.
        return response if isinstance(response, list | tuple) else entries(response, "output")

    def calls(self, entry: object) -> Iterator[Call]:
        alone = field(entry, "type") == "function_call"
        for item in [entry] if alone else self._items(entry):
            if field(item, "type") == "function_call":
                # The output must have the `call_id`; an item's `id` is a different id.
                yield call_of(item, "arguments", field(item, "call_id"))

    def results(self, replies: Sequence[Reply]) -> list[Shape]:
        return [
            {"type": "function_call_output", "call_id": reply.call_id, "output": reply.text}
            for reply in replies
        ]

    def read(self, entry: object) -> Message:
        if field(entry, "type") == "function_call_output":
            return _result_of(text_in(field(entry, "output")), field(entry, "call_id"))
        # The entry is one message, a whole response, or an item of the model without a role, such
        # as a call or reasoning.
        role, messages = field(entry, "role"), [entry]
        if not role:
            messages = [
                item for item in entries(entry, "output") if field(item, "type") == "message"
            ]
            has_failed = field(entry, "error") is not None or field(entry, "status") in _FAILED
            is_output = isinstance(entry, list | tuple) or any(
                field(entry, name) is not None for name in ("output", "type")
            )
            role = "assistant" if is_output and not has_failed else ""
        contents = [field(message, "content") for message in messages]
        refused = any(
            field(part, "type") == "refusal"
            for content in contents
            if isinstance(content, list | tuple)
            for part in content
        )
        finish = "refusal" if refused else field(field(entry, "incomplete_details"), "reason")
        return message_of(role, "".join(map(text_in, contents)), finish=finish)

    def kept(self, response: object) -> list[Shape]:
        # All items, including reasoning: this API requires a call's reasoning to be sent back.
        return [plain(item) for item in self._items(response)]


class _AnthropicMessages(Wire):
    """The Anthropic Messages API: all results of a turn are in one user message."""

    schema = "input_schema"

    def define(self, tools: list[Shape], *, strict: bool) -> list[Shape]:
        # Not by default: all strict tools are compiled to one grammar, which was too large for some
        # users with 13 tools.
        return [{**tool, "strict": True} for tool in tools] if strict else tools

    def calls(self, entry: object) -> Iterator[Call]:
        for block in entries(entry, "content"):
            if field(block, "type") == "tool_use":
                yield call_of(block, "input", field(block, "id"))

    def results(self, replies: Sequence[Reply]) -> list[Shape]:
        results = [
            {
                "type": "tool_result",
                "tool_use_id": reply.call_id,
                "content": reply.text,
                "is_error": reply.is_error,
            }
            for reply in replies
        ]
        # One message has all results: this API refuses a call whose result is not in the next
        # message.
        return [{"role": "user", "content": results}] if results else []

    def tail(self, messages: Sequence[Shape], text: str) -> list[Shape]:
        # Turns alternate in this API, and results must come first in the turn after their calls.
        # So the text is appended to the user turn that ends the request.
        last = messages[-1] if messages else None
        block = {"type": "text", "text": text}
        if field(last, "role") != "user":
            return [*messages, {"role": "user", "content": [block]}]
        content = field(last, "content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        return [*messages[:-1], {**messages[-1], "content": [*blocks, block]}]

    def read(self, entry: object) -> Message:
        results = [
            ToolResult("", not field(block, "is_error"), str(field(block, "tool_use_id")))
            for block in entries(entry, "content")
            if field(block, "type") == "tool_result"
        ]
        text, finish = text_in(field(entry, "content")), field(entry, "stop_reason")
        return message_of(field(entry, "role"), text, finish=finish, results=results)

    def kept(self, response: object) -> list[Shape]:
        content = field(response, "content")
        if isinstance(content, list | tuple):
            content = [plain(block) for block in content]
        return [{"role": "assistant", "content": content}]


class _Gemini(Wire):
    """The Gemini API: contents consist of parts, and a call need not have an id."""

    # Not `parameters`, where the SDK crashes on a type such as ["string", "null"].
    schema = "parameters_json_schema"
    choice = ("candidates", "content")
    response_id = ("response_id", "responseId")

    def define(self, tools: list[Shape], *, strict: bool) -> list[Shape]:  # noqa: ARG002
        # There is no strict mode, only strict schemas.
        return [{"function_declarations": tools}]

    def _parts(self, content: object, *names: str) -> Iterator[Any]:
        # The SDK's objects and the REST API's JSON spell names differently.
        parts = (field(part, *names) for part in entries(content, "parts"))
        return (part for part in parts if part is not None)

    def calls(self, entry: object) -> Iterator[Call]:
        for call in self._parts(self.message(entry)[0], "function_call", "functionCall"):
            yield call_of(call, "args", field(call, "id"))

    def results(self, replies: Sequence[Reply]) -> list[Shape]:
        parts = []
        for reply in replies:
            # There is no error flag, so the key marks an error. A call need not have an id.
            result = {"error" if reply.is_error else "output": reply.text}
            named = {"id": reply.call_id} if reply.call_id else {}
            parts.append({"function_response": {**named, "name": reply.name, "response": result}})
        return [{"role": "user", "parts": parts}] if parts else []

    def tail(self, messages: Sequence[Shape], text: str) -> list[Shape]:
        return [*messages, {"role": "user", "parts": [{"text": text}]}]

    def read(self, entry: object) -> Message:
        content, candidate = self.message(entry)
        results = [
            ToolResult(
                str(field(result, "name")),
                field(field(result, "response"), "error") is None,
                field(result, "id") or "",
            )
            for result in self._parts(content, "function_response", "functionResponse")
        ]
        role = field(content, "role") if candidate is None else "model"
        finish = field(candidate, "finish_reason", "finishReason")
        return message_of(role, text_in(field(content, "parts")), finish=finish, results=results)

    def kept(self, response: object) -> list[Shape]:
        # A blocked answer has no content, and a request that contains None is refused.
        content = self.message(response)[0]
        return [] if content is None else [plain(content)]

    def is_blocked(self, response: object) -> bool:
        # If the prompt was blocked, the response has no candidates, but it is not an error.
        feedback = field(response, "prompt_feedback", "promptFeedback")
        reason = field(feedback, "block_reason", "blockReason")
        return reason is not None and not entries(response, "candidates")


OPENAI_CHAT, OPENAI_RESPONSES = _OpenAIChat(), _OpenAIResponses()
ANTHROPIC_MESSAGES, GEMINI = _AnthropicMessages(), _Gemini()


@attrs.frozen
class _SentBack:
    """
    Final answers that the model gave too early. After each of them, the model is asked again.

    `messages` (the answers) and `reminder` are appended to the next request only. `stand` are the
    messages of the last early answer. They are added to the conversation if the model's next
    response ends the run. `stand` is empty if the last early answer must not be kept.
    """

    messages: list[Shape] = attrs.field(factory=list)
    reminder: str = ""
    stand: list[Shape] = attrs.field(factory=list)

    @classmethod
    def of(cls, kept: object) -> Self:
        """Return the object from saved data. Raises PlanError if the data is damaged."""
        given = require(kept, dict, _WHAT)
        messages, stand = (require(given.get(name), list, _WHAT) for name in ("messages", "stand"))
        return cls(messages, require(given.get("reminder"), str, _WHAT), stand)


class Run:
    """
    One run of an agent's loop, from a user's request to the final answer.

    It is made by `start_run` of a provider's module. The next user request is a new run, which
    starts with the data that this run saved.

        run = start_run(toolbox, store=store, plan_id="thread-7", saved=kept)
        while True:
            response = ask(run.before_model(messages))
            what = run.after_model(response)
            if what == "again":
                continue
            save(messages, run.to_data(), response)
            messages += run.answer(response, other_tools)
            save(messages, run.to_data(), None)
            if what == "stop":
                break

    Others change the plan through `planner`: `run.planner.apply(command, actor="ann")`.

    After a crash, call `start_run` with the saved data. If an unanswered response was saved, pass
    it to `after_model` first, without a new request. In a store with idempotency keys (SQLite,
    PostgreSQL), the calls of a response are carried out once, even if the response is answered
    several times. A response is identified by its id and the ids of its calls; without an id, by
    its place in the thread.
    """

    def __init__(self, wire: Wire, session: Session, sent_back: _SentBack | None = None) -> None:
        self._wire, self._session = wire, session
        self._back = sent_back or _SentBack()
        # If the data was saved in the middle of a turn, this run continues the run that was saved,
        # with its limits.
        self._is_new = session.request is None and sent_back is None
        self._next: Next | None = None
        self._is_blocked = False

    @property
    def planner(self) -> Planner:
        """The planner with which your own code reads, changes and follows the plan."""
        return self._session.planner

    @property
    def toolbox(self) -> Toolbox:
        """The tool set and the policy."""
        return self.planner.toolbox

    def history(self) -> tuple[Entry, ...]:
        """
        Return the journal of the plan, oldest entry first.

        A store has the whole journal. Saved data has at most the latest 50 entries, fewer if they
        are long.
        """
        return self._session.history()

    def before_model(self, messages: Sequence[Shape]) -> list[Shape]:
        """
        Return the messages of the next request: `messages`, and a reminder for this request only.

        Pass all messages that the model will see, after any truncation or summarising. If a request
        fails, this method may be called again.
        """
        # A request that ends with an early answer and the reminder about it gets no other reminder.
        silent = bool(self._back.reminder)
        read = () if silent else self._wire.read_messages(messages)
        request = self._session.before_model(read, silent=silent, is_new=self._is_new)
        self._next = None
        text = self._back.reminder or request.text
        return self._wire.with_reminder([*messages, *self._back.messages], text)

    def after_model(self, response: object, *, structured: bool = False) -> Next:
        """
        Return the next step for a response: "answer" its calls, "stop", or ask "again".

        "again" means that the model answered too early, for example while tasks are open. This
        answer is not added to the conversation. With `structured`, every answer is accepted: use it
        if you asked for a structured answer.

        Raises:
            PlanError: no request was made before; or the response does not come from a model, such
                as a provider's error (send the request again then; `before_model` need not be
                called again); or the model gives final answers again and again while tasks are
                open, and the settings say to raise.
        """
        (message,) = self._wire.read_messages([response])
        self._is_blocked = self._wire.is_blocked(response)
        if message.role != "assistant" and not self._is_blocked:
            # A proxy may answer with status 200 and {"error": ...}, which once ended a run silently
            # while tasks were open.
            msg = (
                f"{response!r:.300} is no answer of a model and was ignored; find out what went"
                " wrong, and send the same request again"
            )
            raise PlanError(msg, seen=response)
        # If the provider blocked the answer, there is no answer to judge or to keep.
        advice = self._session.after_model(message, structured=structured, silent=self._is_blocked)
        self._is_new = False
        if advice.verdict == "again":
            self._next, kept = "again", self._wire.kept(response)
            stand = kept if advice.keeps(message) else []
            self._back = _SentBack([*self._back.messages, *kept], advice.text, stand)
        else:
            self._next = "stop" if self._is_blocked or is_final_answer(message) else "answer"
            self._back = _SentBack(stand=self._back.stand if self._next == "stop" else [])
        return self._next

    def answer(self, response: object, other_tools: OtherTools | None = None) -> list[Shape]:
        """
        Answer every call of a response, and return the messages to append to the conversation.

        These are the response's own message and the results, in the provider's format. First,
        `other_tools` is called for each call of another tool; then all planning calls are carried
        out in order, as one turn. So if `other_tools` raises, the plan is unchanged. If a response
        is answered again after a crash, `other_tools` is called again too.

        Raises:
            PlanError: `after_model` did not return "answer" or "stop" for the response; or it calls
                another tool, and `other_tools` is `None`.
        """
        if self._next not in {"answer", "stop"}:
            msg = "nothing to answer: call after_model first, and again after before_model"
            raise PlanError(msg, said=self._next)
        planning, others = self._wire.split(self.toolbox, response)
        results = []
        for call in others:
            if other_tools is None:
                names = ", ".join(sorted({call.name for call in others}))
                remedy = "give answer(response, other_tools) a function for them"
                msg = f"the model calls {names}: {remedy}"
                raise PlanError(msg, names=names)
            answer = other_tools(call)
            if not isinstance(answer, Reply):
                text = require(answer, str, "what the tool answers, as a text, or a Reply")
                answer = Reply(self.planner.plan, text, name=call.name, call_id=call.call_id)
            results.append(answer)
        # The response is identified by its own id, if it has one, because the saved data may be
        # older than the response, or missing.
        name = as_text(field(response, *self._wire.response_id))
        planned, rest = iter(self._session.answer(planning, name).replies), iter(results)
        # The results are in the order of the calls: Gemini's calls may have no ids, and then Gemini
        # matches results by their order.
        calls = self._wire.calls(response)
        replies = [next(planned if call in planning else rest) for call in calls]
        own = [] if self._is_blocked else self._wire.kept(response)
        messages = [*self._back.stand, *own, *self._wire.results_of(replies)]
        self._next, self._back = None, _SentBack()
        return messages

    def to_data(self) -> dict[str, Any]:
        """
        Return the data to save beside the messages, as plain JSON values.

        If the model answered too early and is asked again, the data includes this answer, as the
        provider's message. The data is complete at any time: before a request, while a response is
        unanswered (save the response too), and after the response was answered.
        """
        back = {} if self._back == _SentBack() else {_SENT_BACK: attrs.asdict(self._back)}
        return {**self._session.to_data(), **back}
