"""OpenHands: events in lines or in a list, and Markdown logs with a heading per call and result."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from todoplan.transcripts.calls import (
    BadLine,
    CallResult,
    OtherCall,
    PersonSpoke,
    PlanningCall,
    is_planning_tool,
    mentions_tool,
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
    parse_time,
    records,
    string,
    turn_of,
)

_STEP = re.compile(r"^### \[\d+\] [A-Z]", re.MULTILINE)
_HEADING = re.compile(
    r"### \[\d+\] TOOL (?P<what>CALL|RESULT)\s+\W\s+(?P<tool>\S+)"
    r"(?P<error>\s+\[ERROR\])?(?:\s+\W\s+(?P<at>.*))?"
)


def _recognises_markdown(text: str) -> bool:
    """Return whether this beginning of a text is an OpenHands log's."""
    return _STEP.search(text) is not None


def _markdown_signals(source: Source) -> Iterator[Signal]:
    """Yield the log's calls; a result goes to the oldest planning call that has none."""
    # Headings have no ids, so the nth result of a planning tool belongs to its nth call.
    sent = answered = 0
    for block in blocks(source, _label, _wanted):
        if isinstance(block, BadLine):
            yield block
        elif (heading := _HEADING.match(block.label)) and not is_planning_tool(heading["tool"]):
            yield OtherCall(heading["tool"], block.line)
        elif heading and heading["what"] == "CALL":
            sent += 1
            yield Seen(_call_in_block(block, heading), f" {sent}")
        elif heading and answered < sent:
            answered += 1
            yield Answered(
                f" {answered}", _result_in_block(block.text, error=bool(heading["error"]))
            )


def _label(line: str) -> str | None:
    return line if line.startswith("### [") else None


def _wanted(label: str) -> bool:
    heading = _HEADING.match(label)
    # Calls of other tools are named if there is no plan. Their results are never used.
    return heading is not None and (heading["what"] == "CALL" or is_planning_tool(heading["tool"]))


def _call_in_block(block: Block, heading: re.Match[str]) -> PlanningCall:
    return PlanningCall(
        tool=heading["tool"],
        arguments=arguments_of(block.text),
        line=block.line,
        turn=f"#{block.line}",
        at=parse_time(heading["at"]),
    )


def _result_in_block(text: str, *, error: bool) -> CallResult:
    try:
        data = data_of(parse_json(text))
    except NotJsonError:
        data = None
    if data is None:
        return CallResult(text, error or text.startswith("ERROR:"))
    return CallResult(
        content_text(data.get("content")), error or data.get("is_error") is True, data
    )


def _recognises(probe: Probe) -> bool:
    return _recognises_markdown(probe.text) or any(
        string(record.get("kind")).endswith("Event") and "source" in record
        for record in probe.records
    )


def _signals(source: Source, joiner: Joiner) -> Iterator[Signal]:
    def wanted(raw: bytes) -> bool:
        if b'"MessageEvent"' in raw or mentions_tool(raw):
            return True
        return joiner.wants_other_tools and b'"ActionEvent"' in raw

    if source.form == "text":
        return _markdown_signals(source)
    return each(records(source, wanted), _of_event)


def _of_event(record: Record) -> Iterator[Signal]:
    fields = record.value
    key = id_of(fields.get("tool_call_id"))
    match fields.get("kind"):
        case "MessageEvent" if fields.get("source") == "user":
            yield PersonSpoke(record.line, at=parse_time(fields.get("timestamp")))
        case "ActionEvent":
            yield Seen(_call(record, key), key, key)
        case "ObservationEvent":
            observation = mapping(fields.get("observation"))
            refused = observation.get("is_error") is True
            text = content_text(observation.get("content"))
            yield Answered(key, CallResult(text, refused, data_of(observation)))
        # The answer to a refused call is an event of another kind, without an observation.
        case _ if "error" in fields:
            yield Answered(key, CallResult(content_text(fields["error"]), is_error=True))


def _call(record: Record, call_id: str) -> PlanningCall:
    fields = record.value
    return PlanningCall(
        tool=string(fields.get("tool_name")),
        arguments=_arguments(fields),
        line=record.line,
        turn=turn_of(record.line, fields.get("llm_response_id")),
        call_id=call_id,
        at=parse_time(fields.get("timestamp")),
    )


def _arguments(fields: Mapping[str, Any]) -> Mapping[str, Any] | str:
    """Return what the model sent; what OpenHands made of it, only where the former is missing."""
    sent = mapping(fields.get("tool_call"))
    return arguments_of(sent.get("arguments", fields.get("action")))


READER = DialectReader("openhands", _recognises, _signals)
