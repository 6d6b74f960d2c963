"""Bytes of recordings as people pass them on: packed by gzip or zip, or as UTF-16."""

import gzip
import io
import zipfile
from pathlib import Path
from typing import IO, Any, Protocol, cast

from todoplan.errors import ReadError

__all__ = ["SUFFIXES", "Bytes", "is_recording_name", "unpacked"]

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
