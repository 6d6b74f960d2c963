"""
Foreign records that represent a plan's tasks and may be changed by anyone at any time.

AgentScope's tools, its users and its storage all write to the same records without notification. A
plan that was read from the records is valid only while they are unchanged.
"""

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

_fields_of = attrgetter("__dict__")


class Mirror:
    """
    A copy of the records as they were last written, to detect later changes.

    A record is an object with an `id` and with its fields, which are JSON values, in `__dict__`.
    """

    def __init__(self) -> None:
        self._copies: list[dict[str, Any]] = []
        self._places: dict[str, int] = {}

    def is_current(self, records: Sequence[Any]) -> bool:
        """Return whether the records are unchanged since the last `write`."""
        return list(map(_fields_of, records)) == self._copies

    def write(
        self,
        records: list[Any],
        items: Sequence[dict[str, Any]],
        written: Callable[[Any, dict[str, Any]], Any],
        *,
        whole: bool,
    ) -> None:
        """
        Update the records in place to match the items.

        With `whole`, the items are all records; otherwise they are only the changed ones. `written`
        updates a record, or creates a new one for an item.
        """
        if whole:
            by_id = {record.id: record for record in records}
            records[:] = [written(by_id.get(item["id"]), item) for item in items]
            self._copies = [_copy(record.__dict__) for record in records]
            self._places = {record.id: place for place, record in enumerate(records)}
            return
        for item in items:
            place = self._places.setdefault(item["id"], len(records))
            record = written(records[place] if place < len(records) else None, item)
            records[place : place + 1] = [record]
            self._copies[place : place + 1] = [_copy(record.__dict__)]


def _copy(value: Any) -> Any:
    # Not `copy.deepcopy`, which takes three times as long because of types that JSON does not have.
    if isinstance(value, dict):
        return {key: _copy(item) for key, item in value.items()}
    return list(map(_copy, value)) if isinstance(value, list) else value
