"""The commands that draw pages of plans, as typer reads them; `app` takes them from here."""

from pathlib import Path
from typing import Annotated

import typer

from todoplan.cli.commands.board import TOKEN, Doors, serve_board
from todoplan.cli.commands.report import report
from todoplan.cli.exit_codes import exit_with
from todoplan.cli.option_groups import with_groups
from todoplan.cli.options import Hosts, Judging, Page, Port
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
Picture = Annotated[
    Path | None,
    typer.Option(
        "--svg",
        metavar="OUT",
        help="Write a picture of the plan to this file, - for stdout: for a README.",
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


def _report(
    *, html: Page = None, svg: Picture = None, policy: Judging = "audit", place: Place
) -> None:
    """
    Write a plan of a store into one file: a page with its life and findings, or a picture.
    """
    if html is None and svg is None:
        msg = "say what to write: --html OUT, --svg OUT, or both"
        raise typer.BadParameter(msg)
    exit_with(lambda: report(place, html, svg, policy, Screen()))


PAGE_COMMANDS = {"board": with_groups(_board), "report": with_groups(_report)}
"""By the name that a person types."""
