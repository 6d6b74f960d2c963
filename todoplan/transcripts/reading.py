"""
Reading a recording of any size: its planning calls with their results, one by one.

The dialect is detected from the beginning of the file. `DIALECTS` is the table of the readers.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import attrs

from todoplan.errors import ReadError
from todoplan.transcripts.calls import Item
from todoplan.transcripts.dialects import DIALECT_NAMES
from todoplan.transcripts.files import Probe, Source, no_progress, probes
from todoplan.transcripts.readers import coding_agents, frameworks
from todoplan.transcripts.readers.base import DialectReader

_READERS = {
    reader.name: reader
    for module in (coding_agents, frameworks)
    for reader in vars(module).values()
    if isinstance(reader, DialectReader)
}
DIALECTS: Mapping[str, DialectReader] = {name: _READERS[name] for name in DIALECT_NAMES}
"""The readers by dialect name, in the order in which they are tried."""


def detect(path: str | Path) -> str:
    """
    Return the name of the dialect of a recording.

    Raises:
        ReadError: the file is missing, empty, or not a recording in a known dialect.
        MissingExtraError: the file is a single JSON document, and ijson is not installed.

    """
    return recognise(path)[0].name


def recognise(
    path: str | Path, dialect: str | None = None, on_bytes: Callable[[int], None] | None = None
) -> tuple[DialectReader, Source]:
    """
    Return the reader for a file, and the source to pass to it.

    If `dialect` is given, only the form of the file is detected. For `on_bytes`, see `read`.

    Raises:
        ReadError: see `detect`; or the dialect does not exist.
        MissingExtraError: see `detect`.

    """
    source = Source(Path(path))
    if dialect is not None and dialect not in DIALECTS:
        msg = f"{path}: there is no dialect {dialect!r}; choose one of {', '.join(DIALECTS)}"
        raise ReadError(msg, file=str(path))
    candidates = tuple(DIALECTS.values()) if dialect is None else (DIALECTS[dialect],)
    # The outer loop is over the forms: a later probe may read the whole file, so it is only made if
    # no reader recognises the earlier ones.
    for probe in probes(source):
        for reader in candidates:
            if reader.recognises(probe):
                return reader, attrs.evolve(probe.source, on_bytes=on_bytes or no_progress)
    if dialect is None:
        known = ", ".join(DIALECTS)
        msg = f"{path} is no recording in a known dialect ({known}); if it is one, name its dialect"
        raise ReadError(msg, file=str(path))
    likeliest = next(probes(source), Probe(source))
    return candidates[0], attrs.evolve(likeliest.source, on_bytes=on_bytes or no_progress)


def read(
    path: str | Path, dialect: str | None = None, *, on_bytes: Callable[[int], None] | None = None
) -> Iterator[Item]:
    """
    Yield the planning calls of a recording in the order they were sent, and its bad lines.

    Memory use is constant: one line or message, and a few calls that wait for their results.
    `dialect` is one of `DIALECTS`; by default it is detected. `on_bytes` is called with the number
    of bytes that were read since its last call.

    Raises:
        ReadError: at once if the file is not a recording, or while reading if the disk fails.
        MissingExtraError: the file is a single JSON document, and ijson is not installed.

    """
    reader, source = recognise(path, dialect, on_bytes)
    return reader.read(source)
