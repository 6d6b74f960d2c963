"""The time for whoever calls a toolbox."""

from datetime import UTC, timedelta

from todoplan.dialogue.clock import utc_now


def test_times_are_aware():
    """The present, in UTC; it does not go back by itself."""
    first = utc_now()
    assert first.tzinfo is UTC
    assert utc_now() - first < timedelta(minutes=1)
