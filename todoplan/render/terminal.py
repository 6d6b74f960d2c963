"""The terminal: results go to stdout, error messages and the progress bar to stderr."""

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

import attrs

from todoplan.core.plan.plan import Plan
from todoplan.render.outline import clip, to_text
from todoplan.texts import one_line

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_FORCING = {"FORCE_COLOR", "TTY_COMPATIBLE"}  # variables that make rich treat a pipe as a terminal
_LEAST_BYTES_FOR_A_BAR = 1_000_000
_ROWS_OF_A_BATCH = 500


def today() -> date:
    """Return the user's local date, which decides whether a task is overdue."""
    return datetime.now().astimezone().date()


@attrs.frozen
class Ticker:
    """
    Callbacks that move the progress bar.

    `add` takes the number of newly read bytes, `reach` the number of all bytes read so far.
    """

    add: Callable[[int], None]
    reach: Callable[[int], None]


class Screen:
    """
    The consoles for stdout and stderr. They use colours on a terminal only.

    Each console is made when it is first needed: without a terminal, rich is not imported.
    """

    def __init__(self, out: "Console | None" = None, err: "Console | None" = None) -> None:
        self._out, self._err = out, err

    @property
    def out(self) -> "Console":
        """The console of stdout."""
        self._out = self._out or _console(is_error=False)
        return self._out

    @property
    def err(self) -> "Console":
        """The console of stderr."""
        self._err = self._err or _console(is_error=True)
        return self._err

    @property
    def is_plain(self) -> bool:
        """Whether stdout is not a terminal, and no variable makes rich treat it as one."""
        return self._out is None and not sys.stdout.isatty() and not _FORCING & {*os.environ}

    @property
    def width(self) -> int | None:
        """The number of columns of the terminal, or `None` if stdout is not a terminal."""
        return self.out.width if not self.is_plain and self.out.is_terminal else None

    def show(self, rows: "Iterable[Text | str]") -> None:
        """Print rows for people, in batches, because a progress bar is redrawn at each print."""
        if self.is_plain:
            sys.stdout.writelines(f"{row}\n" for row in rows)
            return
        from rich.text import Text  # noqa: PLC0415 - slow to import

        coming = iter(rows)
        while batch := tuple(islice(coming, _ROWS_OF_A_BATCH)):
            # Without `soft_wrap`, rich would wrap at 80 columns if there is no terminal. Without
            # `Text`, rich would read brackets in a title as markup.
            whole = Text("\n").join(Text(row) if isinstance(row, str) else row for row in batch)
            self.out.print(whole, soft_wrap=True)

    def write(self, text: str) -> None:
        """Print text for programs, unchanged and not wrapped."""
        if self.is_plain:
            sys.stdout.write(text)
        else:
            # `print` would wrap, and would read brackets as markup.
            self.out.out(text, end="", highlight=False)

    def complain(self, text: str) -> None:
        """
        Print an error message in one line on stderr.

        If stdout and stderr are both terminals, the console of stdout prints the message, because
        this console moves the progress bar out of the way.
        """
        line = f"todoplan: {one_line(text)}"
        if self._err is None and not sys.stderr.isatty():
            sys.stderr.write(f"{line}\n")
            return
        console = self.out if self.out.is_terminal and self.err.is_terminal else self.err
        console.out(line, highlight=False)

    @contextmanager
    def ticker(self, total: int) -> Iterator[Ticker]:
        """
        Show a progress bar on the terminal until `total` bytes are read.

        For less than 1 MB, no bar is shown. The bar is on stdout if stdout is a terminal, otherwise
        on stderr. It is removed at the end.
        """
        from rich.progress import (  # noqa: PLC0415 - slow to import
            BarColumn,
            Progress,
            TaskProgressColumn,
            TextColumn,
        )

        console = self.out if self.out.is_terminal else self.err
        columns = TextColumn("reading"), BarColumn(), TaskProgressColumn()
        hidden = total < _LEAST_BYTES_FOR_A_BAR or not console.is_terminal
        with Progress(*columns, console=console, transient=True, disable=hidden) as progress:
            task = progress.add_task("", total=total)
            yield Ticker(
                add=lambda count: progress.advance(task, count),
                reach=lambda count: progress.update(task, completed=count),
            )


def _console(*, is_error: bool) -> "Console":
    from rich.console import Console  # noqa: PLC0415 - slow to import

    class Pipe(Console):
        def on_broken_pipe(self) -> None:
            """Raise the BrokenPipeError again; rich would exit with 1, which means "refused"."""
            raise  # noqa: PLE0704 - rich calls this while it handles the BrokenPipeError

    return Pipe(stderr=is_error)


# -------- lines --------
# Cleaned text for people, in lines that are cut or wrapped to the width of the terminal (in a file
# or a pipe, lines are not cut), and JSON for programs.


_LEAST = 20  # columns; narrower text would be unreadable, so the terminal wraps it instead
_INDENT = 2

COLOURS: dict[str, str] = {
    "pending": "dim",
    "in_progress": "yellow",
    "completed": "green",
    "cancelled": "dim",
    "failed": "red",
}
"""The colours of the statuses."""


def room(taken: int, width: int | None) -> int | None:
    """
    Return how many of `width` columns remain when `taken` are used, but at least 20.

    If `width` is `None`, return `None`.
    """
    return None if width is None else max(width - taken, _LEAST)


def cut(text: str, width: int | None) -> str:
    """Return cleaned text, cut to `width` columns unless `width` is `None`."""
    return text if width is None else clip(text, width)


def wrapped(text: str, width: int | None) -> Iterator[str]:
    """
    Yield the cleaned text in lines of at most `width` columns.

    If `width` is `None`, yield one line.
    """
    whole = one_line(text)
    if width is None:
        yield whole
    else:
        from rich.console import Console  # noqa: PLC0415 - slow to import
        from rich.text import Text  # noqa: PLC0415 - same

        lines = Text(whole).wrap(Console(width=width), width, overflow="fold")
        yield from (line.plain.rstrip() for line in lines)


def hanging(head: "Text", lines: Iterable[str]) -> "Iterator[Text]":
    """Yield the head with the first line, then the other lines indented by the head's width."""
    from rich.text import Text  # noqa: PLC0415 - slow to import

    for line in lines:
        yield head.copy().append(line)
        head = Text(" " * head.cell_len)


def columns(rows: Sequence[Sequence[str]], width: int | None) -> Iterator[str]:
    """
    Yield the rows of a table of cleaned cells.

    The first column is aligned left, the other columns right. If a row does not fit, the beginning
    of its first cell is cut off, because names of files differ at their ends.
    """
    from rich.cells import cell_len  # noqa: PLC0415 - slow to import

    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    left = room(sum(widths[1:]) + 2 * len(widths[1:]), width)
    first = widths[0] if left is None else min(widths[0], left)
    for name, *numbers in rows:
        shown = clip(name[::-1], first)[::-1]
        padded = (number.rjust(width) for number, width in zip(numbers, widths[1:], strict=True))
        yield "  ".join((shown + " " * (first - cell_len(shown)), *padded))


def line(data: Any) -> str:
    """Return plain data as one line of ASCII JSON."""
    # ASCII, because output in UTF-8 would fail at a lone surrogate, which a recording may contain.
    return json.dumps(data, allow_nan=False)


def plan_lines(plan: Plan, width: int | None) -> "Iterator[Text | str]":
    """Yield the lines of a plan. With `width`, cut them to it and colour the marks of the tasks."""
    head, *tasks = to_text(plan, width=room(_INDENT, width), today=today()).split("\n")
    yield " " * _INDENT + head
    if width is None:
        yield from (" " * _INDENT + line for line in tasks)
        return
    from rich.text import Text  # noqa: PLC0415 - slow to import

    for task, line in zip(plan, tasks, strict=True):
        text = Text(" " * _INDENT + line)
        mark = len(text.plain) - len(text.plain.lstrip())  # subtasks are indented
        text.stylize(COLOURS[task.status], mark, mark + len("[x]"))
        yield text
