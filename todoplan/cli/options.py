"""The options of the commands, as typer reads them from annotations."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from todoplan.cli.commands.guide import page_names
from todoplan.cli.commands.mcp import TOKEN
from todoplan.cli.commands.schema import FORMS, TOOLSETS
from todoplan.cli.commands.show import PRINTERS
from todoplan.cli.commands.store import STORE
from todoplan.cli.counts import SORTS
from todoplan.core.rules.presets import PRESETS
from todoplan.transcripts.reading import DIALECTS
from todoplan.transcripts.replay.findings import POLICIES

__all__ = [
    "AsJson",
    "AsMarkdown",
    "Dialect",
    "Document",
    "Endpoint",
    "Folders",
    "GuideName",
    "Host",
    "Hosts",
    "Judging",
    "NoBoard",
    "OverHttp",
    "Page",
    "PlanFile",
    "PlanForm",
    "PlanId",
    "PlanName",
    "PlanNames",
    "Port",
    "Recordings",
    "Rules",
    "Sample",
    "SchemaForm",
    "Sort",
    "StoreFrom",
    "StoreTo",
    "StoreUrl",
    "Structured",
    "Together",
    "ToolSetArgument",
    "ToolSetOption",
    "one_of",
]


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


Recordings = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="FILE|DIR",
        help="Recordings. A directory stands for the *.jsonl, *.ndjson, *.json, *.md and "
        "*.log files below it, also packed as .gz or .zip; "
        "files in it that hold no recording are skipped and listed.",
        show_default=False,
    ),
]
Folders = Annotated[
    list[Path],
    typer.Argument(
        metavar="DIR|FILE",
        help="Directories of recordings; files too. The same files count as in replay.",
    ),
]
Judging = Annotated[
    str,
    typer.Option(
        metavar="PRESET",
        help=f"The rules to judge by: {', '.join(POLICIES)}.",
        **one_of(POLICIES),
    ),
]
Dialect = Annotated[
    str | None,
    typer.Option(
        metavar="DIALECT",
        help=f"Read as this dialect instead of finding out: {', '.join(DIALECTS)}.",
        **one_of(DIALECTS),
        show_default=False,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document, for programs.")]
AsMarkdown = Annotated[
    bool, typer.Option("--markdown", help="Print Markdown, to be pasted into an issue.")
]
Page = Annotated[
    Path | None,
    typer.Option(
        "--html",
        metavar="OUT",
        help="Write a page of HTML to this file, - for stdout; it needs nothing but itself.",
        show_default=False,
    ),
]
Endpoint = Annotated[
    str | None,
    typer.Option(
        "--otlp",
        metavar="URL",
        help="Send the recordings as spans to this collector, over HTTP: http://localhost:4318.",
        show_default=False,
    ),
]
Sort = Annotated[
    str,
    typer.Option(
        metavar="KEY",
        help=f"Sort the recordings by {', '.join(SORTS)}; else they stand as they are found.",
        **one_of(("", *SORTS)),
        show_default=False,
    ),
]
Together = Annotated[
    bool,
    typer.Option(
        "--together", help="Replay all as one plan: a leader's recording and its teammates'."
    ),
]
Sample = Annotated[
    bool, typer.Option("--sample", help="Replay the small recording that comes along.")
]
Document = Annotated[
    Path | None,
    typer.Argument(
        metavar="PLAN.json",
        help="A plan document, or a file of plans, JSON or SQLite.",
        show_default=False,
    ),
]
StoreUrl = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="URL",
        help="The store that keeps the plans: sqlite:///plans.db, postgresql://host/database or "
        f"file:///plans.json. Where no file is given either, {STORE} names it.",
        show_default=False,
    ),
]
StoreFrom = Annotated[
    str, typer.Argument(metavar="FROM", help="The store to copy from, by its address.")
]
StoreTo = Annotated[str, typer.Argument(metavar="TO", help="The store to copy to.")]
PlanNames = Annotated[
    list[str] | None,
    typer.Option("--plan", metavar="NAME", help="A plan to copy, of several; repeatable."),
]
PlanForm = Annotated[
    str,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help=f"The form: text, {', '.join(PRINTERS)}.",
        **one_of(("text", *PRINTERS)),
    ),
]
PlanName = Annotated[
    str | None,
    typer.Option(
        "--plan",
        metavar="NAME",
        help="Which plan, of a store or a file that keeps several.",
        show_default=False,
    ),
]
ToolSetArgument = Annotated[
    str,
    typer.Argument(
        metavar="TOOLSET",
        help=f"The tool set: {', '.join(TOOLSETS)}.",
        **one_of(TOOLSETS),
    ),
]
SchemaForm = Annotated[
    str,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help=f"The shape: {', '.join(FORMS)}. plain is a JSON Schema by tool name, "
        "strict is OpenAI's strict mode.",
        **one_of(FORMS),
    ),
]
GuideName = Annotated[
    str | None,
    typer.Argument(
        metavar="NAME",
        help="The guide to show; raw Markdown if it is piped. Without a name they are listed.",
        show_default=False,
        autocompletion=one_of(page_names())["autocompletion"],
    ),
]
PlanFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="The JSON file that keeps the plan. Without one it ends with the server.",
        show_default=False,
    ),
]
PlanId = Annotated[str, typer.Option(metavar="ID", help="The plan in that file or store.")]
ToolSetOption = Annotated[
    str,
    typer.Option(
        metavar="TOOLSET",
        help=f"What the model gets: {', '.join(TOOLSETS)}.",
        **one_of(TOOLSETS),
    ),
]
Rules = Annotated[
    str,
    typer.Option(
        metavar="PRESET",
        help=f"The rules of the plan: {', '.join(PRESETS)}.",
        **one_of(PRESETS),
    ),
]
Structured = Annotated[
    bool | None,
    typer.Option(
        "--structured/--text-only",
        help="Answer with data beside the text, or never; without either, only to clients that "
        "show the board.",
    ),
]
NoBoard = Annotated[
    bool, typer.Option("--no-board", help="Offer no board to clients that show pages (MCP Apps).")
]
OverHttp = Annotated[bool, typer.Option("--http", help="Serve streamable HTTP at /mcp, not stdio.")]
Host = Annotated[
    str,
    typer.Option(
        metavar="ADDRESS",
        help=f"The address to bind. One that is not loopback needs a token in {TOKEN}.",
    ),
]
Port = Annotated[
    int,
    typer.Option(metavar="PORT", min=0, max=65535, help="The port; 0 is any that is free."),
]
Hosts = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="A name under which clients reach the server; repeatable."),
]
