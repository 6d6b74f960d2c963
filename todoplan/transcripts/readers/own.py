"""
Our own journals: JSON Lines, or the file of a `FileStore` with a journal for each plan.

A journal has the events that calls caused, but not the calls. Each plan is a lane.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

from todoplan.codec import VERSION, entry_from_data
from todoplan.errors import CodecError
from todoplan.transcripts.calls import MAIN_LANE, BadLine, RecordedEntry
from todoplan.transcripts.files import NotJsonError, Record, Source, line_records, parse_json
from todoplan.transcripts.readers.base import Joiner, Signal, dialect, mapping

_HEAD = re.compile(r'\s*\{\s*"format"\s*:\s*"todoplan/(journal|plans)"')


@dialect("todoplan", lambda probe: _HEAD.match(probe.head) is not None)
def journal(source: Source, _joiner: Joiner) -> Iterator[Signal]:
    """Yield the entries of a journal, or of the journals in the file of a `FileStore`."""
    with source.open() as stream:
        first = stream.readline(source.limit)
    kind = _HEAD.match(first.decode(errors="replace"))
    return _of_plans(source) if kind and kind[1] == "plans" else _of_journal(source)


def _of_journal(source: Source) -> Iterator[Signal]:
    version: Any = VERSION
    for number, record in enumerate(line_records(source)):
        if isinstance(record, BadLine):
            yield record
        elif number == 0 and "format" in record.value:
            version = record.value.get("version")
        else:
            yield _entry(record, MAIN_LANE, version)


def _of_plans(source: Source) -> Iterator[Signal]:
    # A store's file is a single document of limited size, and the only recording read as a whole.
    with source.open() as stream:
        raw = stream.read(source.limit)
    try:
        document = mapping(parse_json(raw.decode(errors="replace")))
    except NotJsonError as error:
        yield BadLine(1, f"not JSON: {error}")
        return
    lines = count(2)  # the store writes the head, each plan's name and each entry on its own line
    for name, entries in mapping(document.get("plans")).items():
        next(lines)
        for entry in entries if isinstance(entries, list) else ():
            yield _entry(Record(next(lines), mapping(entry)), name, document.get("version"))
        next(lines)


def _entry(record: Record, lane: str, version: Any) -> Signal:
    value: Mapping[str, Any] = record.value
    try:
        return RecordedEntry(record.line, entry_from_data(dict(value), version=version), lane)
    except CodecError as error:
        return BadLine(record.line, f"no entry of a journal: {error}")
