"""
Gemini CLI: session files, lists of API contents, and the markdown of `/chat share`.

`gemini_markdown` reads the markdown; `gemini_pairs` puts calls without ids to their responses.
"""

import re
from collections import deque
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

import attrs

from todoplan.transcripts.calls import (
    BadLine,
    CallResult,
    OtherCall,
    PersonSpoke,
    PlanningCall,
    is_planning_tool,
)
from todoplan.transcripts.files import (
    Block,
    NotJsonError,
    Probe,
    Record,
    Source,
    blocks,
    parse_json,
)
from todoplan.transcripts.readers.base import (
    Answered,
    DialectReader,
    Joiner,
    Seen,
    Signal,
    arguments_of,
    content_text,
    data_of,
    each,
    id_of,
    mapping,
    mappings,
    parse_time,
    records,
    string,
    turn_of,
)

# -------- gemini_pairs --------
# Matching calls and responses of Gemini's API, in which ids are optional: by id if there is one,
# else by name in order.


# Ids are `<tool>-<epoch ms>-<hex>`. In `/chat share`, they are the only source of times.
_STAMP = re.compile(r"[-_](\d{13})[-_]")
_REMEMBERED = 64


class Pairs:
    """Matches responses to calls. It keeps the latest few calls without a response."""

    def __init__(self) -> None:
        self._open: deque[tuple[str, str]] = deque(maxlen=_REMEMBERED)
        self._numbers = count(1)

    def of_part(self, record: Record, part: Mapping[str, Any]) -> Iterator[Signal]:
        """Yield what a part of an API content says, in the spelling of JSON or of Python."""
        if call := mapping(part.get("functionCall", part.get("function_call"))):
            at = record.value.get("timestamp")
            yield from self.sent(call, record.line, turn_of(record.line), at)
        if response := mapping(part.get("functionResponse", part.get("function_response"))):
            yield from self.answered(response)

    def sent(
        self, call: Mapping[str, Any], line: int, turn: str, at: Any = None
    ) -> Iterator[Signal]:
        """Yield the signal of a call `{name, args, id?}`. Its id may contain the time."""
        name = string(call.get("name"))
        if not is_planning_tool(name):
            yield OtherCall(name, line)
            return
        call_id = id_of(call.get("id"))
        # Our own keys begin with a blank. `answered` matches only these by name.
        key = call_id or f" {next(self._numbers)}"
        self._open.append((key, name))
        yield Seen(
            PlanningCall(
                tool=name,
                arguments=arguments_of(call.get("args")),
                line=line,
                turn=turn,
                call_id=call_id,
                at=parse_time(at) or _stamp(call_id),
            ),
            key,
        )

    def answered(self, response: Mapping[str, Any]) -> Iterator[Answered]:
        """
        Yield a response `{name, response, id?}` for the call with its id, or the oldest by name.
        """
        keys = [key for key, _ in self._open]
        call_id = id_of(response.get("id"))
        names = [key for key, name in self._open if name == response.get("name") and key[0] == " "]
        key = call_id if call_id in keys else next(iter(names), "")
        if key:
            self._open = deque((one for one in self._open if one[0] != key), _REMEMBERED)
            yield Answered(key, response_result(response.get("response")))


def response_result(response: Any) -> CallResult:
    """Return the result in a response object `{output}` or `{error}`."""
    fields = mapping(response)
    error = fields.get("error")
    text = content_text(fields.get("output") if error is None else error)
    return CallResult(
        text or content_text(response), error is not None, data_of(fields.get("data"))
    )


def _stamp(call_id: str) -> Any:
    found = _STAMP.search(call_id)
    return parse_time(int(found[1])) if found else None


# -------- gemini_markdown --------
# Markdown of Gemini CLI's `/chat share`, and what Unity's assistant exports of its conversations.
#
# Gemini CLI labels a fenced block as command or response. Unity's assistant has the same tool, and
# two export formats. The older one has a fold for each call, with arguments and result, or an
# error, each under a line in bold. The newer one has a line in bold that names the tool, and only
# its arguments.


_COMMAND, _RESPONSE, _OTHER = "**Tool Command**", "**Tool Response**", ""
# A whole word, possessive, without parentheses inside. Otherwise the time is quadratic in the
# length of a line.
_SUMMARY = re.compile(r"<summary>.*?(?<![\w.])(?P<tool>[\w.]++)\s*+\([^()]*+\)\s*</summary>")
_TURN = re.compile(r"^\W{0,8}## \W{0,8}(?:USER|MODEL|User|Assistant)\b")
_BOLD = re.compile(r"^\*\*(?P<words>[^*]+)\*\*\s*$")
_NAMED = re.compile(r"^\*\*Tool call: (?P<tool>[\w.]+)\*\*\s*$")
# Unity's editor speaks these languages, and so do the words in bold.
_FAILED = frozenset({"Error", "エラー", "오류", "에러", "错误", "錯誤", "Erreur", "Fehler"})
_OURS = re.compile(
    r"^\W{0,8}## (?:USER|MODEL)\W*$"
    r"|\*\*Tool (?:Command|Response)\*\*:|^<summary>.*\w\.WriteTodos\b|^\*\*Tool call: Unity\.",
    re.MULTILINE,
)


def is_markdown(text: str) -> bool:
    """Return whether this beginning of a text is such a log's."""
    return _OURS.search(text) is not None


@attrs.define
class _State:
    """Where the reading is: the turn of Gemini CLI, and the call of Unity that blocks belong to."""

    pairs: Pairs = attrs.field(factory=Pairs)
    turn: int = 0
    tool: str = _OTHER
    key: str = ""
    number: int = 0
    has_result: bool = True
    failed: bool = False


def markdown_signals(source: Source) -> Iterator[Signal]:
    """Yield the log's calls, a response each where there is one."""
    state = _State()
    for block in blocks(source, lambda line: _label(state, line), _wanted):
        if isinstance(block, BadLine):
            yield block
        elif block.label in {_COMMAND, _RESPONSE}:
            yield from _shared(state, block)
        else:
            yield from _unity(state, block)


def _label(state: _State, line: str) -> str | None:
    if _TURN.match(line):
        state.turn += 1
    elif found := _SUMMARY.match(line):
        _begin(state, found["tool"], has_result=True)
    elif found := _NAMED.match(line):
        _begin(state, found["tool"], has_result=False)
        return state.tool
    elif "</details>" in line:
        state.tool = _OTHER
    for label in (_COMMAND, _RESPONSE):
        if label in line:
            return label
    bold = _BOLD.match(line)
    if not bold:
        return None
    # In the newer format, bold lines are the model's thoughts, and the text after them is not an
    # answer.
    if not state.has_result:
        return _OTHER
    state.failed = bold["words"].strip() in _FAILED
    return state.tool


def _begin(state: _State, tool: str, *, has_result: bool) -> None:
    state.number += 1
    state.key, state.tool, state.has_result, state.failed = "", tool, has_result, False


def _wanted(label: str) -> bool:
    return label != _OTHER


def _shared(state: _State, block: Block) -> Iterator[Signal]:
    try:
        fields = mapping(parse_json(block.text))
    except NotJsonError as error:
        yield BadLine(block.line, f"a tool's block that is not JSON: {error}")
        return
    if block.label == _COMMAND:
        yield from state.pairs.sent(fields, block.line, f"turn-{state.turn}")
    else:
        yield from state.pairs.answered(fields)


def _unity(state: _State, block: Block) -> Iterator[Signal]:
    if state.key:
        text = block.text
        refused = state.failed or text.startswith(("Error", "Invalid"))
        yield Answered(state.key, CallResult(text, refused))
        return
    key = f" u{state.number}"
    # A section has everything that the model did until the person's next message, in sequence. So
    # its calls were not sent together.
    call = PlanningCall(
        tool=block.label,
        arguments=arguments_of(block.text),
        line=block.line,
        turn=f"call-{state.number}",
    )
    if state.has_result:
        state.key = key
        yield Seen(call, key)
    else:
        yield Seen(call)


def _recognises(probe: Probe) -> bool:
    return is_markdown(probe.text) or any(map(_is_ours, probe.records))


def _unwrapped(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """
    Return a line of Qwen Code as the message in it: `{type, timestamp, message: {role, parts}}`.
    """
    message = mapping(record.get("message"))
    return {"timestamp": record.get("timestamp"), **message} if "parts" in message else record


def _is_ours(record: Mapping[str, Any]) -> bool:
    record = _unwrapped(record)
    if record.get("type") == "gemini" or record.get("role") == "model":
        return True
    return "projectHash" in record and "sessionId" in record


def _signals(source: Source, _joiner: Joiner) -> Iterator[Signal]:
    return markdown_signals(source) if source.form == "text" else _of_messages(source)


def _of_messages(source: Source) -> Iterator[Signal]:
    pairs = Pairs()
    return each(
        records(source),
        lambda record: _of_message(Record(record.line, _unwrapped(record.value)), pairs),
    )


def _of_message(record: Record, pairs: Pairs) -> Iterator[Signal]:
    # In the API, the response of a tool has the role user too, but only a person writes text.
    if record.value.get("type") == "user" or (
        record.value.get("role") == "user"
        and any("text" in part for part in mappings(record.value.get("parts")))
    ):
        yield PersonSpoke(record.line, at=parse_time(record.value.get("timestamp")))
    for call in mappings(record.value.get("toolCalls")):
        yield _of_session(record, call)
    for part in mappings(record.value.get("parts")):
        yield from pairs.of_part(record, part)


def _of_session(record: Record, call: Mapping[str, Any]) -> Seen:
    call_id = id_of(call.get("id"))
    at = parse_time(call.get("timestamp")) or parse_time(record.value.get("timestamp"))
    responses = [mapping(one.get("functionResponse")) for one in mappings(call.get("result"))]
    result = response_result(responses[0].get("response")) if responses else None
    planning = PlanningCall(
        tool=string(call.get("name")),
        arguments=arguments_of(call.get("args")),
        line=record.line,
        turn=turn_of(record.line, record.value.get("id")),
        call_id=call_id,
        at=at,
        result=result,
    )
    # The call already has its result, so no key is needed.
    return Seen(planning, once=call_id)


READER = DialectReader("gemini", _recognises, _signals)
