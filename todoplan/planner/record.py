"""
The record of a session: what it knows of a plan, as a small JSON value (law 15).

Law: it grows with what others do to the session's own tasks, never with the plan or its life. It is
bounded: past 100 own tasks, or 1,000 ranges of listed ids, the oldest are forgotten. A task that is
forgotten is no longer listed, so that no list can drop it; and `overflow` says that old words may
have been forgotten, so that no line reopens a closed task until the session has read the plan.
"""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import uuid4

import attrs

from todoplan.codec.faults import MisfitError, misfit, wrong_shape
from todoplan.codec.objects import approval, waiting, write_fields
from todoplan.codec.readers import FieldReader, one_of, optional, read_each, read_object
from todoplan.codec.states import base_from_data
from todoplan.codec.tasks import read_task, write_task
from todoplan.codec.values import PRIORITIES, STATUSES, count, ids, positive, text
from todoplan.core.decide.assembly import plan_of
from todoplan.core.events.base import Base, Note, differences
from todoplan.core.plan.fast_constructor import fast_constructor
from todoplan.core.plan.frozen import EMPTY
from todoplan.core.plan.model import Task, Todo
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.slots import number_of
from todoplan.dialogue.guidance.memory import Memory
from todoplan.errors import CodecError, PlanError

RECORD_VERSION = 1
MOST_OWN = 100
MOST_RANGES = 1_000
_PAIR = 2
SIGHT = ("listed", "mine", "order", "told", "overflow")
"""The fields of `Base` that a record keeps."""
_WIDEST = 1_000_000  # a range is spread out in memory


@attrs.frozen
class Request:
    """
    A request to the model that is under way: what guidance will remember once it is answered, the
    plan's revision when it was made, and the reminder that stands at its tail ("" for none).
    """

    memory: Memory
    revision: int
    text: str = attrs.field(default="", eq=False)


@attrs.frozen
class OpenTurn:
    """
    A turn whose calls come one by one: its calls' ids, what the session knew before the first of
    them, the revisions that its own calls have made since, and their notes. `behind` is as of
    `Record`, with what its own calls have done.
    """

    calls: tuple[str, ...]
    revision: int | None
    listed: frozenset[str] | None = None
    mine: Mapping[str, Task] = EMPTY
    order: tuple[str, ...] = ()
    told: int = 0
    overflow: bool = False
    own: tuple[int, ...] = ()
    notes: tuple[Note, ...] = ()
    behind: Base | None = None


@attrs.frozen(weakref_slot=False)
class Record:
    """
    `id` names its calls. `revision` is that of the plan as of its last answered call, `None` if it
    has seen nothing yet; `listed`, `mine`, `order`, `told` and `overflow` are those of `Base`.
    `fences` are those of its claims, `memory` is what guidance remembers, `answered` counts its
    turns. `asked` is the request that is not answered yet, `turn` a turn whose calls come one by
    one. `behind` is the plan of `revision`, where no store can say what it was.
    """

    id: str = attrs.field(factory=lambda: uuid4().hex)
    revision: int | None = None
    listed: frozenset[str] | None = None
    mine: Mapping[str, Task] = EMPTY
    order: tuple[str, ...] = ()
    told: int = 0
    overflow: bool = False
    fences: Mapping[str, int] = EMPTY
    memory: Memory = Memory()
    answered: int = 0
    asked: Request | None = None
    turn: OpenTurn | None = None
    behind: Base | None = None

    def base(self, plan: Plan) -> Base:
        """
        Return the base of the session's next calls; `plan` is that of its `revision`.
        """
        sight = {name: getattr(self, name) for name in SIGHT}
        return Base(plan, **sight)

    def after_turn(
        self, known: Base | None, memory: Memory, turns: int, turn: "OpenTurn | None"
    ) -> "Record":
        """
        Return the record of a session after so many further turns, the last of which has left it
        with what it knows, as of `Turn.known`: no request is under way.
        """
        answered = self.answered + turns
        if known is None:
            return attrs.evolve(self, memory=memory, answered=answered, asked=None, turn=turn)
        if not known.is_alone:
            known = bounded(known)
        # Each field in its order: `attrs.evolve` takes a tenth of the time of a call for this.
        return _record(
            self.id,
            known.plan.revision,
            known.listed,
            known.mine,
            known.order,
            known.told,
            known.overflow,
            self.fences,
            memory,
            answered,
            None,
            turn,
            None,
        )


_record = fast_constructor(Record)


def bounded(known: Base) -> Base:
    """
    Return what a session knows without what is too much for its record.
    """
    lost = [*known.mine][:-MOST_OWN] if len(known.mine) > MOST_OWN else []
    if lost:
        mine = {task_id: known.mine[task_id] for task_id in known.mine if task_id not in lost}
        listed = _all_of(known) - {*lost}
        known = attrs.evolve(known, mine=mine, listed=listed, overflow=True)
    if known.listed is not None and len(known.listed) > MOST_RANGES:
        ranges = _ranges(known.listed)
        if len(ranges) > MOST_RANGES:
            known = attrs.evolve(known, listed=_spread(ranges[-MOST_RANGES:]))
    # Without it, the next list counts as newly ordered: that undoes nothing.
    return known if len(known.order) <= MOST_RANGES else attrs.evolve(known, order=())


def _all_of(known: Base) -> frozenset[str]:
    return frozenset(task.id for task in known.plan) if known.listed is None else known.listed


def record_to_data(record: Record, plan: Plan | None = None) -> dict[str, Any]:
    """
    Return a record as plain JSON values; what is empty is left out. `plan` is the one in a slot as
    it stands now: what others changed since `record.behind` is written too.
    """
    data: dict[str, Any] = {"version": RECORD_VERSION, "id": record.id, "revision": record.revision}
    data |= _sight(record)
    if record.fences:
        data["fences"] = dict(record.fences)
    if record.memory != Memory():
        data["guidance"] = _memory_to_data(record.memory)
    if record.answered:
        data["answered"] = record.answered
    if record.asked is not None:
        data["asked"] = request_to_data(record.asked)
    if record.turn is not None:
        data["turn"] = _turn_to_data(record.turn, plan)
    return data | _behind_to_data(record.behind, record.revision, plan)


def record_from_data(data: object, plan: Plan | None = None) -> Record:
    """
    Return the record that `record_to_data` wrote.

    Raises:
        CodecError: it is damaged, or of a version that is not known here.
    """
    if isinstance(data, dict) and data.get("version", RECORD_VERSION) != RECORD_VERSION:
        msg = (
            f"the record of this session has version {data['version']!r:.20}, and this todoplan"
            f" reads {RECORD_VERSION}; install a newer one, or leave the record out: the session"
            " then begins anew, and has listed nothing"
        )
        raise CodecError(msg, problem="version", version=data["version"])
    try:
        read = read_object(data, _FIELDS, ("version", "id", "revision"))
    except MisfitError as error:
        raise wrong_shape(error.found, "record of a session") from None
    del read["version"]
    read["memory"] = read.pop("guidance", Memory())
    if "turn" in read:
        read["turn"] = OpenTurn(**_with_base(read["turn"], plan))
    return Record(**_with_base(read, plan))


def _with_base(read: dict[str, Any], plan: Plan | None) -> dict[str, Any]:
    kept = read.pop("behind", None)
    if kept is not None and plan is not None:
        read["behind"] = _base_behind(kept, plan, read["revision"] or 0)
    return read


def request_to_data(request: Request) -> dict[str, Any]:
    """
    Return a request that is under way as plain JSON values, without its reminder.
    """
    return {"guidance": _memory_to_data(request.memory), "revision": request.revision}


def _memory_to_data(memory: Memory) -> dict[str, int]:
    plain = Memory().to_data()
    return {name: value for name, value in memory.to_data().items() if value != plain[name]}


def request_from_data(data: object) -> Request:
    """
    Return the request that `request_to_data` wrote.

    Raises:
        CodecError: it is damaged.
    """
    try:
        return _request(data)
    except MisfitError as error:
        raise wrong_shape(error.found, "request of a session") from None


def sight_to_data(known: Base) -> dict[str, Any]:
    """
    Return what a session has listed as part of another value; {} for an agent alone.
    """
    if known.is_alone:
        return {}
    known = bounded(known)
    return _sight(known)


def with_sight(base: Base, data: object) -> Base:
    """
    Return a base with what `sight_to_data` wrote.

    Raises:
        CodecError: it is damaged.
    """
    if not data:
        return base
    try:
        read = read_object(data, {name: _FIELDS[name] for name in SIGHT})
    except MisfitError as error:
        raise wrong_shape(error.found, "sight of a plan") from None
    return attrs.evolve(base, **read)


def note_to_data(note: Note) -> dict[str, Any]:
    """
    Return a note as plain JSON values, for a state whose reducer advances the session.
    """
    data: dict[str, Any] = {}
    if note.lines is not None:
        data["lines"] = [[task_id, _line_to_data(line)] for task_id, line in note.lines]
    if note.named:
        data["named"] = [*note.named]
    if note.read is not None:
        data["read"] = note.read
    return data


def note_from_data(data: object, ids: Mapping[str, str] = EMPTY) -> Note:
    """
    Return the note that `note_to_data` wrote; `ids` are the new ids of tasks that got others.

    Raises:
        CodecError: it is damaged.
    """
    try:
        note = _note(data)
    except MisfitError as error:
        raise wrong_shape(error.found, "note of a call") from None
    lines = note.lines and tuple((ids.get(task_id, task_id), line) for task_id, line in note.lines)
    return Note(lines, tuple(ids.get(task_id, task_id) for task_id in note.named), note.read)


def _sight(known: Base | Record | OpenTurn) -> dict[str, Any]:
    data: dict[str, Any] = {}
    if known.listed is not None:
        data["listed"] = _ranges(known.listed)
    if known.mine:
        data["mine"] = [[task.id, _line_to_data(task)] for task in known.mine.values()]
    if known.order:
        data["order"] = [*known.order]
    if known.told:
        data["told"] = known.told
    if known.overflow:
        data["overflow"] = True
    return data


def _line_to_data(line: Todo | Task) -> dict[str, Any]:
    """
    Return the words of a line, or of a task as its session last wrote it.
    """
    data = {"content": line.content if isinstance(line, Todo) else line.subject}
    given = {name: getattr(line, name) for name in ("status", "active_form", "priority")}
    data |= {name: str(value) for name, value in given.items() if value is not None}
    return data if line.waiting is None else {**data, "waiting": write_fields(line.waiting)}


def _turn_to_data(turn: OpenTurn, plan: Plan | None) -> dict[str, Any]:
    return {
        "calls": [*turn.calls],
        "revision": turn.revision,
        **_sight(turn),
        **({"own": [*turn.own]} if turn.own else {}),
        "notes": [note_to_data(note) for note in turn.notes],
        **_behind_to_data(turn.behind, turn.revision, plan),
    }


def _behind_to_data(base: Base | None, revision: int | None, plan: Plan | None) -> dict[str, Any]:
    if base is None or plan is None or revision is None:
        return {}
    # A plan that was put in place whole may be another one at the same revision.
    if revision == plan.revision and base.plan == plan:
        return {}
    changed = differences(base.plan, plan)
    then = [task.id for task in base.plan]
    data: dict[str, Any] = {
        "was": [write_task(one.was) for one in changed if one.was is not None],
        "new": [one.task.id for one in changed if one.was is None],
        "actors": dict(base.actors),
    }
    gone = [task_id for task_id in then if task_id not in plan]
    if then != [*(task.id for task in plan if task.id in base.plan), *gone]:
        data["order"] = then
    if base.plan.approved != plan.approved:
        data["approved"] = base.plan.approved and write_fields(base.plan.approved)
    return {"behind": data}


def _base_behind(kept: dict[str, Any], plan: Plan, revision: int) -> Base:
    was, new = {task.id: task for task in kept.get("was", ())}, {*kept.get("new", ())}
    tasks = {task.id: was.get(task.id, task) for task in plan if task.id not in new} | was
    order = kept.get("order") or [*tasks]
    ordered = [tasks.pop(task_id) for task_id in order if task_id in tasks]
    approved = kept.get("approved", plan.approved)
    try:
        then = plan_of(
            (*ordered, *tasks.values()),
            next_id=plan.next_id,
            revision=revision,
            approved=approved,
        )
    except PlanError as error:
        msg = f"this record of a session is damaged: what it has behind the plan is none: {error}"
        raise CodecError(msg, problem="damaged", path="behind") from None
    return Base(then, kept.get("actors", {}))


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
    return ranges


def _spread(ranges: Iterable[Any]) -> frozenset[str]:
    return frozenset(str(one) for first, last in ranges for one in range(first, last + 1))


def _listed(value: Any) -> frozenset[str]:
    if not isinstance(value, list) or len(value) > MOST_RANGES:
        raise misfit(value, f"no array of {MOST_RANGES} ranges of ids at most")
    ranges = read_each(value, _range)
    if sum(last - first for first, last in ranges) > _WIDEST:
        raise misfit(value, "too wide: no plan has so many tasks")
    return _spread(ranges)


def _range(value: Any) -> tuple[int, int]:
    if not isinstance(value, list) or len(value) != _PAIR:
        raise misfit(value, "no range of ids, such as [1, 57]")
    first, last = read_each(value, positive)
    if last < first:
        raise misfit(value, "no range of ids: it ends before it begins")
    return first, last


def _words(value: Any) -> tuple[str, dict[str, Any]]:
    if not isinstance(value, list) or len(value) != _PAIR:
        raise misfit(value, 'no task in words, such as ["2", {"content": "Fix"}]')
    return text(value[0]), read_object(value[1], _LINE, ("content",))


def _mine(value: Any) -> dict[str, Task]:
    if not isinstance(value, list) or len(value) > MOST_OWN:
        raise misfit(value, f"no array of {MOST_OWN} tasks at most")
    return {task_id: _task(task_id, words) for task_id, words in read_each(value, _words)}


def _task(task_id: str, words: dict[str, Any]) -> Task:
    return Task(task_id, words.pop("content"), **words)


def _lines(value: Any) -> tuple[tuple[str, Todo], ...]:
    if not isinstance(value, list):
        raise misfit(value, "no array of lines")
    return tuple((task_id, Todo(**words)) for task_id, words in read_each(value, _words))


def _object_of(what: Mapping[str, FieldReader], *required: str) -> FieldReader:
    return lambda value: read_object(value, what, required)


def _texts(value: Any) -> dict[str, str]:
    return _mapping(value, text)


def _mapping(value: Any, reader: FieldReader) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise misfit(value, "no object")
    return {text(key): reader(item) for key, item in value.items()}


def _note(value: Any) -> Note:
    return Note(**read_object(value, {"lines": _lines, "named": ids, "read": text}))


def _guidance(value: Any) -> Memory:
    return Memory.of(value)  # a CodecError of its own names the number that is none


def _request(value: Any) -> Request:
    read = read_object(value, _REQUEST, ("guidance", "revision"))
    return Request(read["guidance"], read["revision"])


def _turn(value: Any) -> dict[str, Any]:
    return read_object(value, _TURN, ("calls", "revision"))


def _each(reader: FieldReader) -> FieldReader:
    def read(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise misfit(value, "no array")
        return read_each(value, reader)

    return read


def _true(value: Any) -> bool:
    if value is True:
        return value
    raise misfit(value, "not true; leave it out")


_LINE: dict[str, FieldReader] = {
    "content": text,
    "status": one_of(STATUSES),
    "active_form": text,
    "priority": one_of(PRIORITIES),
    "waiting": waiting,
}
_REQUEST: dict[str, FieldReader] = {"guidance": _guidance, "revision": count}
_BEHIND: dict[str, FieldReader] = {
    "was": _each(read_task),
    "new": ids,
    "order": ids,
    "actors": _texts,
    "approved": optional(approval),
}
_FIELDS: dict[str, FieldReader] = {
    "version": positive,
    "id": text,
    "revision": optional(count),
    "listed": _listed,
    "mine": _mine,
    "order": ids,
    "told": count,
    "overflow": _true,
    "fences": lambda value: _mapping(value, positive),
    "guidance": _guidance,
    "answered": count,
    "asked": _request,
    "turn": _turn,
    "behind": _object_of(_BEHIND),
}
_TURN: dict[str, FieldReader] = {
    "calls": ids,
    "revision": optional(count),
    "own": _each(count),
    "notes": _each(_note),
    "behind": _object_of(_BEHIND),
    **{name: _FIELDS[name] for name in SIGHT},
}


SAVED_BY_0_2 = ("memory", "seen", "base", "id", "answered", "asked")


def record_of_0_2(kept: Mapping[str, Any], plan: Plan | None = None) -> Record | None:
    """
    Return the record of what 0.2.0 saved of a run (`functions`) or a `Planning` (OpenAI Agents);
    `None` if nothing was. `plan` is the one that was saved with it, if no store keeps it.

    That session goes on as it did: all that it has seen counts as listed by it.

    Raises:
        CodecError: it is damaged.
    """
    saved = {name: kept[name] for name in SAVED_BY_0_2 if kept.get(name) is not None}
    if not {"memory", "seen", "base"} & kept.keys():
        return None
    try:
        read = read_object(saved, _READ_0_2)
    except MisfitError as error:
        raise wrong_shape(error.found, "run that was saved by todoplan 0.2") from None
    memory = read.get("memory", Memory())
    behind, revision = read.get("base"), read.get("seen")
    if behind is not None:
        revision = behind.plan.revision
        if plan is not None and plan.revision == revision:
            revision = behind = None  # a program put another plan there: it has listed none of it
    elif "seen" not in kept and plan is not None:
        revision = plan.revision  # a `Planning` saved a base only where something was unseen
    elif "seen" not in kept and memory.revision >= 0:
        revision = memory.revision  # a `Planning` with a store saved what guidance knew, alone
    asked, request = read.get("asked"), None
    if asked is not None:
        seen = asked.get("seen")
        request = Request(asked["memory"], (revision or 0) if seen is None else seen)
    return Record(
        **({"id": read["id"]} if "id" in read else {}),
        revision=revision,
        memory=memory,
        answered=read.get("answered", 0),
        asked=request,
        behind=behind,
    )


_READ_0_2: dict[str, FieldReader] = {
    "memory": _guidance,
    "seen": count,
    "base": base_from_data,
    "id": text,
    "answered": count,
    "asked": _object_of({"memory": _guidance, "seen": optional(count)}, "memory"),
}
