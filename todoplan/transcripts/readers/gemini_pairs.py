"""
Calls and responses of Gemini's API, which need have no ids: put together by id where there is one,
else by name in turn.
"""

import re
from collections import deque
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

from todoplan.transcripts.calls import CallResult, OtherCall, PlanningCall
from todoplan.transcripts.files.lines import Record
from todoplan.transcripts.readers.shared.join import Answered, Seen, Signal
from todoplan.transcripts.readers.shared.values import (
    arguments_of,
    content_text,
    data_of,
    id_of,
    mapping,
    parse_time,
    string,
    turn_of,
)
from todoplan.transcripts.tools import is_planning_tool

__all__ = ["Pairs", "response_result"]

# Ids are `<tool>-<epoch ms>-<hex>`: `/chat share` has no other time.
_STAMP = re.compile(r"[-_](\d{13})[-_]")
_REMEMBERED = 64


class Pairs:
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
            yield Answered(key, response_result(response.get("response")))


def response_result(response: Any) -> CallResult:
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
