"""The terminal: results go to stdout, error messages and the progress bar to stderr."""

import inspect
import json
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
from todoplan.core.plan.plan import Plan
from todoplan.render.outline import clip, to_text
from todoplan.texts import one_line

_WORTH_A_BAR = 1_000_000
_AT_ONCE = 500


class _Pipe(Console):
    def on_broken_pipe(self) -> None:
        """Raise the BrokenPipeError again; rich would exit with 1, which here means "refused"."""
        raise  # noqa: PLE0704 - rich calls this while it handles the BrokenPipeError


@attrs.frozen
class Ticker:
    """Callbacks of the progress bar: `add` takes a number of bytes read, `reach` the sum so far."""

    add: Callable[[int], None]
    reach: Callable[[int], None]


@attrs.frozen
class Screen:
    """The consoles for stdout and stderr. They use colours on a terminal only."""

    out: Console = attrs.field(factory=_Pipe)
    err: Console = attrs.field(factory=lambda: _Pipe(stderr=True))

    def show(self, rows: Iterable[Text]) -> None:
        """
        Print rows for people.

        They are printed in batches, because a progress bar is redrawn at each print.
        """
        coming = iter(rows)
        while batch := tuple(islice(coming, _AT_ONCE)):
            # Without `soft_wrap` rich would wrap at 80 columns if there is no terminal. `Text`
            # keeps brackets in a title from being read as markup.
            self.out.print(Text("\n").join(batch), soft_wrap=True)

    def write(self, text: str) -> None:
        """Print text for programs, unchanged and not wrapped."""
        # `print` would wrap, and would read brackets as markup.
        self.out.out(text, end="", highlight=False)

    def complain(self, text: str) -> None:
        """
        Print an error message in one line on stderr.

        If stdout and stderr are both terminals, it is printed on stdout's console, which handles
        the progress bar.
        """
        console = self.out if self.out.is_terminal and self.err.is_terminal else self.err
        console.out(f"todoplan: {one_line(text)}", highlight=False)

    @contextmanager
    def ticker(self, total: int) -> Iterator[Ticker]:
        """
        Show a progress bar on the terminal until `total` bytes are read.

        Inputs of less than 1 MB get no bar. The bar uses stdout's console if that is a terminal,
        and is removed at the end.
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
# How a command ends: with its exit code, also when it is interrupted or its output pipe is closed.


def exit_with(job: Callable[[], int]) -> NoReturn:
    """
    Run the job and exit with the code that it returns.

    The exit code is 130 after Ctrl-C, and 141 if the output pipe was closed.

    Raises:
        SystemExit: always.
    """
    try:
        code = job()
        # A closed pipe is detected when the buffer is written. Flush here, where it can still be
        # handled.
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:
        # The rest of the buffer is sent to /dev/null, or the interpreter would print an error at
        # its end.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
        code = CLOSED_PIPE
    sys.exit(code)


# -------- lines --------
# Cleaned text for people, in lines that are cut or wrapped to the width of the terminal, and JSON
# for programs. A file or a pipe gets the full lines.


_LEAST = 20  # columns: narrower text is unreadable, so the terminal may wrap it instead
_INDENT = 2

COLOURS: dict[str, str] = {
    "pending": "dim",
    "in_progress": "yellow",
    "completed": "green",
    "cancelled": "dim",
    "failed": "red",
}
"""The colours of the statuses."""


def room(taken: int, console: Console) -> int | None:
    """Return the number of columns left on the terminal, or `None` if it is not a terminal."""
    return max(console.width - taken, _LEAST) if console.is_terminal else None


def cut(text: str, width: int | None) -> str:
    """Return cleaned text, cut to `width` columns unless `width` is `None`."""
    return text if width is None else clip(text, width)


def wrapped(text: str, width: int | None, console: Console) -> Iterator[str]:
    """Yield the text, cleaned, in lines of at most `width` columns, or whole if it is `None`."""
    whole = one_line(text)
    if width is None:
        yield whole
    else:
        lines = Text(whole).wrap(console, width, overflow="fold")
        yield from (line.plain.rstrip() for line in lines)


def hanging(head: Text, lines: Iterable[str]) -> Iterator[Text]:
    """Yield the lines with the head before the first one; the others are indented by its width."""
    for line in lines:
        yield head.copy().append(line)
        head = Text(" " * head.cell_len)


def line(data: Any) -> str:
    """Return plain data as one line of ASCII JSON."""
    # ASCII, because a lone surrogate in a recording would make UTF-8 output fail half-way.
    return json.dumps(data, allow_nan=False)


def plan_lines(plan: Plan, console: Console) -> Iterator[Text]:
    """Yield the lines of a plan, cut to the width of the terminal if there is one."""
    head, *tasks = to_text(plan, width=room(_INDENT, console)).split("\n")
    yield Text(" " * _INDENT + head)
    for task, line in zip(plan, tasks, strict=True):
        text = Text(" " * _INDENT + line)
        mark = len(text.plain) - len(text.plain.lstrip())  # subtasks are indented
        text.stylize(COLOURS[task.status], mark, mark + len("[x]"))
        yield text


# -------- option_groups --------
# Groups of options that many commands share: an attrs class whose fields are the options.
#
# typer reads a command's options from its parameters, so six shared options would be repeated on
# each of twelve commands. Here a command has one parameter for a whole group, and typer is given a
# signature in which the fields of the class replace that parameter.


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """
    Return a wrapper of the command for typer.

    In its signature, each parameter that is annotated with an attrs class is replaced by the
    fields of that class, as options; a field may be such a class too. The command itself is called
    with an instance of the class.
    """
    own = inspect.signature(command, eval_str=True)
    plain = [p for p in own.parameters.values() if not attrs.has(p.annotation)]
    groups = {p.name: p.annotation for p in own.parameters.values() if attrs.has(p.annotation)}

    @wraps(command)
    def flat(**given: Any) -> None:
        values = {name: _group_of(group, given) for name, group in groups.items()}
        command(**given, **values)

    # Shared options come after the command's own, also in its help.
    parameters = [*plain, *(each for group in groups.values() for each in _options_of(group))]
    flattened = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in parameters]
    # typer calls `inspect.signature`, which uses this attribute if it is set.
    vars(flat)["__signature__"] = own.replace(parameters=flattened)
    return flat


def _options_of(group: type) -> Iterator[inspect.Parameter]:
    for field in inspect.signature(group, eval_str=True).parameters.values():
        if attrs.has(field.annotation):
            yield from _options_of(field.annotation)
        else:
            yield field


def _group_of(group: type, given: dict[str, Any]) -> Any:
    """Return an instance of a group, and take its values out of those that were given."""
    values = {
        field.name: _group_of(field.annotation, given)
        if attrs.has(field.annotation)
        else given.pop(field.name)
        for field in inspect.signature(group, eval_str=True).parameters.values()
    }
    return group(**values)


def one_of(names: Iterable[str]) -> dict[str, Any]:
    """Return the typer arguments that restrict an option to these names and complete them."""
    known = tuple(names)

    # typer's own choices need an Enum class, but these names are the keys of a dict.
    def check(name: str | None) -> str | None:
        if name is not None and name not in known:
            msg = f"{name!r} is none of {', '.join(known)}"
            raise typer.BadParameter(msg)
        return name

    def complete(incomplete: str) -> list[str]:
        return [name for name in known if name and name.startswith(incomplete)]

    return {"callback": check, "autocompletion": complete}
