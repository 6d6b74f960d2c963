"""
Reading a recording: planning calls with their results, one by one, from a file of any size.

The dialect is told from the beginning of the file. The table of dialects stands here.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import attrs

from todoplan.errors import ReadError
from todoplan.transcripts.calls import Item
from todoplan.transcripts.files import Probe, Source, no_progress, probes
from todoplan.transcripts.readers import (
    claude_code,
    codex,
    copilot,
    entire,
    gemini,
    message_lists,
    opencode,
    openhands,
    own,
    vscode,
)
from todoplan.transcripts.readers.base import DialectReader
from todoplan.transcripts.readers.frameworks import adk, ag_ui, openai_agents, otlp, pydantic_ai

# Readers are tried from the top, so the ones that recognise more specific files stand first: a chat
# is nearly any list of objects with a role.
DIALECTS: Mapping[str, DialectReader] = {
    reader.name: reader
    for reader in (
        own.READER,  # says what it is in its first bytes
        codex.READER,
        copilot.READER,
        entire.READER,
        openhands.READER,
        vscode.READER,
        adk.READER,
        pydantic_ai.READER,
        ag_ui.READER,
        openai_agents.READER,
        otlp.READER,
        claude_code.READER,
        opencode.READER,
        gemini.READER,
        message_lists.LANGCHAIN,
        message_lists.ANTHROPIC,
        message_lists.CHAT,
    )
}
"""The dialects by name."""


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
) -> tuple[DialectReader, Source]:
    """
    Give the reader for the file, and the source for it to read.

    A named `dialect` is believed: then only the form of the file is found out.

    Raises:
        ReadError: as `detect`, or there is no such dialect.
        MissingExtraError: as `detect`.

    """
    source = Source(Path(path))
    if dialect is not None and dialect not in DIALECTS:
        msg = f"{path}: there is no dialect {dialect!r}; choose one of {', '.join(DIALECTS)}"
        raise ReadError(msg, file=str(path))
    candidates = tuple(DIALECTS.values()) if dialect is None else (DIALECTS[dialect],)
    # Form before dialect: probes are made on demand, and a later one may read the whole file.
    for probe in probes(source):
        for reader in candidates:
            if reader.recognises(probe):
                return reader, attrs.evolve(probe.source, on_bytes=on_bytes)
    if dialect is None:
        known = ", ".join(DIALECTS)
        msg = f"{path} is no recording in a known dialect ({known}); if it is one, name its dialect"
        raise ReadError(msg, file=str(path))
    likeliest = next(probes(source), Probe(source))
    return candidates[0], attrs.evolve(likeliest.source, on_bytes=on_bytes)


def read(
    path: str | Path,
    dialect: str | None = None,
    *,
    on_bytes: Callable[[int], None] | None = None,
) -> Iterator[Item]:
    """
    Give the planning calls of a recording in the order they were sent, and its bad lines.

    Memory stays flat: one line or one message is held, and a few calls that wait for their result.
    `dialect` is one of `DIALECTS`; without it, the file's beginning tells. `on_bytes` is called
    with the number of bytes that were read since its last call.

    Raises:
        ReadError: at once, if this is no recording; while reading, if the disk fails.
        MissingExtraError: the file is one JSON document and ijson is not installed.

    """
    reader, source = recognise(path, dialect, on_bytes or no_progress)
    return reader.read(source)
