"""
Recordings of programs, a section for each kind.

ADK, Pydantic AI and AG-UI record events and messages. OpenAI Agents and OTLP record traces, in
which a call is a span with its answer. HTTP logs of the Anthropic API and lists of chat messages
(Anthropic's, LangChain's, and chat completions) contain whole conversations. Our own journals have
events in place of calls.
"""

import re
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from io import StringIO
from itertools import chain, count
from typing import Any

import attrs

from todoplan.codec import VERSION, entry_from_data
from todoplan.errors import CodecError
from todoplan.transcripts.calls import (
    MAIN_LANE,
    BadLine,
    CallResult,
    Compaction,
    OtherCall,
    PersonSpoke,
    PlanningCall,
    RecordedEntry,
    ShownPlan,
    may_plan,
)
from todoplan.transcripts.files import (
    NotJsonError,
    Probe,
    Record,
    Source,
    line_records,
    parse_json,
    sibling_list,
)
from todoplan.transcripts.readers.base import (
    Answered,
    Fields,
    Joiner,
    Seen,
    Signal,
    Use,
    arguments_of,
    awaiting,
    by_record,
    call_of,
    content_text,
    conversation,
    data_of,
    dialect,
    each,
    first_of,
    id_of,
    mapping,
    mappings,
    message_of,
    parse_time,
    record_dialect,
    records,
    result_of,
    string,
    turn_of,
    unwrapped,
    use_of,
    with_keys,
)

# A recording may have any number of conversations or prompts, each with a plan.
_MOST_LANES = 1000

# -------- adk --------
# Google ADK: the events of a session, with camelCase or snake_case keys. An event has parts as in
# Gemini's API, and names its agent. All agents of a session share its state, and so the plan.


@dialect("adk", with_keys("author invocationId", "author invocation_id"))
def adk(source: Source, _joiner: Joiner) -> Iterator[Signal]:
    """Yield the signals of a session of ADK."""
    main = ""  # the main agent, which is the first one that makes a call
    for record in records(source):
        if isinstance(record, BadLine):
            yield record
            continue
        event = record.value
        # When streaming, an event comes in pieces first, and then complete.
        if event.get("partial") is True:
            continue
        at, author = parse_time(event.get("timestamp")), string(event.get("author"))
        if mapping(mapping(event.get("actions")).get("compaction")):
            yield Compaction(record.line, at=at)
        if author == "user":
            yield PersonSpoke(record.line, at=at)
        for part in mappings(mapping(event.get("content")).get("parts")):
            if call := mapping(part.get("function_call", part.get("functionCall"))):
                main = main or author
                actor = MAIN_LANE if author == main else author
                yield awaiting(call_of(record, call, at, turn=event.get("id"), actor=actor))
            if answer := mapping(part.get("function_response", part.get("functionResponse"))):
                response = answer.get("response")
                error = mapping(response).get("error")
                # If a function does not return an object, the answer is `{"result": ...}`.
                value = mapping(response).get("result", response) if error is None else error
                result = result_of(value, failed=error is not None, data=value)
                yield Answered(id_of(answer.get("id")), result)


# -------- pydantic_ai --------
# Pydantic AI: its messages as `all_messages_json` writes them, and the events of a run in lines.


@by_record
def _is_pydantic_ai(record: Fields) -> bool:
    if record.get("kind") in ("request", "response"):
        return any("part_kind" in part for part in mappings(record.get("parts")))
    return string(record.get("event_kind")).startswith("function_tool_")


@record_dialect("pydantic-ai", _is_pydantic_ai)
def pydantic_ai(record: Record) -> Iterator[Signal]:
    """Yield the signals of a message of Pydantic AI, or of an event of a run."""
    fields = record.value
    parts = mappings(fields.get("parts"))
    if string(fields.get("event_kind")).startswith("function_tool_"):
        # An event has one part. Earlier versions have another key for the part of a result.
        parts = (mapping(fields.get("part")) or mapping(fields.get("result")),)
    for part in parts:
        at = parse_time(part.get("timestamp")) or parse_time(fields.get("timestamp"))
        call_id, content = id_of(part.get("tool_call_id")), part.get("content")
        match part.get("part_kind"):
            case "user-prompt":
                yield PersonSpoke(record.line, at=at)
            case "compaction":
                yield Compaction(record.line, at=at)
            case "tool-call" | "builtin-tool-call":
                turn = fields.get("provider_response_id")
                yield awaiting(call_of(record, part, at, turn=turn))
            case "tool-return" | "builtin-tool-return":
                failed = part.get("outcome") in ("failed", "denied")
                yield Answered(call_id, result_of(content, failed=failed, data=content))
            case "retry-prompt" if part.get("tool_name"):
                # The tool or the validation of its arguments asked the model to retry.
                yield Answered(call_id, result_of(content, failed=True))


# -------- ag_ui --------
# AG-UI: the events that an agent sends to its user interface. The arguments of a call come in
# pieces. A snapshot of the messages repeats earlier calls, and may have calls that were not sent.

_AG_UI_EVENTS = {
    "RUN_STARTED",
    "RUN_FINISHED",
    "TEXT_MESSAGE_START",
    "TOOL_CALL_START",
    "TOOL_CALL_CHUNK",
    "MESSAGES_SNAPSHOT",
    "STATE_SNAPSHOT",
}
# An interrupted run leaves calls that never end.
_MOST_OPEN = 64
_LONGEST = 1024 * 1024  # characters of one call's arguments: a plan has a few thousand


@dialect("ag-ui", by_record(lambda record: string(record.get("type")) in _AG_UI_EVENTS))
def ag_ui(source: Source, _joiner: Joiner) -> Iterator[Signal]:
    """Yield the signals of a stream of AG-UI events."""
    run = _Run()
    yield from each(records(source), run.of_event)
    yield from run.close_all()


@attrs.define
class _Run:
    """The calls whose arguments are still incomplete, by id, with the arguments so far."""

    open: dict[str, tuple[PlanningCall, StringIO]] = attrs.Factory(dict)

    def of_event(self, record: Record) -> Iterator[Signal]:
        event = record.value
        call_id = id_of(event.get("toolCallId"))
        match event.get("type"):
            case "TOOL_CALL_START":
                yield from self._begin(record, call_id)
            case "TOOL_CALL_ARGS":
                self._add(call_id, event)
            case "TOOL_CALL_CHUNK":
                if call_id and call_id not in self.open:
                    yield from self._begin(record, call_id)
                # A chunk without a call id belongs to the latest call.
                self._add(call_id or next(reversed(self.open), ""), event)
            case "TOOL_CALL_END":
                yield from self._close(call_id)
            case "TOOL_CALL_RESULT":
                yield from self._close(call_id)
                yield Answered(call_id, result_of(event.get("content")))
            case "RUN_FINISHED" | "RUN_ERROR":
                yield from self.close_all()
            case "RUN_STARTED":
                sent = mappings(mapping(event.get("input")).get("messages"))
                if sent and sent[-1].get("role") == "user":
                    yield PersonSpoke(record.line, at=parse_time(event.get("timestamp")))
            case "MESSAGES_SNAPSHOT":
                for message in mappings(event.get("messages")):
                    for listed in mappings(message.get("toolCalls")):
                        call = call_of(record, listed, turn=message.get("id"))
                        # A call without an id may be a repetition of an earlier call, so it is left
                        # out.
                        if call.call_id:
                            yield awaiting(call)
                    if message.get("role") == "tool":
                        answered = id_of(message.get("toolCallId"))
                        yield Answered(answered, result_of(message.get("content")))

    def _add(self, call_id: str, event: Fields) -> None:
        _, arguments = self.open.get(call_id, (None, StringIO()))
        # Arguments that are too long are truncated, so they are not JSON and the call is
        # unreadable.
        if arguments.tell() < _LONGEST:
            arguments.write(string(event.get("delta")))

    def _begin(self, record: Record, call_id: str) -> Iterator[Signal]:
        event = record.value
        if len(self.open) >= _MOST_OPEN:
            yield from self._close(next(iter(self.open)))
        # All calls of one message of the model name it as their parent.
        call = call_of(record, event, event.get("timestamp"), turn=event.get("parentMessageId"))
        self.open[call_id] = call, StringIO()

    def _close(self, call_id: str) -> Iterator[Signal]:
        if begun := self.open.pop(call_id, None):
            call, arguments = begun
            yield awaiting(attrs.evolve(call, arguments=arguments_of(arguments.getvalue())))

    def close_all(self) -> Iterator[Signal]:
        for call_id in tuple(self.open):
            yield from self._close(call_id)


# -------- openai_agents --------
# OpenAI Agents SDK: the traces that its processors export, as one span per line or in batches. Its
# sessions are lists of API items, which the reader of Codex reads.


_SPANS = ("trace", "trace.span")


@record_dialect(
    "openai-agents",
    by_record(lambda record: record.get("object") in _SPANS and "id" in record),
)
def openai_agents(record: Record) -> Iterator[Signal]:
    """Yield the signal of a span of the OpenAI Agents SDK, if it is a function call."""
    span, data = record.value, mapping(record.value.get("span_data"))
    if data.get("type") == "function":
        output, error = data.get("output"), mapping(span.get("error")).get("message")
        yield awaiting(
            call_of(
                record,
                {**data, "id": span.get("id")},
                span.get("started_at"),
                # A trace does not show which calls were sent in one message.
                turn=span.get("id"),
                result=_span_result(output, error, failed=error is not None),
            )
        )


def _span_result(output: Any, error: Any, *, failed: bool) -> CallResult | None:
    if output is None and not failed:
        return None
    return result_of(content_text(output) or string(error), failed=failed)


# -------- otlp --------
# OTLP traces in JSON: a batch of spans per line, as collectors write them, or a single document. A
# tool call is a span with its arguments and its result as attributes, whose names depend on the
# recording library. If content is not recorded, there is nothing to replay.

# The names in OpenTelemetry's conventions for generative AI come first. Then come the older names
# of Pydantic AI, and the names of ADK, OpenInference (Phoenix) and OpenLLMetry (Traceloop).
_NAMES = ("gen_ai.tool.name", "tool.name", "tool_name", "traceloop.entity.name")
_ARGUMENTS = (
    "gen_ai.tool.call.arguments",
    "tool_arguments",
    "gcp.vertex.agent.tool_call_args",
    "tool.parameters",
    "input.value",
    "traceloop.entity.input",
)
_RESULTS = (
    "gen_ai.tool.call.result",
    "tool_response",
    "gcp.vertex.agent.tool_response",
    "output.value",
    "traceloop.entity.output",
)
_KINDS = {
    "gen_ai.operation.name": "execute_tool",
    "openinference.span.kind": "TOOL",
    "traceloop.span.kind": "tool",
}
_CONVERSATIONS = ("gen_ai.conversation.id", "session.id", "gcp.vertex.agent.session_id")
_DIGITS = 20  # nanoseconds since 1970 have 19


@dialect("otlp", with_keys("resourceSpans", "traceId spanId"))
def otlp(source: Source, _joiner: Joiner) -> Iterator[Signal]:
    """Yield the signals of OTLP traces."""
    # A lane for each conversation, or for each trace without a conversation's id. The first lane is
    # the main one.
    lanes: dict[str, str] = {}
    for record in records(source):
        if isinstance(record, BadLine):
            yield record
            continue
        for span in _spans(record.value):
            attributes = {
                string(one.get("key")): _attribute(mapping(one.get("value")))
                for one in mappings(span.get("attributes"))
            }
            is_tool = any(attributes.get(key) == kind for key, kind in _KINDS.items())
            if not is_tool and "tool_arguments" not in attributes:
                continue
            span_id, status = id_of(span.get("spanId")), mapping(span.get("status"))
            conversation = string(first_of(attributes, _CONVERSATIONS) or span.get("traceId"))
            if conversation not in lanes and len(lanes) < _MOST_LANES:
                first = not lanes or not conversation
                lanes[conversation] = MAIN_LANE if first else conversation
            lane = lanes.get(conversation, MAIN_LANE)
            call = call_of(
                record,
                {
                    "name": first_of(attributes, _NAMES),
                    "arguments": first_of(attributes, _ARGUMENTS),
                    "id": id_of(attributes.get("gen_ai.tool.call.id"), span_id),
                },
                _nanoseconds(span.get("startTimeUnixNano")) or None,
                lane=lane,
                actor=lane,
                # A trace does not show which calls were sent in one message.
                turn=span_id,
                result=_span_result(
                    first_of(attributes, _RESULTS),
                    status.get("message"),
                    failed=status.get("code") in (2, "STATUS_CODE_ERROR"),
                ),
            )
            yield Seen(call, once=f"{span.get('traceId')}/{span_id}" if span_id else "")


def _spans(value: Fields) -> list[Fields]:
    """Return the spans of a record, which is a batch or a span, in the order of their start."""
    if "resourceSpans" not in value:
        return [value]
    spans = [
        span
        for resource in mappings(value["resourceSpans"])
        for scope in mappings(resource.get("scopeSpans"))
        for span in mappings(scope.get("spans"))
    ]
    # Sorted because spans are exported in the order of their end.
    return sorted(spans, key=lambda span: _nanoseconds(span.get("startTimeUnixNano")))


def _nanoseconds(value: Any) -> int:
    if isinstance(value, int):
        return value
    text = string(value)
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _DIGITS else 0


def _attribute(value: Fields) -> Any:
    # One of stringValue, intValue, kvlistValue, ... Objects are nearly always JSON texts.
    if "kvlistValue" in value:
        entries = mappings(mapping(value["kvlistValue"]).get("values"))
        return {string(one.get("key")): _scalar(one.get("value")) for one in entries}
    return _scalar(value)


def _scalar(value: Any) -> Any:
    return next(iter(mapping(value).values()), None)


# -------- http_log --------
# HTTP logs (claude-trace): every request repeats the whole conversation. A log also has the
# requests of subagents, which differ only in their system prompts.

# The beginning of a prompt identifies the agent; environment and date come later in it.
_TELLING = 500


@attrs.define
class _Log:
    """The lanes by system prompt. Each agent has its own prompt, and so its own lane."""

    lanes: dict[bytes, str] = attrs.Factory(dict)

    def exchange(self, record: Record) -> Iterator[Signal]:
        """Yield the signals of a request and its answer: calls and results, even repeated ones."""
        request = mapping(record.value.get("request"))
        body = _body(request.get("body"))
        history = [message_of(record.line, one) for one in mappings(body.get("messages"))]
        answer, turn = _answer(mapping(record.value.get("response")))
        met = [(use, f"#{record.line}.{at}") for at, one in enumerate(history) for use in one.uses]
        # A call is in the streamed answer first, and then in every later request. `awaiting`
        # removes the duplicates.
        met += [(use, turn_of(record.line, turn)) for use in answer]
        planning = []
        for use, turn in met:
            if not may_plan(use.tool, use.arguments):
                yield OtherCall(use.tool, record.line)
            elif use.call_id:
                planning.append((use, turn))
        if planning:
            system, at = body.get("system"), parse_time(request.get("timestamp"))
            blocks = system if isinstance(system, list) else [system]
            telling = "\n".join(content_text(one)[:_TELLING] for one in blocks[:2])
            digest = blake2b(telling.encode(errors="replace"), digest_size=16).digest()
            # Beyond the limit, all new prompts have one lane.
            lane = f"agent-{len(self.lanes) + 1}" if self.lanes else MAIN_LANE
            if len(self.lanes) < _MOST_LANES:
                self.lanes.setdefault(digest, lane)
            lane = self.lanes.get(digest, lane)
            for use, turn in planning:
                call = PlanningCall(
                    use.tool, use.arguments, record.line, lane, lane, turn, use.call_id, at
                )
                yield awaiting(call)
        for reply in (reply for one in history for reply in one.replies):
            yield Answered(reply.call_id, reply.result)


def _answer(response: Fields) -> tuple[tuple[Use, ...], str]:
    """Return the calls and the message id of an answer, whether it was streamed or not."""
    raw = response.get("body_raw")
    if not isinstance(raw, str) or not raw:
        message = message_of(1, _body(response.get("body")))
        return message.uses, message.turn
    turn = ""
    blocks: dict[str, tuple[Fields, list[str]]] = {}
    for line in raw.splitlines():
        if not line.startswith("data:"):
            continue
        event = _body(line.removeprefix("data:"))
        turn = turn or id_of(mapping(event.get("message")).get("id"))
        index = str(event.get("index"))
        if event.get("type") == "content_block_start":
            blocks[index] = (mapping(event.get("content_block")), [])
        elif event.get("type") == "content_block_delta" and index in blocks:
            blocks[index][1].append(string(mapping(event.get("delta")).get("partial_json")))
    uses = (
        # When streaming, `input` is empty and the arguments follow in pieces.
        use_of({**block, "input": "".join(parts) or block.get("input")})
        for block, parts in blocks.values()
    )
    return tuple(uses), turn


def _body(body: Any) -> Fields:
    try:
        return mapping(parse_json(body) if isinstance(body, str) else body)
    except NotJsonError:
        return {}


# -------- lists --------
# Lists of messages: Anthropic's (also in HTTP logs), those of chat completions, and LangChain's.


def _is_anthropic(probe: Probe) -> bool:
    if any(map(_is_exchange, probe.records)):
        return True
    # Conversions of Claude Code sessions to chat completions keep Anthropic's content blocks in
    # addition to `tool_calls`. A message with `tool_calls` is a chat completion.
    if any("tool_calls" in record for record in probe.records):
        return False
    return any(
        string(block.get("type")) in {"tool_use", "tool_result"}
        for record in probe.records
        if "role" in record
        for block in mappings(record.get("content"))
    )


def _is_exchange(record: Fields) -> bool:
    return isinstance(record.get("request"), dict) and "response" in record


@dialect("anthropic", _is_anthropic)
def anthropic(source: Source, _joiner: Joiner) -> Iterator[Signal]:
    """Yield the signals of messages of the Anthropic API, or of an HTTP log of it."""
    # HTTP logs have a whole conversation on each line, message lists one message.
    read_records = records(source)
    for one in read_records:
        if isinstance(one, BadLine):
            yield one
            continue
        rest: Iterable[Record | BadLine] = chain([one], read_records)
        yield from each(rest, _Log().exchange) if _is_exchange(one.value) else conversation(rest)


_SPOKEN = {"content", "tool_calls", "function_call"}
_ROLES = {"system", "developer", "user", "assistant", "tool", "function"}


@by_record
def _is_chat(record: Fields) -> bool:
    message = unwrapped(record)
    return string(message.get("role")) in _ROLES and not _SPOKEN.isdisjoint(message)


@dialect("chat", _is_chat)
def chat(source: Source, _joiner: Joiner) -> Iterator[Signal]:
    """Yield the signals of chat messages."""
    return conversation(records(source))


_MESSAGE_KINDS = {"human", "ai", "tool", "system", "remove", "AIMessageChunk"}


@by_record
def _is_langchain(record: Fields) -> bool:
    if record.get("type") == "constructor":
        return "lc" in record and "kwargs" in record
    message = unwrapped(record)
    return (
        string(message.get("type")) in _MESSAGE_KINDS
        and "role" not in message
        and "content" in message
    )


@dialect("langchain", _is_langchain)
def langchain(source: Source, _joiner: Joiner) -> Iterator[Signal]:
    """Yield the signals of LangChain's messages, and of the state of a thread around them."""
    yield from conversation(records(source))
    # A thread's state ends with the middleware's list, which a person or a node may have changed
    # without any message.
    if todos := sibling_list(source, "todos"):
        yield ShownPlan(0, CallResult("", data=data_of({"todos": todos})))


# -------- own --------
# Our own journals: JSON Lines, or the file of a `FileStore` with a journal for each plan. A journal
# has the events that calls caused, but not the calls. Each plan is a lane.

_HEAD = re.compile(r'\s*\{\s*"format"\s*:\s*"todoplan/(journal|plans)"')


@dialect("todoplan", lambda probe: _HEAD.match(probe.head) is not None)
def journal(source: Source, _joiner: Joiner) -> Iterator[Signal]:
    """Yield the entries of a journal, or of the journals in the file of a `FileStore`."""
    with source.open() as stream:
        first = stream.readline(source.limit)
    kind = _HEAD.match(first.decode(errors="replace"))
    if kind and kind[1] == "plans":
        yield from _of_plans(source)
        return
    version: Any = VERSION
    for number, record in enumerate(line_records(source)):
        if isinstance(record, BadLine):
            yield record
        elif number == 0 and "format" in record.value:
            version = record.value.get("version")
        else:
            yield _entry(record, MAIN_LANE, version)


def _of_plans(source: Source) -> Iterator[Signal]:
    # A store's file is a single document of limited size, and the only recording read as a whole.
    with source.open() as stream:
        raw = stream.read(source.limit)
    try:
        document = mapping(parse_json(raw.decode(errors="replace")))
    except NotJsonError as error:
        yield BadLine(1, f"not JSON: {error}")
        return
    lines = count(2)  # the store writes the head, each plan's name and each entry on its own line
    for name, entries in mapping(document.get("plans")).items():
        next(lines)
        for entry in entries if isinstance(entries, list) else ():
            yield _entry(Record(next(lines), mapping(entry)), name, document.get("version"))
        next(lines)


def _entry(record: Record, lane: str, version: Any) -> Signal:
    try:
        entry = entry_from_data(dict(record.value), version=version)
        return RecordedEntry(record.line, entry, lane)
    except CodecError as error:
        return BadLine(record.line, f"no entry of a journal: {error}")
