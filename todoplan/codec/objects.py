"""
Values that are JSON objects of their own, in both directions: a pause, evidence, an approval, a
claim.

As with a task, only fields that differ from their default are written. A value that could not be
read again is refused on writing: a document that nobody can load is worse than an error.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import attrs

from todoplan.codec.faults import MisfitError, misfit
from todoplan.codec.readers import FieldReader, optional, read_object
from todoplan.codec.values import count, positive, text, time, write_time
from todoplan.core.plan.model import Approval, Claim, Evidence, Waiting

__all__ = ["OBJECTS", "approval", "claim", "evidence", "waiting", "write_fields"]


def _truth(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise misfit(value, "neither true nor false")


OBJECTS: dict[type[attrs.AttrsInstance], Mapping[str, FieldReader]] = {
    Waiting: {"reason": text, "until": optional(time), "question": optional(text)},
    Evidence: {"passed": _truth, "summary": text, "by": optional(text), "at": optional(time)},
    Approval: {"revision": count, "by": optional(text), "at": optional(time)},
    Claim: {"owner": text, "fence": positive, "until": optional(time)},
}
"""The readers of the fields of each class. A field without a default is required."""


def _reader(kind: type[attrs.AttrsInstance]) -> FieldReader:
    required = [field.name for field in attrs.fields(kind) if field.default is attrs.NOTHING]
    return lambda value: kind(**read_object(value, OBJECTS[kind], required))


waiting = _reader(Waiting)
"""Read a task's `waiting` value: what it waits for."""

evidence = _reader(Evidence)
"""Read the evidence of a task."""

approval = _reader(Approval)
"""Read the approval of a plan."""


claim = _reader(Claim)
"""Read the claim on a task."""


def write_fields(value: Waiting | Evidence | Approval | Claim) -> dict[str, Any]:
    """
    Return such a value as plain data, without fields that have their default.

    Raises:
        MisfitError: a value cannot be represented in JSON, or a time has no time zone.
    """
    data: dict[str, Any] = {}
    found = []
    for field in attrs.fields(type(value)):
        held = getattr(value, field.name)
        if held == field.default:
            continue
        try:
            data[field.name] = write_time(held) if isinstance(held, datetime) else held
            OBJECTS[type(value)][field.name](data[field.name])
        except MisfitError as error:
            found += error.below(f".{field.name}")
    if found:
        raise MisfitError(found)
    return data
