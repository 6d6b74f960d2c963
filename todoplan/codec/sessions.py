"""
The record of a session: what it knows of a plan, as a small JSON value (law 15).

Law: it grows with what others do to the session's own tasks, never with the plan or its life. Past
its bounds it forgets on the safe side: a task whose own words are forgotten is no longer listed.
"""

from collections.abc import Iterable
from typing import Any

import attrs

from todoplan.codec.faults import MisfitError, misfit, wrong_shape
from todoplan.codec.readers import FieldReader, optional, read_object
from todoplan.codec.tasks import read_task, write_task
from todoplan.codec.values import text
from todoplan.core.events.base import Base, Note, differences
from todoplan.core.plan.draft import Draft
from todoplan.core.plan.model import Task, Todo
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.slots import number_of
from todoplan.dialogue.guidance.memory import Memory
from todoplan.errors import CodecError

__all__ = ["SESSION_VERSION", "Record", "record_from_data", "record_to_data"]

SESSION_VERSION = 1
_MOST_MINE = 100
_MOST_RANGES = 1_000


@attrs.define
class Record:
    """
    `id` names its calls; `revision` is the plan's as of its last answered call, `None` if it has
    never looked; `listed`, `mine` and `told` are those of `Base`; `fences` are those of its claims;
    `memory` is what guidance remembers; `answered` counts its turns; `asked` is the request that is
    not answered yet. `behind`: the plan of `revision`, where no store can say what it was.
    """

    id: str
    revision: int | None = None
    listed: frozenset[str] | None = None
    mine: dict[str, Task] = attrs.field(factory=dict)
    told: int = 0
    fences: dict[str, int] = attrs.field(factory=dict)
    memory: Memory = Memory()
    answered: int = 0
    asked: tuple[Memory, int] | None = None
    behind: Base | None = None

    def knows(self, known: Base) -> None:
        """
        Take in what the session knows once its calls were answered.
        """
        mine = dict(list(known.mine.items())[-_MOST_MINE:])
        self.revision, self.told, self.mine, self.behind = (
            known.plan.revision,
            known.told,
            mine,
            None,
        )
        lost = known.mine.keys() - mine.keys()
        self.listed = known.listed if known.listed is None else known.listed - lost

    def looked(self, revision: int) -> None:
        """
        Take in that the session was shown a plan in which it has listed nothing.
        """
        self.revision, self.listed = revision, frozenset() if revision else None

    def base(self, plan: Plan) -> Base:
        """
        Return a plan as the base of the session's next calls.
        """
        return Base(plan, listed=self.listed, mine=self.mine, told=self.told)


def record_to_data(record: Record, plan: Plan | None = None) -> dict[str, Any]:
    """
    Return a record as plain JSON values; `plan` is that of a slot, which `behind` is told from.
    """
    data: dict[str, Any] = {"version": SESSION_VERSION, "id": record.id}
    data["revision"] = record.revision
    if record.listed is not None:
        data["listed"] = _ranges(record.listed)
    if record.mine:
        data["mine"] = [write_task(task) for task in record.mine.values()]
    if record.told:
        data["told"] = record.told
    if record.fences:
        data["fences"] = dict(record.fences)
    data["guidance"] = record.memory.to_data()
    if record.answered:
        data["answered"] = record.answered
    if record.asked is not None:
        data["asked"] = {"guidance": record.asked[0].to_data(), "revision": record.asked[1]}
    if record.behind is not None and plan is not None:
        data["behind"] = _behind(record.behind, plan)
    return data


def _behind(base: Base, plan: Plan) -> dict[str, Any]:
    found = differences(base.plan, plan)
    return {
        "was": [write_task(one.was) for one in found if one.was is not None],
        "new": [one.task.id for one in found if one.was is None],
        "order": [] if _same_order(base.plan, plan) else [task.id for task in base.plan],
        "actors": dict(base.actors),
    }


def _same_order(was: Plan, now: Plan) -> bool:
    return [task.id for task in was if task.id in now] == [t.id for t in now if t.id in was]


def record_from_data(data: object, plan: Plan | None = None) -> Record:
    """
    Return the record that `record_to_data` wrote.

    Raises:
        CodecError: it is damaged, or of a version that is not known here.
    """
    if isinstance(data, dict) and data.get("version") != SESSION_VERSION:
        msg = (
            f"the record of a session has version {data.get('version')!r:.20}, not 1; leave it out"
        )
        raise CodecError(msg, problem="version")
    try:
        read = read_object(data, _FIELDS, ("version", "id", "revision"))
    except MisfitError as error:
        raise wrong_shape(error.found, "session") from None
    behind = read.get("behind")
    return Record(
        read["id"],
        read["revision"],
        read.get("listed"),
        read.get("mine", {}),
        read.get("told", 0),
        read.get("fences", {}),
        Memory.of(read.get("guidance")),
        read.get("answered", 0),
        _asked(read.get("asked")),
        None if behind is None or plan is None else _base(behind, plan, read["revision"]),
    )


def _base(kept: dict[str, Any], plan: Plan, revision: int | None) -> Base:
    was = {task.id: task for task in map(read_task, kept["was"])}
    new = {*kept["new"]}
    tasks = {task.id: was.pop(task.id, task) for task in plan if task.id not in new}
    tasks |= was
    order = kept["order"] or list(tasks)
    draft = Draft(Plan())
    draft.next_id, draft.revision, draft.approved = plan.next_id, revision or 0, plan.approved
    draft.replace(tuple(tasks[task_id] for task_id in order if task_id in tasks))
    return Base(draft.freeze(), kept["actors"])


def _ranges(listed: Iterable[str]) -> list[list[int]]:
    """
    Return ids as ranges of numbers: [[1, 57], [60, 60]].
    """
    ranges: list[list[int]] = []
    for number in sorted(map(number_of, listed)):
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ranges[-_MOST_RANGES:]  # the oldest are forgotten: they can no longer be dropped


def _asked(kept: Any) -> tuple[Memory, int] | None:
    return None if kept is None else (Memory.of(kept["guidance"]), _number(kept["revision"]))


def _listed(value: Any) -> frozenset[str]:
    if not isinstance(value, list) or len(value) > _MOST_RANGES:
        raise misfit(value, "no list of ranges")
    ids: set[str] = set()
    for pair in value:
        good = isinstance(pair, list) and len(pair) == 2 and all(type(n) is int for n in pair)
        if not good or not 0 < pair[0] <= pair[1] < pair[0] + 100_000:
            raise misfit(pair, "no range")
        ids.update(map(str, range(pair[0], pair[1] + 1)))
    return frozenset(ids)


def _mine(value: Any) -> dict[str, Task]:
    if not isinstance(value, list) or len(value) > _MOST_MINE:
        raise misfit(value, f"no list of {_MOST_MINE} tasks at most")
    return {task.id: task for task in map(read_task, value)}


def _number(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise misfit(value, "no whole number")
    return value


def _fences(value: Any) -> dict[str, int]:
    if not isinstance(value, dict):
        raise misfit(value, "no object")
    return {text(task_id): _number(fence) for task_id, fence in value.items()}


def _as_it_is(value: Any) -> Any:
    return value


_FIELDS: dict[str, FieldReader] = {
    "version": _number,
    "id": text,
    "revision": optional(_number),
    "listed": _listed,
    "mine": _mine,
    "told": _number,
    "fences": _fences,
    "guidance": _as_it_is,  # read by `Memory.of`, which names its faults
    "answered": _number,
    "asked": _as_it_is,
    "behind": _as_it_is,
}


def sight_to_data(known: Base) -> dict[str, Any]:
    """
    Return what a session has listed, as part of another value; {} for an agent alone.
    """
    if known.is_alone:
        return {}
    listed = {} if known.listed is None else {"listed": _ranges(known.listed)}
    mine = {"mine": [write_task(task) for task in known.mine.values()]} if known.mine else {}
    return {**listed, **mine, "told": known.told}


def with_sight(base: Base, data: Any) -> Base:
    """
    Return a base with what `sight_to_data` wrote.
    """
    if not data:
        return base
    listed = _listed(data["listed"]) if "listed" in data else None
    return attrs.evolve(base, listed=listed, mine=_mine(data.get("mine", [])), told=data["told"])


def note_to_data(note: Note) -> dict[str, Any]:
    """
    Return a note as plain values, for a reducer.
    """
    lines = None
    if note.lines is not None:
        lines = [
            [task_id, {n: getattr(line, n) for n in _LINE if getattr(line, n) is not None}]
            for task_id, line in note.lines
        ]
    return {"lines": lines, "named": [*note.named], "read": note.read}


def note_from_data(data: Any, ids: Any) -> Note:
    """
    Return a note as it was carried out: `ids` are those of tasks that got other ones.
    """
    lines = data["lines"]
    if lines is not None:
        lines = tuple((ids.get(task_id, task_id), Todo(**line)) for task_id, line in lines)
    return Note(lines, tuple(ids.get(one, one) for one in data["named"]), data["read"])


_LINE = ("content", "status", "active_form", "priority")
