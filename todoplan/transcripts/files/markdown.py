"""Fenced blocks of a markdown log, each with the label it stands under."""

from collections.abc import Callable, Iterator

import attrs

from todoplan.transcripts.calls import BadLine
from todoplan.transcripts.files.lines import text_lines
from todoplan.transcripts.files.source import Source

__all__ = ["Block", "blocks"]

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
