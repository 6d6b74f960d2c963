"""Opening a recording: its bytes, counted as they are read, with every failure as a `ReadError`."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Literal

import attrs

from todoplan.errors import ReadError
from todoplan.transcripts.files.unpacking import Bytes, unpacked

__all__ = ["LINE_LIMIT", "ByteStream", "Form", "Source", "no_progress", "unreadable"]

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
