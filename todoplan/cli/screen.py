"""Where output goes: stdout for what was asked for, stderr for complaints and progress."""

import inspect
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from itertools import islice
from typing import Any, NoReturn

import attrs
import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
from rich.text import Text

from todoplan.cli import CLOSED_PIPE, INTERRUPTED
from todoplan.texts.cleaning import one_line

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


# -------- exit_codes --------
# How a command ends: with its code, or quietly when it was interrupted or nobody reads on.


def exit_with(job: Callable[[], int]) -> NoReturn:
    """
    Do the job and exit with the code that it returns.

    After Ctrl-C the code is 130, after a closed pipe 141.

    Raises:
        SystemExit: always.
    """
    try:
        code = job()
        # That a pipe is closed shows when the buffer is written: here it can still be answered.
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:
        # What is still buffered must go somewhere, or the interpreter complains at its end.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
        code = CLOSED_PIPE
    sys.exit(code)


# -------- option_groups --------
# Options that many commands share, as one value: a class whose fields are the options.
#
# typer reads a command's options from its parameters, one by one; six options on each of twelve
# commands would be a page that nobody reads. Here a command has one parameter for a group, and
# typer is shown the fields of its class in that place.


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """
    Return the command as typer is to see it: each parameter that is annotated with an attrs class
    is replaced by that class's fields, as options. The command itself is given the value.
    """
    own = inspect.signature(command, eval_str=True)
    groups = {
        name: parameter.annotation
        for name, parameter in own.parameters.items()
        if attrs.has(parameter.annotation)
    }

    @wraps(command)
    def flat(**given: Any) -> None:
        values = {
            name: group(**{field.alias: given.pop(field.alias) for field in attrs.fields(group)})
            for name, group in groups.items()
        }
        command(**given, **values)

    def parameters() -> Iterator[inspect.Parameter]:
        for name, parameter in own.parameters.items():
            if name not in groups:
                yield parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        # Behind the command's own, in its help too.
        for group in groups.values():
            for field in inspect.signature(group, eval_str=True).parameters.values():
                yield field.replace(kind=inspect.Parameter.KEYWORD_ONLY)

    # What `inspect.signature` reads first, and so typer.
    vars(flat)["__signature__"] = own.replace(parameters=tuple(parameters()))
    return flat


def one_of(names: Iterable[str]) -> dict[str, Any]:
    """
    Return what makes an option take one of these names and no other, and complete them.
    """
    known = tuple(names)

    # Not typer's enumerations: they would want a class for names that are the keys of a table.
    def check(name: str | None) -> str | None:
        if name is not None and name not in known:
            msg = f"{name!r} is none of {', '.join(known)}"
            raise typer.BadParameter(msg)
        return name

    def complete(incomplete: str) -> list[str]:
        return [name for name in known if name and name.startswith(incomplete)]

    return {"callback": check, "autocompletion": complete}
