"""
Copilot in VS Code, as "Export Chat" writes it: a list of requests with their responses.

A request may have a call twice. `toolCallRounds` has the calls as the model sent them, with their
results. The parts of the response have the calls as the window shows them, and some calls are only
there.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from todoplan.transcripts.calls import CallResult, PersonSpoke, PlanningCall, canonical_tool
from todoplan.transcripts.files import Probe, Record, Source
from todoplan.transcripts.readers.base import (
    DialectReader,
    Joiner,
    Seen,
    Signal,
    arguments_of,
    content_text,
    each,
    id_of,
    mapping,
    mappings,
    parse_time,
    records,
    string,
    tells_error,
    turn_of,
)

_DENIED = 0
_INVOKED = {"toolInvocation", "toolInvocationSerialized"}


def _recognises(probe: Probe) -> bool:
    return any(
        "requestId" in record and isinstance(record.get("response"), list)
        for record in probe.records
    )


def _signals(source: Source, _joiner: Joiner) -> Iterator[Signal]:
    return each(records(source), _of_request)


def _of_request(record: Record) -> Iterator[Signal]:
    if "message" in record.value:
        yield PersonSpoke(record.line, at=parse_time(record.value.get("timestamp")))
    metadata = mapping(mapping(record.value.get("result")).get("metadata"))
    sent = list(_sent(record, metadata))
    # Older exports have no rounds, and some calls are not in any round.
    if not any(canonical_tool(one.tool) for one in sent):
        shown = list(_shown(record))
        sent = shown if not sent or any(canonical_tool(one.tool) for one in shown) else sent
    for call in sent:
        yield Seen(call, once=call.call_id)


def _sent(record: Record, metadata: Mapping[str, Any]) -> Iterator[PlanningCall]:
    results = mapping(metadata.get("toolCallResults"))
    for number, one in enumerate(mappings(metadata.get("toolCallRounds"))):
        for call in mappings(one.get("toolCalls")):
            call_id = id_of(call.get("id"))
            yield PlanningCall(
                tool=_named(string(call.get("name"))),
                arguments=arguments_of(call.get("arguments")),
                line=record.line,
                turn=turn_of(record.line, one.get("id"), f"#{record.line}.{number}"),
                call_id=call_id,
                at=parse_time(one.get("timestamp")) or parse_time(record.value.get("timestamp")),
                result=_result(results.get(call_id)),
            )


def _result(value: Any) -> CallResult | None:
    if value is None:
        return None
    text = content_text(mapping(value).get("content"))
    return CallResult(text, tells_error(text))


def _shown(record: Record) -> Iterator[PlanningCall]:
    for number, part in enumerate(mappings(record.value.get("response"))):
        if part.get("kind") in _INVOKED:
            shown = mapping(part.get("toolSpecificData"))
            listed = {"todoList": shown.get("todoList")} if "todoList" in shown else {}
            # The person may have declined the call. Then it was not carried out.
            answer = part.get("isConfirmed")
            refused = answer is False or mapping(answer).get("type") == _DENIED
            yield PlanningCall(
                tool=_named(string(part.get("toolId"))),
                arguments=arguments_of(listed or shown.get("rawInput")),
                line=record.line,
                turn=f"#{record.line}.{number}",
                call_id=id_of(part.get("toolCallId")),
                at=parse_time(record.value.get("timestamp")),
                result=CallResult("", refused),
            )


def _named(tool: str) -> str:
    """Return a tool's own name if it is a planning tool of an MCP server: `mcp_<server>_<tool>`."""
    return (canonical_tool(tool) if tool.startswith("mcp_") else None) or tool


READER = DialectReader("vscode", _recognises, _signals)
