"""Laws of single values: nothing is coerced, and what is read is what was given."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from support.documents import json_values, numbers, objects, times

from todoplan.codec.engine import (
    MisfitError,
    count,
    ids,
    metadata,
    number,
    positive,
    text,
    time,
    write_metadata,
    write_time,
)
from todoplan.core.plan.model import EMPTY, FrozenDict, Status, freeze

READERS = (count, ids, metadata, number, positive, text, time)


@given(json_values)
def test_a_reader_returns_an_equal_value_or_refuses(value):
    """What comes back equals what was given, and has its type."""
    for reader in READERS:
        try:
            read = reader(value)
        except MisfitError as error:
            assert error.found  # noqa: PT017 - either outcome is right
        else:
            assert read == freeze(value)
            assert isinstance(read, type(freeze(value)))


@given(times)
def test_a_time_comes_back_with_its_offset(at):
    """Instant, microseconds and offset are kept."""
    read = time(write_time(at))
    assert read == at
    assert read.utcoffset() == at.utcoffset()


@given(objects)
def test_metadata_come_back(value):
    """Any JSON object is written as plain dicts and lists."""
    assert write_metadata(metadata(value)) == value


def test_empty_metadata_are_shared():
    """A plan of tasks without metadata holds one empty object."""
    assert metadata({}) is EMPTY


@pytest.mark.parametrize(("reader", "lowest"), [(count, 0), (positive, 1)])
def test_a_count_begins_at_its_lowest(reader, lowest):
    """Below it, or other than a whole number, nothing passes."""
    assert reader(lowest) == lowest
    for wrong in (lowest - 1, True, 1.0, "1", None, 10**5000):
        with pytest.raises(MisfitError):
            reader(wrong)


@given(numbers)
def test_a_number_is_finite(value):
    """Whole or not, it comes back as it is."""
    assert repr(number(value)) == repr(value)


@pytest.mark.parametrize("micros", [1, -1, 999_999, -60_000_001])
def test_an_offset_below_a_second_is_kept(micros):
    """Python 3.11 reads such an offset as UTC; we do not."""
    at = datetime(2025, 1, 1, tzinfo=timezone(timedelta(microseconds=micros)))
    assert time(write_time(at)) == at


def test_a_time_may_be_spelled_with_z():
    """UTC has two spellings."""
    assert time("2025-01-31T09:00:00.50000Z") == datetime(2025, 1, 31, 9, 0, 0, 500_000, tzinfo=UTC)


def test_all_faults_of_metadata_are_found():
    """Every value that JSON cannot hold is named with its path."""
    with pytest.raises(MisfitError) as caught:
        metadata({"a": [float("nan"), {1}], "b": FrozenDict({"c d": {2: 3}})})
    assert list(caught.value.found) == [
        (".a[0]", "NaN is no number that JSON can hold"),
        (".a[1]", "a Python set is no JSON value"),
        ('.b["c d"]', "2 is no key, a text"),
    ]


class Whole(int):
    """A number of a class of its own."""

    def __int__(self):
        return 99


class Real(float):
    """Another."""


@pytest.mark.parametrize(
    ("reader", "value", "plain"),
    [
        (count, Whole(0), 0),
        (positive, Whole(3), 3),
        (number, Whole(3), 3),
        (number, Real(0.5), 0.5),
    ],
)
def test_a_number_of_a_subclass_is_written_as_a_plain_one(reader, value, plain):
    """What is equal comes out; the subclass is not asked."""
    assert (reader(value), type(reader(value))) == (plain, type(plain))


@pytest.mark.parametrize(
    "value",
    [True, float("nan"), float("-inf"), "5", None, 1j, pytest.param(10**5000, id="huge")],
)
def test_what_is_no_finite_number_is_refused(value):
    """The sentence shows what was seen."""
    with pytest.raises(MisfitError, match="is no finite number"):
        number(value)


def test_ids_may_be_texts_of_a_subclass():
    """They are texts; among others, each that is none is named with its place."""
    assert ids([]) == ()
    assert ids(["1", Status.PENDING]) == ("1", "pending")
    with pytest.raises(MisfitError) as caught:
        ids(["1", 2, None])
    assert [path for path, _ in caught.value.found] == ["[1]", "[2]"]
