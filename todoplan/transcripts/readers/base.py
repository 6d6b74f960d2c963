"""
What a dialect's reader is, and how what it met becomes the items of a recording.

A reader turns records into signals: a call was sent, an answer came. The rest is the same for all
dialects, in this order: calls of other tools are set aside, each answer is joined to its call, and
what only an answer tells is applied. So a reader knows one format and nothing about planning.
"""

import json
import math
import re
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from hashlib import blake2b
from itertools import count
from typing import Any

import attrs

from todoplan.core.plan.values import Status
from todoplan.texts.wording import say
from todoplan.transcripts.calls import (
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
    every_line,
    line_records,
    parse_json,
)

# -------- join --------
# Answers are joined to their calls, in the order of the calls, with little held at any time.
#
# A recording is a stream in which an answer comes after its call, with other calls between. So
# calls wait in a queue until their answers are there, and leave it in their order: a call that
# waits holds up those behind it. The queue is bounded, or one call without an answer (an
# interrupted session) would hold the rest of the file in memory. Recordings repeat themselves (an
# HTTP log sends the whole conversation with every request, a resumed session copies its lines): of
# calls with the same id the first counts, as far back as a bounded memory of digests goes.


# The most calls met in one message are 23 (Claude Code).
WINDOW = 256
# Digests: about 9 MB when full.
MEMORY = 65_536
# They are only named, where no planning tool was called: a few will do.
OTHER_TOOLS = 5


@attrs.frozen
class Seen:
    """
    An item met in the recording.

    A call with a `key` waits for the answer with that key. Of the items with one `once`, only the
    first counts; the empty text says nothing.
    """

    item: Item
    key: str = ""
    once: str = ""


@attrs.frozen
class Answered:
    """
    A tool's answer to whatever waits under `key`; nothing, if nothing does.
    """

    key: str
    result: CallResult


Signal = Item | Seen | Answered


@attrs.define(eq=False)
class _Slot:
    item: Item
    key: str = ""


class Joiner:
    """
    Takes what a reader met, one at a time, and gives the items in their order.

    At most `window` items are held: a call whose answer comes later than that is given without it.
    At most `memory` of the latest `once` are remembered. Of other tools a few are given.
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
        """
        Whether calls of other tools are still of interest: a few, until there is a planning call.
        """
        return not self._planned and len(self._others) < OTHER_TOOLS

    def awaits(self, keys: Iterable[bytes]) -> bool:
        """
        Tell whether one of these is awaited; they are as in JSON, and an escaped one may be.
        """
        return any(b"\\" in key or key.decode(errors="replace") in self._waiting for key in keys)

    def join(self, signals: Iterable[Signal]) -> Iterator[Item]:
        """
        Give the items of these signals, each call with its result.
        """
        for signal in signals:
            match signal:
                case Answered(key, result):
                    self._close(key, result)
                case OtherCall(tool):
                    if self.wants_other_tools and tool and tool not in self._others:
                        self._others.add(tool)
                        self._append(_Slot(signal))
                case Seen(once=once):
                    if not (once and self._is_repeated(once)):
                        self._enqueue(signal)
                case _:
                    self._append(_Slot(signal))
            while self._queue and (not self._queue[0].key or len(self._queue) > self._window):
                yield self._release()
        while self._queue:
            yield self._release()

    def _append(self, slot: _Slot) -> None:
        self._planned |= isinstance(slot.item, PlanningCall)
        self._queue.append(slot)

    def _enqueue(self, seen: Seen) -> None:
        slot = _Slot(seen.item, seen.key)
        self._append(slot)
        if seen.key:
            # Entire masks call ids, so one id may stand on many lines; parallel calls from one
            # script of Codex stand on one line and share its answer.
            same = self._waiting.setdefault(seen.key, [])
            if same and same[0].item.line != seen.item.line:
                self._close(seen.key)
                same = self._waiting.setdefault(seen.key, [])
            same.append(slot)

    def _close(self, key: str, result: CallResult | None = None) -> None:
        for slot in self._waiting.pop(key, ()):
            if result is not None and isinstance(slot.item, PlanningCall):
                slot.item = attrs.evolve(slot.item, result=result)
            slot.key = ""

    def _release(self) -> Item:
        slot = self._queue.popleft()
        if slot.key:
            # Given up. One answer was for all calls of a script: none of them gets it any more.
            self._close(slot.key)
        return slot.item

    def _is_repeated(self, once: str) -> bool:
        # Digests: ids may be of any length, and the memory is bounded in bytes too.
        digest = blake2b(once.encode(errors="surrogatepass"), digest_size=16).digest()
        known = digest in self._seen
        self._seen[digest] = None
        # An HTTP log repeats its oldest calls in every request: these must not be forgotten first.
        self._seen.move_to_end(digest)
        if len(self._seen) > self._memory:
            self._seen.popitem(last=False)
        return known


# Our refusals are known by how they begin: chat completions have no flag for an error.
_REFUSED = say("problems", "error", problems="").rstrip()
_SHOWN = re.compile(rf"#\d+ \[(?:{'|'.join(Status)})\] |{re.escape(say('replies', 'empty_list'))}")


def filter_calls(signals: Iterable[Signal]) -> Iterator[Signal]:
    """
    Turn calls of other tools into `OtherCall`. A `plan` without arguments stays: it may be ours.
    """
    for signal in signals:
        item = signal.item if isinstance(signal, Seen) else signal
        if isinstance(item, PlanningCall) and not may_plan(item.tool, item.arguments):
            yield OtherCall(item.tool, item.line)
        else:
            yield signal


def filter_answered(items: Iterable[Item]) -> Iterator[Item]:
    """
    Apply what only answers tell: what we refused, and whether a `plan` without arguments is ours.
    """
    for item in items:
        yield _judged_by_answer(item) if isinstance(item, PlanningCall) else item


def _judged_by_answer(call: PlanningCall) -> PlanningCall | OtherCall:
    result = call.result
    text = result.text if result else ""
    # Other products have a tool `plan` too: without arguments, only an answer that looks like our
    # list says whose it was.
    if canonical_tool(call.tool) == OWN_TOOL and not call.arguments and not _SHOWN.match(text):
        return OtherCall(call.tool, call.line)
    if result is None or result.is_error or not text.startswith(_REFUSED):
        return call
    return attrs.evolve(call, result=attrs.evolve(result, is_error=True))


@attrs.frozen
class DialectReader:
    """
    One dialect: whether a first look at a file shows it, and what the file says, in its order.

    `signals` has the calls of all tools. It may ask the joiner which ids are awaited and whether
    other tools are of interest, to pass over lines that hold nothing wanted.
    """

    name: str
    recognises: Callable[[Probe], bool]
    signals: Callable[[Source, Joiner], Iterator[Signal]]

    def read(self, source: Source) -> Iterator[Item]:
        """
        Give the items of the recording, each call with its result.
        """
        # Calls of other tools leave before the join: their answers are passed over, so that each
        # would hold up the queue.
        joiner = Joiner()
        return filter_answered(joiner.join(filter_calls(self.signals(source, joiner))))


def ids_under(field: bytes) -> Callable[[bytes], list[bytes]]:
    """
    Make a function that finds the texts under this key in unparsed JSON, quickly.
    """
    # A search in bytes: `wanted` asks it of nearly every line, so that most need no parsing.
    pattern = re.compile(rb'"%b"\s*:\s*"((?:[^"\\]|\\.)*)"' % re.escape(field))
    return pattern.findall


def each(
    found: Iterable[Record | BadLine], of_record: Callable[[Record], Iterable[Signal]]
) -> Iterator[Signal]:
    """
    Give the signals of each record; lines that could not be read pass as they are.
    """
    for record in found:
        if isinstance(record, BadLine):
            yield record
        else:
            yield from of_record(record)


def records(
    source: Source, wanted: Callable[[bytes], bool] = every_line
) -> Iterator[Record | BadLine]:
    """
    Give the JSON objects of the recording, be it lines or a document.

    Lines that are not `wanted` may be left out; a document's objects are all there.
    """
    if source.form == "document":
        return document_records(source)
    return line_records(source, wanted)


# -------- values --------
# Careful access to JSON values of which nothing is known, and timestamps in whatever form.


# Deeper values would exhaust the recursion of whoever handles them next: json.dumps, attrs, intake.
# `json` stops at about 1,000 levels on Python 3.11 and parses 100,000 on 3.14: the bound is ours.
_DEEPEST = 100
_TOO_DEEP = f"(left out: nested more than {_DEEPEST} levels deep)"
# Entire writes it in place of ids: as an id it would make all calls one.
_REDACTED = "REDACTED"
_NOTHING: Mapping[str, Any] = {}
_REFUSAL = "<tool_use_error>"


def mapping(value: Any) -> Mapping[str, Any]:
    """
    Give the value if it is an object, else an empty one.
    """
    return value if isinstance(value, dict) else _NOTHING


def mappings(value: Any) -> tuple[Mapping[str, Any], ...]:
    """
    Give the objects of a list; none if it is no list.
    """
    return tuple(one for one in value if isinstance(one, dict)) if isinstance(value, list) else ()


def string(value: Any) -> str:
    """
    Give the value if it is text, else the empty text.
    """
    return value if isinstance(value, str) else ""


def id_of(*values: Any) -> str:
    """
    Give the first of these that can serve as an id: text that the recorder did not redact.
    """
    return next((one for one in map(string, values) if one and one != _REDACTED), "")


def turn_of(line: int, *values: Any) -> str:
    """
    Give the first of these that is an id, else a name for the line.
    """
    return id_of(*values) or f"#{line}"


def content_text(value: Any) -> str:
    """
    Give the text of a message's content: text itself, or the texts of its blocks, a line each.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(filter(None, map(_block_text, value)))
    return _block_text(value)


def _block_text(block: Any) -> str:
    if isinstance(block, str):
        return block
    if block is None:
        return ""
    fields = mapping(block)
    named = (fields.get(key) for key in ("text", "content", "output", "value"))
    return next((one for one in named if isinstance(one, str)), "") or _dumped(block)


_ERRORS = ("Error:", "ERROR:", "Error invoking tool")


def tells_error(text: str) -> bool:
    """
    Whether this answer says in its first words that it is an error, where no field of it does.
    """
    return is_refusal(text) or text.startswith(_ERRORS)


def is_refusal(text: str) -> bool:
    """
    Whether this answer is Claude Code's for a call that it did not carry out.
    """
    return text.startswith(_REFUSAL)


def arguments_of(value: Any) -> Mapping[str, Any] | str:
    """
    Give a call's arguments: an object, or the text that should have been one.
    """
    if isinstance(value, str):
        # Chat completions and Codex send arguments as a text of JSON.
        return _parsed(value)
    if value is None:
        return {}  # some recorders leave out arguments that are empty
    if isinstance(value, dict) and not _too_deep(value):
        return value
    return _dumped(value)


def _parsed(text: str) -> Mapping[str, Any] | str:
    if not text.strip():
        return {}
    try:
        value = parse_json(text)
    except NotJsonError:
        return text
    return value if isinstance(value, dict) and not _too_deep(value) else text


def data_of(value: Any) -> Mapping[str, Any] | None:
    """
    Give a structured answer, if it is an object that can be handled.
    """
    return value if isinstance(value, dict) and not _too_deep(value) else None


def _dumped(value: Any) -> str:
    return _TOO_DEEP if _too_deep(value) else json.dumps(value, ensure_ascii=False, default=str)


def _too_deep(value: Any) -> bool:
    # Without recursion: this is what others rely on before they recurse.
    level = [value]
    for _ in range(_DEEPEST):
        level = [inner for outer in level for inner in _children(outer)]
        if not level:
            return False
    return True


def _children(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST_SECONDS = 1e11  # the year 5138 in seconds, 1973 in milliseconds: no recording is older


def parse_time(value: Any) -> datetime | None:
    """
    ISO 8601 text, or a number since 1970 in s, ms, us or ns (told by its size), as a UTC datetime.

    A local time without a zone is taken as UTC. What is no timestamp is `None`, never an error.
    """
    try:
        if isinstance(value, str):
            return _from_text(value)
        if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
            return _from_number(float(value))
    except (ValueError, OverflowError):
        return None
    return None


def _from_text(text: str) -> datetime:
    # OpenHands' logs in Markdown have a time with the letters UTC behind it.
    moment = datetime.fromisoformat(text.strip().removesuffix(" UTC"))
    # OpenHands writes local time and does not say where.
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _from_number(number: float) -> datetime | None:
    if not math.isfinite(number):
        return None
    while abs(number) >= _LATEST_SECONDS:
        number /= 1000
    return _EPOCH + timedelta(seconds=number)


# -------- conversation --------
# A conversation of chat messages, in anyone's shape, as signals: what it calls and what it answers.
#
# The same call may stand twice in one message: conversions of agent sessions write it into the
# content and into `tool_calls`. It counts once, by its id.


_USES = {"tool_use", "tool_call", "tool-call", "toolCall", "toolRequest"}
_RESULTS = {"tool_result", "tool-result", "toolResult", "toolResponse"}
_ANSWERING = {"tool", "function", "ToolMessage", "ToolMessageChunk"}
_DONE = CallResult("")
_PEOPLE = {"human", "HumanMessage"}


@attrs.frozen
class Use:
    """
    A call of any tool. `call_id` is empty where the recording has none.
    """

    tool: str
    arguments: Mapping[str, Any] | str
    call_id: str


@attrs.frozen
class Reply:
    """
    The answer of a tool: to the call with this id, or to one of the tool of this name.

    `texts` are its parts, where it came in several.
    """

    call_id: str
    tool: str
    result: CallResult
    texts: tuple[str, ...] = ()


@attrs.frozen
class Message:
    """
    What one message holds for us. `turn` is its id, if it has one; `by_person` says who spoke.
    """

    turn: str
    uses: tuple[Use, ...]
    replies: tuple[Reply, ...]
    at: datetime | None
    by_person: bool = False


def unwrapped(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """
    Give the message itself: out of a LangChain constructor, a `{"type", "data"}` pair, an envelope.
    """
    if fields.get("type") == "constructor" and isinstance(fields.get("kwargs"), dict):
        path = fields.get("id")
        kind = path[-1] if isinstance(path, list) and path else None
        return {"type": kind, **fields["kwargs"]}
    for key in ("data", "message"):
        if "role" not in fields and "content" not in fields and isinstance(fields.get(key), dict):
            return {"type": fields.get("type"), **fields[key]}
    return fields


def message_of(fields: Mapping[str, Any]) -> Message:
    """
    Give the message's calls, each once though it may stand in two places, and its answers.
    """
    fields = unwrapped(fields)
    times = (fields, mapping(fields.get("_metadata")), mapping(fields.get("metadata")))
    at = next((found for one in times if (found := parse_time(one.get("timestamp")))), None)
    replies = tuple(_replies(fields))
    by_person = not replies and (
        fields.get("role") == "user" or string(fields.get("type")) in _PEOPLE
    )
    return Message(id_of(fields.get("id")), tuple(_uses(fields)), replies, at, by_person)


def _uses(fields: Mapping[str, Any]) -> Iterator[Use]:
    known: set[str] = set()
    # Listed calls first: of the same call, the content of LangChain has only unparsed text. It sets
    # calls apart whose arguments are no JSON.
    listed = mappings(fields.get("tool_calls")) + mappings(fields.get("invalid_tool_calls"))
    # The oldest chat format has one call a message, without an id.
    legacy = mapping(fields.get("function_call"))
    for use in map(_listed, (*listed, *([legacy] if legacy else []))):
        if use.call_id not in known:
            yield use
        known |= {use.call_id} - {""}
    for block in mappings(fields.get("content")):
        if string(block.get("type")) in _USES:
            use = _in_content(block)
            # Beside listed calls, one in the content that has no id can only be one of them again.
            if use.call_id not in known and not (listed and not use.call_id):
                yield use
            known |= {use.call_id} - {""}


# Up to the next tag alike and no further: the one in prose is never closed, and a text full of them
# would be read to its end by each.
_XML = re.compile(r"<(update_todo_list|task_progress)>((?:(?!<\1>).)*?)</\1>", re.DOTALL)
_XML_LIST = re.compile(r"</?todos>")


def _written_in(message: Mapping[str, Any]) -> Iterator[Use]:
    """
    Give the lists that stand within other things: in the text as XML, or beside other arguments.

    Roo and Cline call their tools so where a model has no tool calls; Cline's `task_progress` is
    an argument of whichever tool is called.
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


def _listed(fields: Mapping[str, Any]) -> Use:
    inner = mapping(fields.get("function")) or fields
    arguments = inner.get("arguments", inner.get("args"))
    return Use(string(inner.get("name")), arguments_of(arguments), id_of(fields.get("id")))


def _in_content(block: Mapping[str, Any]) -> Use:
    if goose := mapping(mapping(block.get("toolCall")).get("value")):
        block = {"id": block.get("id"), **goose}
    name = id_of(block.get("name"), block.get("toolName"), block.get("tool_name"))
    # LangChain's constructors have an empty `input` and the arguments in `partial_json`.
    given = (block.get(key) for key in ("input", "arguments", "args", "partial_json"))
    arguments = next((one for one in given if one), None)
    ids = (block.get("id"), block.get("tool_call_id"), block.get("toolCallId"))
    return Use(name, arguments_of(arguments), id_of(*ids))


def _replies(fields: Mapping[str, Any]) -> Iterator[Reply]:
    kind = string(fields.get("role")) or string(fields.get("type"))
    content = fields.get("content")
    blocks = [one for one in mappings(content) if string(one.get("type")) in _RESULTS]
    for block in blocks:
        yield _in_block(block)
    if kind in _ANSWERING and not blocks:
        result = _result(fields, content)
        texts = tuple(content_text(one) for one in mappings(content))
        yield Reply(id_of(fields.get("tool_call_id")), string(fields.get("name")), result, texts)


def _in_block(block: Mapping[str, Any]) -> Reply:
    if goose := mapping(block.get("toolResult")):
        refused = goose.get("status") == "error"
        text = content_text(goose.get("error" if refused else "value"))
        return Reply(id_of(block.get("id")), "", CallResult(text, refused))
    ids = (block.get("tool_use_id"), block.get("tool_call_id"), block.get("toolCallId"))
    name = id_of(block.get("name"), block.get("toolName"))
    content = next((block[key] for key in ("content", "output", "result") if key in block), None)
    return Reply(id_of(*ids), name, _result(block, content))


def _result(fields: Mapping[str, Any], content: Any) -> CallResult:
    text = content_text(content)
    marked = fields.get("is_error") is True or fields.get("status") == "error"
    return CallResult(text, marked or tells_error(text))


@attrs.define
class _Asked:
    """
    A call of the latest message that called, and the key that its answer goes to.
    """

    use: Use
    key: str
    reply: Reply | None = None


def conversation(records: Iterable[Record | BadLine]) -> Iterator[Signal]:
    """
    Give the signals of messages in any known shape.

    Answers are kept until the next message that calls: only then can it be told whether several
    of them were merged into the first one's.
    """
    asked: list[_Asked] = []
    numbers = count(1)
    for record in records:
        if isinstance(record, BadLine):
            yield record
            continue
        message = message_of(record.value)
        if message.by_person:
            yield PersonSpoke(record.line, at=message.at)
        for use in _written_in(unwrapped(record.value)):
            # Their answers are part of the other tool's, or of the person's next message.
            call = PlanningCall(use.tool, use.arguments, record.line, at=message.at, result=_DONE)
            yield Seen(call)
        if message.uses:
            yield from _answers(asked)
            asked = [_Asked(use, use.call_id or f" {next(numbers)}") for use in message.uses]
            yield from _calls(record, message, asked)
        for reply in message.replies:
            yield from _heard(asked, reply)
    yield from _answers(asked)


def _calls(record: Record, message: Message, asked: list[_Asked]) -> Iterator[Seen]:
    for one in asked:
        call = PlanningCall(
            tool=one.use.tool,
            arguments=one.use.arguments,
            line=record.line,
            turn=turn_of(record.line, message.turn),
            call_id=one.use.call_id,
            at=message.at,
        )
        yield Seen(call, one.key)


def _heard(asked: list[_Asked], reply: Reply) -> Iterator[Answered]:
    for one in asked:
        if one.reply is None and _belongs(one.use, reply):
            one.reply = reply
            return
    # To a call of an earlier message.
    if reply.call_id:
        yield Answered(reply.call_id, reply.result)


def _belongs(use: Use, reply: Reply) -> bool:
    if reply.call_id or use.call_id:
        return reply.call_id == use.call_id
    return reply.tool in {"", use.tool}


def _answers(asked: list[_Asked]) -> Iterator[Answered]:
    _split_merged(asked)
    for one in asked:
        if one.reply:
            yield Answered(one.key, one.reply.result)


def _split_merged(asked: list[_Asked]) -> None:
    """
    Give the parts of an answer to the calls without one, if there is a part for each.

    Some converters put the answers of parallel calls into one message under the first call's id.
    """
    silent = [one for one in asked if one.reply is None]
    for place, one in enumerate(asked):
        if silent and one.reply and len(one.reply.texts) == len(silent) + 1:
            group = [one, *(other for other in asked[place:] if other.reply is None)]
            if len(group) == len(one.reply.texts):
                _distribute(group, one.reply)
                return


def _distribute(group: list[_Asked], reply: Reply) -> None:
    for one, text in zip(group, reply.texts, strict=True):
        one.reply = attrs.evolve(reply, result=CallResult(text, is_refusal(text)))
