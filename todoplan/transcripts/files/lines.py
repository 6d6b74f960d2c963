"""A recording line by line: flat in memory, and no line stops the lines after it."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import attrs

from todoplan.transcripts.calls import BadLine
from todoplan.transcripts.files.json_text import NotJsonError, parse_values
from todoplan.transcripts.files.source import ByteStream, Source

__all__ = [
    "PhysicalLine",
    "Record",
    "decode_line",
    "every_line",
    "line_records",
    "physical_lines",
    "repair_utf8",
    "text_lines",
]

_CHUNK = 1024 * 1024
_BOM = b"\xef\xbb\xbf"


@attrs.frozen
class PhysicalLine:
    """
    One line's bytes without its end. `ended` is false for a last line that no newline closes.
    """

    number: int
    raw: bytes
    ended: bool = True


@attrs.frozen
class Record:
    """
    One JSON object of the recording, and its line (or its number in a document), from 1.
    """

    line: int
    value: Mapping[str, Any]


def every_line(_raw: bytes) -> bool:
    """
    Let no line be skipped.
    """
    return True


def physical_lines(source: Source) -> Iterator[PhysicalLine | BadLine]:
    """
    Every line that is not blank; one longer than `source.limit` is a `BadLine`, and never held.
    """
    with source.open() as stream:
        pieces = iter(lambda: stream.readline(source.limit + 1), b"")
        for number, raw in enumerate(pieces, 1):
            # One byte more than the limit is asked for: the newline of a line that just fits.
            if len(raw) > source.limit and not raw.endswith(b"\n"):
                _skip_rest(stream)
                yield BadLine(number, f"longer than {source.limit} bytes; skipped")
            elif line := _line(number, raw):
                yield line


def _line(number: int, raw: bytes) -> PhysicalLine | None:
    # Editors on Windows put a mark before the first line and a carriage return behind each.
    body = raw.removeprefix(_BOM) if number == 1 else raw
    body = body.rstrip(b"\r\n")
    return PhysicalLine(number, body, raw.endswith(b"\n")) if body.strip() else None


def _skip_rest(stream: ByteStream) -> None:
    while chunk := stream.readline(_CHUNK):
        if chunk.endswith(b"\n"):
            return


def line_records(
    source: Source, wanted: Callable[[bytes], bool] = every_line
) -> Iterator[Record | BadLine]:
    """
    Give the JSON objects of a file with one object a line, or several.

    A line that is not `wanted` is passed over unparsed if it begins with `{` and ends with `}`: of
    such a line only a parser could tell that it is broken, and nothing in it would be used.
    """
    for line in physical_lines(source):
        if isinstance(line, BadLine):
            yield line
        elif wanted(line.raw) or not _looks_whole(line.raw):
            yield from decode_line(line)


def _looks_whole(raw: bytes) -> bool:
    body = raw.strip()
    return body.startswith(b"{") and body.endswith(b"}")


def decode_line(line: PhysicalLine) -> Iterator[Record | BadLine]:
    """
    Give the objects of one line; what is wrong with it follows them as a `BadLine`.

    A line of a stream of server-sent events counts without its `data:`; its other fields are none.
    """
    raw = _event_data(line.raw)
    if raw is None:
        return
    text, valid = repair_utf8(raw)
    if not valid:
        yield BadLine(line.number, "not UTF-8; read with the bad bytes replaced")
    try:
        for value in parse_values(text):
            # Two records may stand on one line: concatenated sessions lose a newline at the seam.
            if not isinstance(value, dict):
                yield BadLine(
                    line.number, "a JSON value that is not an object; rest of line skipped"
                )
                return
            yield Record(line.number, value)
    except NotJsonError as error:
        # An agent that is still at work writes on: then a file ends within a line. Where it is the
        # only one, nothing says that this is a recording at all.
        cut = _is_cut(line, text)
        yield BadLine(line.number, _reason(error, cut=cut), unfinished=cut and line.number > 1)


def _event_data(raw: bytes) -> bytes | None:
    # A stream that was saved as it came: comments keep the connection open, [DONE] ends it.
    if raw.startswith(b"data:"):
        data = raw.removeprefix(b"data:")
        return None if data.strip() == b"[DONE]" else data
    return None if raw.startswith((b"event:", b"id:", b"retry:", b":")) else raw


def _is_cut(line: PhysicalLine, text: str) -> bool:
    return not line.ended and text.lstrip().startswith("{")


def _reason(error: NotJsonError, *, cut: bool) -> str:
    if not cut:
        return f"not JSON: {error}"
    return f"cut: the recording ends inside this line ({error})"


def repair_utf8(raw: bytes) -> tuple[str, bool]:
    """
    Give the text of these bytes with U+FFFD for each byte that is not UTF-8, and whether none was.
    """
    # `errors="replace"` alone would not say whether anything was replaced.
    try:
        return raw.decode(), True
    except UnicodeDecodeError:
        return raw.decode(errors="replace"), False


def text_lines(source: Source) -> Iterator[tuple[int, str] | BadLine]:
    """
    Give the lines of a text file that are not blank, with their numbers.
    """
    for line in physical_lines(source):
        if isinstance(line, BadLine):
            yield line
            continue
        text, valid = repair_utf8(line.raw)
        if not valid:
            yield BadLine(line.number, "not UTF-8; read with the bad bytes replaced")
        yield line.number, text
