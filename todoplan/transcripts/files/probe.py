"""A first look at a file: the forms that it may have, with a sample of each to tell dialects by."""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

import attrs

from todoplan.errors import ReadError
from todoplan.transcripts.calls import BadLine
from todoplan.transcripts.files.document import document_records, find_list
from todoplan.transcripts.files.lines import Record, decode_line, physical_lines
from todoplan.transcripts.files.source import Source

__all__ = ["Probe", "probes"]

# A session may begin with many lines that say nothing (summaries, snapshots, settings).
_SAMPLE_LINES = 200
_SAMPLE_MESSAGES = 40
# Images in base64 make lines of many MB: a count of lines alone bounds nothing.
_SAMPLE_BYTES = 16 * 1024 * 1024
_HEAD_BYTES = 256 * 1024


@attrs.frozen
class Probe:
    """
    One way to look at the file: the source to read it by, its first records or its first text.

    `head` is how the file begins, whatever its form.
    """

    source: Source
    records: tuple[Mapping[str, Any], ...] = ()
    text: str = ""
    head: str = ""


_Look = Callable[[Source, str], Probe | None]


def probes(source: Source) -> Iterator[Probe]:
    """
    Give the ways to look at a file, the likeliest first; made one by one, as they are asked for.

    Raises:
        ReadError: missing, a directory, unreadable, or empty.
        MissingExtraError: it seems to be one JSON document and ijson is not installed.

    """
    head = _head(source)
    for kind in _kinds(source, head.lstrip()[:1]):
        if probe := kind(source, head):
            yield attrs.evolve(probe, head=head)


def _kinds(source: Source, start: str) -> tuple[_Look, ...]:
    # The likeliest form first: to find that a document has no list of messages is to read it all.
    if start == "[":
        return (_document,)
    # Neither: a log in Markdown, or lines of which the first is damaged.
    if start != "{":
        return (_text, _lines)
    return (_lines, _document) if _has_objects_in_lines(source) else (_document, _lines)


def _head(source: Source) -> str:
    with source.open() as stream:
        # The cut may fall within a character.
        text = stream.read(_HEAD_BYTES).decode("utf-8-sig", "replace")
        more = text
        while more and not more.strip():
            text = more = stream.read(_HEAD_BYTES).decode("utf-8", "replace")
    if not text.strip():
        msg = f"{source.path} is empty"
        raise ReadError(msg, file=str(source.path))
    return text


def _has_objects_in_lines(source: Source) -> bool:
    """
    Tell by the first line that can be held: of a document it is no object, or the only line.
    """
    # A first line that is too long for the sample says nothing, and to parse it as a document
    # only to find that more lines follow cost a hundred times as much as to skip it.
    lines = physical_lines(_sampled(source))
    first = next((line for line in lines if not isinstance(line, BadLine)), None)
    return first is not None and all(isinstance(found, Record) for found in decode_line(first))


def _sampled(source: Source) -> Source:
    return attrs.evolve(source, limit=min(source.limit, _SAMPLE_BYTES))


def _lines(source: Source, _head: str) -> Probe | None:
    records: list[Mapping[str, Any]] = []
    size = 0
    for line in islice(physical_lines(_sampled(source)), _SAMPLE_LINES):
        if isinstance(line, BadLine):
            continue
        size += len(line.raw)
        records += [found.value for found in decode_line(line) if isinstance(found, Record)]
        if size > _SAMPLE_BYTES:
            break
    return Probe(attrs.evolve(source, form="lines"), tuple(records))


def _document(source: Source, _head: str) -> Probe | None:
    prefix = find_list(source)
    if prefix is None:
        return None
    source = attrs.evolve(source, form="document", prefix=prefix)
    sample = islice(document_records(source), _SAMPLE_MESSAGES)
    return Probe(source, tuple(found.value for found in sample if isinstance(found, Record)))


def _text(source: Source, head: str) -> Probe | None:
    return Probe(attrs.evolve(source, form="text"), text=head)
