"""The markdown of Gemini CLI's `/chat share`, and of Unity's assistant with the same tool."""

import re
from collections.abc import Iterator

import attrs

from todoplan.transcripts.calls import BadLine, CallResult, PlanningCall
from todoplan.transcripts.jsontext import NotJsonError, parse_json
from todoplan.transcripts.linking import Answered, Seen, Signal
from todoplan.transcripts.readers.gemini_pairs import Pairs
from todoplan.transcripts.readers.markdown import Block, blocks
from todoplan.transcripts.readers.shapes import arguments_of, mapping
from todoplan.transcripts.source import Source

__all__ = ["markdown_signals", "recognises_markdown"]

_COMMAND, _RESPONSE, _OTHER = "**Tool Command**", "**Tool Response**", ""
_SUMMARY = re.compile(r"<summary>.*?(?P<tool>[\w.]+)\s*\([^)]*\)\s*</summary>")
_TURN = re.compile(r"^\W{0,8}## \W{0,8}(?:USER|MODEL|User|Assistant)\b")
_BOLD = re.compile(r"^\*\*[^*]+\*\*\s*$")
_OURS = re.compile(
    r"^\W{0,8}## (?:USER|MODEL)\W*$"
    r"|\*\*Tool (?:Command|Response)\*\*:|^<summary>.*\w\.WriteTodos\b",
    re.MULTILINE,
)


def recognises_markdown(text: str) -> bool:
    """
    Whether this beginning of a text is such a log's.
    """
    return _OURS.search(text) is not None


@attrs.define
class _State:
    pairs: Pairs = attrs.field(factory=Pairs)
    turn: int = 0
    unity_tool: str = ""
    unity_key: str = ""
    number: int = 0


def markdown_signals(source: Source) -> Iterator[Signal]:
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
        _open_details(state, found["tool"])
    elif "</details>" in line:
        state.unity_tool = _OTHER
    return _label_of(state, line)


def _open_details(state: _State, tool: str) -> None:
    state.number += 1
    state.unity_key = ""
    state.unity_tool = tool


def _label_of(state: _State, line: str) -> str | None:
    for label in (_COMMAND, _RESPONSE):
        if label in line:
            return label
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
