"""A recording that is one JSON document, streamed: one message is held at a time."""

import codecs
import importlib
from collections.abc import Iterator
from itertools import count
from typing import Any

from todoplan.errors import MissingExtraError
from todoplan.transcripts.calls import BadLine
from todoplan.transcripts.lines import Record
from todoplan.transcripts.nesting import Nesting
from todoplan.transcripts.source import ByteStream, Source

__all__ = ["LISTS", "Utf8Stream", "document_records", "find_list"]

LISTS = frozenset(
    {
        "",
        "messages",
        "values.messages",
        "values.values.messages",
        "state.messages",
        "outputs.messages",
        "output.messages",
        "inputs.messages",
        "input.messages",
        "data.messages",
        "history",
        "trajectory",
        "events",
        "conversation",
    }
)
"""Where the list of messages may stand in a document, as dotted keys."""


class Utf8Stream:
    """
    A byte stream in which all is UTF-8: without a byte order mark, bad bytes replaced.
    """

    __slots__ = ("_decoder", "_nesting", "_stream", "repaired")

    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("surrogateescape")
        self._nesting = Nesting()
        self.repaired = False

    def read(self, size: int) -> bytes:
        """
        Read about `size` bytes; none at the end, and only there.

        Raises:
            ValueError: the document nests too deeply to be parsed.

        """
        if size == 0:
            return b""
        # A lexer begins an unfinished string anew with each piece it is handed. A string of 200 MB in
        # pieces of 64 kB took minutes; in pieces that double its length, it is scanned about twice.
        while raw := self._stream.read(max(size, self._nesting.unfinished)):
            self._nesting.check(raw)
            if text := self._decoder.decode(raw):
                return self._encode(text)
        return self._encode(self._decoder.decode(b"", final=True))

    def _encode(self, text: str) -> bytes:
        try:
            return text.encode()
        except UnicodeEncodeError:
            self.repaired = True
            return text.encode("utf-8", "replace")


def find_list(source: Source) -> str | None:
    """
    Give the prefix of the first list of messages in the document, or `None`.

    Raises:
        MissingExtraError: ijson is not installed.

    """
    ijson = _ijson()
    with source.open() as stream:
        try:
            for prefix, event, _ in ijson.parse(Utf8Stream(stream), use_float=True):
                if event == "start_array" and prefix in LISTS:
                    return f"{prefix}.item" if prefix else "item"
        except (ijson.JSONError, ValueError):
            return None
    return None


def document_records(source: Source) -> Iterator[Record | BadLine]:
    """
    Give the objects of the list at `source.prefix`, those of a list within it too.

    Raises:
        MissingExtraError: ijson is not installed.

    """
    ijson = _ijson()
    number = 0
    with source.open() as stream:
        clean = Utf8Stream(stream)
        try:
            items = ijson.items(clean, source.prefix, use_float=True, multiple_values=True)
            for number, value in zip(count(1), items, strict=False):
                yield from _objects(number, value)
        except ijson.JSONError as error:
            yield BadLine(number + 1, _reason(error))
        except ValueError as error:
            yield BadLine(number + 1, f"not JSON: {error}; the rest was not read")
        if clean.repaired:
            yield BadLine(number + 1, "not UTF-8 somewhere; read with the bad bytes replaced")


def _objects(number: int, value: Any) -> Iterator[Record | BadLine]:
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, dict):
            yield Record(number, one)
        else:
            yield BadLine(number, "a message that is not an object")


def _reason(error: Exception) -> str:
    first = error.args[0] if error.args else ""
    text = first.decode(errors="replace") if isinstance(first, bytes) else str(first)
    if "EOF" in text or "Incomplete" in text:
        return "cut: the recording ends inside the document"
    return f"not JSON: {text.partition(chr(10))[0].strip()}; the rest was not read"


def _ijson() -> Any:
    try:
        return importlib.import_module("ijson")
    except ImportError as error:
        raise MissingExtraError.of(error.name, "cli") from error
