"""
Gemini CLI: session files, lists of API contents, and the markdown of `/chat share`.

In the API and in the markdown a call has no id, only its response may have one: they are put
together by id where there is one, else by name in turn. Unity's assistant writes similar markdown
around the same tool.
"""

import re
from collections import deque
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

import attrs

from todoplan.transcripts.calls import BadLine, CallResult, OtherCall, PersonSpoke, PlanningCall
from todoplan.transcripts.files.json_text import NotJsonError, parse_json
from todoplan.transcripts.files.lines import Record
from todoplan.transcripts.files.markdown import Block, blocks
from todoplan.transcripts.files.probe import Probe
from todoplan.transcripts.files.source import Source
from todoplan.transcripts.readers.shared.base import DialectReader, each, records
from todoplan.transcripts.readers.shared.join import Answered, Joiner, Seen, Signal
from todoplan.transcripts.readers.shared.values import (
    arguments_of,
    content_text,
    data_of,
    id_of,
    mapping,
    mappings,
    parse_time,
    string,
    turn_of,
)
from todoplan.transcripts.tools import is_planning_tool

__all__ = ["READER"]

# Ids are `<tool>-<epoch ms>-<hex>`: `/chat share` has no other time.
_STAMP = re.compile(r"[-_](\d{13})[-_]")
_REMEMBERED = 64


class _Pairs:
    """
    Puts responses to calls; remembers the calls that have none yet, the latest few of them.
    """

    def __init__(self) -> None:
        self._open: deque[tuple[str, str]] = deque(maxlen=_REMEMBERED)
        self._numbers = count(1)

    def of_part(self, record: Record, part: Mapping[str, Any]) -> Iterator[Signal]:
        """
        Give what a part of an API content says, in the spelling of JSON or of Python.
        """
        if call := mapping(part.get("functionCall", part.get("function_call"))):
            at = record.value.get("timestamp")
            yield from self.sent(call, record.line, turn_of(record.line), at)
        if response := mapping(part.get("functionResponse", part.get("function_response"))):
            yield from self.answered(response)

    def sent(
        self, call: Mapping[str, Any], line: int, turn: str, at: Any = None
    ) -> Iterator[Signal]:
        """
        Take a call `{name, args, id?}`. An id may tell the time.
        """
        name = string(call.get("name"))
        if not is_planning_tool(name):
            yield OtherCall(name, line)
            return
        call_id = id_of(call.get("id"))
        # Keys of ours begin with a blank: `answered` gives only these by name.
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
        Take a response `{name, response, id?}`: for the call with its id, or the oldest by name.
        """
        keys = [key for key, _ in self._open]
        call_id = id_of(response.get("id"))
        names = [key for key, name in self._open if name == response.get("name") and key[0] == " "]
        key = call_id if call_id in keys else next(iter(names), "")
        if key:
            self._open = deque((one for one in self._open if one[0] != key), _REMEMBERED)
            yield Answered(key, _response_result(response.get("response")))


def _response_result(response: Any) -> CallResult:
    """
    Give the result that a response object `{output}` or `{error}` tells of.
    """
    fields = mapping(response)
    error = fields.get("error")
    text = content_text(fields.get("output") if error is None else error)
    return CallResult(
        text or content_text(response), error is not None, data_of(fields.get("data"))
    )


def _stamp(call_id: str) -> Any:
    found = _STAMP.search(call_id)
    return parse_time(int(found[1])) if found else None


_COMMAND, _RESPONSE, _OTHER = "**Tool Command**", "**Tool Response**", ""
# A whole word, possessive, no parenthesis within: else time grew with the square of a long line.
_SUMMARY = re.compile(r"<summary>.*?(?<![\w.])(?P<tool>[\w.]++)\s*+\([^()]*+\)\s*</summary>")
_TURN = re.compile(r"^\W{0,8}## \W{0,8}(?:USER|MODEL|User|Assistant)\b")
_BOLD = re.compile(r"^\*\*[^*]+\*\*\s*$")
_OURS = re.compile(
    r"^\W{0,8}## (?:USER|MODEL)\W*$"
    r"|\*\*Tool (?:Command|Response)\*\*:|^<summary>.*\w\.WriteTodos\b",
    re.MULTILINE,
)


def _recognises_markdown(text: str) -> bool:
    """
    Whether this beginning of a text is such a log's.
    """
    return _OURS.search(text) is not None


@attrs.define
class _State:
    pairs: _Pairs = attrs.field(factory=_Pairs)
    turn: int = 0
    unity_tool: str = ""
    unity_key: str = ""
    number: int = 0


def _markdown_signals(source: Source) -> Iterator[Signal]:
    """
    Give the log's calls, a response each where there is one.
    """
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
        state.number += 1
        state.unity_key, state.unity_tool = "", found["tool"]
    elif "</details>" in line:
        state.unity_tool = _OTHER
    for label in (_COMMAND, _RESPONSE):
        if label in line:
            return label
    # Unity names the tool once, above its arguments and its result, each under a line in bold.
    return state.unity_tool if _BOLD.match(line) else None


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
    if state.unity_key:
        text = block.text
        yield Answered(state.unity_key, CallResult(text, text.startswith(("Error", "Invalid"))))
        return
    state.unity_key = f" u{state.number}"
    call = PlanningCall(
        tool=block.label,
        arguments=arguments_of(block.text),
        line=block.line,
        turn=f"turn-{state.turn}",
    )
    yield Seen(call, state.unity_key)


def _recognises(probe: Probe) -> bool:
    return _recognises_markdown(probe.text) or any(map(_is_ours, probe.records))


def _unwrapped(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """
    Give a line of Qwen Code as the message in it: `{type, timestamp, message: {role, parts}}`.
    """
    message = mapping(record.get("message"))
    return {"timestamp": record.get("timestamp"), **message} if "parts" in message else record


def _is_ours(record: Mapping[str, Any]) -> bool:
    record = _unwrapped(record)
    if record.get("type") == "gemini" or record.get("role") == "model":
        return True
    return "projectHash" in record and "sessionId" in record


def _signals(source: Source, _joiner: Joiner) -> Iterator[Signal]:
    return _markdown_signals(source) if source.form == "text" else _of_messages(source)


def _of_messages(source: Source) -> Iterator[Signal]:
    pairs = _Pairs()
    return each(
        records(source),
        lambda record: _of_message(Record(record.line, _unwrapped(record.value)), pairs),
    )


def _of_message(record: Record, pairs: _Pairs) -> Iterator[Signal]:
    # In the API the response of a tool has the role user too: a person writes text.
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
    result = _response_result(responses[0].get("response")) if responses else None
    planning = PlanningCall(
        tool=string(call.get("name")),
        arguments=arguments_of(call.get("args")),
        line=record.line,
        turn=turn_of(record.line, record.value.get("id")),
        call_id=call_id,
        at=at,
        result=result,
    )
    # Call and result stand together: nothing is waited for.
    return Seen(planning, once=call_id)


READER = DialectReader("gemini", _recognises, _signals)
