"""The typer application, and the table of the commands."""

import os
from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from types import CodeType
from typing import Annotated, Any, cast

import typer
from typer.core import TyperGroup

import todoplan

COMMANDS = {
    "Begin": {
        "demo": "cli.demo.demo",
        "guide": "cli.documents.guide",
        "where": "cli.plans.show_where",
    },
    "See the plan": {
        "list": "cli.plans.show_plan",
        "next": "cli.plans.show_next",
        "ready": "cli.plans.show_ready",
        "log": "cli.views.log",
        "diff": "cli.views.diff",
        "drift": "cli.views.show_drift",
        "watch": "cli.views.watch",
        "board": "cli.servers.board",
        "report": "cli.documents.report",
        "show": "cli.views.show",
    },
    "Change the plan": {
        "add": "cli.plans.add",
        "start": "cli.plans.start",
        "done": "cli.plans.done",
        "fail": "cli.plans.fail",
        "wait": "cli.plans.wait",
        "answer": "cli.plans.answer",
        "edit": "cli.plans.change",
        "link": "cli.plans.link",
        "move": "cli.plans.move",
        "remove": "cli.plans.remove",
        "rm": "cli.plans.remove",
        "undo": "cli.plans.undo",
        "redo": "cli.plans.redo",
        "approve": "cli.plans.approve",
        "release": "cli.plans.release",
    },
    "Check and move plans": {
        "check": "cli.views.check",
        "import": "cli.markdown.import_plan",
        "sync": "cli.markdown.sync",
        "store copy": "cli.views.copy",
    },
    "Give a plan to an agent": {
        "mcp": "cli.servers.serve",
        "plugin": "cli.plugin.write_plugin",
        "hook": "cli.servers.hook",
        "schema": "cli.documents.schema",
        "new-adapter": "cli.new_adapter.new_adapter",
    },
    "Read recordings of agents": {
        "replay": "transcripts.commands.replay",
        "stats": "transcripts.commands.stats",
    },
}
"""The module and function of each command, grouped by purpose. Modules are below `todoplan`."""


_OTHER_NAMES = {
    "block": "link ID --after ID",
    "cancel": "edit ID --status cancelled",
    "close": "done ID",
    "complete": "done ID",
    "create": "add TEXT",
    "delete": "rm ID",
    "export": "show --format json",
    "finish": "done ID",
    "help": "--help",
    "init": "add TEXT",
    "ls": "list",
    "new": "add TEXT",
    "pause": "wait ID REASON",
    "plans": "where",
    "rename": "edit ID --subject TEXT",
    "reopen": "edit ID --status pending",
    "reorder": "move ID --before ID",
    "status": "list",
    "stop": "edit ID --status pending",
    "update": "edit ID",
    "version": "--version",
}
"""Names of commands in other tools, each with the todoplan command line that does the same."""


class _Grouped(TyperGroup):
    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the named command. For a name in `_OTHER_NAMES`, fail and say what to write."""
        if args and args[0] not in self.commands and (ours := _OTHER_NAMES.get(args[0])):
            ctx.fail(f"No such command {args[0]!r}. Write: todoplan {ours}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - as typer calls it
        """Write the commands in their groups."""
        width = formatter.width - 6 - max(map(len, self.commands))
        for group, names in COMMANDS.items():
            rows = dict.fromkeys(name.partition(" ")[0] for name in names)
            with formatter.section(group):
                formatter.write_dl(
                    [(name, self.commands[name].get_short_help_str(width)) for name in rows]
                )


def make_app(command: str | None = None) -> typer.Typer:
    """
    Return the application for a command line.

    Importing all commands and reading their options takes longer than most commands do. So for a
    known `command`, the application has that command only. For any other text (help, or a mistake),
    it has all commands with their docstrings, but without options. For `None`, it has all commands
    with their options.
    """
    app = typer.Typer(
        name="todoplan",
        cls=_Grouped,
        rich_markup_mode=None,  # brackets in help texts are not markup
        no_args_is_help=True,
        pretty_exceptions_enable=False,  # a defect shows Python's own traceback, without the locals
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_todoplan)
    paths = {name: path for group in COMMANDS.values() for name, path in group.items()}
    wanted = {name: path for name, path in paths.items() if name.partition(" ")[0] == command}
    make: Callable[[str], Callable[..., None]] = _described
    if wanted or command is None:
        from todoplan.cli.options import command_of as make  # noqa: PLC0415 - slow to import
    for name, path in (wanted or paths).items():
        outer, _, inner = name.partition(" ")
        if inner:
            about = "Copy plans between stores."
            stores = typer.Typer(
                name=outer, help=about, no_args_is_help=True, rich_markup_mode=None
            )
            stores.command(inner)(make(path))
            app.add_typer(stores)
        else:
            app.command(outer)(make(path))
    return app


def _described(path: str) -> Callable[..., None]:
    """Return an empty function with the docstring of a command, without importing the command."""

    def described() -> None:
        """Do nothing. Never called: for a known command, `make_app` imports the real function."""

    module, _, name = path.rpartition(".")
    described.__doc__ = _docstrings(f"todoplan.{module}")[name]
    return described


@cache
def _docstrings(module: str) -> dict[str, str]:
    """Return the docstrings of a module's functions by name, without importing the module."""
    code = cast("Any", find_spec(module)).loader.get_code(module)
    # The first constant of a function is its docstring.
    functions = (constant for constant in code.co_consts if type(constant) is CodeType)
    return {function.co_name: function.co_consts[0] for function in functions}


def _show_version(wanted: bool) -> None:  # noqa: FBT001 - typer calls it so
    if wanted:
        typer.echo(todoplan.__version__)
        raise typer.Exit


def _todoplan(
    *,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version and exit.", callback=_show_version, is_eager=True
        ),
    ] = False,
) -> None:
    """
    Keep, edit, replay and serve the plans of LLM agents.

    Exit codes: 0 success, 1 refused by the rules or findings of severity error, 2 an input could
    not be read or an argument is wrong.
    """


def run(arguments: Sequence[str]) -> None:
    """Run a command line, and exit with its code."""
    # A shell that asks for completions passes the typed line in environment variables.
    is_completed = "_TODOPLAN_COMPLETE" in os.environ
    command = next((word for word in arguments if not word.startswith("-")), "")
    # Without `prog_name`, click would use `python -m todoplan`, which no shell completes.
    make_app(None if is_completed else command)(prog_name="todoplan")
