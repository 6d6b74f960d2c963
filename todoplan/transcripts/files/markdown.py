"""Fenced blocks of a markdown log, each with the label it stands under."""

from collections.abc import Callable, Iterator

import attrs

from todoplan.transcripts.calls import BadLine
from todoplan.transcripts.files.lines import text_lines
from todoplan.transcripts.files.source import Source

__all__ = ["Block", "blocks"]

_FENCE = "```"
_LARGEST = 16 * 1024 * 1024


@attrs.frozen
class Block:
    """
    A fenced block: the line it begins on, the label above it, its text without the fences.
    """

    line: int
    label: str
    text: str


@attrs.define
class _Open:
    label: str = ""
    line: int = 0
    fenced: bool = False
    lines: list[str] = attrs.field(factory=list)
    size: int = 0


def blocks(
    source: Source, label_of: Callable[[str], str | None], wanted: Callable[[str], bool]
) -> Iterator[Block | BadLine]:
    """
    Give the fenced blocks whose label is wanted; a label is for the one block that follows it.

    `label_of` tells of a line outside fences which label it is, or `None`. A block that the file's
    end cuts is given back with a `BadLine` after it.
    """
    state = _Open()
    for found in text_lines(source):
        if isinstance(found, BadLine):
            yield found
        else:
            yield from _step(state, *found, label_of=label_of, wanted=wanted)
    if state.fenced and wanted(state.label):
        yield Block(state.line, state.label, "\n".join(state.lines))
        yield BadLine(state.line, "cut: the recording ends inside a fenced block")


def _step(
    state: _Open,
    number: int,
    text: str,
    *,
    label_of: Callable[[str], str | None],
    wanted: Callable[[str], bool],
) -> Iterator[Block | BadLine]:
    if not state.fenced:
        _outside(state, number, text, label_of)
    elif not text.startswith(_FENCE):
        yield from _inside(state, text, wanted)
    else:
        state.fenced = False
        if wanted(state.label):
            yield Block(state.line, state.label, "\n".join(state.lines))
        state.label = ""
        _outside(state, number, text.removeprefix(_FENCE), label_of)


def _outside(state: _Open, number: int, text: str, label_of: Callable[[str], str | None]) -> None:
    if text.startswith(_FENCE):
        state.line, state.fenced, state.lines, state.size = number, True, [], 0
    elif (label := label_of(text)) is not None:
        state.label = label


def _inside(state: _Open, text: str, wanted: Callable[[str], bool]) -> Iterator[BadLine]:
    if not wanted(state.label) or state.size > _LARGEST:
        return
    state.lines.append(text)
    state.size += len(text) + 1
    if state.size > _LARGEST:
        state.lines = []
        yield BadLine(state.line, f"a fenced block longer than {_LARGEST} characters; skipped")
