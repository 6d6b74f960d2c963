"""
Records of others that stand for a plan's tasks, and may be changed by anyone at any time.

AgentScope's tools, its users and its storage all write to the same records, and none of them says
so. A plan that was read from the records is theirs only while they are as they were then.

Law: nothing is taken for unchanged that was looked at and is not. To look at all of a long list
costs more than a call, so a call may look at what it rests on, and at a part of the rest in turn.
"""

from collections.abc import Mapping, Sequence
from operator import attrgetter
from types import NoneType
from typing import Any

from todoplan.core.plan.graph import ancestors
from todoplan.core.plan.plan import Plan

__all__ = ["Mirror"]

_SHORT = 128  # up to so many records, all are compared at every call
_PART = 32
_FLAT = frozenset({str, int, float, bool, NoneType})
_fields_of = attrgetter("__dict__")


class Mirror:
    """
    How the records looked when they were left, and their `places` by id.

    A record is an object with an `id`, its fields in `__dict__`, values such as JSON has.
    """

    __slots__ = ("_copies", "_next", "_records", "places")

    def __init__(self, records: Sequence[Any]) -> None:
        self._records = list(records)
        self._copies = list(map(_copied, records))
        self._next = 0
        self.places = {record.id: place for place, record in enumerate(records)}

    def write(self, record: Any, data: Mapping[str, Any]) -> None:
        """
        Set the fields in which a record that is as it was left differs from the data.
        """
        copy = self._copies[self.places[record.id]]
        for name, value in data.items():
            if copy[name] != value:
                setattr(record, name, value)
                copy[name] = _copy(value)

    def add(self, record: Any) -> None:
        """
        Take in a record that was added at the end.
        """
        self.places[record.id] = len(self._records)
        self._records.append(record)
        self._copies.append(_copied(record))

    def is_current(self, records: Sequence[Any], *, whole: bool = True) -> bool:
        """
        Say whether the records are as they were left; of a long list, unless `whole`, only whether
        they are the same ones, and whether a part of them, the next in turn, is.
        """
        if whole or len(records) <= _SHORT:
            return list(map(_fields_of, records)) == self._copies
        # Every record has its turn: a change that no call rested on is seen after a few calls more.
        part = slice(self._next, self._next + _PART)
        self._next = part.stop % max(len(self._copies), part.stop)
        same = records == self._records
        return same and list(map(_fields_of, records[part])) == self._copies[part]

    def is_sure(self, records: Sequence[Any], plan: Plan, ids: Sequence[str] | None) -> bool:
        """
        Say whether what was decided on a part may rest on it: the tasks of the plan with these ids,
        those they have edges to, what contains them and what they contain are as they were left;
        for `None` or no ids all are.
        """
        if len(records) <= _SHORT:
            return True
        if not ids:
            return self.is_current(records)
        tasks = filter(None, map(plan.get, ids))
        near = {end for task in tasks for end in (task.id, *task.blocks, *task.blocked_by)}
        if plan.nested:
            near |= {end for task_id in near for end in _in_line(plan, task_id)}
        places = map(self.places.__getitem__, near)
        return all(records[place].__dict__ == self._copies[place] for place in places)


def _in_line(plan: Plan, task_id: str) -> list[str]:
    """
    Return what contains a task, and all that it contains.
    """
    below = list(plan.children(task_id))
    for inner in below:  # it grows while it is walked
        below += plan.children(inner)
    return [*ancestors(plan, task_id), *below]


def _copied(record: Any) -> dict[str, Any]:
    return _copy_of_object(record.__dict__)


# By hand: `copy.deepcopy` takes three times as long, for kinds of values that JSON does not have.
def _copy_of_object(items: dict[str, Any]) -> dict[str, Any]:
    return {key: item if type(item) in _FLAT else _copy(item) for key, item in items.items()}


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return _copy_of_object(value)
    return [_copy(item) for item in value] if isinstance(value, list) else value
