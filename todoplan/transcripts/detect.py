"""Telling what wrote a recording, from its beginning."""

from collections.abc import Callable
from pathlib import Path

from todoplan.errors import ReadError
from todoplan.transcripts.dialects import DIALECTS
from todoplan.transcripts.probe import Probe, looks
from todoplan.transcripts.readers.base import Reader
from todoplan.transcripts.source import Source, no_progress

__all__ = ["detect", "recognise"]


def detect(path: str | Path) -> str:
    """
    Give the name of the dialect that the recording is in.

    Raises:
        ReadError: missing, empty, or no recording in a known dialect.
        MissingExtraError: it is one JSON document and ijson is not installed.

    """
    return recognise(path)[0].name


def recognise(
    path: str | Path,
    dialect: str | None = None,
    on_bytes: Callable[[int], None] = no_progress,
) -> tuple[Reader, Source]:
    """
    Give the reader for the file, and the source for it to read.

    A named `dialect` is believed: then only the form of the file is found out.

    Raises:
        ReadError: as `detect`, or there is no such dialect.
        MissingExtraError: as `detect`.

    """
    source = Source(Path(path))
    named = None if dialect is None else _named(dialect, source.path)
    for probe in looks(source):
        for reader in DIALECTS.values() if named is None else (named,):
            if reader.recognises(probe):
                return reader, _counted(probe, on_bytes)
    if named is None:
        msg = f"{path} is no recording in a known dialect ({', '.join(DIALECTS)})"
        raise ReadError(msg, file=str(path))
    return named, _counted(next(looks(source), Probe(source)), on_bytes)


def _named(dialect: str, path: Path) -> Reader:
    if dialect not in DIALECTS:
        known = ", ".join(DIALECTS)
        msg = f"no dialect {dialect!r} to read {path} in; there are {known}"
        raise ReadError(msg, file=str(path))
    return DIALECTS[dialect]


def _counted(probe: Probe, on_bytes: Callable[[int], None]) -> Source:
    source = probe.source
    return Source(source.path, source.form, source.prefix, on_bytes, source.limit)
