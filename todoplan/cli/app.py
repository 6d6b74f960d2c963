"""The commands and their options; what they do stands in a module for each."""

from importlib.metadata import version
from typing import Annotated, NoReturn

import typer

from todoplan.cli.commands.guide import guide
from todoplan.cli.commands.mcp import Address, Served, serve
from todoplan.cli.commands.replay import Form, ReplayOptions, replay, replay_sample
from todoplan.cli.commands.schema import schema
from todoplan.cli.commands.show import show
from todoplan.cli.commands.stats import StatsOptions, stats
from todoplan.cli.exit_codes import exit_with
from todoplan.cli.options import (
    AsJson,
    AsMarkdown,
    Dialect,
    Document,
    Folders,
    GuideName,
    Host,
    Hosts,
    Judging,
    OverHttp,
    PlanFile,
    PlanForm,
    PlanId,
    PlanName,
    Port,
    Recordings,
    Rules,
    Sample,
    SchemaForm,
    Sort,
    TextOnly,
    Together,
    ToolSetArgument,
    ToolSetOption,
)
from todoplan.cli.output.screen import Screen

__all__ = ["app"]

app = typer.Typer(
    name="todoplan",
    add_completion=False,
    rich_markup_mode=None,  # brackets in help texts are brackets
    no_args_is_help=True,
    pretty_exceptions_enable=False,  # a defect shows Python's own traceback, without the locals
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:  # noqa: FBT001 - typer calls it so
    if wanted:
        typer.echo(version("todoplan"))
        raise typer.Exit


@app.callback()
def todoplan(
    *,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version and exit.", callback=_show_version, is_eager=True
        ),
    ] = False,
) -> None:
    """
    Plans of LLM agents: replay recordings of them, count, show, print tool schemas; guides.

    Exit codes: 0 fine, 1 findings of severity error, 2 something could not be read.
    """


@app.command("replay")
def _replay(  # noqa: PLR0913 - an argument for each option
    paths: Recordings = None,
    *,
    as_json: AsJson = False,
    as_markdown: AsMarkdown = False,
    policy: Judging = "audit",
    dialect: Dialect = None,
    sample: Sample = False,
    together: Together = False,
) -> None:
    """
    Show what became of the plan in recordings of agents: timeline, last plan, findings.
    """
    if as_json and as_markdown:
        _refuse("give --json or --markdown, not both")
    if sample is bool(paths):  # both, or neither
        _refuse("give recordings or directories of them, or else --sample")
    form: Form = "json" if as_json else "markdown" if as_markdown else "text"
    options, screen = ReplayOptions(form, policy, dialect, together), Screen()
    exit_with(lambda: replay(paths, options, screen) if paths else replay_sample(options, screen))


def _refuse(reason: str) -> NoReturn:
    # typer ends with 2 for it, the code of whatever was asked for wrongly.
    raise typer.BadParameter(reason)


@app.command("stats")
def _stats(
    paths: Folders,
    *,
    as_json: AsJson = False,
    as_markdown: AsMarkdown = False,
    policy: Judging = "audit",
    sort: Sort = "",
) -> None:
    """
    Count over many recordings: plans, sizes, updates, findings, characters spent on planning.
    """
    if as_json and as_markdown:
        _refuse("give --json or --markdown, not both")
    form: Form = "json" if as_json else "markdown" if as_markdown else "text"
    exit_with(lambda: stats(paths, StatsOptions(form, policy, sort), Screen()))


@app.command("show")
def _show(plan: Document, *, form: PlanForm = "text", plan_id: PlanName = None) -> None:
    """
    Show a plan that was saved as JSON, or one that a FileStore keeps.
    """
    exit_with(lambda: show(plan, form, Screen(), plan_id))


@app.command("schema")
def _schema(toolset: ToolSetArgument, *, form: SchemaForm = "plain") -> None:
    """
    Print the tools of a tool set as JSON, ready for a request.
    """
    exit_with(lambda: schema(toolset, form, Screen()))


@app.command("guide")
def _guide(name: GuideName = None) -> None:
    """
    Show a guide, or list them all.
    """
    exit_with(lambda: guide(name, Screen()))


@app.command("mcp")
def _mcp(  # noqa: PLR0913 - an argument for each option
    *,
    file: PlanFile = None,
    plan: PlanId = "plan",
    toolset: ToolSetOption = "todos",
    policy: Rules = "default",
    text_only: TextOnly = False,
    http: OverHttp = False,
    host: Host = "127.0.0.1",
    port: Port = 8765,
    allow_host: Hosts = None,
) -> None:
    """
    Serve a plan to any MCP client, over stdio or HTTP.
    """
    served = Served(file, plan, toolset, policy, not text_only)
    address = Address(host, port, tuple(allow_host or ())) if http else None
    exit_with(lambda: serve(served, address, Screen()))
