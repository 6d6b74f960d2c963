"""The commands that draw pages of plans, as typer reads them; `app` takes them from here."""

from typing import Annotated

import typer

from todoplan.cli.commands.board import TOKEN, Doors, serve_board
from todoplan.cli.exit_codes import exit_with
from todoplan.cli.option_groups import with_groups
from todoplan.cli.options import Hosts, Port
from todoplan.cli.output.screen import Screen
from todoplan.cli.plan_options import Judge, Place, Writer

__all__ = ["PAGE_COMMANDS"]

BoardHost = Annotated[
    str,
    typer.Option(
        metavar="ADDRESS",
        help="The address to bind. One that is not loopback needs a token.",
    ),
]
Token = Annotated[
    str | None,
    typer.Option(
        metavar="TOKEN",
        help="What a reader has to know. An argument shows in process lists: better the variable.",
        envvar=TOKEN,
        show_default=False,
    ),
]
MayWrite = Annotated[
    bool | None,
    typer.Option(
        "--write/--read-only",
        help="Whether readers may change plans; unless said, only where this machine alone "
        "can reach the board.",
        show_default=False,
    ),
]


def _board(  # noqa: PLR0913 - an argument for each option
    *,
    host: BoardHost = "127.0.0.1",
    port: Port = 8766,
    token: Token = None,
    allow_host: Hosts = None,
    write: MayWrite = None,
    place: Place,
    writer: Writer,
    judge: Judge,
) -> None:
    """
    Show the plans of a store in a browser, live, to read and to act on.
    """
    doors = Doors(host, port, token, tuple(allow_host or ()), write)
    exit_with(lambda: serve_board(place, writer, judge, doors, Screen()))


PAGE_COMMANDS = {"board": with_groups(_board)}
"""By the name that a person types."""
