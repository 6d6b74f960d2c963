"""Reading a recording: planning calls with their results, one by one, from a file of any size."""

from collections.abc import Callable, Iterator
from pathlib import Path

from todoplan.transcripts.calls import Item
from todoplan.transcripts.detect import detect, recognise
from todoplan.transcripts.dialects import DIALECTS
from todoplan.transcripts.source import no_progress
from todoplan.transcripts.tools import is_planning_tool

__all__ = ["DIALECTS", "detect", "is_planning_tool", "read"]


def read(
    path: str | Path,
    dialect: str | None = None,
    *,
    on_bytes: Callable[[int], None] | None = None,
) -> Iterator[Item]:
    """
    Give the planning calls of a recording in the order they were sent, and its bad lines.

    Memory stays flat: one line or one message is held, and a few calls that wait for their result.
    `dialect` is one of `DIALECTS`; without it, the file's beginning tells. `on_bytes` hears how
    many bytes were read since it last heard.

    Raises:
        ReadError: at once, if this is no recording; while reading, if the disk fails.
        MissingExtraError: the file is one JSON document and ijson is not installed.

    """
    reader, source = recognise(path, dialect, on_bytes or no_progress)
    return reader.read(source)
