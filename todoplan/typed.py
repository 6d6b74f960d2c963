"""
The fields of a task as people type them: on the command line, and on the board's page.

`INPUTS` has what both need to know about each kind of field. `value_of_text` reads a typed text.
"""

import re
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from typing import Any, NamedTuple

from todoplan.core.plan.model import FieldKind, Priority, TaskField
from todoplan.errors import PlanError
from todoplan.render.terminal import today

# Not compiled here: status lines import this module often, and never need it.
_DURATION = r"(\d{1,6}(?:\.\d{1,3})?)\s*(min|[mhdw])?\s*"
# A day and a week of work are shorter than a day and a week of the calendar.
OF_WORK = {"m": 1, "min": 1, "h": 60, "d": 8 * 60, "w": 5 * 8 * 60}
OF_THE_CALENDAR = {**OF_WORK, "d": 24 * 60, "w": 7 * 24 * 60}

_DAYS = {"today": 0, "tomorrow": 1}
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def minutes_of(text: str, units: Mapping[str, int]) -> float | None:
    """
    Return the minutes of a length of time such as "1h30m" or "90", or `None` for any other text.

    `units` has the minutes of each unit: `OF_WORK` or `OF_THE_CALENDAR`.
    """
    text = text.strip().lower()
    parts = [*re.finditer(_DURATION, text)]
    # If there are several parts, as in 1h30m, each part after the first needs a unit.
    if "".join(part[0] for part in parts) != text or not all(part[2] for part in parts[1:]):
        return None
    return sum(float(part[1]) * units[part[2] or "m"] for part in parts) if parts else None


def day_of(word: str) -> date | None:
    """
    Return the day that "today", "tomorrow" or a weekday names, or `None` for any other word.

    The name of a weekday means the next one after today.
    """
    if word in _DAYS:
        return today() + timedelta(days=_DAYS[word])
    if word in _WEEKDAYS:
        ahead = (_WEEKDAYS.index(word) - today().weekday() - 1) % len(_WEEKDAYS) + 1
        return today() + timedelta(days=ahead)
    return None


def _effort(text: str) -> float:
    minutes = minutes_of(text, OF_WORK)
    if minutes is None:
        known = "90m, 2h, 1.5d (of 8 hours), 1w (of 5 days) or 90, which is in minutes"
        msg = f"{text!r} is no length of work; write {known}"
        raise PlanError(msg, seen=text)
    return _whole(minutes)


def _whole(number: float) -> float:
    # 120 is shown as 120, but 120.0 as 120.0.
    return int(number) if number.is_integer() else number


def _number(text: str) -> float:
    try:
        return _whole(float(text))
    except ValueError:
        msg = f"{text!r} is no number; write one such as 5 or 2.5"
        raise PlanError(msg, seen=text) from None


def _date(text: str) -> date:
    word = text.strip().lower()
    if (day := day_of(word)) is not None:
        return day
    if ahead := re.fullmatch(r"(\d{1,4})\s*([dw])", word):
        return today() + timedelta(days=int(ahead[1]) * (7 if ahead[2] == "w" else 1))
    try:
        return date.fromisoformat(word)
    except ValueError:
        known = "2026-12-24, today, tomorrow, friday, or 3d or 2w from today"
        msg = f"{text!r} is no date; write {known}"
        raise PlanError(msg, seen=text) from None


def id_of(given: str) -> str:
    """Return the id that an argument such as "3" or "#3" names; ids are printed as "#3"."""
    return given.strip().removeprefix("#")


class Input(NamedTuple):
    """
    How people enter a value of one kind.

    `control` is the HTML control on the page, or the choices; `metavar` is the name of the value in
    the help of the command line. `read` returns the value of a text that is not empty.
    """

    control: str | list[str]
    metavar: str
    read: Callable[[str], Any] = str


INPUTS: dict[FieldKind, Input] = {
    FieldKind.TEXT: Input("textarea", "TEXT"),
    FieldKind.TEXT_OR_NONE: Input("text", "TEXT"),
    FieldKind.PRIORITY: Input(["", *Priority], "PRIORITY"),
    FieldKind.NUMBER: Input("number", "NUMBER", _number),
    FieldKind.DATE: Input("date", "DATE", _date),
    FieldKind.PARENT: Input("text", "ID", id_of),
}
"""The kinds of fields whose values people type."""

_OWN_READERS: dict[str, Callable[[str], Any]] = {"estimate": _effort}


def value_of_text(field: TaskField, text: str) -> Any:
    """
    Return the value that a person has typed for a field of a kind in `INPUTS`.

    An empty text clears a field that may be `None`. An unknown priority is returned as it is: the
    command that sets it refuses it.

    Raises:
        PlanError: the text is no value of this kind.
    """
    if not text.strip() and field.default is None:
        return None
    return _OWN_READERS.get(field.name, INPUTS[field.kind].read)(text)
