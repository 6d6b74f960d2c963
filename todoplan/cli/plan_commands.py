"""The commands on a plan in a store, as typer reads them; `app` takes them from `PLAN_COMMANDS`."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, cast

import typer

from todoplan.cli.commands.check import check
from todoplan.cli.commands.edits import Edit, carry_out, take_back
from todoplan.cli.commands.views import show_differences, show_log, show_plan
from todoplan.cli.exit_codes import exit_with
from todoplan.cli.option_groups import with_groups
from todoplan.cli.output.screen import Screen
from todoplan.cli.plan_options import (
    ActiveForm,
    After,
    AsData,
    Description,
    Estimate,
    Judge,
    Last,
    MaybeTaskIds,
    NewText,
    Owner,
    Place,
    PriorityName,
    Ready,
    Remove,
    Since,
    StatusName,
    Subject,
    TaskId,
    TaskIds,
    Until,
    Writer,
)
from todoplan.core.commands import (
    Batch,
    Command,
    CreateTask,
    DeleteTask,
    StartNext,
    UpdateTask,
)
from todoplan.core.plan.model import PriorityWord, StatusWord

__all__ = ["PLAN_COMMANDS"]


def _list(*, ready: Ready = False, place: Place, as_json: AsData = False) -> None:
    """
    Show the plan, or what could be started now.
    """
    exit_with(lambda: show_plan(place, Screen(), only_ready=ready, as_json=as_json))


def _add(  # noqa: PLR0913 - an argument for each option
    subject: Subject,
    *,
    description: Description = None,
    active_form: ActiveForm = None,
    priority: PriorityName = None,
    owner: Owner = None,
    estimate: Estimate = None,
    after: After = None,
    place: Place,
    writer: Writer,
    judge: Judge,
    as_json: AsData = False,
) -> None:
    """
    Add a task at the end. The first one begins the plan.
    """
    make = partial(
        CreateTask,
        subject,
        description=description or "",
        active_form=active_form or None,
        priority=cast("PriorityWord | None", priority),
        owner=owner or None,
        estimate=estimate,
        blocked_by=_ids(after),
    )
    edit = Edit(place, writer, judge, as_json, creates=True)
    exit_with(lambda: carry_out(make, edit, Screen()))


def _start(
    tasks: MaybeTaskIds = None,
    *,
    place: Place,
    writer: Writer,
    judge: Judge,
    as_json: AsData = False,
) -> None:
    """
    Set tasks to in progress.
    """
    make = partial(_each, tasks, status="in_progress") if tasks else StartNext
    exit_with(lambda: carry_out(make, Edit(place, writer, judge, as_json), Screen()))


def _complete(
    tasks: TaskIds, *, place: Place, writer: Writer, judge: Judge, as_json: AsData = False
) -> None:
    """
    Set tasks to completed.
    """
    make = partial(_each, tasks, status="completed")
    exit_with(lambda: carry_out(make, Edit(place, writer, judge, as_json), Screen()))


def _edit(  # noqa: PLR0913 - an argument for each option
    task: TaskId,
    *,
    subject: NewText = None,
    description: Description = None,
    active_form: ActiveForm = None,
    priority: PriorityName = None,
    owner: Owner = None,
    estimate: Estimate = None,
    status: StatusName = None,
    place: Place,
    writer: Writer,
    judge: Judge,
    as_json: AsData = False,
) -> None:
    """
    Change a task's texts, priority, owner, estimate or status (so cancel or reopen it, too).
    """
    given = {
        "subject": subject,
        "description": description,
        "priority": priority,
        "estimate": estimate,
        "status": status,
    }
    changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    # An empty text takes these away.
    changes |= {
        name: value or None
        for name, value in (("active_form", active_form), ("owner", owner))
        if value is not None
    }
    if not changes:
        msg = "say what to change, such as --subject or --status"
        raise typer.BadParameter(msg)
    make = partial(UpdateTask, _id(task), **changes)
    exit_with(lambda: carry_out(make, Edit(place, writer, judge, as_json), Screen()))


def _link(  # noqa: PLR0913 - an argument for each option
    task: TaskId,
    *,
    after: After,
    remove: Remove = False,
    place: Place,
    writer: Writer,
    judge: Judge,
    as_json: AsData = False,
) -> None:
    """
    Have a task wait for others, or with --remove no longer.
    """
    edges = "remove_blocked_by" if remove else "add_blocked_by"
    changes: dict[str, Any] = {edges: _ids(after)}
    make = partial(UpdateTask, _id(task), **changes)
    exit_with(lambda: carry_out(make, Edit(place, writer, judge, as_json), Screen()))


def _remove(
    tasks: TaskIds, *, place: Place, writer: Writer, judge: Judge, as_json: AsData = False
) -> None:
    """
    Take tasks out of the plan. What is not to be done is better cancelled: edit --status cancelled.
    """
    make = partial(_batch, [DeleteTask(task) for task in _ids(tasks)])
    exit_with(lambda: carry_out(make, Edit(place, writer, judge, as_json), Screen()))


def _undo(*, place: Place, writer: Writer, as_json: AsData = False) -> None:
    """
    Take the last change back that still stands, whoever made it; again, the one before it.
    """
    exit_with(lambda: take_back(Edit(place, writer, Judge(), as_json), Screen()))


def _log(*, last: Last = 20, place: Place, as_json: AsData = False) -> None:
    """
    Show how the plan came to be: when, by whom, what changed.
    """
    exit_with(lambda: show_log(place, Screen(), last=last, as_json=as_json))


def _diff(
    since: Since = None, until: Until = None, *, place: Place, as_json: AsData = False
) -> None:
    """
    Show in which tasks two revisions of the plan differ.
    """
    exit_with(lambda: show_differences(place, Screen(), since, until, as_json=as_json))


def _check(*, place: Place, judge: Judge, as_json: AsData = False) -> None:
    """
    Check a policy, and whether a stored plan keeps it: exit code 1 if it does not.
    """
    exit_with(lambda: check(place, judge, Screen(), as_json=as_json))


def _id(given: str) -> str:
    # As ids are shown, though a shell takes an unquoted "#3" for a comment.
    return given.removeprefix("#")


def _ids(given: Iterable[str] | None) -> tuple[str, ...]:
    return tuple(map(_id, given or ()))


def _each(tasks: Iterable[str], status: StatusWord) -> Command:
    return _batch([UpdateTask(task, status=status) for task in _ids(tasks)])


def _batch(commands: list[Command]) -> Command:
    # A command by itself names itself in the history; a batch does not.
    return commands[0] if len(commands) == 1 else Batch(tuple(commands))


_COMMANDS: dict[str, Callable[..., None]] = {
    "list": _list,
    "add": _add,
    "start": _start,
    "done": _complete,
    "edit": _edit,
    "link": _link,
    "remove": _remove,
    "undo": _undo,
    "log": _log,
    "diff": _diff,
    "check": _check,
}

PLAN_COMMANDS = {name: with_groups(command) for name, command in _COMMANDS.items()}
"""By the name that a person types."""
