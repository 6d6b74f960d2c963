"""Chat-completions message lists, as authors convert sessions to and as LangSmith exports them."""

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

_SPOKEN = {"content", "tool_calls", "function_call"}
_ROLES = {"system", "developer", "user", "assistant", "tool", "function"}


def _recognises(probe: Probe) -> bool:
    return any(map(_is_ours, probe.records))


def _is_ours(record: Mapping[str, Any]) -> bool:
    message = unwrapped(record)
    return string(message.get("role")) in _ROLES and not _SPOKEN.isdisjoint(message)


def _signals(source: Source, _linker: Linker) -> Iterator[Signal]:
    return conversation(records(source))


READER = Reader("chat", _recognises, _signals)
