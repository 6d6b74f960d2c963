"""The commands that change a plan in a store, as typer reads them: one for each edit."""

from collections.abc import Iterable
from functools import partial
from typing import Any, cast

import typer

from todoplan.cli.commands.edits import Edit, carry_out, free, take_back
from todoplan.cli.exit_codes import exit_with
from todoplan.cli.output.screen import Screen
from todoplan.cli.plan_options import AsData, Judge, Place, Writer
from todoplan.cli.task_options import (
    ActiveForm,
    After,
    Answer,
    Check,
    Description,
    Estimate,
    IsOver,
    MaybeTaskIds,
    NewText,
    Owner,
    Parent,
    PriorityName,
    Question,
    Reason,
    Remove,
    StatusName,
    Subject,
    TaskId,
    TaskIds,
    UntilTime,
)
from todoplan.core.commands import (
    AnswerTask,
    Batch,
    Command,
    CreateTask,
    DeleteTask,
    StartNext,
    UpdateTask,
)
from todoplan.core.plan.model import PriorityWord, StatusWord, Waiting

__all__ = [
    "add",
    "answer",
    "complete",
    "edit",
    "fail",
    "link",
    "release",
    "remove",
    "start",
    "undo",
    "wait",
]


def add(  # noqa: PLR0913 - an argument for each option
    subject: Subject,
    *,
    description: Description = None,
    active_form: ActiveForm = None,
    priority: PriorityName = None,
    owner: Owner = None,
    estimate: Estimate = None,
    after: After = None,
    parent: Parent = None,
    check: Check = None,
    place: Place,
    writer: Writer,
    judge: Judge,
    as_json: AsData = False,
) -> None:
    """
    Add a task at the end, or behind the subtasks of its parent. The first one begins the plan.
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
        parent=_id(parent) if parent else None,
        check=check or None,
    )
    exit_with(lambda: carry_out(make, Edit(place, writer, judge, as_json, creates=True), Screen()))


def start(
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


def complete(
    tasks: TaskIds, *, place: Place, writer: Writer, judge: Judge, as_json: AsData = False
) -> None:
    """
    Set tasks to completed.
    """
    make = partial(_each, tasks, status="completed")
    exit_with(lambda: carry_out(make, Edit(place, writer, judge, as_json), Screen()))


def fail(
    tasks: TaskIds, *, place: Place, writer: Writer, judge: Judge, as_json: AsData = False
) -> None:
    """
    Set tasks to failed: they are closed, and what comes after them stays blocked.
    """
    make = partial(_each, tasks, status="failed")
    exit_with(lambda: carry_out(make, Edit(place, writer, judge, as_json), Screen()))


def wait(  # noqa: PLR0913 - an argument for each option
    task: TaskId,
    reason: Reason = "",
    *,
    question: Question = None,
    until: UntilTime = None,
    over: IsOver = False,
    place: Place,
    writer: Writer,
    judge: Judge,
    as_json: AsData = False,
) -> None:
    """
    Have a task wait for somebody, an answer or a time, or with --over no longer. A task in progress
    is pending again.
    """
    if over and (reason or question or until):
        msg = "--over ends the wait: leave the reason, --question and --until out"
        raise typer.BadParameter(msg)
    waiting = None if over else Waiting(reason, until, question or None)
    make = partial(UpdateTask, _id(task), waiting=waiting)
    exit_with(lambda: carry_out(make, Edit(place, writer, judge, as_json), Screen()))


def answer(  # noqa: PLR0913 - an argument for each option
    task: TaskId,
    text: Answer,
    *,
    place: Place,
    writer: Writer,
    judge: Judge,
    as_json: AsData = False,
) -> None:
    """
    Answer what a waiting task asks. It waits no longer.
    """
    if not text.strip():
        msg = (
            f"the answer is empty; say something, or end the wait: todoplan wait {_id(task)} --over"
        )
        raise typer.BadParameter(msg)
    make = partial(AnswerTask, _id(task), text)
    exit_with(lambda: carry_out(make, Edit(place, writer, judge, as_json), Screen()))


def edit(  # noqa: PLR0913 - an argument for each option
    task: TaskId,
    *,
    subject: NewText = None,
    description: Description = None,
    active_form: ActiveForm = None,
    priority: PriorityName = None,
    owner: Owner = None,
    estimate: Estimate = None,
    status: StatusName = None,
    parent: Parent = None,
    check: Check = None,
    place: Place,
    writer: Writer,
    judge: Judge,
    as_json: AsData = False,
) -> None:
    """
    Change a task's texts, priority, owner, estimate, parent, check or status (so cancel or reopen
    it).
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
        for name, value in (
            ("active_form", active_form),
            ("owner", owner),
            ("parent", parent and _id(parent)),
            ("check", check),
        )
        if value is not None
    }
    if not changes:
        msg = "say what to change, such as --subject or --status"
        raise typer.BadParameter(msg)
    make = partial(UpdateTask, _id(task), **changes)
    exit_with(lambda: carry_out(make, Edit(place, writer, judge, as_json), Screen()))


def link(  # noqa: PLR0913 - an argument for each option
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


def release(
    tasks: TaskIds, *, place: Place, writer: Writer, judge: Judge, as_json: AsData = False
) -> None:
    """
    Take tasks from the workers that have claimed them: they are pending again, and what such a
    worker still reports is refused.
    """
    exit_with(lambda: free(_ids(tasks), Edit(place, writer, judge, as_json), Screen()))


def remove(
    tasks: TaskIds, *, place: Place, writer: Writer, judge: Judge, as_json: AsData = False
) -> None:
    """
    Take tasks out of the plan. What is not to be done is better cancelled: edit --status cancelled.
    """
    make = partial(_batch, [DeleteTask(task) for task in _ids(tasks)])
    exit_with(lambda: carry_out(make, Edit(place, writer, judge, as_json), Screen()))


def undo(*, place: Place, writer: Writer, as_json: AsData = False) -> None:
    """
    Take the last change back that still stands, whoever made it; again, the one before it.
    """
    exit_with(lambda: take_back(Edit(place, writer, Judge(), as_json), Screen()))


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
