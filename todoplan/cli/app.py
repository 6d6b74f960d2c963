"""The commands and their options; what they do stands in a module for each."""

from importlib.metadata import version
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from todoplan.cli.commands.guide import guide
from todoplan.cli.commands.mcp import Address, Served, serve
from todoplan.cli.commands.replay import Form, ReplayOptions, replay, replay_sample
from todoplan.cli.commands.schema import schema
from todoplan.cli.commands.show import show
from todoplan.cli.commands.stats import StatsOptions, stats
from todoplan.cli.commands.store import STORE, chosen_store, copy
from todoplan.cli.exit_codes import exit_with
from todoplan.cli.options import (
    AsJson,
    AsMarkdown,
    Dialect,
    Document,
    Endpoint,
    Folders,
    GuideName,
    Host,
    Hosts,
    Judging,
    NoBoard,
    OverHttp,
    Page,
    PlanFile,
    PlanForm,
    PlanId,
    PlanName,
    PlanNames,
    Port,
    Recordings,
    Rules,
    Sample,
    SchemaForm,
    Sort,
    StoreFrom,
    StoreTo,
    StoreUrl,
    Structured,
    Together,
    ToolSetArgument,
    ToolSetOption,
)
from todoplan.cli.output.screen import Screen
from todoplan.cli.page_commands import PAGE_COMMANDS
from todoplan.cli.plan_commands import PLAN_COMMANDS
from todoplan.errors import StoreError

__all__ = ["app"]

app = typer.Typer(
    name="todoplan",
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
    Plans of LLM agents: keep one and edit it, replay recordings of them, serve them; guides.

    Exit codes: 0 fine, 1 refused by the rules or findings of severity error, 2 something could not
    be read.
    """


@app.command("replay")
def _replay(  # noqa: PLR0913 - an argument for each option
    paths: Recordings = None,
    *,
    as_json: AsJson = False,
    as_markdown: AsMarkdown = False,
    html: Page = None,
    otlp: Endpoint = None,
    policy: Judging = "audit",
    dialect: Dialect = None,
    sample: Sample = False,
    together: Together = False,
) -> None:
    """
    Show what became of the plan in recordings of agents: timeline, last plan, findings.
    """
    form, out = _form(html, as_json=as_json, as_markdown=as_markdown)
    if sample is bool(paths):  # both, or neither
        _refuse("give recordings or directories of them, or else --sample")
    if otlp is not None:
        if form != "text":
            _refuse("give one of --json, --markdown, --html and --otlp")
        if not otlp.startswith(("http://", "https://")):
            _refuse(f"{otlp!r} is no address of a collector, such as http://localhost:4318")
        form = "otlp"
    options = ReplayOptions(form, policy, dialect, together, out, otlp or "")
    screen = Screen()
    exit_with(lambda: replay(paths, options, screen) if paths else replay_sample(options, screen))


def _form(html: Path | None, *, as_json: bool, as_markdown: bool) -> tuple[Form, Path | None]:
    """
    Return the form that was asked for, and the file for a page, `None` for stdout.
    """
    if as_json + as_markdown + (html is not None) > 1:
        _refuse("give one of --json, --markdown and --html")
    if html is not None:
        # "-" is stdout, as in many commands that write a file.
        return "html", None if str(html) == "-" else html
    return "json" if as_json else "markdown" if as_markdown else "text", None


def _refuse(reason: str) -> NoReturn:
    # typer ends with 2 for it, the code of whatever was asked for wrongly.
    raise typer.BadParameter(reason)


@app.command("stats")
def _stats(  # noqa: PLR0913 - an argument for each option
    paths: Folders,
    *,
    as_json: AsJson = False,
    as_markdown: AsMarkdown = False,
    html: Page = None,
    policy: Judging = "audit",
    sort: Sort = "",
) -> None:
    """
    Count over many recordings: plans, sizes, updates, findings, characters spent on planning.
    """
    form, out = _form(html, as_json=as_json, as_markdown=as_markdown)
    options, screen = StatsOptions(form, policy, sort, out), Screen()
    exit_with(lambda: stats(paths, options, screen))


@app.command("show")
def _show(
    plan: Document = None,
    *,
    store: StoreUrl = None,
    form: PlanForm = "text",
    plan_id: PlanName = None,
) -> None:
    """
    Show a plan that was saved as JSON, or one that a store keeps.
    """
    chosen = _store(store, plan)
    named = plan or chosen
    if named is None:
        _refuse(f"give a file, or a store by --store or {STORE}")
    exit_with(lambda: show(named, form, Screen(), plan_id))


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
    store: StoreUrl = None,
    plan: PlanId = "plan",
    toolset: ToolSetOption = "todos",
    policy: Rules = "default",
    structured: Structured = None,
    no_board: NoBoard = False,
    http: OverHttp = False,
    host: Host = "127.0.0.1",
    port: Port = 8765,
    allow_host: Hosts = None,
) -> None:
    """
    Serve a plan to any MCP client, over stdio or HTTP.
    """
    kept = (file, _store(store, file), plan)
    served = Served(*kept, toolset, policy, structured=structured, board=not no_board)
    address = Address(host, port, tuple(allow_host or ())) if http else None
    exit_with(lambda: serve(served, address, Screen()))


stores = typer.Typer(
    name="store", help="Move plans between stores.", no_args_is_help=True, rich_markup_mode=None
)
app.add_typer(stores)


@stores.callback()
def _stores() -> None:
    """
    Move plans between stores.
    """


@stores.command("copy")
def _copy(source: StoreFrom, target: StoreTo, *, plans: PlanNames = None) -> None:
    """
    Copy plans with their journals; those that are there already are left as they are.
    """
    exit_with(lambda: copy(source, target, plans or (), Screen()))


def _store(url: str | None, file: Path | None) -> str | None:
    try:
        return chosen_store(url, has_file=file is not None)
    except StoreError as error:
        _refuse(str(error))


for _name, _command in (PLAN_COMMANDS | PAGE_COMMANDS).items():
    app.command(_name)(_command)
