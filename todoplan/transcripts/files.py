"""
From bytes to JSON: what can be told of a file before anyone asks which tool wrote it.

Read `source` (opening and counting bytes), then the three forms that a file may have: `lines` (one
object a line), `document` (one JSON document, streamed) and `markdown` (fenced blocks under
headings). `json_text` and `javascript` parse texts that were found inside. `probe` takes the first
look at a file, from which its form and then its dialect are told. No file is held in memory.
"""

import codecs
import gzip
import importlib
import io
import json
import re
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import accumulate, count, islice
from pathlib import Path
from typing import IO, Any, BinaryIO, Literal, Protocol, cast

import attrs

from todoplan.errors import MissingExtraError, ReadError
from todoplan.transcripts.calls import BadLine

# -------- javascript --------
# Tool calls written in JavaScript: object literals as mappings, wherever they hold only values.
#
# Codex in code mode calls its tools from a script, so its plan is a literal with unquoted keys.


_CALL = re.compile(r"\btools\s*(?:\.\s*(\w+)|\[\s*[\"']([\w.:/-]+)[\"']\s*\])\s*\(")
# A comment that is never closed goes on to the end: else it would be searched for its end by each
# call in it.
_COMMENT = r"//[^\n]*|/\*.*?(?:\*/|\Z)"
_SPACE = re.compile(rf"(?:\s|{_COMMENT})*", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_STRING = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`", re.DOTALL)
# What holds no bracket that counts. A backslash outside strings stands in a regular expression.
_CLOSED = re.compile(rf"{_STRING.pattern}|{_COMMENT}|\\.", re.DOTALL)
_ESCAPE = re.compile(r"\\(u\{[0-9a-fA-F]{1,6}\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|\r\n|.)", re.DOTALL)
_SHORT = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None, "undefined": None}
_CLOSING = {"(": ")", "[": "]", "{": "}"}
# Each level is two frames: Python's limit of 1,000 stays far away.
_DEEPEST = 50


class _NotAValueError(ValueError):
    pass


def tool_calls(script: str) -> Iterator[tuple[str, Mapping[str, Any] | str]]:
    """
    Give the calls `tools.<name>(...)` of a script, in order: the name, and the argument.

    The argument is a mapping where it is an object literal of plain values, else its source text.
    """
    end = 0
    while found := _CALL.search(script, end):
        name = found[1] or found[2]
        start = end = found.end()
        try:
            value, end = _argument(script, start)
            yield name, value
        except _NotAValueError:
            end = max(start, _balanced(script, start))
            yield name, script[start:end].strip()


def _argument(script: str, at: int) -> tuple[dict[str, Any], int]:
    value, end = _value(script, at, 0)
    close = _skip(script, end)
    if not isinstance(value, dict) or script[close : close + 1] not in {")", ","}:
        raise _NotAValueError
    return value, end


def _skip(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


def _value(text: str, at: int, depth: int) -> tuple[Any, int]:
    at = _skip(text, at)
    if depth > _DEEPEST:
        raise _NotAValueError
    if text[at : at + 1] == "{":
        return _object(text, at + 1, depth)
    if text[at : at + 1] == "[":
        return _array(text, at + 1, depth)
    return _scalar(text, at)


def _scalar(text: str, at: int) -> tuple[Any, int]:
    if found := _STRING.match(text, at):
        return _unquoted(found[0]), found.end()
    if found := _NUMBER.match(text, at):
        return _number(found[0]), found.end()
    found = _NAME.match(text, at)
    if found and found[0] in _WORDS:
        return _WORDS[found[0]], found.end()
    # What is computed (a variable, a call) is known only to who runs the script: it stays text.
    raise _NotAValueError


def _number(literal: str) -> int | float:
    # int() refuses more than 4,300 digits, float() takes any number of them.
    if re.fullmatch(r"[-+]?\d{1,300}", literal):
        return int(literal)
    return float(literal)


def _object(text: str, at: int, depth: int) -> tuple[dict[str, Any], int]:
    fields: dict[str, Any] = {}
    while (at := _skip(text, at)) < len(text) and text[at] != "}":
        key, at = _key(text, at)
        at = _expect(text, at, ":")
        fields[key], at = _value(text, at, depth + 1)
        at = _separator(text, at, "}")
    return fields, _expect(text, at, "}")


def _array(text: str, at: int, depth: int) -> tuple[list[Any], int]:
    items: list[Any] = []
    while (at := _skip(text, at)) < len(text) and text[at] != "]":
        item, at = _value(text, at, depth + 1)
        items.append(item)
        at = _separator(text, at, "]")
    return items, _expect(text, at, "]")


def _key(text: str, at: int) -> tuple[str, int]:
    if found := _NAME.match(text, at):
        return found[0], found.end()
    if found := _STRING.match(text, at):
        return _unquoted(found[0]), found.end()
    raise _NotAValueError


def _expect(text: str, at: int, mark: str) -> int:
    at = _skip(text, at)
    if text[at : at + 1] != mark:
        raise _NotAValueError
    return at + 1


def _separator(text: str, at: int, closing: str) -> int:
    at = _skip(text, at)
    return at if text[at : at + 1] == closing else _expect(text, at, ",")


def _unquoted(literal: str) -> str:
    if literal[0] == "`" and "${" in literal:
        raise _NotAValueError
    # JavaScript may escape a character beyond the BMP as two halves: UTF-16 joins them, and a half
    # that is alone becomes U+FFFD.
    text = _ESCAPE.sub(_unescaped, literal[1:-1])
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _unescaped(found: re.Match[str]) -> str:
    escape = found[1]
    if len(escape) > 1 and escape[0] in "ux":
        code = int(escape[1:].strip("{}"), 16)
        return chr(code) if code <= sys.maxunicode else "\ufffd"
    # A backslash at the end of a line goes on in the next one.
    return "" if escape in {"\n", "\r\n"} else _SHORT.get(escape, escape)


def _balanced(text: str, at: int) -> int:
    """
    Where the bracket closes that stands open before `at`; the end of the text if it never does.
    """
    awaited = [")"]
    while at < len(text):
        # A bracket in a task's text closes nothing.
        if found := _CLOSED.match(text, at):
            at = found.end()
            continue
        if text[at] == awaited[-1]:
            awaited.pop()
            if not awaited:
                return at
        elif text[at] in _CLOSING:
            awaited.append(_CLOSING[text[at]])
        at += 1
    return len(text)


# -------- json_text --------
# JSON from untrusted text: any failure is one exception with a reason in one line.


# `raw_decode` can go on behind a value; `json.loads` refuses text that has a second one.
_DECODER = json.JSONDecoder()
# Whole pairs are matched to be left alone: only the first group is half of one.
_JSON_TEXT_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_JSON_TEXT_SPACE = re.compile(r"[ \t\r\n]*")


class NotJsonError(ValueError):
    """
    The text is not JSON, or cannot be held; the message says why, in one line.
    """


def parse_json(text: str) -> Any:
    """
    Give the one JSON value that the text holds.

    Raises:
        NotJsonError: not JSON, nested too deeply, or something follows the value.

    """
    values = list(parse_values(text))
    if len(values) != 1:
        msg = f"{len(values)} JSON values where one was expected"
        raise NotJsonError(msg)
    return values[0]


def parse_values(text: str) -> Iterator[Any]:
    """
    Each of the JSON values that follow one another in the text.

    Half of a surrogate pair becomes U+FFFD, so that every string can be written.

    Raises:
        NotJsonError: after the values that could be read.

    """
    text = _whole_pairs(text)
    start = _skip_space(text, 0)
    while start < len(text):
        value, end = _one(text, start)
        yield value
        start = _skip_space(text, end)


def _one(text: str, start: int) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text, start)
    # Python sets this limit: about 1,000 levels on 3.11, while 3.14 parses 100,000.
    except RecursionError as error:
        msg = "nested too deeply"
        raise NotJsonError(msg) from error
    except json.JSONDecodeError as error:
        msg = f"{error.msg} at character {error.pos + 1}"
        raise NotJsonError(msg) from error
    # Python refuses integers of more than 4,300 digits.
    except ValueError as error:
        msg = str(error).partition("\n")[0]
        raise NotJsonError(msg) from error


def _skip_space(text: str, start: int) -> int:
    space = _JSON_TEXT_SPACE.match(text, start)
    return space.end() if space else start


def _whole_pairs(text: str) -> str:
    # The substitution calls a function for each escape: only texts with a surrogate pay for it.
    if not _SURROGATE.search(text):
        return text
    return _JSON_TEXT_ESCAPE.sub(lambda found: "\\ufffd" if found[1] else found[0], text)


# -------- unpacking --------
# Bytes of recordings as people pass them on: packed by gzip or zip, or as UTF-16.


SUFFIXES = frozenset({".jsonl", ".ndjson", ".json", ".md", ".log"})
"""What files of recordings end in; packed ones have `.gz` or `.zip` behind it, or instead."""

# The second start of a zip is that of an archive with nothing in it.
_GZIP, _ZIP = b"\x1f\x8b", (b"PK\x03\x04", b"PK\x05\x06")
# A package may hold itself (a gzip quine has no innermost layer), and each layer takes a buffer.
_MOST_LAYERS = 8
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


class Bytes(Protocol):
    """
    What a recording is read from.
    """

    def readline(self, size: int, /) -> bytes:
        """
        Give the next line with its end, or its first `size` bytes.
        """
        ...

    def read(self, size: int, /) -> bytes:
        """
        Give the next `size` bytes, fewer at the end.
        """
        ...


class _Recoded:
    """
    UTF-16 as UTF-8. PowerShell writes what is redirected to a file so.
    """

    def __init__(self, file: IO[bytes]) -> None:
        # Lines end at a newline alone: the codecs' readers split at U+2028 too, which JSON holds.
        self._text = io.TextIOWrapper(file, "utf-16", errors="replace", newline="\n")

    def readline(self, size: int, /) -> bytes:
        return self._text.readline(size).encode(errors="replace")

    def read(self, size: int, /) -> bytes:
        return self._text.read(size).encode(errors="replace")


def is_recording_name(name: str) -> bool:
    """
    Whether a file of this name may be a recording.
    """
    path = Path(name.lower())
    if path.suffix == ".gz":
        path = path.with_suffix("")
    return path.suffix in SUFFIXES or path.suffix == ".zip"


def unpacked(file: Any, path: Path) -> Bytes:
    """
    Give the bytes of the recording in this buffered file, by how it begins and not by its name.

    Raises:
        ReadError: an archive that holds no recording, or several; a package in too many others.

    """
    for _ in range(_MOST_LAYERS):
        # Peeked at, not read: whoever reads next needs these bytes as well.
        start = file.peek(4)[:4]
        if start.startswith(_GZIP):
            file = io.BufferedReader(cast("io.RawIOBase", gzip.GzipFile(fileobj=file, mode="rb")))
        elif start in _ZIP:
            file = _only_member(file, path)
        else:
            # Last: what was packed may be UTF-16.
            return _Recoded(file) if start.startswith(_UTF16) else file
    msg = f"cannot read {path}: packed {_MOST_LAYERS} times or more"
    raise ReadError(msg, file=str(path))


def _only_member(file: IO[bytes], path: Path) -> Any:
    try:
        archive = zipfile.ZipFile(file)
        names = [
            name
            for name in archive.namelist()
            # macOS puts a shadow of each file into its archives.
            if is_recording_name(name) and not name.startswith("__MACOSX/")
        ]
        if len(names) == 1:
            return io.BufferedReader(cast("io.RawIOBase", archive.open(names[0])))
    # A member with a password is a RuntimeError, a compression unknown here a NotImplementedError.
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        msg = f"cannot read {path}: {error}"
        raise ReadError(msg, file=str(path)) from error
    held = f"{len(names)} files that may be recordings" if names else "no recording"
    msg = f"{path} holds {held}: unpack it and name them"
    raise ReadError(msg, file=str(path))


# -------- source --------
# Opening a recording: its bytes, counted as they are read, with every failure as a `ReadError`.


# A file without any newline must not fill the memory; images in base64 make lines of many MB.
LINE_LIMIT = 64 * 1024 * 1024
# A progress bar needs no more; a report for each line would cost more than reading it.
_REPORT_EVERY = 256 * 1024
_BUFFER = 1024 * 1024

Form = Literal["lines", "document", "text"]


def no_progress(_count: int) -> None:
    """
    Hear of bytes read, and do nothing.
    """


class ByteStream:
    """
    A binary file that reports how many bytes were read since its last report.
    """

    __slots__ = ("_file", "_on_bytes", "_path", "_unreported")

    def __init__(self, file: Bytes, path: Path, on_bytes: Callable[[int], None]) -> None:
        self._file = file
        self._path = path
        self._on_bytes = on_bytes
        self._unreported = 0

    def readline(self, size: int) -> bytes:
        """
        Give the next line with its end, or its first `size` bytes.
        """
        return self._report(self._attempt(self._file.readline, size))

    def read(self, size: int) -> bytes:
        """
        Give the next `size` bytes, fewer at the end.
        """
        return self._report(self._attempt(self._file.read, size))

    def _attempt(self, take: Callable[[int], bytes], size: int) -> bytes:
        try:
            return take(size)
        # Each way to pack has errors of its own, with no base in common: EOFError, zlib.error,
        # BadZipFile, LZMAError (which not every Python has).
        except Exception as error:
            raise unreadable(self._path, error) from error

    def _report(self, data: bytes) -> bytes:
        self._unreported += len(data)
        # At the end too: the counts add up to the whole file.
        if self._unreported >= _REPORT_EVERY or not data:
            self._on_bytes(self._unreported)
            self._unreported = 0
        return data


@attrs.frozen
class Source:
    """
    One recording to read, and how.

    `form` says whether it is one JSON object a line, one JSON document, or text. `prefix` is where
    the messages stand in a document, as ijson writes it (`messages.item`). `limit` is the longest
    line that is held, in bytes.
    """

    path: Path
    form: Form = "lines"
    prefix: str = ""
    on_bytes: Callable[[int], None] = no_progress
    limit: int = LINE_LIMIT

    @contextmanager
    def open(self) -> Iterator[ByteStream]:
        """
        Give the file's bytes from the beginning.

        Raises:
            ReadError: missing, a directory, or not to be read.

        """
        try:
            file = self.path.open("rb", buffering=_BUFFER)
        # A ValueError is a NUL in the name.
        except (OSError, ValueError) as error:
            raise unreadable(self.path, error) from error
        with file:
            yield ByteStream(_unpacked(file, self.path), self.path, self.on_bytes)


def _unpacked(file: BinaryIO, path: Path) -> Bytes:
    try:
        return unpacked(file, path)
    except ReadError:
        raise
    # As in `_attempt`: to see what was packed is to unpack its first bytes.
    except Exception as error:
        raise unreadable(path, error) from error


def unreadable(path: Path, error: Exception) -> ReadError:
    """
    Give the error that says which file could not be opened or read, and why.
    """
    reason = getattr(error, "strerror", None) or str(error)
    return ReadError(f"cannot read {path}: {reason}", file=str(path))


# -------- lines --------
# A recording line by line: flat in memory, and no line stops the lines after it.


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


# -------- document --------
# A recording that is one JSON document, streamed: one message is held at a time.
#
# ijson does the parsing. Two things must not reach it: nesting so deep that the path to where it
# stands eats the memory, and bytes that are no UTF-8. Both are dealt with in the bytes, piece by
# piece.


DEEPEST = 1000
# Possessive, and a step for each escape, not for each byte: the matcher remembers every step that
# it might take back, which was 50 bytes for each byte of a long string.
_STRING_END = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_DOCUMENT_STRING = re.compile(b'"' + _STRING_END.pattern, re.DOTALL)
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
        text = _DOCUMENT_STRING.sub(b"", text)
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
            yield BadLine(number + 1, _document_reason(error))
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


def _document_reason(error: Exception) -> str:
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


# -------- markdown --------
# Fenced blocks of a markdown log, each with the label it stands under.


_FENCE = "```"
# A fence that is never closed would take the rest of the file into memory.
_LARGEST = 16 * 1024 * 1024


@attrs.frozen
class Block:
    """
    A fenced block: the line it begins on, the label above it, its text without the fences.
    """

    line: int
    label: str
    text: str


def blocks(
    source: Source, label_of: Callable[[str], str | None], wanted: Callable[[str], bool]
) -> Iterator[Block | BadLine]:
    """
    Give the fenced blocks whose label is wanted; a label is for the one block that follows it.

    `label_of` tells of a line outside fences which label it is, or `None`. A block that the file's
    end cuts is given back with a `BadLine` after it.
    """
    label, begun, lines, size, fenced = "", 0, list[str](), 0, False
    for found in text_lines(source):
        if isinstance(found, BadLine):
            yield found
            continue
        number, text = found
        if fenced and not text.startswith(_FENCE):
            if wanted(label) and size <= _LARGEST:
                lines.append(text)
                size += len(text) + 1
                if size > _LARGEST:
                    lines = []
                    reason = f"a fenced block longer than {_LARGEST} characters; skipped"
                    yield BadLine(begun, reason)
            continue
        if fenced:
            fenced = False
            if wanted(label):
                yield Block(begun, label, "\n".join(lines))
            label = ""
            # Gemini CLI writes the next label right behind the closing fence.
            text = text.removeprefix(_FENCE)
        if text.startswith(_FENCE):
            begun, fenced, lines, size = number, True, [], 0
        elif (named := label_of(text)) is not None:
            label = named
    if fenced and wanted(label):
        yield Block(begun, label, "\n".join(lines))
        yield BadLine(begun, "cut: the recording ends inside a fenced block")


# -------- probe --------
# A first look at a file: the forms that it may have, with a sample of each to tell dialects by.


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
