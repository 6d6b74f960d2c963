"""
What a page asks for, made into commands: one small object for each thing that a person does.

    {"do": "edit", "task": "3", "field": "subject", "value": "Send it"}
    {"do": "status", "task": "3", "status": "completed"}

Each command says only what the person did: one field, one move. What else the page shows may be old
by the time it is sent, and must not come along with it (law 15).
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
"""The fields of a task that a page edits one by one."""

_TEXTS = {"subject", "description"}  # the others are `None` where nothing stands in them


def command_of(wish: Mapping[str, Any], actor: str) -> Command:
    """
    Return the command for what a person wants.

    Raises:
        PlanError: it is nothing that a page asks for, or some of it is missing or unfit.
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
"""What a page asks for by its word, "undo" apart: that is no command."""
