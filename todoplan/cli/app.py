"""The commands and their options; what they do stands in a module for each."""

from collections.abc import Callable, Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from todoplan.cli.leaving import leave
from todoplan.cli.mcp_command import TOKEN, Address, Served, serve
from todoplan.cli.replay_command import Form, Manner, replay, replay_sample
from todoplan.cli.schema_command import FORMS, TOOLSETS, schema
from todoplan.cli.screen import Screen
from todoplan.cli.show_command import PRINTERS, show
from todoplan.cli.stats_command import stats
from todoplan.core.presets import PRESETS
from todoplan.transcripts.findings import POLICIES
from todoplan.transcripts.reading import DIALECTS

__all__ = ["app"]

app = typer.Typer(
    name="todoplan",
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _one_of(names: Iterable[str]) -> Callable[[str | None], str | None]:
    known = tuple(names)

    def check(name: str | None) -> str | None:
        if name is not None and name not in known:
            msg = f"{name!r} is none of {', '.join(known)}"
            raise typer.BadParameter(msg)
        return name

    return check


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
    Plans of LLM agents: replay recordings of them, count, show, and print tool schemas.

    Exit codes: 0 fine, 1 findings of severity error, 2 something could not be read.
    """


_Recordings = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="FILE|DIR",
        help="Recordings. A directory stands for the *.jsonl, *.json and *.md files below it; "
        "files in it that hold no recording are skipped and listed.",
        show_default=False,
    ),
]
_Policy = Annotated[
    str,
    typer.Option(
        metavar="PRESET",
        help=f"The rules to judge by: {', '.join(POLICIES)}.",
        callback=_one_of(POLICIES),
    ),
]
_Json = Annotated[bool, typer.Option("--json", help="Print one JSON document, for programs.")]


@app.command("replay")
def _replay(  # noqa: PLR0913 - an argument for each option
    paths: _Recordings = None,
    *,
    as_json: _Json = False,
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="Print Markdown, to be pasted into an issue.")
    ] = False,
    policy: _Policy = "audit",
    dialect: Annotated[
        str | None,
        typer.Option(
            metavar="DIALECT",
            help=f"Read as this dialect instead of finding out: {', '.join(DIALECTS)}.",
            callback=_one_of(DIALECTS),
            show_default=False,
        ),
    ] = None,
    sample: Annotated[
        bool, typer.Option("--sample", help="Replay the small recording that comes along.")
    ] = False,
) -> None:
    """
    Show what became of the plan in recordings of agents: timeline, last plan, findings.
    """
    if as_json and as_markdown:
        _refuse("give --json or --markdown, not both")
    if sample is bool(paths):
        _refuse("give recordings or directories of them, or else --sample")
    form: Form = "json" if as_json else "markdown" if as_markdown else "text"
    manner, screen = Manner(form, policy, dialect), Screen()
    leave(lambda: replay(paths, manner, screen) if paths else replay_sample(manner, screen))


def _refuse(reason: str) -> NoReturn:
    raise typer.BadParameter(reason)


@app.command("stats")
def _stats(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="DIR|FILE",
            help="Directories of recordings; files too. The same files count as in replay.",
        ),
    ],
    *,
    as_json: _Json = False,
    policy: _Policy = "audit",
) -> None:
    """
    Count over many recordings: plans, sizes, updates, findings, characters spent on planning.
    """
    leave(lambda: stats(paths, as_json=as_json, policy=policy, screen=Screen()))


@app.command("show")
def _show(
    plan: Annotated[
        Path, typer.Argument(metavar="PLAN.json", help="A plan document, or a file of plans.")
    ],
    *,
    form: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help=f"The form: text, {', '.join(PRINTERS)}.",
            callback=_one_of(("text", *PRINTERS)),
        ),
    ] = "text",
    plan_id: Annotated[
        str | None,
        typer.Option(
            "--plan",
            metavar="NAME",
            help="Which plan, of a file that keeps several, as `todoplan mcp --file` does.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """
    Show a plan that was saved as JSON, or one that a FileStore keeps.
    """
    leave(lambda: show(plan, form, Screen(), plan_id))


@app.command("schema")
def _schema(
    toolset: Annotated[
        str,
        typer.Argument(
            metavar="TOOLSET",
            help=f"The tool set: {', '.join(TOOLSETS)}.",
            callback=_one_of(TOOLSETS),
        ),
    ],
    *,
    form: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help=f"The shape: {', '.join(FORMS)}. plain is a JSON Schema by tool name, "
            "strict is OpenAI's strict mode.",
            callback=_one_of(FORMS),
        ),
    ] = "plain",
) -> None:
    """
    Print the tools of a tool set as JSON, ready for a request.
    """
    leave(lambda: schema(toolset, form, Screen()))


@app.command("mcp")
def _mcp(  # noqa: PLR0913 - an argument for each option
    *,
    file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The JSON file that keeps the plan. Without one it ends with the server.",
            show_default=False,
        ),
    ] = None,
    plan: Annotated[str, typer.Option(metavar="ID", help="The plan in that file.")] = "plan",
    toolset: Annotated[
        str,
        typer.Option(
            metavar="TOOLSET",
            help=f"What the model gets: {', '.join(TOOLSETS)}.",
            callback=_one_of(TOOLSETS),
        ),
    ] = "todos",
    policy: Annotated[
        str,
        typer.Option(
            metavar="PRESET",
            help=f"The rules of the plan: {', '.join(PRESETS)}.",
            callback=_one_of(PRESETS),
        ),
    ] = "default",
    text_only: Annotated[
        bool,
        typer.Option("--text-only", help="Answer with texts alone, not with data beside them."),
    ] = False,
    http: Annotated[
        bool, typer.Option("--http", help="Serve streamable HTTP at /mcp, not stdio.")
    ] = False,
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help=f"The address to bind. One that is not loopback needs a token in {TOKEN}.",
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(metavar="PORT", help="The port; 0 is any that is free.")
    ] = 8765,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="A name under which clients reach the server; repeatable."
        ),
    ] = None,
) -> None:
    """
    Serve a plan to any MCP client, over stdio or HTTP.
    """
    served = Served(file, plan, toolset, policy, not text_only)
    address = Address(host, port, tuple(allow_host or ())) if http else None
    leave(lambda: serve(served, address, Screen()))
