"""Timestamps of all kinds."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from todoplan.transcripts.readers.base import parse_time

MOMENT = datetime(2026, 1, 28, 19, 31, 7, tzinfo=UTC)
EPOCH = int(MOMENT.timestamp())


@pytest.mark.parametrize(
    "value",
    [
        "2026-01-28T19:31:07Z",
        "2026-01-28T19:31:07.000Z",
        "2026-01-28T20:31:07+01:00",
        "2026-01-28T19:31:07",
        "2026-01-28 19:31:07 UTC",
        EPOCH,
        float(EPOCH),
        Decimal(EPOCH),
        EPOCH * 1000,
        EPOCH * 1000_000,
        EPOCH * 1000_000_000,
    ],
)
def test_every_form_is_one_utc_moment(value):
    """ISO text and numbers of any unit give the same aware moment; no zone means UTC."""
    assert parse_time(value) == MOMENT
    assert parse_time(value).utcoffset() == timedelta(0)


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        "",
        "soon",
        [],
        {},
        float("nan"),
        float("inf"),
        10**400,
        "0001-01-01T00:00:00+14:00",
    ],
)
def test_what_is_no_timestamp_is_none(value):
    """A malformed timestamp is `None`, never an error."""
    assert parse_time(value) is None


def test_a_time_before_1970_is_read():
    """Numbers may be negative."""
    assert parse_time(-1.5).year == 1969


@given(st.text() | st.floats() | st.integers())
def test_no_value_raises(value):
    """Any value gives an aware moment or `None`."""
    found = parse_time(value)
    assert found is None or found.tzinfo is UTC
