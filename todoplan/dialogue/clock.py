"""The clock for code that calls a toolbox from a framework. The core has no clock of its own."""

from collections.abc import Callable
from datetime import UTC, datetime

__all__ = ["Clock", "utc_now"]

Clock = Callable[[], datetime]
"""A function that returns the present time as an aware datetime."""


def utc_now() -> datetime:
    """Return the present time in UTC."""
    return datetime.now(UTC)
