"""The time for whoever calls a toolbox."""

import time
from datetime import UTC

from todoplan.dialogue.calls import utc_now


def test_times_are_aware():
    """The present, in UTC."""
    now = utc_now()
    assert now.tzinfo is UTC
    assert abs(now.timestamp() - time.time()) < 60
