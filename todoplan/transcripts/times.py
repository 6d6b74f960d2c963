"""Timestamps of recordings, in whatever form, as aware UTC datetimes."""

import math
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

__all__ = ["parse_time"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST_SECONDS = 1e11


def parse_time(value: Any) -> datetime | None:
    """
    ISO 8601 text, or a number since 1970 in s, ms, us or ns (told by its size), as a UTC datetime.

    A local time without a zone is taken as UTC. What is no timestamp is `None`, never an error.
    """
    try:
        if isinstance(value, str):
            return _from_text(value)
        if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
            return _from_number(float(value))
    except (ValueError, OverflowError):
        return None
    return None


def _from_text(text: str) -> datetime:
    moment = datetime.fromisoformat(text.strip().removesuffix(" UTC"))
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _from_number(number: float) -> datetime | None:
    if not math.isfinite(number):
        return None
    while abs(number) >= _LATEST_SECONDS:
        number /= 1000
    return _EPOCH + timedelta(seconds=number)
