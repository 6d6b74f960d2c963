"""
The base of the dialects' readers, and the conversion of their signals to the items of a recording.

A reader converts the JSON objects of a file (its records) to signals, such as "a call was sent" and
"an answer was received". The next steps are the same for all dialects: calls of other tools are
filtered out, each answer is joined to its call, and the answers show which calls were refused. So
the code of a reader is about the format of one dialect, and not about planning.
"""

import json
import math
import re
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from itertools import count
from typing import Any, TypeVar

import attrs

from todoplan.core.plan.model import Status
from todoplan.texts import say
from todoplan.transcripts.calls import (
    BY_ID_TOOLS,
    MAIN_LANE,
    OWN_TOOL,
    BadLine,
    CallResult,
    Item,
    OtherCall,
    PersonSpoke,
    PlanningCall,
    canonical_tool,
    may_plan,
)
from todoplan.transcripts.files import (
    NotJsonError,
    Probe,
    Record,
    Source,
    document_records,
    line_records,
    parse_json,
)

# -------- join --------
# Joining answers to their calls, in the order of the calls and with bounded memory.
#
# In a recording, an answer comes after its call, with other calls in between. So calls wait in a
# queue until their answers are read. They leave it in order, so a waiting call delays the calls
# after it. The queue is bounded. Otherwise one call without an answer (an interrupted session)
# would keep the rest of the file in memory.
#
# Recordings repeat calls: an HTTP log has the whole conversation in every request, and a resumed
# session copies its lines. Of calls with the same id, only the first counts. To detect
# repetitions, digests of the latest ids are kept.


# The largest number of calls seen in one message is 23 (Claude Code).
WINDOW = 256
# Digests: about 9 MB when full.
MEMORY = 65_536
# A few are enough, because they are only named if no planning tool was called.
OTHER_TOOLS = 5


@attrs.frozen
class Seen:
    """
    An item read from the recording.

    A call with a `key` waits for the answer with that key. `once` identifies an item that a
    recording may repeat. Of the items with the same non-empty `once`, only the first counts.
    """

    item: Item
    key: str = ""
    once: str = ""


@attrs.frozen
class Answered:
    """A tool's answer to the calls that wait for `key`. It is ignored if no call waits."""

    key: str
    result: CallResult


Signal = Item | Seen | Answered
Fields = Mapping[str, Any]


@attrs.define(eq=False)
class _Slot:
    """An item in the queue. `key` is the key of the answer that it waits for, or ""."""

    item: Item
    key: str = ""


class Joiner:
    """
    Converts the signals of a reader to items in order, and joins each answer to its call.

    A call waits in a queue for its answer, and the items after it wait too. If more than `window`
    items wait, the first one is yielded, a call then without its answer. To detect repeated items,
    the latest `memory` values of the signals' `once` are kept. Calls of other tools have no part in
    a plan, so only a few of them are yielded.
    """

    def __init__(self, window: int = WINDOW, memory: int = MEMORY) -> None:
        self._window = window
        self._memory = memory
        self._queue: deque[_Slot] = deque()
        self._waiting: dict[str, list[_Slot]] = {}
        self._seen: OrderedDict[bytes, None] = OrderedDict()
        self._others: set[str] = set()
        self._planned = False

    @property
    def wants_other_tools(self) -> bool:
        """Whether to read more calls of other tools: only a few, before the first planning call."""
        return not self._planned and len(self._others) < OTHER_TOOLS

    def awaits(self, keys: Iterable[bytes]) -> bool:
        """
        Return whether a call may be waiting for an answer with one of these keys.

        For a key with JSON escapes the result is true, because escapes are not decoded.
        """
        return any(b"\\" in key or key.decode(errors="replace") in self._waiting for key in keys)

    def join(self, signals: Iterable[Signal]) -> Iterator[Item]:
        """Yield the items of these signals, each call with its result."""
        for signal in signals:
            match signal:
                case Answered(key, result):
                    self._close(key, result)
                case Seen(item, key, once):
                    self._append(item, key, once)
                case _:
                    self._append(signal)
            while self._queue and (not self._queue[0].key or len(self._queue) > self._window):
                yield self._release()
        while self._queue:
            yield self._release()

    def _append(self, item: Item, key: str = "", once: str = "") -> None:
        if isinstance(item, PlanningCall) and not may_plan(item.tool, item.arguments):
            # The answers of other tools are not read, so such a call would wait for its answer.
            item, key, once = OtherCall(item.tool, item.line), "", ""
        if isinstance(item, OtherCall):
            if not self.wants_other_tools or not item.tool or item.tool in self._others:
                return
            self._others.add(item.tool)
        if once:
            # Digests are stored because ids may have any length, and the memory is bounded in
            # bytes.
            digest = blake2b(once.encode(errors="surrogatepass"), digest_size=16).digest()
            is_repeated = digest in self._seen
            self._seen[digest] = None
            # An HTTP log repeats its oldest calls in every request, so these must be kept longest.
            self._seen.move_to_end(digest)
            if len(self._seen) > self._memory:
                self._seen.popitem(last=False)
            if is_repeated:
                return
        self._planned |= isinstance(item, PlanningCall)
        slot = _Slot(item, key)
        self._queue.append(slot)
        if key:
            # The recorder Entire masks call ids, so many lines may have the same id. Parallel calls
            # from one script of Codex are on one line and share its answer.
            same = self._waiting.get(key)
            if same and same[0].item.line != item.line:
                self._close(key)
            self._waiting.setdefault(key, []).append(slot)

    def _close(self, key: str, result: CallResult | None = None) -> None:
        for slot in self._waiting.pop(key, ()):
            if result is not None and isinstance(slot.item, PlanningCall):
                slot.item = attrs.evolve(slot.item, result=result)
            slot.key = ""

    def _release(self) -> Item:
        slot = self._queue.popleft()
        if slot.key:
            # The answer did not come before the queue was full. The calls of a script share one
            # answer, so all of them stop waiting.
            self._close(slot.key)
        return _checked(slot.item)


# Our refusals are recognised by their beginning, because chat completions have no error flag.
_REFUSED = say("problems", "error", problems="").rstrip()
# A line about the work of others may come before our list.
_SHOWN = re.compile(
    rf"(?:.+\n)?(?:#\d+ \[(?:{'|'.join(Status)})\] |{re.escape(say('replies', 'empty_list'))})"
)


def _checked(item: Item) -> Item:
    """
    Return the item, corrected by its answer.

    An answer that todoplan gave as a refusal is marked as an error. A call of another product's
    tool `plan` becomes an `OtherCall`.
    """
    if not isinstance(item, PlanningCall):
        return item
    answer = item.answer
    # Other products have a tool `plan` too. If it has no arguments, it is ours only if the answer
    # looks like our list.
    is_bare = canonical_tool(item.tool) == OWN_TOOL and not item.arguments
    if is_bare and not _SHOWN.match(answer.text):
        return OtherCall(item.tool, item.line)
    if answer.text.startswith(_REFUSED):
        return attrs.evolve(item, result=attrs.evolve(answer, is_error=True))
    return item


@attrs.frozen
class DialectReader:
    """
    The reader of one dialect.

    `recognises` returns whether a probe of a file is in this dialect. `signals` yields the calls of
    all tools and the answers, in the order of the file. To skip irrelevant lines, `signals` may ask
    the joiner which call ids still need an answer, and whether calls of other tools are needed.
    """

    name: str
    recognises: Callable[[Probe], bool]
    signals: Callable[[Source, Joiner], Iterator[Signal]]

    def read(self, source: Source) -> Iterator[Item]:
        """Yield the items of the recording, each call with its result."""
        joiner = Joiner()
        return joiner.join(self.signals(source, joiner))


_Of = TypeVar("_Of")


def by_record(is_ours: Callable[[Fields], bool]) -> Callable[[Probe], bool]:
    """Return a function that says whether a probe has a record for which `is_ours` is true."""
    return lambda probe: any(map(is_ours, probe.records))


def with_keys(*groups: str) -> Callable[[Probe], bool]:
    """
    Return a function that says whether a record of a probe has all keys of one of the groups.

    A group is a text of keys, separated by spaces.
    """
    alternatives = [frozenset(group.split()) for group in groups]
    return by_record(lambda record: any(keys <= record.keys() for keys in alternatives))


def dialect(
    name: str, recognises: Callable[[Probe], bool]
) -> Callable[[Callable[[Source, Joiner], Iterator[Signal]]], DialectReader]:
    """Return a decorator that turns a function that yields a file's signals into a reader."""
    return lambda signals: DialectReader(name, recognises, signals)


def record_dialect(
    name: str,
    recognises: Callable[[Probe], bool],
    wanted: Callable[[bytes, Joiner], bool] = lambda _raw, _joiner: True,
) -> Callable[[Callable[[Record], Iterator[Signal]]], DialectReader]:
    """
    Return a decorator that turns a function that yields one record's signals into a reader.

    `wanted` gets an unparsed line. If it returns false, the line may be skipped.
    """

    def reader(of_record: Callable[[Record], Iterator[Signal]]) -> DialectReader:
        def signals(source: Source, joiner: Joiner) -> Iterator[Signal]:
            return each(records(source, lambda raw: wanted(raw, joiner)), of_record)

        return DialectReader(name, recognises, signals)

    return reader


def ids_under(field: bytes) -> Callable[[bytes], list[bytes]]:
    """Return a fast function that finds the texts under this key in unparsed JSON."""
    # It is called for nearly every line, so that most lines need no parsing.
    pattern = re.compile(rb'"%b"\s*:\s*"((?:[^"\\]|\\.)*)"' % re.escape(field))
    return pattern.findall


def each(
    read_records: Iterable[Record | BadLine], of_record: Callable[[Record], Iterable[_Of]]
) -> Iterator[_Of | BadLine]:
    """Yield the results of `of_record` for each record. Bad lines are yielded unchanged."""
    for record in read_records:
        if isinstance(record, BadLine):
            yield record
        else:
            yield from of_record(record)


def records(
    source: Source, wanted: Callable[[bytes], bool] = lambda _raw: True
) -> Iterator[Record | BadLine]:
    """
    Yield the JSON objects of a recording in lines or in a document.

    Lines that are not `wanted` may be skipped; the objects of a document are never skipped.
    """
    if source.form == "document":
        return document_records(source)
    return line_records(source, wanted)


# -------- values --------
# Safe access to JSON values of unknown structure, and parsing of timestamps.


# Deeper values would exceed the recursion limit of later code: json.dumps, attrs, intake. `json`
# stops at about 1,000 levels on Python 3.11 but parses 100,000 on 3.14, so we have our own bound.
_DEEPEST = 100
_TOO_DEEP = f"(left out: nested more than {_DEEPEST} levels deep)"
# The recorder Entire writes this instead of ids. If it counted as an id, all calls would be one.
_REDACTED = "REDACTED"
_NOTHING: Mapping[str, Any] = {}


def mapping(value: Any) -> Mapping[str, Any]:
    """Return the value if it is an object, else an empty object."""
    return value if isinstance(value, dict) else _NOTHING


def mappings(value: Any) -> tuple[Mapping[str, Any], ...]:
    """Return the objects in a list, or an empty tuple if the value is not a list."""
    return tuple(one for one in value if isinstance(one, dict)) if isinstance(value, list) else ()


def string(value: Any) -> str:
    """Return the value if it is a text, else ""."""
    return value if isinstance(value, str) else ""


def first_of(fields: Mapping[str, Any], keys: Iterable[str]) -> Any:
    """Return the first of these fields that is neither missing nor empty, else `None`."""
    for key in keys:
        if value := fields.get(key):
            return value
    return None


def id_of(*values: Any) -> str:
    """Return the first value that is a usable id: a text that the recorder did not redact."""
    return next((one for one in map(string, values) if one and one != _REDACTED), "")


def turn_of(line: int, *values: Any) -> str:
    """Return the first value that is a usable id, else a name made from the line number."""
    return id_of(*values) or f"#{line}"


def writers_lane(tool: str, lane: str) -> str:
    """Return the main lane if all agents share the tool's plan (tasks with ids), else `lane`."""
    return MAIN_LANE if canonical_tool(tool) in BY_ID_TOOLS else lane


def content_text(value: Any) -> str:
    """Return the text of a message's content, with a line for each block if it is a list."""
    if isinstance(value, list):
        # A list inside the list is not a block, and stays JSON.
        texts = (_dumped(one) if isinstance(one, list) else content_text(one) for one in value)
        return "\n".join(filter(None, texts))
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    named = (mapping(value).get(key) for key in ("text", "content", "output", "value"))
    return next((one for one in named if isinstance(one, str)), "") or _dumped(value)


# How the text of an error begins, for formats without an error field. The first is that of Claude
# Code for a call that it did not carry out.
_ERRORS = ("<tool_use_error>", "Error:", "ERROR:", "Error invoking tool", "Task not found")


# Messages that the program writes in the person's name: hooks, slash commands, command output.
_NOT_SAID = (
    "<command-",
    "<local-command",
    "<bash-std",
    "Caveat:",
    "<system-reminder>",
    "<todoplan-reminder>",
    "[Request interrupted",
    "Stop hook feedback:",
    "<task-notification>",
)


def is_said(content: Any) -> bool:
    """
    Return whether this content of a person's message was written by the person and not a program.
    """
    return not content_text(content).lstrip().startswith(_NOT_SAID)


def arguments_of(value: Any) -> Mapping[str, Any] | str:
    """Return a call's arguments: an object, or a text that is not valid JSON."""
    if isinstance(value, str) and value.strip():
        # Chat completions and Codex send arguments as a text of JSON.
        try:
            parsed = parse_json(value)
        except NotJsonError:
            return value
        return parsed if isinstance(parsed, dict) and not _too_deep(parsed) else value
    if value is None or isinstance(value, str):
        return {}  # some recorders leave out arguments that are empty
    if isinstance(value, dict) and not _too_deep(value):
        return value
    return _dumped(value)


@attrs.frozen
class Use:
    """A call of any tool. `call_id` is "" if the recording has none."""

    tool: str
    arguments: Mapping[str, Any] | str
    call_id: str


# The names of a call's parts in all dialects. If a call has several of them, the first is used.
_TOOL = ("name", "toolName", "tool_name", "function_name", "toolCallName", "tool")
# LangChain's constructors have an empty `input` and the arguments in `partial_json`.
_ARGUMENTS = ("input", "arguments", "args", "partial_json")
_CALL_ID = ("tool_call_id", "toolCallId", "toolUseId", "call_id", "callID", "id")


def use_of(fields: Fields) -> Use:
    """
    Return the call that these fields describe. Each field may be missing or have an unexpected
    type.
    """
    call = mapping(fields.get("function")) or fields  # chat completions
    tool, arguments = string(first_of(call, _TOOL)), first_of(call, _ARGUMENTS)
    if tool == "tool_call":  # Qwen Code calls the tools of MCP servers through this tool
        sent = mapping(arguments)
        tool, arguments = string(sent.get("name")), sent.get("arguments")
    return Use(tool, arguments_of(arguments), id_of(first_of(fields, _CALL_ID)))


def call_of(
    record: Record, fields: Fields, at: Any = None, *, turn: Any = None, **known: Any
) -> PlanningCall:
    """
    Return the call that these fields of a record describe.

    `turn` identifies the message. Without a usable `turn`, the calls of one record are one message.
    `known` has more attributes of the `PlanningCall`.
    """
    use = use_of(fields)
    return PlanningCall(
        use.tool,
        use.arguments,
        record.line,
        turn=turn_of(record.line, turn),
        call_id=use.call_id,
        at=at if isinstance(at, datetime) else parse_time(at),
        **known,
    )


def awaiting(call: PlanningCall) -> Seen:
    """
    Return the signal of a call. Later signals with the same call id are ignored.

    The call waits for its answer, unless it already has a result.
    """
    return Seen(call, "" if call.result else call.call_id, call.call_id)


def result_of(value: Any, *, failed: bool = False, data: Any = None) -> CallResult:
    """
    Return an answer with the text of `value`, and `data` as its structured form.

    It counts as failed if `failed` is true or its text begins like an error.
    """
    text = content_text(value)
    is_error = failed or text.startswith(_ERRORS)
    return CallResult(text, is_error, data_of(data))


def data_of(value: Any) -> Fields:
    """Return a structured answer if it is not nested too deeply, else an empty object."""
    return value if isinstance(value, dict) and not _too_deep(value) else _NOTHING


def _dumped(value: Any) -> str:
    return _TOO_DEEP if _too_deep(value) else json.dumps(value, ensure_ascii=False)


def _too_deep(value: Any) -> bool:
    # Without recursion, because this check protects recursive code.
    level = [value]
    for _ in range(_DEEPEST):
        level = [
            inner
            for one in level
            if isinstance(one, dict | list)
            for inner in (one.values() if isinstance(one, dict) else one)
        ]
        if not level:
            return False
    return True


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST_SECONDS = 1e11  # the year 5138 in seconds, 1973 in milliseconds: no recording is older


def parse_time(value: Any) -> datetime | None:
    """
    Return a timestamp as a UTC datetime, or `None` if it is invalid.

    The value is ISO 8601 text, or a number since 1970 in s, ms, us or ns (detected by its size). A
    local time without a zone is treated as UTC.
    """
    try:
        if isinstance(value, str):
            # Times in OpenHands' Markdown logs end with the letters UTC.
            moment = datetime.fromisoformat(value.strip().removesuffix(" UTC"))
            # OpenHands writes local time without a zone.
            return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        if isinstance(value, int | float) and not isinstance(value, bool):
            number = float(value)
            while math.isfinite(number) and abs(number) >= _LATEST_SECONDS:
                number /= 1000
            return _EPOCH + timedelta(seconds=number)
    except (ValueError, OverflowError):
        return None
    return None


# -------- conversation --------
# Converting chat messages in any known format to signals: calls and answers.
#
# A message may have the same call twice: conversions of agent sessions write it into the content
# and into `tool_calls`. It counts once, by its id.


_USES = {"tool_use", "tool_call", "tool-call", "toolCall", "toolRequest"}
_RESULTS = {"tool_result", "tool-result", "toolResult", "toolResponse"}
_ANSWERING = {"tool", "function", "ToolMessage", "ToolMessageChunk"}
DONE = CallResult("")
"""The answer to a call that succeeded, if the recording has no answers."""

_PEOPLE = {"human", "HumanMessage"}


@attrs.frozen
class Reply:
    """
    A tool's answer to the call with this id.

    Without an id, it answers a call of the tool with this name. `texts` has the parts of an answer
    that is a list.
    """

    call_id: str
    tool: str
    result: CallResult
    texts: tuple[str, ...] = ()


@attrs.frozen
class Message:
    """
    The calls and answers of one message.

    `turn` is the id of the message, or "". `by_person` says whether the person wrote the message.
    `written` has the todo lists outside of planning calls, such as XML in a text, which have no
    answer of their own.
    """

    line: int
    turn: str = ""
    uses: tuple[Use, ...] = ()
    replies: tuple[Reply, ...] = ()
    at: datetime | None = None
    by_person: bool = False
    written: tuple[Use, ...] = ()


def unwrapped(fields: Fields) -> Fields:
    """
    Return the message inside a LangChain constructor, a `{"type", "data"}` pair or an envelope.
    """
    if fields.get("type") == "constructor" and isinstance(fields.get("kwargs"), dict):
        path = fields.get("id")
        kind = path[-1] if isinstance(path, list) and path else None
        return {"type": kind, **fields["kwargs"]}
    for key in ("data", "message"):
        if "role" not in fields and "content" not in fields and isinstance(fields.get(key), dict):
            return {"type": fields.get("type"), **fields[key]}
    return fields


def message_of(line: int, fields: Fields) -> Message:
    """Return the message's calls, without duplicates, and its answers."""
    fields = unwrapped(fields)
    times = (fields, mapping(fields.get("_metadata")), mapping(fields.get("metadata")))
    at = next((found for one in times if (found := parse_time(one.get("timestamp")))), None)
    replies = tuple(_replies(fields))
    by_person = not replies and (
        fields.get("role") == "user" or string(fields.get("type")) in _PEOPLE
    )
    uses, written = tuple(_uses(fields)), tuple(_written_in(fields))
    return Message(line, id_of(fields.get("id")), uses, replies, at, by_person, written)


def _uses(fields: Fields) -> Iterator[Use]:
    known: set[str] = set()
    # Listed calls come first, because the content of LangChain has only the unparsed text of the
    # same call. LangChain lists calls separately if their arguments are not JSON.
    listed = mappings(fields.get("tool_calls")) + mappings(fields.get("invalid_tool_calls"))
    # The oldest chat format has one call per message, without an id.
    legacy = mapping(fields.get("function_call"))
    for use in map(use_of, (*listed, legacy) if legacy else listed):
        if use.call_id not in known:
            yield use
        known |= {use.call_id} - {""}
    for block in mappings(fields.get("content")):
        if string(block.get("type")) in _USES:
            use = use_of({**block, **mapping(mapping(block.get("toolCall")).get("value"))})  # Goose
            # If calls are listed, a call without an id in the content is one of them again.
            if use.call_id not in known and not (listed and not use.call_id):
                yield use
            known |= {use.call_id} - {""}


# The match stops at the next opening tag of the same name. Otherwise, in a text with many tags that
# are never closed, the search for each closing tag would read to the end of the text.
_XML = re.compile(r"<(update_todo_list|task_progress)>((?:(?!<\1>).)*?)</\1>", re.DOTALL)
_XML_LIST = re.compile(r"</?todos>")


def _written_in(message: Fields) -> Iterator[Use]:
    """
    Yield the todo lists that a message has in its text as XML, or in a call of another tool.

    Roo and Cline use XML if a model has no tool calls. Cline's `task_progress` is an argument of
    any tool.
    """
    if message.get("role") != "assistant":
        return
    blocks = mappings(message.get("content"))
    for text in (string(message.get("content")), *(string(one.get("text")) for one in blocks)):
        for tool, inner in _XML.findall(text):
            yield Use(tool, {"todos": _XML_LIST.sub("", inner)}, "")
    for block in blocks:
        progress = mapping(block.get("input")).get("task_progress")
        if isinstance(progress, str):
            yield Use("task_progress", {"todos": progress}, "")


def _replies(fields: Fields) -> Iterator[Reply]:
    content = fields.get("content")
    blocks = [one for one in mappings(content) if string(one.get("type")) in _RESULTS]
    for block in blocks:
        if goose := mapping(block.get("toolResult")):
            failed = goose.get("status") == "error"
            result = result_of(goose.get("error" if failed else "value"), failed=failed)
            yield Reply(id_of(block.get("id")), "", result)
            continue
        ids = (block.get("tool_use_id"), block.get("tool_call_id"), block.get("toolCallId"))
        name = id_of(block.get("name"), block.get("toolName"))
        keys = (key for key in ("content", "output", "result") if key in block)
        yield Reply(id_of(*ids), name, _result(block, block.get(next(keys, ""))))
    kind = string(fields.get("role")) or string(fields.get("type"))
    if kind in _ANSWERING and not blocks:
        texts = tuple(content_text(one) for one in mappings(content))
        name, call_id = string(fields.get("name")), id_of(fields.get("tool_call_id"))
        yield Reply(call_id, name, _result(fields, content), texts)


def _result(fields: Fields, content: Any) -> CallResult:
    failed = fields.get("is_error") is True or fields.get("status") == "error"
    return result_of(content, failed=failed)


@attrs.define
class _Asked:
    """A call, the key under which it waits for its answer, and the answer once it is known."""

    use: Use
    key: str
    reply: Reply | None = None

    def awaits(self, reply: Reply) -> bool:
        """Return whether this unanswered call has the reply's id, or its tool if no id is known."""
        ids = {reply.call_id, self.use.call_id}
        belongs = len(ids) == 1 if any(ids) else reply.tool in {"", self.use.tool}
        return self.reply is None and belongs


def chat_message(record: Record) -> tuple[Message]:
    """Return the message in a record, for `conversation`."""
    return (message_of(record.line, record.value),)


def conversation(
    read_records: Iterable[Record | BadLine],
    messages_of: Callable[[Record], Iterable[Message]] = chat_message,
    unanswered: CallResult | None = None,
) -> Iterator[Signal]:
    """
    Yield the signals of messages in any known format. `messages_of` converts a record to messages.

    Answers are kept until the next message with calls. Only then is it known whether several
    answers were merged into the first one. A call without an answer has the result `unanswered`.
    """
    asked: list[_Asked] = []
    numbers = count(1)
    for message in each(read_records, messages_of):
        if isinstance(message, BadLine):
            yield message
            continue
        line, at = message.line, message.at
        if message.by_person:
            yield PersonSpoke(line, at=at)
        for use in message.written:
            # Its answer is a part of the other tool's answer or of the person's next message.
            yield PlanningCall(use.tool, use.arguments, line, at=at, result=DONE)
        if message.uses:
            yield from _answers(asked)
            asked = [_Asked(use, use.call_id or f" {next(numbers)}") for use in message.uses]
            turn = turn_of(line, message.turn)
            for one in asked:
                call = PlanningCall(
                    one.use.tool,
                    one.use.arguments,
                    line,
                    turn=turn,
                    call_id=one.use.call_id,
                    at=at,
                    result=unanswered,
                )
                yield Seen(call, one.key)
        for reply in message.replies:
            if call_of_reply := next((one for one in asked if one.awaits(reply)), None):
                call_of_reply.reply = reply
            elif reply.call_id:  # the answer to a call of an earlier message
                yield Answered(reply.call_id, reply.result)
    yield from _answers(asked)


def _answers(asked: list[_Asked]) -> Iterator[Answered]:
    """
    Yield the answers to these calls.

    Some converters put the answers of parallel calls into one message under the first call's id.
    Such an answer is split among this call and the calls without an answer, if it has a part for
    each of them.
    """
    silent = [one for one in asked if one.reply is None]
    for place, one in enumerate(asked):
        if silent and one.reply and len(one.reply.texts) == len(silent) + 1:
            group = [one, *(other for other in asked[place:] if other.reply is None)]
            if len(group) == len(one.reply.texts):
                for part, text in zip(group, one.reply.texts, strict=True):
                    part.reply = attrs.evolve(one.reply, result=result_of(text))
                break
    yield from (Answered(one.key, one.reply.result) for one in asked if one.reply)
