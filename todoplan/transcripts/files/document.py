"""
A recording that is one JSON document, streamed: one message is held at a time.

ijson does the parsing. Two things must not reach it: nesting so deep that the path to where it
stands eats the memory, and bytes that are no UTF-8. Both are dealt with in the bytes, piece by
piece.
"""

import codecs
import importlib
import re
from collections.abc import Iterator
from itertools import accumulate, count
from typing import Any

import attrs

from todoplan.errors import MissingExtraError
from todoplan.transcripts.calls import BadLine
from todoplan.transcripts.files.lines import Record
from todoplan.transcripts.files.source import ByteStream, Source, no_progress

__all__ = [
    "DEEPEST",
    "LISTS",
    "Nesting",
    "Utf8Stream",
    "document_records",
    "find_list",
    "sibling_list",
]

DEEPEST = 1000
# Possessive, and a step for each escape, not for each byte: the matcher remembers every step that
# it might take back, which was 50 bytes for each byte of a long string.
_STRING_END = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_STRING = re.compile(b'"' + _STRING_END.pattern, re.DOTALL)
_OPENING = b"[{"
# `translate` drops what is no bracket without a loop in Python over each byte of a document.
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


class Nesting:
    """
    Follows the brackets outside strings over the chunks of one document.

    A parser that streams keeps the path to where it stands for every level, so that its memory
    grows with the square of the depth. `unfinished` is how long the string is so far that the last
    chunk ended in.
    """

    __slots__ = ("_carried", "_depth", "_in_string", "unfinished")

    def __init__(self) -> None:
        self._depth = 0
        self._in_string = False
        self._carried = b""
        self.unfinished = 0

    def check(self, chunk: bytes) -> None:
        """
        Take the next chunk.

        Raises:
            ValueError: it nests more than `DEEPEST` levels deep.

        """
        brackets = self._outside_strings(chunk).translate(None, _NOT_BRACKETS)
        opened = sum(brackets.count(mark) for mark in (b"[", b"{"))
        # The sum is an upper bound: brackets are walked one by one only where it is passed.
        if self._depth + opened > DEEPEST and self._deepest(brackets) > DEEPEST:
            msg = f"nested more than {DEEPEST} levels deep"
            raise ValueError(msg)
        self._depth += 2 * opened - len(brackets)

    def _deepest(self, brackets: bytes) -> int:
        steps = (1 if mark in _OPENING else -1 for mark in brackets)
        return max(accumulate(steps, initial=self._depth))

    def _outside_strings(self, chunk: bytes) -> bytes:
        text = self._carried + chunk
        self._carried = b""
        if self._in_string:
            end = _STRING_END.match(text)
            if not end:
                # It may escape the first byte of the next chunk: no more has to be kept.
                self._carried = b"\\" if _ends_escaping(text) else b""
                self.unfinished += len(chunk)
                return b""
            text = text[end.end() :]
        text = _STRING.sub(b"", text)
        outside, quote, rest = text.partition(b'"')
        self._in_string = bool(quote)
        self.unfinished = len(rest)
        self._carried = b"\\" if quote and _ends_escaping(rest) else b""
        return outside


def _ends_escaping(text: bytes) -> bool:
    return (len(text) - len(text.rstrip(b"\\"))) % 2 == 1


LISTS = frozenset(
    {
        "",  # the document is the list
        "messages",
        "values.messages",  # the state of a LangGraph thread
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
        "requests",  # VS Code's export of a chat
        "data",  # a batch of spans of the OpenAI Agents SDK
        "resourceSpans.item.scopeSpans.item.spans",  # OTLP: all spans of all resources
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
        # Bad bytes become lone surrogates, which UTF-8 text never holds: so they are noticed.
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("surrogateescape")
        self._nesting = Nesting()
        self.repaired = False

    def read(self, size: int) -> bytes:
        """
        Read about `size` bytes; none at the end, and only there.

        Raises:
            ValueError: the document nests too deeply to be parsed.

        """
        # ijson reads nothing at first, to learn from its type whether the stream has bytes.
        if size == 0:
            return b""
        # A lexer begins an unfinished string anew with each piece it is handed. A string of 200 MB
        # in pieces of 64 kB took minutes; in pieces that double its length, it is scanned about
        # twice.
        while raw := self._stream.read(max(size, self._nesting.unfinished)):
            self._nesting.check(raw)
            # Part of a character is no text yet, and an empty answer would mean the end.
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
            # Events only: what stands before the list may be large, and is not built.
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
            # Floats: ijson's decimals are no JSON values to whoever writes them again.
            items = ijson.items(clean, source.prefix, use_float=True, multiple_values=True)
            for number, value in zip(count(1), items, strict=False):
                yield from _objects(number, value)
        except ijson.JSONError as error:
            yield BadLine(number + 1, _reason(error))
        except ValueError as error:
            yield BadLine(number + 1, f"not JSON: {error}; the rest was not read")
        if clean.repaired:
            yield BadLine(number + 1, "not UTF-8 somewhere; read with the bad bytes replaced")


def sibling_list(source: Source, key: str) -> list[Any]:
    """
    Give the objects of the list under `key` beside the messages; none, if there is no such list.

    The document is read a second time.
    """
    if source.form != "document" or not source.prefix.endswith(".item"):
        return []
    ijson = _ijson()
    beside = source.prefix.removesuffix(".item").rpartition(".")[0]
    prefix = f"{beside}.{key}.item" if beside else f"{key}.item"
    # Read again, but told once: whoever counts bytes wants those of the file.
    with attrs.evolve(source, on_bytes=no_progress).open() as stream:
        try:
            return list(ijson.items(Utf8Stream(stream), prefix, use_float=True))
        except (ijson.JSONError, ValueError):
            return []


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
    # Imported where it is needed: recordings in lines are read without it.
    try:
        return importlib.import_module("ijson")
    except ImportError as error:
        raise MissingExtraError.of(error.name, "cli") from error
