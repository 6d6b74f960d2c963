"""
Records of others that stand for a plan's tasks, and may be changed by anyone at any time.

Law: nothing is taken for unchanged that was looked at and is not. To look at all of a long list
costs more than a call, so a call may look at what it rests on, and at a part of the rest in turn.
"""

from collections.abc import Mapping, Sequence
from operator import attrgetter
from types import NoneType
from typing import Any

from todoplan.core.plan.plan import Plan

__all__ = ["Mirror"]

_SHORT = 128
_PART = 32
_FLAT = frozenset({str, int, float, bool, NoneType})
_look_of = attrgetter("__dict__")


class Mirror:
    """
    How the records looked when they were left, and their `places` by id.

    A record is an object with an `id`, its fields in `__dict__`, values such as JSON has.
    """

    __slots__ = ("_known", "_looks", "_start", "places")

    def __init__(self, records: Sequence[Any]) -> None:
        self._known = list(records)
        self._looks = list(map(_copied, records))
        self._start = 0
        self.places = {record.id: place for place, record in enumerate(records)}

    def write(self, record: Any, data: Mapping[str, Any]) -> None:
        """
        Set the fields in which a record that is as it was left differs from the data.
        """
        look = self._looks[self.places[record.id]]
        for name, value in data.items():
            if look[name] != value:
                setattr(record, name, value)
                look[name] = _twin(value)

    def add(self, record: Any) -> None:
        """
        Take in a record that was added at the end.
        """
        self.places[record.id] = len(self._known)
        self._known.append(record)
        self._looks.append(_copied(record))

    def is_current(self, records: Sequence[Any], *, whole: bool = True) -> bool:
        """
        Say whether the records are as they were left; of a long list, unless `whole`, only whether
        they are the same ones, and whether a part of them, the next in turn, is.
        """
        if whole or len(records) <= _SHORT:
            return list(map(_look_of, records)) == self._looks
        part = slice(self._start, self._start + _PART)
        self._start = part.stop % max(len(self._looks), part.stop)
        same = records == self._known
        return same and list(map(_look_of, records[part])) == self._looks[part]

    def is_sure(self, records: Sequence[Any], plan: Plan, ids: Sequence[str] | None) -> bool:
        """
        Say whether what was decided on a part may rest on it: the tasks of the plan with these ids
        and those they have edges to are as they were left; for `None` or no ids all are.
        """
        if len(records) <= _SHORT:
            return True
        if not ids:
            return self.is_current(records)
        tasks = filter(None, map(plan.get, ids))
        near = {end for task in tasks for end in (task.id, *task.blocks, *task.blocked_by)}
        places = map(self.places.__getitem__, near)
        return all(records[place].__dict__ == self._looks[place] for place in places)


def _copied(record: Any) -> dict[str, Any]:
    return _twin_of_dict(record.__dict__)


def _twin_of_dict(items: dict[str, Any]) -> dict[str, Any]:
    return {key: item if type(item) in _FLAT else _twin(item) for key, item in items.items()}


def _twin(value: Any) -> Any:
    if isinstance(value, dict):
        return _twin_of_dict(value)
    return [_twin(item) for item in value] if isinstance(value, list) else value
