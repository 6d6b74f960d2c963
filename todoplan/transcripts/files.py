"""
From bytes to JSON, independent of the program that wrote the file.

Sections of this module:

- `javascript` and `json_text` parse texts inside recordings.
- `unpacking` and `source` open a file, unpack it and count its bytes.
- `lines` (one JSON object per line), `document` (a single JSON document, streamed) and `markdown`
  (fenced blocks under headings) are the three forms of a file.
- `probe` reads the beginning of a file, to detect its form and then its dialect.

No file is kept in memory as a whole.
"""

import codecs
import importlib
import io
import json
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import accumulate, count, islice
from pathlib import Path
from typing import IO, Any, Literal, Protocol, cast

import attrs

from todoplan.errors import MissingExtraError, ReadError
from todoplan.transcripts.calls import BadLine

# -------- javascript --------
# The tool calls in a JavaScript text. Codex in code mode calls its tools from a script, so its plan
# is an object literal in the script.
#
# A literal is rewritten as JSON, token by token. The literals of recorded scripts differ from JSON
# in unquoted keys, single quotes, templates and trailing commas, so only these are rewritten. If
# the result is not JSON, the argument stays source text. For example, the value of a variable is
# unknown without running the script.


_CALL = re.compile(r"\btools\s*\.\s*(\w+)\s*\(")
_STRING = r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`"
# Brackets in strings do not count. A backslash outside a string belongs to a regular expression, so
# a quote after it begins no string.
_BRACKET = re.compile(rf"{_STRING}|\\.|[(\[{{}}\])]", re.DOTALL)
# The tokens of a literal that differ from JSON; `comma` is a comma after the last item. The
# quantifiers are possessive, so that nothing is searched twice.
_TOKEN = re.compile(
    rf"(?P<string>{_STRING})|(?P<comma>,(?=\s*+[\]}}]))|(?P<key>[A-Za-z_$][\w$]*+)(?=\s*+:)|\\.",
    re.DOTALL,
)
# Escapes of JSON are kept. Those of JavaScript alone (\x41, a line break) are kept too, so that the
# result is not JSON. Any other one stands for the character itself: \'.
_ESCAPE = re.compile(r"\\(?P<kept>[\\\"/\w\n])|\\(?P<itself>.)|[\"\x00-\x1f]")
_VARIABLE = re.compile(r"(?<!\\)\$\{")


def tool_calls(script: str) -> Iterator[tuple[str, Mapping[str, Any] | str]]:
    """
    Yield the name and the argument of each call `tools.<name>(...)` in a JavaScript text.

    The argument is a mapping if it is an object literal of plain values, else its source text.
    """
    end = 0
    while call := _CALL.search(script, end):
        start, depth, end = call.end(), 1, len(script)
        for part in _BRACKET.finditer(script, start):
            depth += (part[0] in "([{") - (part[0] in ")]}")
            if not depth:
                end = part.start()
                break
        source = script[start:end].strip()
        try:
            values = parse_json(f"[{_TOKEN.sub(_as_json, source)}]")
        except NotJsonError:
            values = []
        is_literal = values and isinstance(values[0], dict)
        yield call[1], values[0] if is_literal else source


def _as_json(token: re.Match[str]) -> str:
    """Return a token of an object literal as JSON, or unchanged if JSON has nothing like it."""
    text = token[0]
    if token["key"]:
        return f'"{text}"'
    if token["comma"]:
        return ""
    # A template with a variable has no value without running the script, and a backslash outside a
    # string belongs to a regular expression. JSON has neither.
    if not token["string"] or (text[0] == "`" and _VARIABLE.search(text)):
        return text
    inner = _ESCAPE.sub(
        lambda found: found[0] if found["kept"] else json.dumps(found["itself"] or found[0])[1:-1],
        text[1:-1],
    )
    return f'"{inner}"'


# -------- json_text --------
# JSON from untrusted text. Every failure is a `NotJsonError` with a reason in one line.


# `raw_decode` can continue after a value; `json.loads` refuses text with a second value.
_DECODER = json.JSONDecoder()
# Complete surrogate pairs are matched too, so that they are skipped. Only group 1 is a lone
# surrogate.
_ANY_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_NOT_SPACE = re.compile(r"[^ \t\r\n]")


class NotJsonError(ValueError):
    """The text is not JSON or exceeds a limit of Python. The message has the reason in one line."""


def parse_json(text: str) -> Any:
    """
    Return the single JSON value in a text.

    Raises:
        NotJsonError: the text is not JSON, is nested too deeply, or has more than one value.

    """
    values = list(parse_values(text))
    if len(values) != 1:
        msg = f"{len(values)} JSON values where one was expected"
        raise NotJsonError(msg)
    return values[0]


def parse_values(text: str) -> Iterator[Any]:
    """
    Yield the JSON values of a text that has any number of them in sequence.

    A lone surrogate becomes U+FFFD, so that every string can be encoded.

    Raises:
        NotJsonError: an invalid value was reached, after the valid values before it.

    """
    # The substitution calls a function for each escape, so it is done only if there is a surrogate.
    if _SURROGATE.search(text):
        text = _ANY_ESCAPE.sub(lambda found: "\\ufffd" if found[1] else found[0], text)
    end = 0
    while start := _NOT_SPACE.search(text, end):
        try:
            value, end = _DECODER.raw_decode(text, start.start())
        # The limit is Python's: about 1,000 levels on 3.11, while 3.14 parses 100,000.
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
        yield value


# -------- unpacking --------
# Recordings that are packed (compressed, for example by gzip or zip), or encoded in UTF-16.


SUFFIXES = frozenset({".jsonl", ".ndjson", ".json", ".md", ".log"})
"""The suffixes of recordings. A packed file has `.gz` or a similar one too, or `.zip` alone."""

# The second signature of a zip file is that of an empty archive.
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
# A packed file may contain itself (a gzip quine has no innermost layer), and each layer needs a
# buffer.
_MOST_LAYERS = 8
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
# The modules of the standard library that unpack a file, by the file's first bytes. Some Python
# builds lack some of them.
_PACKED = {
    b"\x1f\x8b": ("gzip", "open"),
    b"BZh": ("bz2", "BZ2File"),
    b"\xfd7zX": ("lzma", "LZMAFile"),
    b"\x28\xb5\x2f\xfd": ("compression.zstd", "ZstdFile"),
}


class Bytes(Protocol):
    """A binary stream from which a recording is read."""

    def readline(self, size: int, /) -> bytes:
        """Return the next line with its line end, or its first `size` bytes."""
        ...

    def read(self, size: int, /) -> bytes:
        """Return the next `size` bytes, fewer at the end."""
        ...


class _Recoded:
    """Converts UTF-16 to UTF-8. PowerShell writes redirected output in UTF-16."""

    def __init__(self, file: IO[bytes]) -> None:
        # Lines must end at a newline only. The codecs' readers also split at U+2028, which JSON
        # strings may contain.
        self._text = io.TextIOWrapper(file, "utf-16", errors="replace", newline="\n")

    def readline(self, size: int, /) -> bytes:
        return self._text.readline(size).encode(errors="replace")

    def read(self, size: int, /) -> bytes:
        return self._text.read(size).encode(errors="replace")


class _Truncated(io.RawIOBase):
    """An unpacked stream. If the packed file is truncated, this stream ends without an error."""

    def __init__(self, file: Any) -> None:
        self._file, self._has_begun = file, False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            # `read` would read until the buffer is full. If it failed, the data read before would
            # be lost.
            data = self._file.read1(len(buffer))
        except EOFError:
            if not self._has_begun:
                raise
            return 0  # the last line will be reported as unfinished
        self._has_begun = True
        buffer[: len(data)] = data
        return len(data)


def is_recording_name(name: str) -> bool:
    """Return whether a file of this name may be a recording."""
    path = Path(name.lower())
    if path.suffix in {".gz", ".bz2", ".xz", ".zst"}:
        path = path.with_suffix("")
    return path.suffix in SUFFIXES or path.suffix == ".zip"


def unpacked(file: Any, path: Path) -> Bytes:
    """
    Return the unpacked stream of a buffered file. `path` is used in messages only.

    The packing is detected from the first bytes and not from the name.

    Raises:
        ReadError: an archive has no recording or several ones, there are too many layers, or this
            Python lacks the module for unpacking.

    """
    for _ in range(_MOST_LAYERS):
        # The bytes are peeked and not read, because the next reader needs them too.
        start = file.peek(4)[:4]
        packed = next((one for one in _PACKED if start.startswith(one)), None)
        if packed:
            module, name = _PACKED[packed]
            try:
                opener = getattr(importlib.import_module(module), name)
            except ImportError as error:
                msg = f"cannot read {path}: this Python has no {module}; unpack the file first"
                raise ReadError(msg, file=str(path)) from error
            file = io.BufferedReader(_Truncated(opener(file)))
        elif start in _ZIP:
            file = _only_member(file, path)
        else:
            # Checked last, because a packed file may be UTF-16.
            return _Recoded(file) if start.startswith(_UTF16) else file
    msg = f"cannot read {path}: packed {_MOST_LAYERS} times or more"
    raise ReadError(msg, file=str(path))


def _only_member(file: IO[bytes], path: Path) -> Any:
    try:
        archive = zipfile.ZipFile(file)
        names = [
            name
            for name in archive.namelist()
            # macOS adds a metadata file for each file to its archives.
            if is_recording_name(name) and not name.startswith("__MACOSX/")
        ]
        if len(names) == 1:
            return io.BufferedReader(cast("io.RawIOBase", archive.open(names[0])))
    # A member with a password raises RuntimeError, an unknown compression NotImplementedError.
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        msg = f"cannot read {path}: {error}"
        raise ReadError(msg, file=str(path)) from error
    held = f"{len(names)} files that may be recordings" if names else "no recording"
    msg = f"{path} holds {held}: unpack it and name them"
    raise ReadError(msg, file=str(path))


# -------- source --------
# Opening a recording. Bytes are counted as they are read, and every failure is a `ReadError`.


# A file without newlines must not fill the memory. Images in base64 make lines of many MB.
LINE_LIMIT = 64 * 1024 * 1024
# Often enough for a progress bar. A report for each line would cost more than reading the line.
_REPORT_EVERY = 256 * 1024
_BUFFER = 1024 * 1024

Form = Literal["lines", "document", "text"]


def no_progress(_count: int) -> None:
    """Ignore a report of the number of bytes read; used if nobody wants to know it."""


@attrs.define(eq=False)
class ByteStream:
    """A binary file that reports how many bytes were read since its last report."""

    _file: Bytes
    _path: Path
    _on_bytes: Callable[[int], None]
    _unreported: int = 0

    def readline(self, size: int) -> bytes:
        """Return the next line with its line end, or its first `size` bytes."""
        return self._counted(self._file.readline, size)

    def read(self, size: int) -> bytes:
        """Return the next `size` bytes, fewer at the end."""
        return self._counted(self._file.read, size)

    def _counted(self, read: Callable[[int], bytes], size: int) -> bytes:
        try:
            data = read(size)
        # Each packing has its own errors without a common base class: EOFError, zlib.error,
        # BadZipFile, LZMAError (which some Python builds lack).
        except Exception as error:
            raise unreadable(self._path, error) from error
        self._unreported += len(data)
        # Also reported at the end, so that the counts add up to the whole file.
        if self._unreported >= _REPORT_EVERY or not data:
            self._on_bytes(self._unreported)
            self._unreported = 0
        return data


@attrs.frozen
class Source:
    """
    A recording to read, and its form.

    `form` says whether the file has one JSON object per line ("lines"), is a single JSON document
    ("document"), or is text such as Markdown ("text"). `prefix` is the path of the messages in a
    document, in ijson's notation (`messages.item`). `limit` is the length of the longest line that
    is read, in bytes.
    """

    path: Path
    form: Form = "lines"
    prefix: str = ""
    on_bytes: Callable[[int], None] = no_progress
    limit: int = LINE_LIMIT

    @contextmanager
    def open(self) -> Iterator[ByteStream]:
        """
        Open the file and yield its byte stream.

        Raises:
            ReadError: the file is missing, a directory, or unreadable.

        """
        try:
            file = self.path.open("rb", buffering=_BUFFER)
        # ValueError: the name contains a NUL.
        except (OSError, ValueError) as error:
            raise unreadable(self.path, error) from error
        with file:
            try:
                stream = unpacked(file, self.path)
            except ReadError:
                raise
            # As in `ByteStream`, any error is possible, because peeking unpacks the first bytes.
            except Exception as error:
                raise unreadable(self.path, error) from error
            yield ByteStream(stream, self.path, self.on_bytes)


def unreadable(path: Path, error: Exception) -> ReadError:
    """Return the error for a file that could not be opened or read, with the reason."""
    reason = getattr(error, "strerror", None) or str(error)
    return ReadError(f"cannot read {path}: {reason}", file=str(path))


# -------- lines --------
# Reading a recording line by line, in constant memory. A bad line does not stop the reading.


_CHUNK = 1024 * 1024
_BOM = b"\xef\xbb\xbf"


@attrs.frozen
class PhysicalLine:
    """A line's bytes without its line end. `ended` is false for a last line without a newline."""

    number: int
    raw: bytes
    ended: bool = True


@attrs.frozen
class Record:
    """A JSON object of the recording, and its line or its number in a document, counted from 1."""

    line: int
    value: Mapping[str, Any]


def physical_lines(source: Source) -> Iterator[PhysicalLine | BadLine]:
    """
    Yield the lines that are not blank.

    A line longer than `source.limit` is a `BadLine`, and is never in memory as a whole.
    """
    with source.open() as stream:
        pieces = iter(lambda: stream.readline(source.limit + 1), b"")
        for number, raw in enumerate(pieces, 1):
            # One byte more than the limit is read, for the newline of a line that just fits.
            if len(raw) > source.limit and not raw.endswith(b"\n"):
                while (chunk := stream.readline(_CHUNK)) and not chunk.endswith(b"\n"):
                    pass
                reason = f"it is longer than {source.limit} bytes"
                yield BadLine(number, reason, too_long=True)
                continue
            # Editors on Windows write a byte order mark before the first line, and a carriage
            # return at the end of each line.
            body = (raw.removeprefix(_BOM) if number == 1 else raw).rstrip(b"\r\n")
            if body.strip():
                yield PhysicalLine(number, body, raw.endswith(b"\n"))


def line_records(
    source: Source, wanted: Callable[[bytes], bool] = lambda _raw: True
) -> Iterator[Record | BadLine]:
    """
    Yield the JSON objects of a file with one or more objects per line.

    A line that is not `wanted` is skipped without parsing if it begins with `{` and ends with `}`.
    Such a line may be invalid, but nothing in it would be used.
    """
    for line in physical_lines(source):
        if isinstance(line, BadLine):
            yield line
        elif (
            wanted(line.raw)
            or not line.raw.lstrip().startswith(b"{")
            or not line.raw.rstrip().endswith(b"}")
        ):
            yield from decode_line(line)


def decode_line(line: PhysicalLine) -> Iterator[Record | BadLine]:
    """
    Yield the objects of one line, followed by a `BadLine` if the line is invalid.

    In a stream of server-sent events, the prefix `data:` is removed and other fields are skipped.
    """
    raw = line.raw
    # A saved stream of server-sent events. Comments keep the connection open, [DONE] ends it.
    if raw.startswith(b"data:"):
        raw = raw.removeprefix(b"data:")
        if raw.strip() == b"[DONE]":
            return
    elif raw.startswith((b"event:", b"id:", b"retry:", b":")):
        return
    text, valid = repair_utf8(raw)
    if not valid:
        yield BadLine(line.number, "not UTF-8; read with the bad bytes replaced")
    try:
        for value in parse_values(text):
            # A line may have two records: concatenated sessions lack a newline between them.
            if not isinstance(value, dict):
                yield BadLine(
                    line.number, "a JSON value that is not an object; rest of line skipped"
                )
                return
            yield Record(line.number, value)
    except NotJsonError as error:
        # If the agent is still writing, the file may end within a line, which is not an error. If
        # it is the only line, nothing shows that the file is a recording, so it is an error.
        cut = not line.ended and text.lstrip().startswith("{")
        problem = (
            f"cut: the recording ends inside this line ({error})" if cut else f"not JSON: {error}"
        )
        yield BadLine(line.number, problem, unfinished=cut and line.number > 1)


def repair_utf8(raw: bytes) -> tuple[str, bool]:
    """
    Return the text with U+FFFD for each byte that is not UTF-8, and whether all bytes were valid.
    """
    # `errors="replace"` alone would not report whether a byte was replaced.
    try:
        return raw.decode(), True
    except UnicodeDecodeError:
        return raw.decode(errors="replace"), False


def text_lines(source: Source) -> Iterator[tuple[int, str] | BadLine]:
    """Yield the lines of a text file that are not blank, with their numbers."""
    for line in physical_lines(source):
        if isinstance(line, BadLine):
            yield line
            continue
        text, valid = repair_utf8(line.raw)
        if not valid:
            yield BadLine(line.number, "not UTF-8; read with the bad bytes replaced")
        yield line.number, text


# -------- document --------
# A recording that is a single JSON document, streamed: one message is in memory at a time.
#
# ijson parses the document. Two kinds of input must not reach it: nesting so deep that the path to
# the current value fills the memory, and bytes that are not UTF-8. Both are handled in the bytes,
# chunk by chunk.


DEEPEST = 1000
# The quantifiers are possessive, and the matcher makes a step for each escape and not for each
# byte. Otherwise it stores each step for backtracking, which took 50 bytes for each byte of a long
# string.
_STRING_END = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_DOCUMENT_STRING = re.compile(b'"' + _STRING_END.pattern, re.DOTALL)
_OPENING = b"[{"
# `translate` removes all other bytes without a Python loop over the bytes of a document.
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


@attrs.define
class Nesting:
    """
    Checks that a JSON document, which comes in chunks, is not nested too deeply.

    A streaming parser keeps a path for every level, so its memory grows with the square of the
    depth. If the last chunk ended within a string, `unfinished` is the length of that string so
    far.
    """

    _depth: int = 0
    _in_string: bool = False
    _carried: bytes = b""
    unfinished: int = 0

    def check(self, chunk: bytes) -> None:
        """
        Count the brackets of the next chunk.

        Raises:
            ValueError: the document is nested more than `DEEPEST` levels deep.
        """
        brackets = self._outside_strings(chunk).translate(None, _NOT_BRACKETS)
        opened = sum(brackets.count(mark) for mark in (b"[", b"{"))
        # The sum is an upper bound. Brackets are counted one by one only if it exceeds the limit.
        if self._depth + opened > DEEPEST:
            steps = (1 if mark in _OPENING else -1 for mark in brackets)
            if max(accumulate(steps, initial=self._depth)) > DEEPEST:
                msg = f"nested more than {DEEPEST} levels deep"
                raise ValueError(msg)
        self._depth += 2 * opened - len(brackets)

    def _outside_strings(self, chunk: bytes) -> bytes:
        text = self._carried + chunk
        self._carried = b""
        if self._in_string:
            end = _STRING_END.match(text)
            if not end:
                # Only a backslash has to be kept, as it may escape the next chunk's first byte.
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
        "steps",  # ATIF
        "data",  # a batch of spans of the OpenAI Agents SDK
        "resourceSpans.item.scopeSpans.item.spans",  # OTLP: all spans of all resources
    }
)
"""The possible paths of the list of messages in a document, as dotted keys."""


class Utf8Stream:
    """A byte stream of valid UTF-8: the byte order mark is removed, bad bytes are replaced."""

    __slots__ = ("_decoder", "_nesting", "_stream", "repaired")

    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream
        # Bad bytes become lone surrogates. These never occur in valid UTF-8, so `_encode` can
        # detect them.
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("surrogateescape")
        self._nesting = Nesting()
        self.repaired = False

    def read(self, size: int) -> bytes:
        """
        Read about `size` bytes. The result is empty only at the end.

        Raises:
            ValueError: the document is nested too deeply to be parsed.

        """
        # ijson first reads 0 bytes, to learn from the type whether this is a byte stream.
        if size == 0:
            return b""
        # The lexer scans an unfinished string again from its start with each chunk. A string of
        # 200 MB in chunks of 64 kB took minutes. With chunks that double its length, it is scanned
        # about twice.
        while raw := self._stream.read(max(size, self._nesting.unfinished)):
            self._nesting.check(raw)
            # A part of a character decodes to no text, and an empty result would mean the end.
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
    Return the prefix (the path) of the first list of messages in the document, or `None`.

    Raises:
        MissingExtraError: ijson is not installed.
    """
    ijson = _ijson()
    with source.open() as stream:
        try:
            # Only events are read, because values before the list may be too large to build.
            for prefix, event, _ in ijson.parse(Utf8Stream(stream), use_float=True):
                if event == "start_array" and prefix in LISTS:
                    return f"{prefix}.item" if prefix else "item"
        except (ijson.JSONError, ValueError):
            return None
    return None


def document_records(source: Source) -> Iterator[Record | BadLine]:
    """
    Yield the objects of the list at `source.prefix`, including the objects of lists inside that
    list.

    Raises:
        MissingExtraError: ijson is not installed.
    """
    ijson = _ijson()
    number = 0
    with source.open() as stream:
        clean = Utf8Stream(stream)
        try:
            # Floats are used because ijson's decimals cannot be written as JSON again.
            items = ijson.items(clean, source.prefix, use_float=True, multiple_values=True)
            for number, value in zip(count(1), items, strict=False):
                for one in value if isinstance(value, list) else [value]:
                    if isinstance(one, dict):
                        yield Record(number, one)
                    else:
                        yield BadLine(number, "a message that is not an object")
        except ijson.JSONError as error:
            first = error.args[0] if error.args else ""
            text = first.decode(errors="replace") if isinstance(first, bytes) else str(first)
            reason = f"not JSON: {text.partition(chr(10))[0].strip()}; the rest was not read"
            if "EOF" in text or "Incomplete" in text:
                reason = "cut: the recording ends inside the document"
            yield BadLine(number + 1, reason)
        except ValueError as error:
            yield BadLine(number + 1, f"not JSON: {error}; the rest was not read")
        if clean.repaired:
            yield BadLine(number + 1, "not UTF-8 somewhere; read with the bad bytes replaced")


def sibling_list(source: Source, key: str) -> list[Any]:
    """
    Return the objects of the list under `key` next to the messages, or an empty list.

    The document is read a second time.
    """
    if source.form != "document" or not source.prefix.endswith(".item"):
        return []
    ijson = _ijson()
    beside = source.prefix.removesuffix(".item").rpartition(".")[0]
    prefix = f"{beside}.{key}.item" if beside else f"{key}.item"
    # The second reading is not reported, so that the counted bytes are those of the file.
    with attrs.evolve(source, on_bytes=no_progress).open() as stream:
        try:
            return list(ijson.items(Utf8Stream(stream), prefix, use_float=True))
        except (ijson.JSONError, ValueError):
            return []


def _ijson() -> Any:
    # Imported here, because recordings in lines do not need it.
    try:
        return importlib.import_module("ijson")
    except ImportError as error:
        raise MissingExtraError.of(error.name, "cli") from error


# -------- markdown --------
# The fenced blocks of a Markdown log, each with the label above it.


_FENCE = "```"
# An unclosed fence would read the rest of the file into memory.
_LARGEST = 16 * 1024 * 1024


@attrs.frozen
class Block:
    """A fenced block: its first line, the label above it, and its text without the fences."""

    line: int
    label: str
    text: str


def blocks(
    source: Source, label_of: Callable[[str], str | None], wanted: Callable[[str], bool]
) -> Iterator[Block | BadLine]:
    """
    Yield the fenced blocks whose label is wanted. A label applies to the next block only.

    `label_of` returns the label in a line outside fences, or `None`. If the end of the file
    truncates a block, a `BadLine` follows it.
    """
    label, begun, lines, size, fenced = "", 0, list[str](), 0, False
    for line in text_lines(source):
        if isinstance(line, BadLine):
            yield line
            continue
        number, text = line
        if fenced and not text.startswith(_FENCE):
            if wanted(label) and size <= _LARGEST:
                lines.append(text)
                size += len(text) + 1
                if size > _LARGEST:
                    reason = f"a fenced block longer than {_LARGEST} characters; skipped"
                    yield BadLine(begun, reason)
            continue
        if fenced:
            fenced = False
            if wanted(label) and size <= _LARGEST:
                yield Block(begun, label, "\n".join(lines))
            label = ""
            # Gemini CLI writes the next label directly after the closing fence.
            text = text.removeprefix(_FENCE)
        if text.startswith(_FENCE):
            begun, fenced, lines, size = number, True, [], 0
        elif (named := label_of(text)) is not None:
            label = named
    if fenced and wanted(label) and size <= _LARGEST:
        yield Block(begun, label, "\n".join(lines))
        yield BadLine(begun, "cut: the recording ends inside a fenced block")


# -------- probe --------
# The first look at a file: its possible forms, with a sample of each to detect the dialect.


# A session may begin with many irrelevant lines (summaries, snapshots, settings).
_SAMPLE_LINES = 200
_SAMPLE_MESSAGES = 40
# Images in base64 make lines of many MB, so a limit on the number of lines is not enough.
_SAMPLE_BYTES = 16 * 1024 * 1024
_HEAD_BYTES = 256 * 1024


@attrs.frozen
class Probe:
    """
    A possible form of a file: the source for reading it in this form, and its first records or
    text.

    `head` is the beginning of the file, in any form.
    """

    source: Source
    records: tuple[Mapping[str, Any], ...] = ()
    text: str = ""
    head: str = ""


def probes(source: Source) -> Iterator[Probe]:
    """
    Yield the possible forms of a file, the likeliest first. The file is read in a form only when
    the caller asks for this form.

    Raises:
        ReadError: the file is missing, a directory, unreadable, or empty.
        MissingExtraError: the file seems to be a single JSON document, and ijson is not installed.

    """
    with source.open() as stream:
        # The last character may be truncated.
        head = stream.read(_HEAD_BYTES).decode("utf-8-sig", "replace")
        more = head
        while more and not more.strip():
            head = more = stream.read(_HEAD_BYTES).decode("utf-8", "replace")
    if not head.strip():
        msg = f"{source.path} is empty"
        raise ReadError(msg, file=str(source.path))
    sampled = attrs.evolve(source, limit=min(source.limit, _SAMPLE_BYTES))
    forms: tuple[Form, ...]
    # The likeliest form comes first, because a document must be read completely to find that it
    # has no list of messages.
    match head.lstrip()[:1]:
        case "[":
            forms = ("document",)
        case "{":
            # The first line shows the form: in a document it is not an object, or it is the only
            # line. A line that is too long for the sample is skipped. Parsing it as a document,
            # only to find that more lines follow, cost a hundred times as much.
            lines = (line for line in physical_lines(sampled) if isinstance(line, PhysicalLine))
            first = next(lines, None)
            is_object = first and all(isinstance(one, Record) for one in decode_line(first))
            forms = ("lines", "document") if is_object else ("document", "lines")
        case _:
            # A log in Markdown, or lines of which the first is damaged.
            forms = ("text", "lines")
    for form in forms:
        if form == "text":
            yield Probe(attrs.evolve(source, form=form), text=head, head=head)
        elif form == "lines":
            records = tuple(_first_records(sampled))
            yield Probe(attrs.evolve(source, form=form), records, head=head)
        elif prefix := find_list(source):
            document = attrs.evolve(source, form=form, prefix=prefix)
            sample = islice(document_records(document), _SAMPLE_MESSAGES)
            records = tuple(one.value for one in sample if isinstance(one, Record))
            yield Probe(document, records, head=head)


def _first_records(source: Source) -> Iterator[Mapping[str, Any]]:
    size = 0
    for line in islice(physical_lines(source), _SAMPLE_LINES):
        if isinstance(line, PhysicalLine):
            yield from (one.value for one in decode_line(line) if isinstance(one, Record))
            size += len(line.raw)
            if size > _SAMPLE_BYTES:
                return
