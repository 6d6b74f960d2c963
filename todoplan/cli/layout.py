"""Lines in columns: cut or wrapped to the width of a terminal, whole where there is none."""

from collections.abc import Iterable, Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from todoplan.render.cleaning import clip, one_line

__all__ = ["columns", "cut", "hanging", "room", "wrapped"]

_LEAST = 20
_GAP = "  "


def room(taken: int, console: Console) -> int | None:
    """
    Return how many columns are left on the terminal, `None` if this is none.
    """
    return max(console.width - taken, _LEAST) if console.is_terminal else None


def cut(text: str, width: int | None) -> str:
    """
    Return cleaned text in at most so many columns.
    """
    return text if width is None else clip(text, width)


def wrapped(text: str, width: int | None, console: Console) -> Iterator[str]:
    """
    Give the text, cleaned, in lines of at most so many columns.
    """
    whole = one_line(text)
    if width is None:
        yield whole
    else:
        lines = Text(whole).wrap(console, width, overflow="fold")
        yield from (line.plain.rstrip() for line in lines)


def hanging(head: Text, lines: Iterable[str]) -> Iterator[Text]:
    """
    Give the lines with the head before the first one; the others stand below it.
    """
    for line in lines:
        yield head.copy().append(line)
        head = Text(" " * head.cell_len)


def columns(rows: Sequence[Sequence[str]], console: Console) -> Iterator[str]:
    """
    Give a table of cleaned cells: the first column to the left, the others to the right.

    What does not fit is cut from the front of the first column: names differ at their ends.
    """
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    left = room(sum(widths[1:]) + len(_GAP) * len(widths[1:]), console)
    first = widths[0] if left is None else min(widths[0], left)
    for name, *numbers in rows:
        shown = clip(name[::-1], first)[::-1]
        padded = (number.rjust(width) for number, width in zip(numbers, widths[1:], strict=True))
        yield _GAP.join((shown + " " * (first - cell_len(shown)), *padded))
