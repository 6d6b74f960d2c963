"""
Records of others that stand for a plan's tasks, and may be changed by anyone at any time.

AgentScope's tools, its users and its storage all write to the same records, and none of them says
so. A plan that was read from the records is theirs only while they are as they were then.
"""

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

_fields_of = attrgetter("__dict__")


class Mirror:
    """
    How records looked when they were left. A record is an object with an `id`, its fields in
    `__dict__`, values such as JSON has.
    """

    def __init__(self) -> None:
        self._copies: list[dict[str, Any]] = []
        self._places: dict[str, int] = {}

    def is_current(self, records: Sequence[Any]) -> bool:
        """Say whether the records are as they were left."""
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
        Make the records those of the items, in place; unless `whole`, these are the only ones that
        differ. `written` brings a record up to date, or makes a new one of an item.
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
    # By hand: `copy.deepcopy` takes three times as long, for kinds of values that JSON has not.
    if isinstance(value, dict):
        return {key: _copy(item) for key, item in value.items()}
    return list(map(_copy, value)) if isinstance(value, list) else value
