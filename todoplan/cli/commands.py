"""
The commands on a plan in a store, with their options and help texts.

What they do is in `plans` and `views`.
"""

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial, wraps
from importlib import import_module
from typing import Annotated, Any, cast

import attrs
import typer
from typer.core import TyperGroup

import todoplan
from todoplan.cli import plans
from todoplan.cli.plans import STORE, Edit, Judge, Place, Writer, id_of, ids_of_arguments
from todoplan.cli.screen import exit_with
from todoplan.core.commands import AnswerTask, ApprovePlan, CreateTask, DeleteTask, UpdateTask
from todoplan.core.plan.model import Priority, PriorityWord, Status, Waiting
from todoplan.core.rules import PRESETS
from todoplan.errors import TodoplanError
from todoplan.render.outline import clip
from todoplan.texts import one_line

# -------- option values --------


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


# -------- plan_options --------
# The options that the commands on a plan share: the plan, the actor and the policy.


_HINT = 60


def known_tasks(context: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """
    Return the task ids that begin with `incomplete`, each with its subject, for completion.

    The list is empty if the plan cannot be read.
    """
    place = Place(context.params.get("store"), context.params.get("plan_id"))
    with suppress(TodoplanError):
        store, plan_id = place.opened()
        return [
            (task.id, clip(one_line(task.subject), _HINT))
            for task in store.load(plan_id)
            if task.id.startswith(incomplete.removeprefix("#"))
        ]
    return []


def _known_plans(context: typer.Context, incomplete: str) -> list[str]:
    with suppress(TodoplanError):
        ids = Place(context.params.get("store")).store_itself().plan_ids()
        return [plan_id for plan_id in ids if plan_id.startswith(incomplete)]
    return []


def _policies(incomplete: str) -> list[str]:
    return [name for name in PRESETS if name.startswith(incomplete)]


StoreAddress = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="STORE",
        help="Where the plan is kept: a .json or .db file, or an address such as postgresql://...; "
        "else the project's .todoplan/plans.db.",
        envvar=STORE,
        show_default=False,
    ),
]
StoredPlan = Annotated[
    str | None,
    typer.Option(
        "--plan",
        metavar="ID",
        help="Which plan, if the store keeps several.",
        show_default=False,
        autocompletion=_known_plans,
    ),
]
Actor = Annotated[
    str | None,
    typer.Option(
        "--actor",
        metavar="NAME",
        help="Who makes the change, for the plan's history; else your login name.",
        envvar="TODOPLAN_ACTOR",
        show_default=False,
    ),
]
PolicyName = Annotated[
    str,
    typer.Option(
        "--policy",
        metavar="PRESET|FILE",
        help=f"The rules: {', '.join(PRESETS)}, or a TOML file.",
        autocompletion=_policies,
    ),
]
RuleOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--rule",
        metavar="RULE=HOW",
        help="A single rule: off, warn, error, or the number it counts by; repeatable.",
        show_default=False,
    ),
]
AsData = Annotated[bool, typer.Option("--json", help="Answer with one JSON document.")]
AsLines = Annotated[
    bool, typer.Option("--json", help="Print a JSON document a line, one for each change.")
]


# -------- task_options --------
# The arguments and options that name tasks and set their fields.


_ID = {"metavar": "ID", "autocompletion": known_tasks}
Subject = Annotated[str, typer.Argument(metavar="TEXT", help="What is to be done.")]
TaskId = Annotated[str, typer.Argument(help="The task, by its id; several as 2,3 or 2-4.", **_ID)]
TaskIds = Annotated[
    list[str], typer.Argument(help="The tasks, by their ids: 2 3, 2,3 or 2-4.", **_ID)
]
MaybeTaskIds = Annotated[
    list[str] | None,
    typer.Argument(
        help="The tasks, by their ids: 2 3, 2,3 or 2-4; without one, the next that is ready.",
        show_default=False,
        **_ID,
    ),
]
After = Annotated[
    list[str] | None,
    typer.Option(
        "--after",
        help="A task that has to be completed first; repeatable.",
        show_default=False,
        **_ID,
    ),
]


def _text(option: str, words: str) -> Any:
    return typer.Option(option, metavar="TEXT", help=words, show_default=False)


NewText = Annotated[str | None, _text("--subject", "What is to be done.")]
Description = Annotated[str | None, _text("--description", "More about it.")]
ActiveForm = Annotated[
    str | None, _text("--active-form", 'What is shown while it is worked on: "Sowing beans".')
]
Owner = Annotated[str | None, _text("--owner", 'Who should do it; "" for nobody.')]
Check = Annotated[str | None, _text("--check", 'What shows that it is done; "" for nothing.')]
PriorityName = Annotated[
    str | None,
    typer.Option(
        "--priority",
        metavar="PRIORITY",
        help=f"{', '.join(Priority)}.",
        show_default=False,
        **one_of(Priority),
    ),
]
Parent = Annotated[
    str | None,
    typer.Option(
        "--parent",
        help='The task that it is a part of; "" for none.',
        show_default=False,
        **_ID,
    ),
]
StatusName = Annotated[
    str | None,
    typer.Option(
        "--status",
        metavar="STATUS",
        help=f"{', '.join(Status)}.",
        show_default=False,
        **one_of(Status),
    ),
]
_DURATION = re.compile(r"(\d{1,6}(?:\.\d{1,3})?)\s*(m|min|h|d|w)?")
# A day and a week of work are shorter than those of the calendar.
_OF_WORK = {"m": 1, "min": 1, "h": 60, "d": 8 * 60, "w": 5 * 8 * 60}
_OF_THE_CALENDAR = {**_OF_WORK, "d": 24 * 60, "w": 7 * 24 * 60}


def _minutes(given: str, units: Mapping[str, int]) -> float | None:
    found = _DURATION.fullmatch(given.strip().lower())
    return None if found is None else float(found[1]) * units[found[2] or "m"]


def _effort(given: str) -> float:
    minutes = _minutes(given, _OF_WORK)
    if minutes is None:
        known = "90m, 2h, 1.5d (of 8 hours), 1w (of 5 days) or 90, which is in minutes"
        msg = f"{given!r} is no length of work; write {known}"
        raise typer.BadParameter(msg)
    return minutes


Estimate = Annotated[
    float | None,
    typer.Option(
        "--estimate",
        metavar="TIME",
        help="How long the work takes: 90m, 2h, 1.5d (of 8 hours), 1w (of 5 days), or minutes.",
        parser=_effort,
        show_default=False,
    ),
]


Reason = Annotated[
    str,
    typer.Argument(metavar="REASON", help="For whom or what, in a few words.", show_default=False),
]
Question = Annotated[
    str | None, _text("--question", "What somebody is asked, for `todoplan answer`.")
]
Answer = Annotated[str, typer.Argument(metavar="TEXT", help="The answer; the task keeps it.")]
IsOver = Annotated[bool, typer.Option("--over", help="It waits no longer.")]


def _time(given: str) -> datetime:
    if not given.isdecimal() and (minutes := _minutes(given, _OF_THE_CALENDAR)) is not None:
        return datetime.now(UTC) + timedelta(minutes=minutes)
    try:
        # A time without a zone is local time.
        at = datetime.fromisoformat(given).astimezone()
    except (ValueError, OverflowError) as error:
        msg = (
            f"{given!r} is no time such as 2026-12-24, 2026-12-24T18:00, 2026-12-24T18:00+01:00, or"
            " 2h or 1.5d from now"
        )
        raise typer.BadParameter(msg) from error
    # A wait until a past time would end at once.
    if at <= datetime.now(UTC):
        msg = f"{given!r} is past: give a later time, or leave --until out"
        raise typer.BadParameter(msg)
    return at


UntilTime = Annotated[
    datetime | None,
    typer.Option(
        "--until",
        metavar="TIME",
        help="From when on it can be started: 2026-12-24T18:00, local unless it has a zone; or 2h, "
        "1.5d from now.",
        parser=_time,
        show_default=False,
    ),
]
Remove = Annotated[bool, typer.Option("--remove", help="It need not wait for them any longer.")]
Ready = Annotated[bool, typer.Option("--ready", help="Only what could be started now.")]
Explain = Annotated[
    bool, typer.Option("--explain", help="Say of each other open task why it is not ready.")
]
Last = Annotated[
    int, typer.Option("--last", metavar="N", min=0, help="So many of the last changes; 0 for all.")
]
Since = Annotated[
    int | None,
    typer.Argument(
        metavar="SINCE",
        min=0,
        help="A revision, as `todoplan log` shows them; without one, the last change is shown.",
        show_default=False,
    ),
]
Until = Annotated[
    int | None,
    typer.Argument(
        metavar="UNTIL", min=0, help="Another; without one, the plan as it is.", show_default=False
    ),
]
Timeout = Annotated[
    float | None,
    typer.Option(
        "--timeout",
        metavar="SECONDS",
        min=0,
        help="End when nothing has come for so long.",
        show_default=False,
    ),
]


# -------- option groups --------
# Groups of options that many commands share: an attrs class whose fields are the options.
#
# typer reads a command's options from its parameters, so six shared options would be repeated on
# each of twelve commands. Here a command has one parameter for a whole group, and typer is given a
# signature in which the fields of the class replace that parameter.


@attrs.frozen
class Fields:
    """The fields of a task, new or not, that options set."""

    description: str | None = None
    active_form: str | None = None
    priority: str | None = None
    owner: str | None = None
    estimate: float | None = None
    parent: str | None = None
    check: str | None = None


_OPTIONS: dict[str, Any] = {
    "store": StoreAddress,
    "plan_id": StoredPlan,
    "actor": Actor,
    "policy": PolicyName,
    "rules": RuleOptions,
    "as_json": AsData,
    "description": Description,
    "active_form": ActiveForm,
    "priority": PriorityName,
    "owner": Owner,
    "estimate": Estimate,
    "parent": Parent,
    "check": Check,
}


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """
    Return a wrapper of the command for typer.

    In its signature, each parameter that is annotated with an attrs class is replaced by the
    fields of that class, as options; a field may be such a class too. The command itself is called
    with an instance of the class.
    """
    own = inspect.signature(command)
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
    for field in attrs.fields(group):
        if attrs.has(field.type):
            yield from _options_of(field.type)
        else:
            yield inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=field.default,
                annotation=_OPTIONS[field.name],
            )


def _group_of(group: type, given: dict[str, Any]) -> Any:
    """Return an instance of a group, and take its values out of those that were given."""
    values = {
        field.name: _group_of(field.type, given) if attrs.has(field.type) else given.pop(field.name)
        for field in attrs.fields(group)
    }
    return group(**values)


# -------- commands --------
# Their docstrings are the help texts.


def _list(*, ready: Ready = False, place: Place, as_json: AsData = False) -> None:
    """Show the plan, or with --ready only the tasks that can be started now."""
    exit_with(partial(plans.show_plan, place, only_ready=ready, as_json=as_json))


def _next(*, place: Place) -> None:
    """Show the task in progress, or the next one that is ready, in one line."""
    exit_with(partial(plans.show_next, place))


def _ready(*, explain: Explain = False, place: Place) -> None:
    """Show the tasks that can be started now, and with --explain why the others cannot."""
    exit_with(partial(plans.show_ready, place, explain=explain))


def _add(subject: Subject, *, after: After = None, fields: Fields, how: Edit) -> None:
    """
    Add a task at the end of the plan, or after the other subtasks of its parent.

    The first task creates the plan.
    """

    def make() -> CreateTask:
        return CreateTask(
            subject,
            description=fields.description or "",
            active_form=fields.active_form or None,
            priority=cast("PriorityWord | None", fields.priority),
            owner=fields.owner or None,
            estimate=fields.estimate,
            blocked_by=ids_of_arguments(after or ()),
            parent=id_of(fields.parent) if fields.parent else None,
            check=fields.check or None,
        )

    exit_with(partial(plans.add_task, make, how))


def _start(tasks: MaybeTaskIds = None, *, how: Edit) -> None:
    """Set tasks to in progress; without an id, the next ready task."""
    exit_with(partial(plans.start, tasks or (), how))


def _done(tasks: TaskIds, *, how: Edit) -> None:
    """Set tasks to completed."""
    exit_with(partial(plans.set_status, tasks, "completed", how))


def _fail(tasks: TaskIds, *, how: Edit) -> None:
    """Set tasks to failed; they are closed, and their dependents stay blocked."""
    exit_with(partial(plans.set_status, tasks, "failed", how))


def _wait(  # noqa: PLR0913 - an argument for each option
    task: TaskId,
    reason: Reason = "",
    *,
    question: Question = None,
    until: UntilTime = None,
    over: IsOver = False,
    how: Edit,
) -> None:
    """
    Pause a task until a person, an answer or a time, or end its wait with --over.

    A task in progress becomes pending again.
    """
    if over and (reason or question or until):
        msg = "--over ends the wait: leave the reason, --question and --until out"
        raise typer.BadParameter(msg)
    waiting = None if over else Waiting(reason, until, question or None)
    exit_with(partial(plans.on_each, partial(UpdateTask, waiting=waiting), [task], how))


def _answer(task: TaskId, text: Answer, *, how: Edit) -> None:
    """Answer the question of a waiting task and end its wait."""
    if not text.strip():
        over = f"todoplan wait {id_of(task)} --over"
        msg = f"the answer is empty; say something, or end the wait: {over}"
        raise typer.BadParameter(msg)
    exit_with(partial(plans.on_each, partial(AnswerTask, answer=text), [task], how))


def _edit(
    task: TaskId,
    *,
    subject: NewText = None,
    status: StatusName = None,
    fields: Fields,
    how: Edit,
) -> None:
    """
    Change the fields of a task: texts, priority, owner, estimate, parent, check or status.

    Use --status to cancel or reopen a task.
    """
    given = {"subject": subject, "status": status, **attrs.asdict(fields)}
    changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if not changes:
        msg = "say what to change, such as --subject or --status"
        raise typer.BadParameter(msg)
    # An empty text removes the value of these fields.
    for name in {"active_form", "owner", "parent", "check"} & {*changes}:
        changes[name] = changes[name] or None
    if changes.get("parent"):
        changes["parent"] = id_of(changes["parent"])
    exit_with(partial(plans.on_each, partial(UpdateTask, **changes), [task], how))


def _link(task: TaskId, *, after: After, remove: Remove = False, how: Edit) -> None:
    """Make a task depend on other tasks, or remove the dependency with --remove."""
    edges = "remove_blocked_by" if remove else "add_blocked_by"

    def make(task_id: str) -> UpdateTask:
        changes: dict[str, Any] = {edges: ids_of_arguments(after or ())}
        return UpdateTask(task_id, **changes)

    exit_with(partial(plans.on_each, make, [task], how))


def _release(tasks: TaskIds, *, how: Edit) -> None:
    """
    Release claimed tasks from their workers and set them to pending.

    Later reports of such a worker are refused.
    """
    exit_with(partial(plans.release, tasks, how))


def _remove(tasks: TaskIds, *, how: Edit) -> None:
    """
    Delete tasks from the plan.

    To keep a task that will not be done, cancel it: edit --status cancelled.
    """
    exit_with(partial(plans.on_each, DeleteTask, tasks, how))


def _undo(*, place: Place, writer: Writer, as_json: AsData = False) -> None:
    """
    Undo the last change that is not undone yet, by any actor.

    Repeat the command to undo earlier changes.
    """
    exit_with(partial(plans.undo, Edit(as_json, place, writer)))


def _redo(*, place: Place, writer: Writer, as_json: AsData = False) -> None:
    """Undo the last undo, unless the plan was changed after it."""
    exit_with(partial(plans.redo, Edit(as_json, place, writer)))


def _approve(*, how: Edit) -> None:
    """Approve the current plan; `todoplan drift` shows later changes."""
    exit_with(partial(plans.carry_out, partial(ApprovePlan, how.writer.name), how))


def _drift(*, place: Place, as_json: AsData = False) -> None:
    """Show the tasks added, removed and changed since the plan was approved."""
    from todoplan.cli.views import show_drift  # noqa: PLC0415 - slow to import

    exit_with(partial(show_drift, place, as_json=as_json))


def _log(*, last: Last = 20, place: Place, as_json: AsData = False) -> None:
    """Show the history of the plan: when it was changed, by whom and how."""
    from todoplan.cli.views import show_log  # noqa: PLC0415 - slow to import

    exit_with(partial(show_log, place, last=last, as_json=as_json))


def _diff(
    since: Since = None, until: Until = None, *, place: Place, as_json: AsData = False
) -> None:
    """Show the tasks that differ between two revisions of the plan."""
    from todoplan.cli.views import show_differences  # noqa: PLC0415 - slow to import

    exit_with(partial(show_differences, place, since=since, until=until, as_json=as_json))


def _watch(*, timeout: Timeout = None, place: Place, as_json: AsLines = False) -> None:
    """Show the plan and each change to it until Ctrl-C."""
    from todoplan.cli.views import watch  # noqa: PLC0415 - slow to import

    exit_with(partial(watch, place, timeout=timeout, as_json=as_json))


def _check(*, place: Place, judge: Judge, as_json: AsData = False) -> None:
    """Check a policy, and a stored plan against it; exit code 1 if the plan breaks a rule."""
    from todoplan.cli.views import check  # noqa: PLC0415 - slow to import

    exit_with(partial(check, place, judge, as_json=as_json))


def _where(*, place: Place) -> None:
    """Show which store the commands use, and the plans in it."""
    exit_with(partial(plans.show_where, place))


_COMMANDS: dict[str, Callable[..., None]] = {
    "list": _list,
    "next": _next,
    "ready": _ready,
    "add": _add,
    "start": _start,
    "done": _done,
    "fail": _fail,
    "wait": _wait,
    "answer": _answer,
    "edit": _edit,
    "link": _link,
    "release": _release,
    "remove": _remove,
    "rm": _remove,
    "undo": _undo,
    "redo": _redo,
    "approve": _approve,
    "drift": _drift,
    "log": _log,
    "diff": _diff,
    "watch": _watch,
    "check": _check,
    "where": _where,
}

PLAN_COMMANDS = {name: with_groups(command) for name, command in _COMMANDS.items()}
"""The commands by name."""


HELP_GROUPS = {
    "Begin": ("demo", "guide", "where"),
    "See the plan": (
        *("list", "next", "ready", "log", "diff", "drift", "watch", "board", "report", "show"),
    ),
    "Change the plan": (
        *("add", "start", "done", "fail", "wait", "answer", "edit", "link", "remove", "rm"),
        *("undo", "redo", "approve", "release"),
    ),
    "Check and move plans": ("check", "import", "sync", "store"),
    "Give a plan to an agent": ("mcp", "plugin", "hook", "schema", "new-adapter"),
    "Read recordings of agents": ("replay", "stats"),
}
"""The commands by what they are for, as the help lists them."""


class _Grouped(TyperGroup):
    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - as typer calls it
        """Write the commands in their groups."""
        width = formatter.width - 6 - max(map(len, self.commands))
        for group, names in HELP_GROUPS.items():
            with formatter.section(group):
                formatter.write_dl(
                    [(name, self.commands[name].get_short_help_str(width)) for name in names]
                )


def make_app() -> typer.Typer:
    """Return the application without commands."""
    app = typer.Typer(
        name="todoplan",
        cls=_Grouped,
        rich_markup_mode=None,  # brackets in help texts are brackets
        no_args_is_help=True,
        pretty_exceptions_enable=False,  # a defect shows Python's own traceback, without the locals
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_todoplan)
    return app


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
    """
    Run a command line, and exit with its code.

    For a command on a plan, typer is given this command alone: to read the options of all commands,
    and to import what they need, takes longer than the command.
    """
    name = arguments[0] if arguments else ""
    if name in PLAN_COMMANDS:
        app = make_app()
        app.command(name)(PLAN_COMMANDS[name])
    else:
        app = import_module("todoplan.cli.app").app
    # By name: `python -m todoplan` would call itself so, and no shell completes that.
    app(prog_name="todoplan")
