"""
Markdown of Gemini CLI's `/chat share`, and what Unity's assistant exports of its conversations.

Gemini CLI labels a fenced block as command or response. Unity's assistant has the same tool, and
wrote a conversation in two forms: first a fold for each call, with arguments and result, or an
error, each under a line in bold; now a line in bold that names the tool, and its arguments alone.
"""

import re
from collections.abc import Iterator

import attrs

from todoplan.transcripts.calls import BadLine, CallResult, PlanningCall
from todoplan.transcripts.files.json_text import NotJsonError, parse_json
from todoplan.transcripts.files.markdown import Block, blocks
from todoplan.transcripts.files.source import Source
from todoplan.transcripts.readers.gemini_pairs import Pairs
from todoplan.transcripts.readers.shared.join import Answered, Seen, Signal
from todoplan.transcripts.readers.shared.values import arguments_of, mapping

__all__ = ["is_markdown", "markdown_signals"]

_COMMAND, _RESPONSE, _OTHER = "**Tool Command**", "**Tool Response**", ""
# A whole word, possessive, no parenthesis within: else time grew with the square of a long line.
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
    """
    Whether this beginning of a text is such a log's.
    """
    return _OURS.search(text) is not None


@attrs.define
class _State:
    """
    Where the reading is: the turn of Gemini CLI, and the call of Unity that blocks belong to.
    """

    pairs: Pairs = attrs.field(factory=Pairs)
    turn: int = 0
    tool: str = _OTHER
    key: str = ""
    number: int = 0
    has_result: bool = True
    failed: bool = False


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
    # In the second form bold lines are the model's thoughts, and what follows them is no answer.
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
    # A section holds all that the model did until the person spoke again, one after the other: its
    # calls were not sent at once.
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
