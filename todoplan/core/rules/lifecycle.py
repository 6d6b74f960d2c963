"""
The transition table: the result of each action in each status, and the kind of that transition.

Two conditions hold for this table. Every pair of status and action has a cell, so no caller needs a
default. A cell says what happens, never whether it is allowed: policies decide this by the kind of
transition (`todoplan.core.rules.builtin`). The diagram in the README is generated from this dict.
"""

from enum import StrEnum

import attrs

from todoplan.core.plan.model import Status

__all__ = ["ACTION_TO", "TABLE", "Action", "Kind", "Move"]


class Action(StrEnum):
    """An action on a task's status."""

    START = "start"
    COMPLETE = "complete"
    CANCEL = "cancel"
    FAIL = "fail"
    RESET = "reset"


class Kind(StrEnum):
    """The kind of a transition. Rules refer to kinds, not to statuses."""

    STAY = "stay"
    STEP = "step"
    JUMP = "jump"
    BACK = "back"
    REOPEN = "reopen"


@attrs.frozen
class Move:
    """One cell: the new status, and the kind of the transition."""

    target: Status
    kind: Kind


# Short names keep each row on one line: status and action, then the result.
_P, _I, _C, _X = Status.PENDING, Status.IN_PROGRESS, Status.COMPLETED, Status.CANCELLED
_F = Status.FAILED

TABLE: dict[tuple[Status, Action], Move] = {
    (_P, Action.START): Move(_I, Kind.STEP),
    (_P, Action.COMPLETE): Move(_C, Kind.JUMP),
    (_P, Action.CANCEL): Move(_X, Kind.STEP),
    (_P, Action.FAIL): Move(_F, Kind.STEP),
    (_P, Action.RESET): Move(_P, Kind.STAY),
    (_I, Action.START): Move(_I, Kind.STAY),
    (_I, Action.COMPLETE): Move(_C, Kind.STEP),
    (_I, Action.CANCEL): Move(_X, Kind.STEP),
    (_I, Action.FAIL): Move(_F, Kind.STEP),
    (_I, Action.RESET): Move(_P, Kind.BACK),
    (_C, Action.START): Move(_I, Kind.REOPEN),
    (_C, Action.COMPLETE): Move(_C, Kind.STAY),
    (_C, Action.CANCEL): Move(_X, Kind.REOPEN),
    (_C, Action.FAIL): Move(_F, Kind.REOPEN),
    (_C, Action.RESET): Move(_P, Kind.REOPEN),
    (_X, Action.START): Move(_I, Kind.REOPEN),
    (_X, Action.COMPLETE): Move(_C, Kind.REOPEN),
    (_X, Action.CANCEL): Move(_X, Kind.STAY),
    (_X, Action.FAIL): Move(_F, Kind.REOPEN),
    (_X, Action.RESET): Move(_P, Kind.REOPEN),
    (_F, Action.START): Move(_I, Kind.REOPEN),
    (_F, Action.COMPLETE): Move(_C, Kind.REOPEN),
    (_F, Action.CANCEL): Move(_X, Kind.REOPEN),
    (_F, Action.FAIL): Move(_F, Kind.STAY),
    (_F, Action.RESET): Move(_P, Kind.REOPEN),
}

# Commands name the wanted status, like the tools of all comparable libraries; the table uses
# actions.
ACTION_TO: dict[Status, Action] = {
    _P: Action.RESET,
    _I: Action.START,
    _C: Action.COMPLETE,
    _X: Action.CANCEL,
    _F: Action.FAIL,
}
