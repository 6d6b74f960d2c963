"""Codex rollouts: `update_plan` as a function call, or within the script of an `exec` call."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from todoplan.transcripts.calls import (
    CallResult,
    Compaction,
    PersonSpoke,
    PlanningCall,
    canonical_tool,
    mentions_tool,
)
from todoplan.transcripts.files import Probe, Record, Source, tool_calls
from todoplan.transcripts.readers.base import (
    Answered,
    DialectReader,
    Joiner,
    Seen,
    Signal,
    arguments_of,
    content_text,
    each,
    id_of,
    ids_under,
    mapping,
    parse_time,
    records,
    string,
    turn_of,
)

_ENVELOPES = {"session_meta", "response_item", "event_msg", "turn_context", "compacted"}
# In old rollouts, these have no envelope.
_BARE = {"function_call", "function_call_output", "custom_tool_call"}
_ids = ids_under(b"call_id")
_CALLING = re.compile(rb'"(?:function|custom_tool)_call"')
# Codex has no flag for refusals. Any other answer of `update_plan` is a refusal.
_TERSE, _DONE = "update_plan", "Plan updated"
# It has no flag for failed scripts either. A successful script answers "Script completed".
_FAILED_SCRIPT = ("Script failed", "Script error", "Script terminated")


def _recognises(probe: Probe) -> bool:
    return any(
        (string(record.get("type")) in _ENVELOPES and "payload" in record)
        or (string(record.get("type")) in _BARE and "call_id" in record)
        for record in probe.records
    )


def _signals(source: Source, joiner: Joiner) -> Iterator[Signal]:
    def wanted(raw: bytes) -> bool:
        return (
            mentions_tool(raw)
            or b'"compacted"' in raw
            or b'"user_message"' in raw
            or (b"_output" in raw and joiner.awaits(_ids(raw)))
            or (joiner.wants_other_tools and _CALLING.search(raw) is not None)
        )

    terse: set[str] = set()
    return each(records(source, wanted), lambda record: _of_record(record, terse))


def _of_record(record: Record, terse: set[str]) -> Iterator[Signal]:
    """
    Yield a line's signals.

    `terse` has the ids of the `update_plan` calls, whose only successful answer is `_DONE`.
    """
    fields = record.value
    payload = mapping(fields["payload"]) if "payload" in fields else fields
    if fields.get("type") == "compacted":
        yield Compaction(record.line, at=parse_time(fields.get("timestamp")))
    match payload.get("type"):
        case "user_message":  # a `message` of role user also carries the environment's text
            yield PersonSpoke(record.line, at=parse_time(fields.get("timestamp")))
        case "function_call":
            name, call_id = string(payload.get("name")), id_of(payload.get("call_id"))
            terse |= {call_id} if canonical_tool(name) == _TERSE else set()
            yield _seen(record, payload, name, arguments_of(payload.get("arguments")))
        case "custom_tool_call":  # code mode (0.14x): tools are called from a script
            yield from _of_script(record, payload)
        case "function_call_output":
            is_terse = id_of(payload.get("call_id")) in terse
            yield _answered(payload, _plain_result(payload.get("output"), terse=is_terse))
        case "custom_tool_call_output":
            text = content_text(payload.get("output"))
            yield _answered(payload, CallResult(text, text.startswith(_FAILED_SCRIPT)))


def _of_script(record: Record, payload: Mapping[str, Any]) -> Iterator[Signal]:
    for number, (name, arguments) in enumerate(tool_calls(string(payload.get("input")))):
        yield _seen(record, payload, name, arguments, number)


def _seen(
    record: Record,
    payload: Mapping[str, Any],
    name: str,
    arguments: Mapping[str, Any] | str,
    number: int = 0,
) -> Seen:
    call_id = id_of(payload.get("call_id"))
    call = PlanningCall(
        tool=name,
        arguments=arguments,
        line=record.line,
        # The lines do not name the message that they belong to.
        turn=turn_of(record.line),
        call_id=call_id,
        at=parse_time(record.value.get("timestamp")),
    )
    # The calls of one script share its id, so the number distinguishes them.
    return Seen(call, call_id, call_id and f"{call_id}#{number}")


def _answered(payload: Mapping[str, Any], result: CallResult) -> Answered:
    return Answered(id_of(payload.get("call_id")), result)


def _plain_result(output: Any, *, terse: bool) -> CallResult:
    """Return the answer to a function call; older versions wrap its text in JSON once more."""
    inner = arguments_of(output) if isinstance(output, str) else output
    wrapped = mapping(inner)
    text = content_text(wrapped.get("output", wrapped.get("content", output)))
    unsaid = terse and bool(text) and not text.startswith(_DONE)
    return CallResult(text, unsaid or wrapped.get("success") is False)


READER = DialectReader("codex", _recognises, _signals)
