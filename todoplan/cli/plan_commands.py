"""The commands on a plan in a store, as typer reads them; `app` takes them from `PLAN_COMMANDS`."""

from collections.abc import Callable
from functools import partial

from todoplan.cli.commands.check import check
from todoplan.cli.commands.edits import Edit, carry_out
from todoplan.cli.commands.views import show_differences, show_drift, show_log, show_plan
from todoplan.cli.commands.watch import watch
from todoplan.cli.exit_codes import exit_with
from todoplan.cli.option_groups import with_groups
from todoplan.cli.output.screen import Screen
from todoplan.cli.plan_edits import (
    add,
    answer,
    complete,
    edit,
    fail,
    link,
    release,
    remove,
    start,
    undo,
    wait,
)
from todoplan.cli.plan_options import AsData, AsLines, Judge, Place, Writer
from todoplan.cli.task_options import Last, Ready, Since, Timeout, Until
from todoplan.core.commands import ApprovePlan

__all__ = ["PLAN_COMMANDS"]


def _list(*, ready: Ready = False, place: Place, as_json: AsData = False) -> None:
    """
    Show the plan, or what could be started now.
    """
    exit_with(lambda: show_plan(place, Screen(), only_ready=ready, as_json=as_json))


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


def _approve(*, place: Place, writer: Writer, judge: Judge, as_json: AsData = False) -> None:
    """
    Agree to the plan as it stands; `drift` says what becomes of it.
    """
    make = partial(ApprovePlan, writer.name)
    exit_with(lambda: carry_out(make, Edit(place, writer, judge, as_json), Screen()))


def _drift(*, place: Place, as_json: AsData = False) -> None:
    """
    Show what came, went and changed since the plan was approved.
    """
    exit_with(lambda: show_drift(place, Screen(), as_json=as_json))


def _check(*, place: Place, judge: Judge, as_json: AsData = False) -> None:
    """
    Check a policy, and whether a stored plan keeps it: exit code 1 if it does not.
    """
    exit_with(lambda: check(place, judge, Screen(), as_json=as_json))


def _watch(*, timeout: Timeout = None, place: Place, as_json: AsLines = False) -> None:
    """
    Show the plan and how it changes, by whomever, until ctrl-c.
    """
    exit_with(lambda: watch(place, Screen(), timeout=timeout, as_json=as_json))


_COMMANDS: dict[str, Callable[..., None]] = {
    "list": _list,
    "add": add,
    "start": start,
    "done": complete,
    "fail": fail,
    "wait": wait,
    "answer": answer,
    "edit": edit,
    "link": link,
    "release": release,
    "remove": remove,
    "undo": undo,
    "approve": _approve,
    "drift": _drift,
    "log": _log,
    "diff": _diff,
    "watch": _watch,
    "check": _check,
}

PLAN_COMMANDS = {name: with_groups(command) for name, command in _COMMANDS.items()}
"""By the name that a person types."""
