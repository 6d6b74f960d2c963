"""The arguments and options of the commands on a plan that say which task, and what of it."""

from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from todoplan.cli.options import one_of
from todoplan.cli.plan_options import known_tasks
from todoplan.core.plan.model import Priority, Status

__all__ = [
    "ActiveForm",
    "After",
    "Answer",
    "Check",
    "Description",
    "Estimate",
    "IsOver",
    "Last",
    "MaybeTaskIds",
    "NewText",
    "Owner",
    "Parent",
    "PriorityName",
    "Question",
    "Ready",
    "Reason",
    "Remove",
    "Since",
    "StatusName",
    "Subject",
    "TaskId",
    "TaskIds",
    "Timeout",
    "Until",
    "UntilTime",
]

_ID = {"metavar": "ID", "autocompletion": known_tasks}
Subject = Annotated[str, typer.Argument(metavar="TEXT", help="What is to be done.")]
TaskId = Annotated[str, typer.Argument(help="The task, by its id.", **_ID)]
TaskIds = Annotated[list[str], typer.Argument(help="The tasks, by their ids.", **_ID)]
MaybeTaskIds = Annotated[
    list[str] | None,
    typer.Argument(
        help="The tasks, by their ids; without one, the next that is ready.",
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
Estimate = Annotated[
    float | None,
    typer.Option("--estimate", metavar="MINUTES", help="How long it takes.", show_default=False),
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
    try:
        # A time without a zone is the clock on the wall of who typed it.
        at = datetime.fromisoformat(given).astimezone()
    except (ValueError, OverflowError) as error:
        msg = f"{given!r} is no time such as 2026-12-24, 2026-12-24T18:00 or 2026-12-24T18:00+01:00"
        raise typer.BadParameter(msg) from error
    # A wait until then would be over as it begins.
    if at <= datetime.now(UTC):
        msg = f"{given!r} is past: give a later time, or leave --until out"
        raise typer.BadParameter(msg)
    return at


UntilTime = Annotated[
    datetime | None,
    typer.Option(
        "--until",
        metavar="TIME",
        help="From when on it can be started: 2026-12-24T18:00, local unless it has a zone.",
        parser=_time,
        show_default=False,
    ),
]
Remove = Annotated[bool, typer.Option("--remove", help="It need not wait for them any longer.")]
Ready = Annotated[bool, typer.Option("--ready", help="Only what could be started now.")]
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
