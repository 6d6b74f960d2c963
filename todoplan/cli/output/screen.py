"""Where output goes: stdout for what was asked for, stderr for complaints and progress."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice

import attrs
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
from rich.text import Text

from todoplan.render.cleaning import one_line

__all__ = ["Screen", "Ticker"]


_WORTH_A_BAR = 1_000_000
_AT_ONCE = 500


class _Pipe(Console):
    def on_broken_pipe(self) -> None:
        """
        Let the command know: rich would exit with 1, which means something else here.
        """
        raise  # noqa: PLE0704 - rich calls this while it handles the BrokenPipeError


@attrs.frozen
class Ticker:
    """
    Hears how far the reading is: `add` bytes as they are read, `reach` a total.
    """

    add: Callable[[int], None]
    reach: Callable[[int], None]


@attrs.frozen
class Screen:
    """
    The two consoles. They are colourful on a terminal only.
    """

    out: Console = attrs.field(factory=_Pipe)
    err: Console = attrs.field(factory=lambda: _Pipe(stderr=True))

    def show(self, rows: Iterable[Text]) -> None:
        """
        Print rows for people, many at once: a bar below them is drawn anew each time.
        """
        coming = iter(rows)
        while batch := tuple(islice(coming, _AT_ONCE)):
            # Not wrapped: rich would do it at 80 columns where there is no terminal. As `Text`,
            # brackets in a title are no markup.
            self.out.print(Text("\n").join(batch), soft_wrap=True)

    def write(self, text: str) -> None:
        """
        Print as it is, without wrapping: for programs.
        """
        # `print` would read brackets as markup, and wrap.
        self.out.out(text, end="", highlight=False)

    def complain(self, text: str) -> None:
        """
        Say on stderr, in one line, what is wrong.

        If both are terminals, the output's console says it: it knows about the bar.
        """
        console = self.out if self.out.is_terminal and self.err.is_terminal else self.err
        console.out(f"todoplan: {one_line(text)}", highlight=False)

    @contextmanager
    def ticker(self, total: int) -> Iterator[Ticker]:
        """
        Show a bar on the terminal until `total` bytes were read; none for what is read at once.

        It shares the console of the output where that is a terminal too, and leaves no trace.
        """
        console = self.out if self.out.is_terminal else self.err
        columns = TextColumn("reading"), BarColumn(), TaskProgressColumn()
        hidden = total < _WORTH_A_BAR or not console.is_terminal
        with Progress(*columns, console=console, transient=True, disable=hidden) as progress:
            task = progress.add_task("", total=total)
            yield Ticker(
                add=lambda count: progress.advance(task, count),
                reach=lambda count: progress.update(task, completed=count),
            )
