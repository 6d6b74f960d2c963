"""OpenHands' markdown logs: a heading for each call and each result, a fenced block under it."""

import re
from collections.abc import Iterator

from todoplan.transcripts.calls import BadLine, CallResult, OtherCall, PlanningCall
from todoplan.transcripts.jsontext import NotJsonError, parse_json
from todoplan.transcripts.linking import Answered, Seen, Signal
from todoplan.transcripts.readers.markdown import Block, blocks
from todoplan.transcripts.readers.shapes import arguments_of, content_text, data_of
from todoplan.transcripts.source import Source
from todoplan.transcripts.times import parse_time
from todoplan.transcripts.tools import is_planning_tool

__all__ = ["markdown_signals", "recognises_markdown"]

_STEP = re.compile(r"^### \[\d+\] [A-Z]", re.MULTILINE)
_HEADING = re.compile(
    r"### \[\d+\] TOOL (?P<what>CALL|RESULT)\s+\W\s+(?P<tool>\S+)"
    r"(?P<error>\s+\[ERROR\])?(?:\s+\W\s+(?P<at>.*))?"
)


def recognises_markdown(text: str) -> bool:
    """
    Whether this beginning of a text is an OpenHands log's.
    """
    return _STEP.search(text) is not None


def markdown_signals(source: Source) -> Iterator[Signal]:
    """
    Give the log's calls; a result goes to the oldest planning call that has none.
    """
    sent = answered = 0
    for block in blocks(source, _label, _wanted):
        if isinstance(block, BadLine):
            yield block
        elif (heading := _HEADING.match(block.label)) and not is_planning_tool(heading["tool"]):
            yield OtherCall(heading["tool"], block.line)
        elif heading and heading["what"] == "CALL":
            sent += 1
            yield Seen(_call(block, heading), f" {sent}")
        elif heading and answered < sent:
            answered += 1
            yield Answered(f" {answered}", _result(block.text, error=bool(heading["error"])))


def _label(line: str) -> str | None:
    return line if line.startswith("### [") else None


def _wanted(label: str) -> bool:
    heading = _HEADING.match(label)
    return heading is not None and (heading["what"] == "CALL" or is_planning_tool(heading["tool"]))


def _call(block: Block, heading: re.Match[str]) -> PlanningCall:
    return PlanningCall(
        tool=heading["tool"],
        arguments=arguments_of(block.text),
        line=block.line,
        turn=f"#{block.line}",
        at=parse_time(heading["at"]),
    )


def _result(text: str, *, error: bool) -> CallResult:
    try:
        data = data_of(parse_json(text))
    except NotJsonError:
        data = None
    if data is None:
        return CallResult(text, error or text.startswith("ERROR:"))
    return CallResult(
        content_text(data.get("content")), error or data.get("is_error") is True, data
    )
