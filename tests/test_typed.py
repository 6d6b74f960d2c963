"""The values of fields as people type them, on the command line and on the board."""

from datetime import date, timedelta

import attrs
import pytest

from todoplan.core.plan.model import TASK_FIELDS, FieldKind
from todoplan.errors import PlanError
from todoplan.render.terminal import today
from todoplan.typed import INPUTS, OF_THE_CALENDAR, OF_WORK, day_of, minutes_of, value_of_text

DAY = 24 * 60


def field(kind=FieldKind.NUMBER):
    """Return a field of a kind that may be `None`, and that no task has yet."""
    return attrs.evolve(TASK_FIELDS["owner"], name="size", kind=kind)


@pytest.mark.parametrize(
    "name", ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
)
def test_the_name_of_a_weekday_is_its_next_day(name):
    """Within the next seven days, and never today."""
    day = day_of(name)
    assert day is not None
    assert day.strftime("%A").lower() == name
    assert timedelta(days=1) <= day - today() <= timedelta(days=7)


def test_other_words_name_no_day():
    """Only today, tomorrow and the weekdays do."""
    assert [day_of(word) for word in ("today", "tomorrow", "someday")] == [
        today(),
        today() + timedelta(days=1),
        None,
    ]


@pytest.mark.parametrize(
    ("text", "work", "calendar"),
    [
        ("90", 90, 90),
        ("45m", 45, 45),
        ("45min", 45, 45),
        ("1.5h", 90, 90),
        (" 1H 30M ", 90, 90),
        ("2d", 960, 2 * DAY),
        ("1w", 2400, 7 * DAY),
        ("", None, None),
        ("soon", None, None),
        ("1h30", None, None),
        ("2 hours", None, None),
    ],
)
def test_a_length_of_time_is_in_minutes(text, work, calendar):
    """A day and a week of work are shorter than those of the calendar; later parts need a unit."""
    assert minutes_of(text, OF_WORK) == work
    assert minutes_of(text, OF_THE_CALENDAR) == calendar


@pytest.mark.parametrize(
    ("about", "text", "value"),
    [
        (TASK_FIELDS["description"], " as it is ", " as it is "),
        (TASK_FIELDS["owner"], "ann", "ann"),
        (TASK_FIELDS["parent"], " #3 ", "3"),
        (TASK_FIELDS["due"], "2026-12-24", date(2026, 12, 24)),
        (TASK_FIELDS["estimate"], "2h", 120),
        (TASK_FIELDS["estimate"], "0.5m", 0.5),
        (field(), "120", 120),
        (field(), "2.5", 2.5),
        (TASK_FIELDS["description"], "", ""),
    ],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_a_text_is_read_by_the_kind_of_its_field(about, text, value):
    """A whole number has no fraction; a text that may not be `None` stays empty."""
    read = value_of_text(about, text)
    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize(("text", "days"), [("tomorrow", 1), ("3d", 3), ("2 W", 14), (" 10d ", 10)])
def test_a_date_may_be_counted_from_today(text, days):
    """In days or weeks."""
    assert value_of_text(TASK_FIELDS["due"], text) == today() + timedelta(days=days)


@pytest.mark.parametrize(
    ("kind", "control", "metavar"),
    [
        (FieldKind.TEXT, "textarea", "TEXT"),
        (FieldKind.TEXT_OR_NONE, "text", "TEXT"),
        (FieldKind.PRIORITY, ["", "high", "medium", "low"], "PRIORITY"),
        (FieldKind.NUMBER, "number", "NUMBER"),
        (FieldKind.DATE, "date", "DATE"),
        (FieldKind.PARENT, "text", "ID"),
    ],
)
def test_a_kind_has_a_control_of_the_page_and_a_name_in_the_help(kind, control, metavar):
    """A choice has the empty text first, which clears the field."""
    assert (INPUTS[kind].control, INPUTS[kind].metavar) == (control, metavar)


@pytest.mark.parametrize("kind", INPUTS)
def test_an_empty_text_clears_each_kind_of_field(kind):
    """If the field may be `None`."""
    assert value_of_text(field(kind=kind), "  ") is None


@pytest.mark.parametrize(
    ("about", "text", "said"),
    [
        (TASK_FIELDS["estimate"], "long", "'long' is no length of work; write 90m, 2h"),
        (TASK_FIELDS["due"], "someday", "'someday' is no date; write 2026-12-24"),
        (field(), "many", "'many' is no number; write one such as 5 or 2.5"),
    ],
    ids=["length", "date", "number"],
)
def test_what_cannot_be_read_is_quoted_with_what_may_be_written(about, text, said):
    """The error has the text that was typed."""
    with pytest.raises(PlanError, match=said) as caught:
        value_of_text(about, text)
    assert caught.value.data["seen"] == text
