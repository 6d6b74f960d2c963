from datetime import UTC, datetime, timedelta, timezone, tzinfo
from enum import Enum, IntEnum

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import strategies as some

from todoplan.core.plan.model import (
    EMPTY,
    FrozenDict,
    Status,
    as_id,
    as_ids,
    as_metadata,
    as_number_or_none,
    as_text,
    as_text_or_none,
    as_whole_number,
    in_utc,
    instance_of,
    short_repr,
    tuple_of,
)
from todoplan.errors import PlanError


def test_what_fits_is_taken_as_it_is():
    """Texts, and `None` where it clears a field, pass unchanged."""
    assert (as_text("a"), as_text_or_none("a"), as_id("3")) == ("a", "a", "3")
    assert as_text_or_none(None) is None


class Who(str, Enum):  # noqa: UP042 - that is what it is about
    """Whose members are texts that are printed otherwise."""

    ANN = "ann"


@pytest.mark.parametrize("take", [as_text, as_text_or_none])
@pytest.mark.parametrize(("given", "plain"), [(Who.ANN, "ann"), (Status.PENDING, "pending")])
def test_a_member_of_an_enum_is_taken_as_its_text(take, given, plain):
    """As it is stored, so that it is shown alike before and after."""
    assert (take(given), type(take(given))) == (plain, str)


@pytest.mark.parametrize("take", [as_text, as_text_or_none, as_id])
@pytest.mark.parametrize("value", [5, b"a", ["a"], True])
def test_what_is_no_text_is_refused(take, value):
    """The error shows what was given, its type, and holds it."""
    with pytest.raises(PlanError, match=rf"\({type(value).__name__}\) was given; give a") as caught:
        take(value)
    assert caught.value.data == {"seen": value}


def test_none_is_a_text_nowhere_else():
    """Only a field that may be empty takes `None`."""
    with pytest.raises(PlanError, match=r"None \(NoneType\) was given; give a text"):
        as_text(None)


@pytest.mark.parametrize(
    "given", [("1", "12"), ["1", "12"], {"1": 0, "12": 0}.keys(), (i for i in ("1", "12"))]
)
def test_any_iterable_becomes_a_tuple(given):
    """What can be walked only once is walked once, and kept."""
    assert as_ids(given) == ("1", "12")


@pytest.mark.parametrize("value", ["12", "", b"12", 12, None, (1, "2"), ["1", None]])
def test_what_is_no_list_of_ids_is_refused(value):
    """A text would be read letter by letter, a number is no id."""
    with pytest.raises(
        PlanError, match=r'give a tuple of ids, which are texts, such as \("3", "12'
    ):
        as_ids(value)


def test_items_are_of_their_kind_or_one_derived_from_it():
    """The first item of another kind is shown."""
    assert tuple_of([True, 2], int, "ints") == (True, 2)
    assert tuple_of((), int, "ints") == ()
    with pytest.raises(PlanError, match=r"'x' \(str\) was given; give ints") as caught:
        tuple_of([1, "x", 2, "y"], int, "ints")
    assert caught.value.data == {"seen": "x"}


def test_metadata_is_a_frozen_copy():
    """What happens to the mapping that was given does not shine through."""
    given = {"a": [1, {"b": 2}]}
    frozen = as_metadata(given)
    given["a"].append(3)
    assert frozen == {"a": (1, {"b": 2})}
    assert type(frozen) is FrozenDict
    assert as_metadata(frozen) is frozen
    assert as_metadata({}) == EMPTY


@pytest.mark.parametrize("value", [None, "a", [("a", 1)]])
def test_metadata_is_a_mapping(value):
    """Nothing else is."""
    with pytest.raises(PlanError, match="was given; give a mapping such as"):
        as_metadata(value)


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


@pytest.mark.parametrize("value", [True, "5", float("nan"), float("inf"), 10**400, 1j])
def test_what_is_no_finite_number_is_refused(value):
    """No document and no sum of minutes could hold it; a bool was meant otherwise."""
    with pytest.raises(PlanError, match="was given; give a finite number or None") as caught:
        as_number_or_none(value)
    assert caught.value.data["seen"] is value


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


def test_what_is_of_another_class_is_refused():
    """The error says what was seen and what to write."""
    assert instance_of("a", str, "a text") == "a"
    with pytest.raises(PlanError, match=r"5 \(int\) was given; give a text"):
        instance_of(5, str, "a text")
