from datetime import UTC, datetime, timedelta, timezone, tzinfo
from enum import Enum, IntEnum

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import strategies as some

from todoplan.core.plan.model import (
    Status,
    as_number_or_none,
    as_text,
    as_text_or_none,
    as_whole_number,
    in_utc,
    short_repr,
    tuple_of,
)
from todoplan.errors import PlanError


class Who(str, Enum):  # noqa: UP042 - that is what it is about
    """Whose members are texts that are printed otherwise."""

    ANN = "ann"


@pytest.mark.parametrize("take", [as_text, as_text_or_none])
@pytest.mark.parametrize(("given", "plain"), [(Who.ANN, "ann"), (Status.PENDING, "pending")])
def test_a_member_of_an_enum_is_taken_as_its_text(take, given, plain):
    """As it is stored, so that it is shown alike before and after."""
    assert (take(given), type(take(given))) == (plain, str)


def test_items_are_of_their_kind_or_one_derived_from_it():
    """The first item of another kind is shown."""
    assert tuple_of([True, 2], int, "ints") == (True, 2)
    assert tuple_of((), int, "ints") == ()
    with pytest.raises(PlanError, match=r"'x' \(str\) was given; give ints") as caught:
        tuple_of([1, "x", 2, "y"], int, "ints")
    assert caught.value.data == {"seen": "x"}


def test_what_was_given_is_shown_in_few_characters():
    """However large it is."""
    assert short_repr("12") == "'12' (str)"
    assert len(short_repr("x" * 10_000)) < 100
    assert len(short_repr([["x" * 1_000] * 1_000] * 1_000)) < 1_000


class Size(IntEnum):
    """Whose members are numbers that documents do not know."""

    SMALL = 5


class Half(float):
    """As a library of numbers has them."""

    def __float__(self):
        return 7.0


@pytest.mark.parametrize(
    ("value", "plain"), [(None, None), (5, 5), (0.5, 0.5), (Size.SMALL, 5), (Half(0.5), 0.5)]
)
def test_a_number_is_taken_as_a_plain_one(value, plain):
    """A subclass gives up its class and is not asked what it is."""
    taken = as_number_or_none(value)
    assert (taken, type(taken)) == (plain, type(plain))


class Nowhere(tzinfo):
    """A zone that knows no offset."""

    def utcoffset(self, dt):
        return None


@given(some.aware_times)
def test_a_time_in_utc_is_the_same_moment(at):
    """Only the zone changes, if it changes."""
    assert in_utc(at) == at


offsets = st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes)))
years = datetime(2, 1, 1), datetime(9998, 1, 1)  # noqa: DTZ001 - bounds; the zone is drawn


@given(st.datetimes(*years, timezones=offsets))
def test_a_time_is_in_utc_in_whatever_zone_it_was(at):
    """The clock shows what it showed, less the offset."""
    moment = in_utc(at)
    assert moment.tzinfo is UTC
    assert moment.replace(tzinfo=None) == at.replace(tzinfo=None) - at.utcoffset()


@pytest.mark.parametrize("zone", [None, Nowhere()])
def test_a_time_without_an_offset_is_refused(zone):
    """The machine's own zone is never taken for it."""
    at = datetime(2026, 1, 2, tzinfo=zone)
    with pytest.raises(PlanError, match="no time zone; give an aware time such as") as caught:
        in_utc(at)
    assert caught.value.data == {"at": at}


@pytest.mark.parametrize(
    "at",
    [
        datetime.min.replace(tzinfo=timezone(timedelta(hours=9))),
        datetime.max.replace(tzinfo=timezone(timedelta(hours=-9))),
    ],
)
def test_a_time_off_the_calendar_is_left_alone(at):
    """The first and the last hours have no name in UTC, and mean one moment all the same."""
    assert in_utc(at) is at


@pytest.mark.parametrize("value", [-1, True, 1.0, "1", None])
def test_a_count_is_a_whole_number(value):
    """Nothing is taken for one that is none."""
    with pytest.raises(PlanError, match="give a whole number from 0 on"):
        as_whole_number(value, 0)
    assert (as_whole_number(-3), as_whole_number(Size.SMALL, 5)) == (-3, 5)
    assert type(as_whole_number(Size.SMALL)) is int
    with pytest.raises(PlanError, match="from 6 on"):
        as_whole_number(5, 6)
