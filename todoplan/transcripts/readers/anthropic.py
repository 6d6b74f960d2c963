"""Anthropic messages: bare ones, a line or a list, and HTTP logs of the requests that sent them."""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from todoplan.transcripts.calls import BadLine
from todoplan.transcripts.linking import Linker, Signal
from todoplan.transcripts.probe import Probe
from todoplan.transcripts.readers.base import Reader, records
from todoplan.transcripts.readers.conversation import conversation
from todoplan.transcripts.readers.http_log import exchanges
from todoplan.transcripts.readers.shapes import mappings, string
from todoplan.transcripts.source import Source

__all__ = ["READER"]

_BLOCKS = {"tool_use", "tool_result"}


def _recognises(probe: Probe) -> bool:
    if any(map(_is_exchange, probe.records)):
        return True
    chat = any("tool_calls" in record for record in probe.records)
    return not chat and any(map(_is_message, probe.records))


def _is_exchange(record: Mapping[str, Any]) -> bool:
    return isinstance(record.get("request"), dict) and "response" in record


def _is_message(record: Mapping[str, Any]) -> bool:
    kinds = {string(block.get("type")) for block in mappings(record.get("content"))}
    return "role" in record and bool(kinds & _BLOCKS)


def _signals(source: Source, _linker: Linker) -> Iterator[Signal]:
    found = records(source)
    for one in found:
        if isinstance(one, BadLine):
            yield one
        else:
            of_all = exchanges if _is_exchange(one.value) else conversation
            yield from of_all(chain([one], found))


READER = Reader("anthropic", _recognises, _signals)
