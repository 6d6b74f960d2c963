from datetime import UTC, datetime, timedelta, timezone, tzinfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import strategies as some

from todoplan.core.plan.times import in_utc
from todoplan.errors import PlanError


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
