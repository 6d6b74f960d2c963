"""
The options of the commands, and the function with which typer runs a command.

A command is a function that `app.COMMANDS` names. Its docstring is its help, and its parameters
are its options and arguments.
"""

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from importlib import import_module
from typing import Annotated, Any

import attrs
import typer

from todoplan.cli.documents import FORMS, page_names
from todoplan.cli.exits import exit_code_of
from todoplan.cli.plans import ACTOR, BOARD_TOKEN, PLAN, STORE, Fields, Place
from todoplan.cli.plugin import HOSTS
from todoplan.codec.foreign.markdown import FORMS as MARKDOWN_FORMS
from todoplan.core.plan.model import TASK_FIELDS, Priority, Status, TaskField
from todoplan.core.rules import PRESETS
from todoplan.dialogue.tools import TOOLSETS
from todoplan.errors import PlanError, TodoplanError
from todoplan.render.outline import clip
from todoplan.render.terminal import Screen
from todoplan.texts import one_line
from todoplan.transcripts import DIALECT_NAMES
from todoplan.typed import INPUTS, OF_THE_CALENDAR, day_of, minutes_of, value_of_text

# The modules for recordings and views are imported only when one of their commands runs. So the
# names that their options accept are repeated here.

AUDITS = ("audit", *PRESETS)
"""The names of `todoplan.transcripts.replay.POLICIES`."""

SORT_KEYS = ("name", "calls", "findings", "open", "chars", "date")
"""The names of `todoplan.transcripts.commands.SORTS`."""

SHOWN_FORMS = ("text", "markdown", "mermaid", "dot", "html", "json")
""""text", and the names of `todoplan.cli.views.PRINTERS`."""

# -------- option values --------

_HINT = 60


def _beginning(names: Iterable[str]) -> Callable[[str], list[str]]:
    def complete(incomplete: str) -> list[str]:
        return [name for name in names if name and name.startswith(incomplete)]

    return complete


def _known_tasks(context: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """
    Return the task ids that begin with `incomplete`, each with its subject, for completion.

    They have a "#" if `incomplete` has one. The list is empty if the plan cannot be read.
    """
    mark = "#" if incomplete.startswith("#") else ""
    with suppress(TodoplanError):
        _, plan = Place(context.params.get("store"), context.params.get("plan_id")).loaded()
        return [
            (f"{mark}{task.id}", clip(one_line(task.subject), _HINT))
            for task in plan
            if task.id.startswith(incomplete.removeprefix("#"))
        ]
    return []


def _known_plans(context: typer.Context, incomplete: str) -> list[str]:
    with suppress(TodoplanError):
        ids = Place(context.params.get("store")).store_itself().plan_ids()
        return [plan_id for plan_id in ids if plan_id.startswith(incomplete)]
    return []


def _time(given: str) -> datetime:
    try:
        if not given.isdecimal() and (minutes := minutes_of(given, OF_THE_CALENDAR)) is not None:
            return datetime.now(UTC) + timedelta(minutes=minutes)
        # A time without a zone is local time. A day begins at midnight.
        day = day_of(given.strip().lower())
        at = datetime.fromisoformat(given if day is None else day.isoformat()).astimezone()
    except (ValueError, OverflowError) as error:
        msg = (
            f"{given!r} is no time such as 2026-12-24, 2026-12-24T18:00, 2026-12-24T18:00+01:00,"
            " tomorrow, friday, or 2h or 1.5d from now"
        )
        raise typer.BadParameter(msg) from error
    # A wait until a past time would end at once.
    if at <= datetime.now(UTC):
        msg = f"{given!r} is past: give a later time, or leave --until out"
        raise typer.BadParameter(msg)
    return at


# -------- options --------


def _argument(metavar: str, words: str, names: Iterable[str] = (), **more: Any) -> Any:
    return typer.Argument(metavar=metavar, show_default=False, **_help(words, names), **more)


def _option(spec: str, words: str, names: Iterable[str] = (), **more: Any) -> Any:
    """Return an option. `spec` is its flag and, unless it is a switch, the name of its value."""
    flag, _, metavar = spec.partition(" ")
    return typer.Option(flag, metavar=metavar or None, **_help(words, names), **more)


def _help(words: str, names: Iterable[str]) -> dict[str, Any]:
    """
    Return the typer arguments for a help text.

    With `names`, the option accepts only these values, and they replace `{}` in the text.
    """
    known = tuple(names)
    if not known:
        return {"help": words}
    shown = ", ".join(filter(None, known))

    # typer's own choices need an Enum class, but these names are the keys of a dict.
    def check(name: str | None) -> str | None:
        if name is not None and name not in known:
            msg = f"{name!r} is none of {shown}"
            raise typer.BadParameter(msg)
        return name

    return {"help": words.format(shown), "callback": check, "autocompletion": _beginning(known)}


def option_of_field(field: TaskField, words: str = "", metavar: str = "", **more: Any) -> Any:
    """Return the option for a field of a task; the help is `words`, or else the field's name."""
    if not words:
        clears = '; "" for none' if field.default is None else ""
        words = f"{field.name.replace('_', ' ').capitalize()}{clears}."

    def read(text: str) -> Any:
        try:
            value = value_of_text(field, text)
        except PlanError as error:
            raise typer.BadParameter(str(error)) from None
        # For typer, `None` is an option that was not given. `Fields.given` reads "" as `None`.
        return "" if value is None else value

    spec = f"--{field.name.replace('_', '-')} {metavar or INPUTS[field.kind].metavar}"
    return _option(spec, words, parser=read, **more)


def _field(name: str, words: str, **more: Any) -> Any:
    return option_of_field(TASK_FIELDS[name], words, **more)


_ID: dict[str, Any] = {"autocompletion": _known_tasks}
_IDS = "The tasks, by their ids: 2 3, 2,3 or 2-4"
_AUDIT = _option("--policy PRESET", "The rules to check against: {}.", AUDITS)

OPTIONS: dict[str, Any] = {
    # The plan, the actor and the policy.
    "store": _option(
        "--store STORE",
        "Where the plans are stored: a .json or .db file, or an address such as postgresql://...; "
        f"the default is {STORE}, and without it the project's .todoplan/plans.db.",
    ),
    "plan_id": _option(
        "--plan ID",
        f"The plan, if the store has several; the default is {PLAN}.",
        autocompletion=_known_plans,
    ),
    "actor": _option(
        "--actor NAME", f"Who makes the change; the default is {ACTOR}, or your login name."
    ),
    "policy": _option(
        "--policy PRESET|FILE",
        f"The rules: {', '.join(PRESETS)}, or a TOML file.",
        autocompletion=_beginning(PRESETS),
    ),
    "rules": _option(
        "--rule RULE=HOW",
        "A single rule, as off, warn, error, or the number that is its limit; repeatable.",
    ),
    "as_json": _option("--json", "Answer in JSON, for programs."),
    # Tasks and their fields.
    "task": _argument("ID", "The task, by its id; several as 2,3 or 2-4.", **_ID),
    "tasks": _argument("ID", f"{_IDS}.", **_ID),
    "start.tasks": _argument("ID", f"{_IDS}; without an id, the next ready task.", **_ID),
    "after": _option("--after ID", "A task that must be completed first; repeatable.", **_ID),
    "move.task": _argument("ID", "The task, by its id.", **_ID),
    "before": _option("--before ID", "The task directly after it in the new order.", **_ID),
    "move.after": _option(
        "--after ID",
        "The task directly before it in the new order; this adds no dependency.",
        **_ID,
    ),
    "subject": _argument("TEXT", "What is to be done."),
    "change.subject": _option("--subject TEXT", "What is to be done."),
    "description": _field("description", "Details of the task."),
    "active_form": _field("active_form", 'The text that is shown during the work: "Sowing beans".'),
    "owner": _field("owner", 'Who should do it; "" for nobody.'),
    "check": _field("check", 'How to verify that it is done; "" for no check.'),
    "priority": _field("priority", '{}; "" for none.', names=("", *Priority)),
    "parent": _field("parent", 'The task that it is a subtask of; "" for none.', **_ID),
    "status": _option("--status STATUS", "{}.", Status),
    "estimate": _field(
        "estimate",
        "How long the work takes: 90m, 2h, 1.5d (of 8 hours), 1w (of 5 days), or minutes; "
        '"" for none.',
        metavar="TIME",
    ),
    "due": _field(
        "due", 'The day it is due: 2026-12-24, tomorrow, friday, 3d or 2w from today; "" for none.'
    ),
    "reason": _argument("REASON", "What or whom the task waits for, in a few words."),
    "question": _option("--question TEXT", "A question; `todoplan answer` answers it."),
    "text": _argument("TEXT", "The answer; it is stored in the task."),
    "over": _option("--over", "End the wait."),
    "until": _option(
        "--until TIME",
        "The time when it can be started: 2026-12-24T18:00, local time unless it has a zone; "
        "tomorrow, friday; or 2h, 1.5d from now.",
        parser=_time,
    ),
    "remove": _option("--remove", "Remove these dependencies instead of adding them."),
    # Views.
    "only_ready": _option("--ready", "Show only tasks that can be started now."),
    "in_status_line": _option(
        "--line",
        "For a status line: use the plan of the session that the JSON on stdin names; print "
        "nothing if there is none.",
    ),
    "explain": _option("--explain", "Also say why the other open tasks are not ready."),
    "last": _option("--last N", "Show the last N changes; 0 for all.", min=0),
    "since": _argument(
        "SINCE",
        "The earlier revision, a number from `todoplan log`; without it, the last change is shown.",
        min=0,
    ),
    "diff.until": _argument("UNTIL", "The later revision; without it, the present plan.", min=0),
    "timeout": _option("--timeout SECONDS", "End after this time without a change.", min=0),
    "watch.as_json": _option("--json", "Print one line of JSON for each change."),
    # Plans in files.
    "document": _argument(
        "PLAN.json|ID", "A plan document, a file of plans (JSON or SQLite), or the id of a task."
    ),
    "show.form": _option("--format FORMAT", "The format: {}.", SHOWN_FORMS),
    "html": _option(
        "--html OUT",
        "Write an HTML page to this file, or to stdout if it is -. The page needs no other files.",
    ),
    "picture": _option(
        "--svg OUT",
        "Write a picture of the plan, for example for a README, to this file, or to stdout if it "
        "is -.",
    ),
    "source": _argument(
        "FILE|FOLDER", "A file with tasks in Markdown or JSON, or the folder of Backlog.md."
    ),
    "file": _argument("FILE", "A Markdown file with tasks."),
    "form": _option("--form FORM", "{}; without it, the form is detected.", MARKDOWN_FORMS),
    "watch": _option("--watch", "Continue to synchronise until Ctrl-C."),
    "copy.source": _argument("FROM", "The store to copy from, by its address."),
    "target": _argument("TO", "The store to copy to."),
    "plans": _option("--plan ID", "A plan to copy; repeatable. Without it, all are copied."),
    # Servers.
    "host": _option(
        "--host ADDRESS", "The address to bind. An address that is not loopback needs a token."
    ),
    "port": _option("--port PORT", "The port; 0 for any free port.", min=0, max=65535),
    "allow_host": _option(
        "--allow-host NAME", "A host name that clients may use for the server; repeatable."
    ),
    "token": _option(
        "--token BOARD_TOKEN",
        "The token that readers need. Process lists show arguments, so prefer the variable.",
        envvar=BOARD_TOKEN,
    ),
    "write": _option(
        "--write/--read-only",
        "Whether readers may change plans. By default they may if only this machine can reach the "
        "board.",
    ),
    "browser": _option("--browser/--no-browser", "Open the board in a browser."),
    # Agents.
    "serve.file": _option("--file FILE", "Keep the plan in this JSON file instead of a store."),
    "serve.toolset": _option("--toolset TOOLSET", "The tools for the model: {}.", TOOLSETS),
    "serve.actor": _option(
        "--actor NAME",
        "The actor in the plan's history; the default is the name that the client reports.",
    ),
    "run": _option(
        "--verify COMMAND",
        "Run this command before a task that has a check is completed, and record the result as "
        "evidence. With the rule evidence_required=error, a failed check refuses the completion.",
    ),
    "structured": _option(
        "--structured/--text-only",
        "Answer with structured data beside the text, or never. By default, only clients that show "
        "the board get it.",
    ),
    "board": typer.Option(
        " /--no-board",
        help="Do not offer the board to clients that show pages (MCP Apps).",
        show_default=False,
    ),
    "lenient": _option(
        "--lenient",
        "Publish schemas without required fields and lists of allowed words, for hosts that check "
        "arguments themselves (Gemini CLI, Qwen Code). Then synonyms are repaired, not refused.",
    ),
    "hooks": _option(
        "--hooks",
        "Serve a coding agent, and answer its hooks (`todoplan hook`). The folder that `todoplan "
        "plugin` writes uses this.",
    ),
    "http": _option(
        "--http",
        "Serve streamable HTTP at /mcp instead of stdio. Its token is TODOPLAN_MCP_TOKEN.",
    ),
    "folder": _argument("DIR", "The folder to write."),
    "write_plugin.host": _option(
        "--host HOST",
        "The coding agent: {}. Codex and Copilot CLI use the files of claude.",
        HOSTS,
    ),
    "tools": _option("--tools TOOLSET", "The tools for the model: {}.", TOOLSETS),
    "plan": _option(
        "--plan session|project",
        "One plan for each session, or one for the project, which all sessions share.",
        ("session", "project"),
    ),
    "reminders": _option("--reminders/--no-reminders", "Whether the model is reminded."),
    "stop": _option(
        "--stop/--no-stop", "Whether the model is asked to go on if it stops while tasks are open."
    ),
    "word": _argument(
        "show|on|off",
        "Show the plan of the session, or switch its reminders on or off; without a word, an event "
        "is read from stdin.",
    ),
    "toolset": _argument("TOOLSET", "The tool set: {}.", TOOLSETS),
    "schema.form": _option(
        "--format FORMAT",
        "The format: {}. plain is a JSON Schema by tool name, strict is OpenAI's strict mode.",
        FORMS,
    ),
    "new_adapter.name": _argument("NAME", "The framework, as in the name of a Python module."),
    "new_adapter.folder": _option("--dir DIR", "The folder to write into."),
    "name": _argument(
        "NAME",
        "The guide to show; in a pipe, as raw Markdown. Without a name, all guides are listed.",
        autocompletion=_beginning(page_names()),
    ),
    # Recordings.
    "paths": _argument(
        "FILE|DIR",
        "Recordings. In a directory, all *.jsonl, *.ndjson, *.json, *.md and *.log files below it "
        "are read, also if compressed as .gz or .zip. Files without a recording are skipped and "
        "listed.",
    ),
    "as_markdown": _option("--markdown", "Print Markdown, for example to paste into an issue."),
    "otlp": _option(
        "--otlp URL",
        "Send the recordings as spans to this collector, over HTTP: http://localhost:4318.",
    ),
    "replay.policy": _AUDIT,
    "stats.policy": _AUDIT,
    "report.policy": _AUDIT,
    "dialect": _option(
        "--dialect DIALECT", "Read as this dialect instead of detecting it: {}.", DIALECT_NAMES
    ),
    "sample": _option("--sample", "Replay the small recording that is part of todoplan."),
    "together": _option(
        "--together", "Replay all as one plan: the recordings of a leader and its teammates."
    ),
    "sort": _option(
        "--sort KEY",
        "Sort the recordings by {}; without it, they are in the order of the files.",
        ("", *SORT_KEYS),
        show_default=False,
    ),
}
"""The options by parameter name. A key such as `start.tasks` is for the function `start` only."""


OPTIONS |= {
    field.name: option_of_field(TASK_FIELDS[field.name])
    for field in attrs.fields(Fields)
    if field.name not in OPTIONS
}

# -------- commands --------


def command_of(path: str) -> Callable[..., None]:
    """
    Return the function with which typer runs a command. `path` is given as in `app.COMMANDS`.

    A parameter that is annotated with an attrs class is replaced by an option for each field of
    the class. The screen is not an option.
    """
    module, _, name = path.rpartition(".")
    function: Callable[..., int | None] = getattr(import_module(f"todoplan.{module}"), name)
    own = inspect.signature(function)
    groups = {p.name: p.annotation for p in own.parameters.values() if attrs.has(p.annotation)}
    plain = (
        (p.name, p.annotation, p.default)
        for p in own.parameters.values()
        if p.name not in groups and p.annotation is not Screen
    )
    # Shared options come after the command's own, also in its help.
    fields = (field for group in groups.values() for field in _fields_of(group))
    parameters = [
        inspect.Parameter(
            key,
            inspect.Parameter.KEYWORD_ONLY,
            default=default,
            annotation=Annotated[kind, OPTIONS.get(f"{name}.{key}") or OPTIONS[key]],
        )
        for key, kind, default in (*plain, *fields)
    ]

    def run(**given: Any) -> None:
        values = {name: _group_of(group, given) for name, group in groups.items()}
        sys.exit(exit_code_of(lambda screen: function(**given, **values, screen=screen)))

    run.__doc__ = function.__doc__
    # typer calls `inspect.signature`, which uses this attribute if it is set.
    vars(run)["__signature__"] = own.replace(parameters=parameters, return_annotation=None)
    return run


def _fields_of(group: type) -> Iterator[tuple[str, Any, Any]]:
    for field in attrs.fields(group):
        if attrs.has(field.type):
            yield from _fields_of(field.type)
        else:
            yield field.name, field.type, field.default


def _group_of(group: type, given: dict[str, Any]) -> Any:
    """
    Make an instance of the attrs class `group` from `given` option values; remove these values.
    """
    values = {
        field.name: _group_of(field.type, given) if attrs.has(field.type) else given.pop(field.name)
        for field in attrs.fields(group)
    }
    return group(**values)
