"""The time, for whoever calls a toolbox from a framework: the core has no clock."""

from collections.abc import Callable
from datetime import UTC, datetime

__all__ = ["Clock", "utc_now"]

Clock = Callable[[], datetime]
"""Gives the aware time of a change."""


def utc_now() -> datetime:
    """
    Return the present time.
    """
    return datetime.now(UTC)
