"""LangChain and LangGraph: thread states, message lists, serialised constructors."""

from collections.abc import Iterator, Mapping
from typing import Any

from todoplan.transcripts.linking import Linker, Signal
from todoplan.transcripts.probe import Probe
from todoplan.transcripts.readers.base import Reader, records
from todoplan.transcripts.readers.conversation import conversation
from todoplan.transcripts.readers.messages import unwrapped
from todoplan.transcripts.readers.shapes import string
from todoplan.transcripts.source import Source

__all__ = ["READER"]

_KINDS = {"human", "ai", "tool", "system", "remove", "AIMessageChunk"}


def _recognises(probe: Probe) -> bool:
    return any(map(_is_ours, probe.records))


def _is_ours(record: Mapping[str, Any]) -> bool:
    if record.get("type") == "constructor":
        return "lc" in record and "kwargs" in record
    message = unwrapped(record)
    return string(message.get("type")) in _KINDS and "role" not in message and "content" in message


def _signals(source: Source, _linker: Linker) -> Iterator[Signal]:
    return conversation(records(source))


READER = Reader("langchain", _recognises, _signals)
