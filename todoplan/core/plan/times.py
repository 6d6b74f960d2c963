"""Times: the core keeps them in UTC, so that each means one moment, in any document as well."""

from datetime import UTC, datetime

from todoplan.errors import PlanError

__all__ = ["in_utc"]


def in_utc(at: datetime) -> datetime:
    """
    Return an aware time in UTC; one that is off the calendar there is returned as it is.

    Raises:
        PlanError: it has no time zone.
    """
    if at.utcoffset() is None:
        msg = f"{at.isoformat()} has no time zone; give an aware time such as datetime.now(UTC)"
        raise PlanError(msg, at=at)
    try:
        return at.astimezone(UTC)
    except OverflowError:
        return at
