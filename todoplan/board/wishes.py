"""
Parse the page's requests into commands. A request is one small object for each action of a person.

    {"do": "edit", "task": "3", "field": "subject", "value": "Send it"}
    {"do": "status", "task": "3", "status": "completed"}

Each command contains only what the person changed: one field, one move. The rest of the page may be
out of date when the request arrives and must not be written (law 15).
"""

from collections.abc import Callable, Mapping
from typing import Any

from todoplan.core.commands import (
    AnswerTask,
    ApprovePlan,
    Command,
    CreateTask,
    DeleteTask,
    MoveTask,
    ReleaseClaim,
    StartNext,
    UpdateTask,
)
from todoplan.core.plan.model import Waiting
from todoplan.errors import PlanError

__all__ = ["FIELDS", "KINDS", "command_of"]

FIELDS = ("subject", "description", "active_form", "priority", "owner", "estimate", "check")
"""The fields of a task that a page edits one at a time."""

_TEXTS = {"subject", "description"}  # empty other fields become `None`


def command_of(wish: Mapping[str, Any], actor: str) -> Command:
    """
    Return the command for a page's request.

    Raises:
        PlanError: the request is unknown, or a part of it is missing or invalid.
    """
    kind = wish.get("do")
    make = KINDS.get(kind) if isinstance(kind, str) else None
    if make is None:
        msg = f"a page asks for one of {', '.join(KINDS)}; this asks for {kind!r}"
        raise PlanError(msg, seen=kind)
    try:
        return make(wish, actor)
    except KeyError as error:
        msg = f"{kind} needs {error}; send it too"
        raise PlanError(msg, seen=sorted(wish)) from None


def _add(wish: Mapping[str, Any], _: str) -> Command:
    return CreateTask(wish["subject"], parent=wish.get("parent"))


def _edit(wish: Mapping[str, Any], _: str) -> Command:
    field, value = wish["field"], wish["value"]
    if field not in FIELDS:
        msg = f"a page edits one of {', '.join(FIELDS)}; this is about {field!r}"
        raise PlanError(msg, seen=field)
    changes: dict[str, Any] = {field: None if value == "" and field not in _TEXTS else value}
    return UpdateTask(wish["task"], **changes)


def _wait(wish: Mapping[str, Any], _: str) -> Command:
    question = wish.get("question") or None
    return UpdateTask(wish["task"], waiting=Waiting(wish["reason"], question=question))


def _remove(wish: Mapping[str, Any], _: str) -> Command:
    return DeleteTask(wish["task"], children=wish.get("children", "refuse"))


KINDS: dict[str, Callable[[Mapping[str, Any], str], Command]] = {
    "add": _add,
    "edit": _edit,
    "status": lambda wish, _: UpdateTask(wish["task"], status=wish["status"]),
    "start next": lambda *_: StartNext(),
    "move": lambda wish, _: MoveTask(
        wish["task"], before=wish.get("before"), after=wish.get("after")
    ),
    "place": lambda wish, _: UpdateTask(wish["task"], parent=wish["parent"]),
    "link": lambda wish, _: UpdateTask(wish["task"], add_blocked_by=(wish["blocker"],)),
    "unlink": lambda wish, _: UpdateTask(wish["task"], remove_blocked_by=(wish["blocker"],)),
    "wait": _wait,
    "resume": lambda wish, _: UpdateTask(wish["task"], waiting=None),
    "answer": lambda wish, _: AnswerTask(wish["task"], wish["answer"]),
    "release": lambda wish, _: ReleaseClaim(wish["task"], wish["fence"]),
    "remove": _remove,
    "approve": lambda _, actor: ApprovePlan(actor),
}
"""A function for each request's "do" word. "undo" is handled elsewhere: it is not a command."""
