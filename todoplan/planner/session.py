"""
A session: one conversation with one plan (laws 13, 15 and 16 of `guides/architecture.md`).

A session has a `Record`: the tasks that it has listed, and the plan that it was last shown. It
returns the reminder that is due, decides whether an answer of the model is accepted, and answers
calls. A call is compared with the plan that the model knew when it wrote the call. A plan is in a
store, or in a slot: a mapping in the framework's state, which a `SlotStore` uses as the store of
one plan.

The operations of a session are written once, as generators of steps: `Session` executes the steps,
and `AsyncSession` awaits them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, MutableMapping, Sequence
from operator import attrgetter
from threading import Lock
from typing import Any, Generic, NoReturn, TypeVar, cast
from uuid import uuid4

import attrs

from todoplan.codec.documents import base_of_0_2, plan_to_data, read_task, write_task
from todoplan.codec.engine import (
    KINDS,
    PRIORITIES,
    STATUSES,
    FieldReader,
    MisfitError,
    count,
    ids,
    misfit,
    one_of,
    optional,
    positive,
    read_each,
    read_object,
    text,
    to_text,
    write_fields,
    wrong_shape,
)
from todoplan.core.commands import Command
from todoplan.core.decide import Decision, plan_of
from todoplan.core.events.apply import Entry
from todoplan.core.events.base import NOTHING_LISTED, Base, Note, differences, quick_base
from todoplan.core.events.types import Event, PlanRestored
from todoplan.core.plan.model import (
    EMPTY,
    Approval,
    FrozenDict,
    Task,
    Todo,
    Waiting,
    fast_constructor,
)
from todoplan.core.plan.plan import Plan, number_of
from todoplan.core.rules import Policy
from todoplan.dialogue.calls import Call, Clock, Reply, Turn, utc_now
from todoplan.dialogue.guidance import (
    Advice,
    Guidance,
    Memory,
    Message,
    Settings,
    before_partial,
    unfinished_error,
)
from todoplan.dialogue.toolbox import (
    Start,
    Toolbox,
    answered_after,
    fences_after,
    guidance_of,
    require,
    require_actor,
    require_clock,
)
from todoplan.errors import CodecError, PlanError
from todoplan.planner.async_planner import AsyncPlanner
from todoplan.planner.loops import Limiter, running_loop
from todoplan.planner.planner import Planner, Transactions, caught_up, plan_of_revision
from todoplan.planner.steps import Steps, at_once, awaited, store_of_plans
from todoplan.planner.verifying import Verify, verifier_of
from todoplan.planner.watching import Journal
from todoplan.stores.base import ALL, AnyStore
from todoplan.stores.slot import SLOT, SlotStore

# -------- record --------
# The record of a session: what the session knows of a plan, as a small JSON value. With it, a later
# list of the session undoes nothing that the session has not seen (law 15).
#
# A record grows with the changes that others make to tasks of the session, and not with the size or
# the age of the plan. Its size is limited: if there are more than 100 tasks in `mine`, or more than
# 1,000 ranges of listed ids, the oldest are removed. A removed task counts as not listed, so no
# list can drop it. `overflow` means that a task may have been removed from `mine`. Then no line of
# a list reopens a closed task that the session has not listed, until the session has read the whole
# plan.


RECORD_VERSION = 1
MOST_OWN = 100
MOST_RANGES = 1_000
_PAIR = 2
_WIDEST = 1_000_000  # ids; each range is expanded in memory
_NEW_MEMORY = Memory().to_data()


@attrs.frozen
class Request:
    """
    A request to the model that is not answered yet.

    `memory` is what guidance remembers once the request is answered. `revision` is the plan's
    revision at the time of the request. `text` is the reminder at the end of the request, "" if
    there is none, and `kind` is the kind of that reminder.
    """

    memory: Memory
    revision: int
    text: str = attrs.field(default="", eq=False)
    kind: str = attrs.field(default="", eq=False)

    def again(self, advice: Advice) -> Request:
        """Return the next request, if the answer is not accepted and the model is asked again."""
        return attrs.evolve(self, memory=advice.memory, text=advice.text, kind=advice.kind)


@attrs.frozen
class OpenTurn:
    """
    A turn whose calls are answered one by one.

    `calls` are the ids of the calls. `before` is the session's record before the first call. Of
    this record, only `revision`, `behind` and the fields named in `SIGHT` are saved. `own` are the
    revisions that the turn's calls have made since, and `notes` are the notes of these calls. In
    saved data, the plan of `before.behind` includes the changes that the turn's calls have made.
    """

    calls: tuple[str, ...]
    before: Record
    own: tuple[int, ...] = ()
    notes: tuple[Note, ...] = ()


@attrs.frozen(weakref_slot=False)
class Record:
    """
    What a session knows of a plan.

    `id` identifies the session in the keys of its calls. `revision` is the plan's revision after
    the last answered call, `None` if the session has seen nothing yet. `listed`, `mine`, `order`,
    `told` and `overflow` are the fields of a `Base`. `fences` are the fencing tokens of the
    session's claims. `memory` is what the reminders depend on.

    `answered` is the number of answered turns. `asked` is the request that is not answered yet.
    `turn` is a turn whose calls are answered one by one. `behind` is only used without a store: the
    plan at `revision`, and who has changed which tasks since.
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
        Return the merge base, with which the next calls are compared. `plan` is the plan at the
        record's revision.
        """
        return quick_base(plan, EMPTY, *_sight_of(self), None)

    def after_turn(
        self, known: Base | None, memory: Memory, turns: int, turn: OpenTurn | None
    ) -> Record:
        """
        Return the record after calls of the model were answered. The open request is closed.

        `known` is what the session knows after these calls (`Turn.known`), or `None` if they have
        shown it nothing. `memory` is what guidance remembers. `turns` is the number of turns to
        count: 0 for a turn that was counted before. `turn` is a turn whose calls are answered one
        by one, if these were some of them.
        """
        answered = self.answered + turns
        if known is None:
            return attrs.evolve(self, memory=memory, answered=answered, asked=None, turn=turn)
        if not known.is_alone:
            known = bounded(known)
        # Not `attrs.evolve`, which would take a tenth of the time of a whole call.
        sight = _sight_of(known)
        revision = known.plan.revision
        return _record(self.id, revision, *sight, self.fences, memory, answered, None, turn, None)


SIGHT = ("listed", "mine", "order", "told", "overflow")
"""The fields of `Base` that a record keeps, in the order in which both classes have them."""

_sight_of = attrgetter(*SIGHT)
_record = fast_constructor(Record)


def bounded(known: Base) -> Base:
    """Return what a session knows, reduced to the limits of a record."""
    lost = [*known.mine][:-MOST_OWN] if len(known.mine) > MOST_OWN else []
    if lost:
        mine = {task_id: known.mine[task_id] for task_id in known.mine if task_id not in lost}
        every = {task.id for task in known.plan} if known.listed is None else known.listed
        listed = frozenset(every) - {*lost}
        known = attrs.evolve(known, mine=mine, listed=listed, overflow=True)
    if known.listed is not None and len(known.listed) > MOST_RANGES:
        ranges = _ranges(known.listed)
        if len(ranges) > MOST_RANGES:
            known = attrs.evolve(known, listed=_ids_of(ranges[-MOST_RANGES:]))
    # If the order is dropped, the order of the next list counts as new. This undoes no change by
    # others.
    return known if len(known.order) <= MOST_RANGES else attrs.evolve(known, order=())


def record_to_data(record: Record, plan: Plan | None = None) -> dict[str, Any]:
    """
    Return a record as plain JSON values; empty fields are left out.

    If no store keeps the plan, pass the current plan as `plan`. Then the data also has the
    differences between `record.behind.plan`, the plan that the session knows, and the current plan.
    """
    asked, turn = record.asked, record.turn
    return {
        "version": RECORD_VERSION,
        "id": record.id,
        "revision": record.revision,
        **_sight(record),
        **_given(
            fences=dict(record.fences) or None,
            guidance=_memory_to_data(record.memory) or None,
            answered=record.answered or None,
            asked=asked and {"guidance": _memory_to_data(asked.memory), "revision": asked.revision},
            turn=turn
            and {
                "calls": [*turn.calls],
                "revision": turn.before.revision,
                **_sight(turn.before),
                **_given(own=[*turn.own] or None),
                "notes": [note_to_data(note) for note in turn.notes],
                **_given(behind=_behind_to_data(turn.before, plan)),
            },
            behind=_behind_to_data(record, plan),
        ),
    }


def _given(**values: Any) -> dict[str, Any]:
    """Return the values that are not `None`."""
    return {name: value for name, value in values.items() if value is not None}


def record_from_data(data: object, plan: Plan | None = None) -> Record:
    """
    Return the record that `record_to_data` wrote.

    Raises:
        CodecError: the record is damaged, or has an unknown version.
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
        turn = read["turn"]
        fields = {name: turn.pop(name) for name in ("calls", "own", "notes") if name in turn}
        read["turn"] = OpenTurn(before=Record("", **_with_base(turn, plan)), **fields)
    return Record(**_with_base(read, plan))


def _with_base(read: dict[str, Any], plan: Plan | None) -> dict[str, Any]:
    """Replace `behind`, the saved differences to the current plan, by the plan that they give."""
    kept = read.pop("behind", None)
    if kept is None or plan is None:
        return read
    was, new = {task.id: task for task in kept.get("was", ())}, {*kept.get("new", ())}
    tasks = {task.id: was.get(task.id, task) for task in plan if task.id not in new} | was
    order = kept.get("order") or [*tasks]
    ordered = [tasks.pop(task_id) for task_id in order if task_id in tasks]
    try:
        then = plan_of(
            (*ordered, *tasks.values()),
            next_id=plan.next_id,
            revision=read["revision"] or 0,
            approved=kept.get("approved", plan.approved),
        )
    except PlanError as error:
        msg = f"this session record is damaged: its merge base cannot be read: {error}"
        raise CodecError(msg, problem="damaged", path="behind") from None
    return {**read, "behind": Base(then, kept.get("actors", {}))}


def _memory_to_data(memory: Memory) -> dict[str, int]:
    return {
        name: value
        for name, default in _NEW_MEMORY.items()
        if (value := getattr(memory, name)) != default
    }


def base_to_data(base: Base) -> dict[str, Any]:
    """
    Return a merge base as plain JSON values, including the tasks that its session has listed.

    This is for an adapter that saves merge bases itself; a `Session` saves its record instead.
    """
    sight = {} if base.is_alone else _sight(bounded(base))
    return {"plan": plan_to_data(base.plan), "actors": dict(base.actors), **sight}


def base_from_data(data: object) -> Base:
    """
    Return the merge base that `base_to_data` wrote.

    Raises:
        CodecError: the base is damaged.
    """
    if not isinstance(data, dict):
        return base_of_0_2(data)
    sight = {name: data[name] for name in SIGHT if name in data}
    base = base_of_0_2({name: value for name, value in data.items() if name not in SIGHT})
    try:
        read = read_object(sight, {name: _FIELDS[name] for name in SIGHT})
    except MisfitError as error:
        raise wrong_shape(error.found, "base") from None
    return attrs.evolve(base, **read)


def note_to_data(note: Note) -> dict[str, Any]:
    """
    Return a note (what a call has shown its session) as plain JSON values, for an adapter that
    calls `Base.advanced` later.
    """
    lines = [[task_id, _line_to_data(line)] for task_id, line in note.lines or ()]
    return _given(
        lines=None if note.lines is None else lines, named=[*note.named] or None, read=note.read
    )


def note_from_data(data: object, ids: Mapping[str, str] = EMPTY) -> Note:
    """
    Return the note that `note_to_data` wrote. `ids` maps the old id of each task whose id has
    changed to the new id.

    Raises:
        CodecError: the note is damaged.
    """
    try:
        note = _note(data)
    except MisfitError as error:
        raise wrong_shape(error.found, "note of a call") from None
    lines = note.lines and tuple((ids.get(task_id, task_id), line) for task_id, line in note.lines)
    return Note(lines, tuple(ids.get(task_id, task_id) for task_id in note.named), note.read)


def _sight(known: Base | Record) -> dict[str, Any]:
    return _given(
        listed=None if known.listed is None else _ranges(known.listed),
        mine=[[task.id, _line_to_data(task)] for task in known.mine.values()] or None,
        order=[*known.order] or None,
        told=known.told or None,
        overflow=known.overflow or None,
    )


def _line_to_data(line: Todo | Task) -> dict[str, Any]:
    """Return the fields of a line or a task as plain JSON values. `None` is left out."""
    return _given(
        content=line.content if isinstance(line, Todo) else line.subject,
        status=line.status and line.status.value,
        active_form=line.active_form,
        priority=line.priority and line.priority.value,
        waiting=line.waiting and write_fields(line.waiting),
    )


def _behind_to_data(record: Record, plan: Plan | None) -> dict[str, Any] | None:
    base = record.behind
    if base is None or plan is None or record.revision is None:
        return None
    # A program may have replaced the plan by another one at the same revision.
    if record.revision == plan.revision and base.plan == plan:
        return None
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
    return data


def _ranges(listed: Iterable[str]) -> list[list[int]]:
    """Return ids as ranges of numbers, such as [[1, 57], [60, 60]]."""
    ranges: list[list[int]] = []
    for number in sorted(map(number_of, listed)):
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ranges


def _ids_of(ranges: Iterable[Any]) -> frozenset[str]:
    return frozenset(str(one) for first, last in ranges for one in range(first, last + 1))


# Readers of the parts of a record. `Memory.of` raises its own CodecError.


def _listed(value: Any) -> frozenset[str]:
    if not isinstance(value, list) or len(value) > MOST_RANGES:
        raise misfit(value, f"no array of {MOST_RANGES} ranges of ids at most")
    ranges = read_each(value, _range)
    if sum(last - first for first, last in ranges) > _WIDEST:
        raise misfit(value, "too wide: no plan has so many tasks")
    return _ids_of(ranges)


def _range(value: Any) -> tuple[int, int]:
    if not isinstance(value, list) or len(value) != _PAIR:
        raise misfit(value, "no range of ids, such as [1, 57]")
    first, last = read_each(value, positive)
    if last < first:
        raise misfit(value, "no range of ids: it ends before it begins")
    return first, last


def _fields_of_line(value: Any) -> tuple[str, dict[str, Any]]:
    if not isinstance(value, list) or len(value) != _PAIR:
        raise misfit(value, 'no task in words, such as ["2", {"content": "Fix"}]')
    return text(value[0]), read_object(value[1], _LINE, ("content",))


def _line(value: Any) -> tuple[str, Todo]:
    task_id, fields = _fields_of_line(value)
    return task_id, Todo(**fields)


def _mine(value: Any) -> FrozenDict:
    if not isinstance(value, list) or len(value) > MOST_OWN:
        raise misfit(value, f"no array of {MOST_OWN} tasks at most")
    tasks = read_each(value, _fields_of_line)
    return FrozenDict({one: Task(one, fields.pop("content"), **fields) for one, fields in tasks})


def _note(value: Any) -> Note:
    return Note(**read_object(value, {"lines": _array(_line), "named": ids, "read": text}))


def _request(value: Any) -> Request:
    read = read_object(value, {"guidance": Memory.of, "revision": count}, ("guidance", "revision"))
    return Request(read["guidance"], read["revision"])


def _true(value: Any) -> bool:
    if value is True:
        return value
    raise misfit(value, "not true; leave it out")


def _object(fields: Mapping[str, FieldReader], *required: str) -> FieldReader:
    return lambda value: read_object(value, fields, required)


def _array(reader: FieldReader) -> FieldReader:
    def read(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise misfit(value, "no array")
        return read_each(value, reader)

    return read


def _mapping(reader: FieldReader) -> FieldReader:
    def read(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise misfit(value, "no object")
        return {text(key): reader(item) for key, item in value.items()}

    return read


_LINE: dict[str, FieldReader] = {
    "content": text,
    "status": one_of(STATUSES),
    "active_form": text,
    "priority": one_of(PRIORITIES),
    "waiting": KINDS[Waiting].read,
}
_BEHIND: dict[str, FieldReader] = {
    "was": _array(read_task),
    "new": ids,
    "order": ids,
    "actors": _mapping(text),
    "approved": optional(KINDS[Approval].read),
}
_SIGHT: dict[str, FieldReader] = {
    "listed": _listed,
    "mine": _mine,
    "order": ids,
    "told": count,
    "overflow": _true,
}
_TURN: dict[str, FieldReader] = {
    "calls": ids,
    "revision": optional(count),
    **_SIGHT,
    "own": _array(count),
    "notes": _array(_note),
    "behind": _object(_BEHIND),
}
_FIELDS: dict[str, FieldReader] = {
    "version": positive,
    "id": text,
    "revision": optional(count),
    **_SIGHT,
    "fences": _mapping(positive),
    "guidance": Memory.of,
    "answered": count,
    "asked": _request,
    "turn": _object(_TURN, "calls", "revision"),
    "behind": _object(_BEHIND),
}
SAVED_BY_0_2 = ("memory", "seen", "base", "id", "answered", "asked")


def record_of_0_2(kept: Mapping[str, Any], plan: Plan | None = None) -> Record | None:
    """
    Return a record made from what todoplan 0.2.0 saved for a run (`functions`) or a `Planning`
    (OpenAI Agents), or `None` if 0.2.0 saved nothing. `plan` is the saved plan, if no store keeps
    it.

    The session continues, and every task that it has seen counts as listed.

    Raises:
        CodecError: the saved data is damaged.
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
            revision = behind = None  # a program put another plan there: no task is listed
    elif "seen" not in kept and plan is not None:
        revision = plan.revision  # a `Planning` saved a base only if a change was unseen
    elif "seen" not in kept and memory.revision >= 0:
        revision = memory.revision  # a `Planning` with a store saved only guidance's memory
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
    "memory": Memory.of,
    "seen": count,
    "base": base_of_0_2,
    "id": text,
    "answered": count,
    "asked": _object({"memory": Memory.of, "seen": optional(count)}, "memory"),
}


P = TypeVar("P", bound=Transactions[Any])
T = TypeVar("T")
_PLAIN = Settings()
SESSION = "session"
"""The key under which `to_data` saves the record."""


@attrs.define
class _Sight:
    """
    What a session knows of a plan. It is computed inside the transaction that needs it.

    `plan` is the plan at the record's revision, if it is in memory. If the calls of a turn come one
    by one, `own` are the revisions that the turn's earlier calls have made, and `notes` are the
    notes of these calls. `heard` is the session's record after these calls, and `heard_plan` is the
    plan at the revision of `heard`. `did` is called with the events of the calls. `actor` is the
    session's name in the journal, and `given_actor` is the name that the program gave.
    """

    record: Record
    plan: Plan | None
    actor: str | None
    did: Callable[[Sequence[Event]], None]
    given_actor: str | None = None
    own: Collection[int] = ()
    notes: tuple[Note, ...] = ()
    heard: Record | None = None
    heard_plan: Plan | None = None
    listed: frozenset[str] | None = NOTHING_LISTED  # the value for a new session
    learns_from_repeats = True

    def since(self, plan: Plan, _: Entry | None) -> int | None:
        """
        Return the revision after which the journal's entries are needed, to know what others have
        changed, or `None` if no entries are needed.
        """
        known = self.record.revision
        if known is None or known >= plan.revision:
            return None
        return ALL if self.plan is None else known

    def base(self, plan: Plan, journal: Journal) -> Base | None:
        """Return the merge base of the calls, or `None` if the session knows the whole plan."""
        record = self.record
        # The common case: there is one agent, and nobody has written since its last call.
        if (
            record.revision == plan.revision
            and record.listed is None
            and not record.order
            and (record.mine is EMPTY or not record.mine)
            and (self.plan is None or self.plan is plan)
        ):
            return None
        base = self.known(plan, journal)
        return None if base.is_alone and base.plan is plan else base

    def known(self, plan: Plan, journal: Journal) -> Base:
        """Return what the session knows of a plan."""
        record = self.record
        if record.revision is None:
            self.listed = None if plan.next_id == 1 else NOTHING_LISTED
            # A list of a new session reopens no task: the session does not know who has closed
            # which task.
            return Base(plan, listed=self.listed, overflow=self.listed is not None)
        earlier = record.behind.actors if record.behind else EMPTY
        if record.revision == plan.revision:
            base = record.base(plan if self.plan is None else self.plan)
            return attrs.evolve(base, actors=earlier) if earlier else base
        # Compared with None, because a plan without tasks (a list that was cleared) is false.
        then = self.plan
        if then is None:
            then = plan_of_revision(journal, record.revision)
        if then is None:
            # The journal was cut after this record, or an older copy of the store was restored. So
            # it is unknown what others have changed, and no task counts as listed.
            return Base(plan, listed=NOTHING_LISTED, told=record.told, overflow=True)
        base = caught_up(record.base(then), journal, self.actor, self.own, earlier)
        if self.heard is not None and self.heard.revision is not None:
            heard = _Sight(self.heard, self.heard_plan, self.actor, self.did).known(plan, journal)
            base = attrs.evolve(base, heard=heard.plan)
        return base


class _Session(Generic[P]):
    """The steps of a session, and what `Session` and `AsyncSession` share."""

    def __init__(
        self,
        planner: P,
        record: Record | None = None,
        *,
        settings: Settings = _PLAIN,
        actor: str | None = None,
        slot: SlotStore | None = None,
    ) -> None:
        self.planner = planner
        self.state = Record() if record is None else record
        self.actor = self._given_actor = require_actor(actor)
        if actor is None and planner.toolbox.toolset.team:
            # A claim names its owner, and others must be able to tell two owners apart.
            self.actor = f"agent-{self.state.id[:8]}"
        self.slot = slot
        self.guidance = guidance_of(planner.toolbox, require(settings, Settings))
        # The plan at the record's revision. Plans share tasks that did not change, so keeping this
        # plan costs little. If it is `None`, it is computed from the journal.
        self._plan = self.state.behind.plan if self.state.behind else None
        turn = self.state.turn  # the same for an open turn
        self._turn_plan = turn.before.behind.plan if turn and turn.before.behind else None
        self._asked = self.state.asked

    @property
    def toolbox(self) -> Toolbox:
        """The tool set and the policy."""
        return self.planner.toolbox

    @property
    def record(self) -> dict[str, Any]:
        """The record of this session as a JSON value, to be saved."""
        if self.slot is None:
            return record_to_data(self.state)
        # A slot keeps only the latest entries, so the record also has the changes by others.
        state, plan, journal = self.state, self.slot.load(SLOT), self.slot.entries(SLOT)
        turn = state.turn
        if turn is not None and turn.before.revision is not None:
            known = attrs.evolve(self._sight_of_turn(turn).known(plan, journal), heard=None)
            turn = attrs.evolve(turn, own=(), before=attrs.evolve(turn.before, behind=known))
        behind = None if state.revision is None else self._sight().known(plan, journal)
        return record_to_data(attrs.evolve(state, turn=turn, behind=behind), plan)

    def to_data(self) -> dict[str, Any]:
        """
        Return the session as plain JSON values, to be saved and later passed to `opened`. The
        record is under the key "session". If no store keeps the plan, the values also have the plan
        and the latest journal entries.
        """
        return {**({} if self.slot is None else self.slot.slot), SESSION: self.record}

    def to_text(self) -> str:
        """Return the values of `to_data` as one JSON text, for `read_text`."""
        more = {SESSION: self.record}
        return to_text(more) if self.slot is None else self.slot.to_text(**more)

    @property
    def request(self) -> Request | None:
        """The request that is not answered yet, if there is one."""
        return self.state.asked

    def _sight(self) -> _Sight:
        return _Sight(self.state, self._plan, self.actor, self._did, self._given_actor)

    def _sight_of_turn(self, turn: OpenTurn) -> _Sight:
        # If there are notes, an earlier reply of this turn has reported the changes by others.
        heard, heard_plan = (self.state, self._plan) if turn.notes else (None, None)
        return _Sight(
            turn.before,
            self._turn_plan,
            self.actor,
            self._did,
            self._given_actor,
            own=turn.own,
            notes=turn.notes,
            heard=heard,
            heard_plan=heard_plan,
        )

    def _unseen(self) -> Steps[tuple[Plan, Base]]:
        """
        Return the plan, and the session's knowledge of it as a `Base`. `base.unseen(plan)` returns
        the changes that the session has not seen.
        """
        sight = self._sight()
        plan, journal = yield from self.planner._read(sight.since)
        return plan, sight.known(plan, journal)

    def _before_model(
        self,
        messages: Sequence[Message] = (),
        *,
        partial: bool = False,
        silent: bool = False,
        is_new: bool = False,
        guidance: Guidance | None = None,
    ) -> Steps[Request]:
        """
        Begin a request to the model. The result has the reminder to put at the end of the request.

        `messages` are the messages of the request, after older ones were summarised. `partial`
        means that the provider keeps the conversation, so that `messages` has only the new ones.
        `silent` is for an adapter that asks the model again, and already has a reminder: no other
        reminder is added. `is_new` means that the user has asked for something new. `guidance`
        replaces the session's own guidance.
        """
        plan, base = yield from self._unseen()
        state, judge = self.state, guidance or self.guidance
        memory = state.memory.new_run(plan) if is_new else state.memory
        if silent:
            advice = Advice(memory)
        else:
            news = base if base.plan is not plan and base.has_news(plan) else None
            # If the provider keeps the conversation, it also keeps a reminder of this revision.
            if not partial or memory.revision != plan.revision:
                memory = memory.at(plan, news, state.revision)
            claimed = self.planner.claimed_by_others(plan, fences=state.fences)
            if partial:
                advice = before_partial(judge, plan, memory, base=news, claimed=claimed)
            else:
                advice = judge.before_model(plan, messages, memory, base=news, claimed=claimed)
        request = Request(advice.memory, plan.revision, advice.text, advice.kind)
        self._asked = request
        self.state = attrs.evolve(self.state, asked=request)
        return request

    def _after_model(
        self,
        message: Message,
        *,
        structured: bool = False,
        silent: bool = False,
        request: Request | None = None,
        guidance: Guidance | None = None,
    ) -> Steps[Advice]:
        """
        Check the model's answer, and return an `Advice`. The verdict of the advice is "accept" or
        "again". After "again", ask the model again, with the reminder of the advice.

        `request` is the request that the model has answered, by default the last one. Pass it if
        several requests of one session are open at once. For `structured` see
        `Guidance.after_model`. `silent` means that the answer is not checked, because the provider
        has blocked it.

        Raises:
            PlanError: no request was made; or the model keeps answering while tasks are open, and
                the settings say to raise.
        """
        asked = request or self._asked
        if asked is None:
            msg = "after_model was called without a request: call before_model before each request"
            raise PlanError(msg)
        # Read the plan again: others may have changed it while the model was answering.
        plan, base = yield from self._unseen()
        state, self._asked = self.state, None
        if state.revision is None:
            # The first request shows the plan, so changes while the model was answering are news.
            # A plan that a program has passed to the session may be at revision 0.
            is_new = not asked.revision and (plan.revision > 0 or plan.next_id == 1)
            listed = None if is_new else NOTHING_LISTED
            # As in any new session, it is unknown who has closed which task.
            state = attrs.evolve(
                state, revision=asked.revision, listed=listed, overflow=listed is not None
            )
        advice, judge = Advice(asked.memory), guidance or self.guidance
        claimed = self.planner.claimed_by_others(plan, fences=state.fences)
        if not silent:
            advice = judge.after_model(
                plan, message, asked.memory, structured=structured, base=base, claimed=claimed
            )
        kept = None if request is not None or advice.verdict == "again" else state.asked
        self.state = attrs.evolve(state, memory=advice.memory, asked=kept, turn=None)
        if advice.verdict == "raise":
            raise unfinished_error(plan, claimed)
        return advice

    def _answer(self, calls: Sequence[Call], response: object = "") -> Steps[Turn]:
        """
        Answer all planning calls of one turn of the model in order, and save their changes in one
        step.

        `response` is the id of the model's message, if that id stays the same when the call is
        repeated. If the store keeps keys, the same calls of the same response are carried out once,
        and get the same replies when they are repeated. With "", the number of the turn in the
        conversation is used as the id; `None` means that no call is ever repeated.

        If `calls` is empty, the turn has no planning calls: the turn is only counted, and the open
        request is closed.
        """
        state = self.state
        if not calls:
            self.state = attrs.evolve(state, answered=state.answered + 1, asked=None, turn=None)
            return Turn((yield from self.planner._plan()), ())
        turn = yield from self.planner._turn(
            calls,
            actor=self.actor,
            base=self._sight(),
            key=self._keys(calls, response, state.answered),
            fences=state.fences,
        )
        self._note_turn(turn, 1, None)
        return turn

    def _answer_one(self, call: Call, turn: Sequence[Call], response: object = "") -> Steps[Reply]:
        """
        Answer one call of a turn whose calls are passed to this method one by one, in order.

        `turn` has all calls of the turn, and each needs an id. The replies are those of `answer`.
        """
        if len(turn) <= 1:  # nothing to keep for the calls that follow
            return (yield from self._answer((call,), response)).replies[0]
        names = [one.name for one in turn]
        if call.name in {names[place] for place in self.toolbox.clashing(names)}:
            plan = yield from self.planner._plan()
            return answered_after(self.toolbox, plan, call, names)
        state, ids = self.state, tuple(one.call_id for one in turn)
        open_turn, turns = state.turn, state.answered - 1
        if open_turn is None or open_turn.calls != ids:
            open_turn, turns = OpenTurn(ids, attrs.evolve(state, turn=None)), state.answered
            state = attrs.evolve(state, answered=turns + 1)
            self._turn_plan = self._plan
        sight = self._sight_of_turn(open_turn)
        keys = self._keys([call], response, turns)
        self.state = state
        done = yield from self.planner._turn(
            [call], actor=self.actor, base=sight, key=keys, fences=state.fences
        )
        reply = done.replies[0]
        notes = open_turn.notes if reply.is_error else (*open_turn.notes, reply.note)
        own = (*open_turn.own, *([reply.revision] if reply.events else ()))
        before = open_turn.before
        if before.revision is None:
            revision = done.plan.revision - len(done.events)
            before = attrs.evolve(before, revision=revision, listed=sight.listed)
        self._note_turn(done, 0, OpenTurn(ids, before, own, notes))
        return reply

    def _keys(self, calls: Sequence[Call], response: object, turns: int) -> Sequence[str] | None:
        # In a slot, the plan and the record are saved together, so no call is repeated.
        if self.slot is not None or response is None:
            return None
        # Some servers give no id to a response. The turn's number then identifies the response.
        return self.planner.keys_of(calls, response or (self.state.id, turns))

    def _note_turn(self, turn: Turn, turns: int, open_turn: OpenTurn | None) -> None:
        """Update the record with what the replies of a turn have shown the session."""
        state, before = self.state, turn.plan.revision - len(turn.events)
        if turn.known is not None and state.revision is not None and state.revision != before:
            memory = state.memory.saw(turn.plan)  # the turn has told of changes by others
        else:
            memory = state.memory.saw_own(before, turn.plan, refused=turn.known is None)
        if turn.known is not None:
            self._plan = turn.known.plan
        self.state = state.after_turn(turn.known, memory, turns, open_turn)

    def _did(self, events: Sequence[Event]) -> None:
        if self.planner.toolbox.toolset.team or self.state.fences:
            fences = fences_after(self.state.fences, events)
            self.state = attrs.evolve(self.state, fences=fences)

    # Changes by a person or the program. They do not wait while the session answers calls.

    def _edit(
        self,
        command: Command,
        *,
        actor: str | None = None,
        policy: Policy | None = None,
        key: str | None = None,
    ) -> Steps[Decision]:
        """
        Carry out a command of a person or the program. The session treats it as a change by others.
        """
        return self.planner._apply(command, actor=actor, policy=policy, key=key)

    def _undo(
        self,
        *,
        actor: str | None = None,
        seen: int | None = None,
        kept: tuple[Entry, ...] = (),
        earlier: Sequence[Start] = (),
    ) -> Steps[Decision]:
        """
        Undo the last accepted command that has not been undone. See `Planner.undo`.

        A slot has only the latest entries of its journal. If the framework has more entries, pass
        them as `kept`. If it has earlier plans, pass them as `earlier`.

        Raises:
            PlanError: no store keeps the plan, and the plan before the change cannot be computed
                from the entries and `earlier`.
        """
        journal = kept or (() if self.slot is None else self.slot.history())
        return self.planner._undo_last(actor, seen, None, *_connected(journal, earlier))

    def _seed(self, plan: Plan, *, actor: str | None = None) -> Steps[Decision]:
        """Replace the tasks by those of another plan. The session has not listed the new tasks."""
        return self.planner._restore(require(plan, Plan), actor=actor)

    def _history(self) -> Steps[tuple[Entry, ...]]:
        """Return the journal, oldest entry first; without a store, only the latest 50 entries."""
        if self.slot is not None:
            return self.slot.history()
        return (yield from self.planner._history())


def _connected(
    journal: tuple[Entry, ...], earlier: Sequence[Start]
) -> tuple[tuple[Entry, ...], Sequence[Start]]:
    """
    Return the entries after the last gap in a journal, and the plans from which they continue.

    A replay over a gap would give a wrong plan, and no error. An entry that contains a whole plan
    does not count as a gap, whatever is missing before it.
    """
    first, revision = 0, None
    for place, entry in enumerate(journal):
        is_whole = any(isinstance(event, PlanRestored) for event in entry.events)
        if revision not in {None, entry.revision - len(entry.events)} and not is_whole:
            first = place
        revision = entry.revision
    since = journal[first:]
    begins = since[0].revision - len(since[0].events) if since else 0
    return since, [
        attrs.evolve(start, entries=start.entries - first)
        for start in earlier
        if start.entries > first or (start.entries == first and start.plan.revision == begins)
    ]


class Session(_Session[Planner]):
    """A session whose plan is in a synchronous store or in a slot. Threads may share it."""

    def __init__(self, planner: Planner, record: Record | None = None, **options: Any) -> None:
        super().__init__(planner, record, **options)
        self._lock = Lock()

    def _run(self, steps: Steps[T]) -> T:
        with self._lock:
            return self.planner._run(steps)

    unseen = at_once(_Session._unseen)
    before_model = at_once(_Session._before_model)
    after_model = at_once(_Session._after_model)
    answer = at_once(_Session._answer)
    answer_one = at_once(_Session._answer_one)

    edit = at_once(_Session._edit, "planner._run")
    undo = at_once(_Session._undo, "planner._run")
    seed = at_once(_Session._seed, "planner._run")
    history = at_once(_Session._history, "planner._run")

    @property
    def plan(self) -> Plan:
        """The current plan."""
        return self.planner.plan


class AsyncSession(_Session[AsyncPlanner]):
    """
    A session with the methods of `Session`, awaited. The plan is in any store or in a slot. If
    several asyncio tasks use it, requests and answers are handled one after the other.
    """

    def __init__(self, planner: AsyncPlanner, record: Record | None = None, **options: Any) -> None:
        super().__init__(planner, record, **options)
        self._limiter = Limiter(1)

    async def _await(self, steps: Steps[T]) -> T:
        loop = running_loop()
        if loop is None:
            return await self.planner._await(steps)
        async with self._limiter.semaphore(loop):
            return await self.planner._await(steps)

    unseen = awaited(_Session._unseen)
    before_model = awaited(_Session._before_model)
    after_model = awaited(_Session._after_model)
    answer = awaited(_Session._answer)
    answer_one = awaited(_Session._answer_one)

    edit = awaited(_Session._edit, "planner._await")
    undo = awaited(_Session._undo, "planner._await")
    seed = awaited(_Session._seed, "planner._await")
    history = awaited(_Session._history, "planner._await")

    async def plan(self) -> Plan:
        """Return the current plan."""
        return await self.planner.plan()


def opened(  # noqa: PLR0913 - what a session is made of
    kept: MutableMapping[str, Any],
    *,
    toolbox: Toolbox | None = None,
    settings: Settings = _PLAIN,
    store: AnyStore | None = None,
    plan_id: str | None = None,
    clock: Clock = utc_now,
    verify: Verify | None = None,
    actor: str | None = None,
) -> Session:
    """
    Return the session that was saved in a mapping, or a new one.

    Without a `store`, the plan is kept in the mapping itself, and the session writes to the
    mapping. If the mapping has a plan but no record, no task counts as listed. Data of todoplan
    0.2.0 is also read.

    Raises:
        CodecError: the saved data is damaged, or has an unknown version.
        PlanError: a store is given although a plan was saved in the mapping; or the plan of the
            saved session is in a store, and no store is given.
    """
    store, plan_id, record, slot = _read(kept, store, plan_id)
    planner = Planner(
        cast("Any", store), plan_id, toolbox=toolbox, clock=require_clock(clock), verify=verify
    )
    return Session(planner, record, settings=settings, actor=actor, slot=slot)


def opened_async(  # noqa: PLR0913 - as `opened`
    kept: MutableMapping[str, Any],
    *,
    toolbox: Toolbox | None = None,
    settings: Settings = _PLAIN,
    store: AnyStore | None = None,
    plan_id: str | None = None,
    clock: Clock = utc_now,
    verify: Verify | None = None,
    actor: str | None = None,
) -> AsyncSession:
    """Return an `AsyncSession` for the same arguments as `opened`."""
    store, plan_id, record, slot = _read(kept, store, plan_id)
    planner = AsyncPlanner(
        store, plan_id, toolbox=toolbox, clock=require_clock(clock), verify=verify
    )
    return AsyncSession(planner, record, settings=settings, actor=actor, slot=slot)


def read_text(text: str) -> dict[str, Any]:
    """
    Return the mapping to pass to `opened`, from a text that `to_text` returned.

    Raises:
        CodecError: the text is damaged.
    """
    try:
        kept = json.loads(text)
    except (TypeError, ValueError) as error:
        msg = f"the plan in the state of this session is damaged: {error}"
        raise CodecError(msg, problem="damaged") from error
    if not isinstance(kept, dict):
        msg = f"the plan in the state of this session is damaged: it is no object but {text[:40]!r}"
        raise CodecError(msg, problem="damaged")
    return kept


def _read(
    kept: MutableMapping[str, Any], store: AnyStore | None, plan_id: str | None
) -> tuple[AnyStore, str | None, Record, SlotStore | None]:
    checked = store_of_plans(store, plan_id)
    if checked is not None and SLOT in kept:
        msg = "both a saved plan and store= are given: leave out one of them"
        raise PlanError(msg)
    slot = None
    if checked is None:
        if SLOT not in kept and (SESSION in kept or record_of_0_2(kept)):
            msg = (
                "this session's plan is in a store: give store= and plan_id=, or leave out the"
                " saved data to begin a new plan"
            )
            raise PlanError(msg)
        slot = SlotStore(kept, lazily=True)
    plan = None if slot is None else slot.load(SLOT)
    if SESSION in kept:
        if stray := sorted(kept.keys() & {*SAVED_BY_0_2}):
            msg = (
                f"both a session record and keys of version 0.2 are saved: {stray}; leave out one"
                " of them"
            )
            raise CodecError(msg, problem="damaged")
        record = record_from_data(kept[SESSION], plan)
    elif (old := record_of_0_2(kept, plan)) is not None:
        record = old
        for name in SAVED_BY_0_2:
            kept.pop(name, None)
    else:
        record = Record()
    return (slot, SLOT, record, slot) if checked is None else (checked, plan_id, record, None)  # type: ignore[return-value]  # a slot is one


class BasePlanning:
    """
    The checked arguments of an adapter's `Planning`, and the sessions that it opens with them.

    `toolbox` has the tools and their policy, `settings` are the settings of guidance, `clock`
    returns the current time with its time zone, and `verify` checks whether a task is done (as in
    `Planner`). `system_prompt` is the instruction that the model reads with the tools: by default
    the prompt of the tool set, and "" for none. With a `store`, the plan is kept there under
    `plan_id`, by default the id of the framework's session. `actor` is the agent's name in the
    journal.

    Raises:
        PlanError: an argument has the wrong type, or a plan id is given without a store.
    """

    def __init__(  # noqa: PLR0913 - the settings of every adapter
        self,
        toolbox: Toolbox | None = None,
        settings: Settings = _PLAIN,
        *,
        store: AnyStore | None = None,
        clock: Clock = utc_now,
        verify: Verify | None = None,
        system_prompt: str | None = None,
        plan_id: str | None = None,
        actor: str | None = None,
    ) -> None:
        self.toolbox = Toolbox() if toolbox is None else require(toolbox, Toolbox)
        self.settings = require(settings, Settings)
        self.system_prompt = self.own_prompt() if system_prompt is None else system_prompt
        self.clock = require_clock(clock)
        self.store = store_of_plans(self.own_store() if store is None else store, plan_id)
        self.plan_id = plan_id
        self.actor = require_actor(actor)
        self._verify = verifier_of(verify)
        self.prepare()

    def own_prompt(self) -> str:
        """Return the default of `system_prompt`."""
        return self.toolbox.toolset.system_prompt()

    def own_store(self) -> AnyStore | None:
        """Return the default store: `None`, unless the framework has no state."""
        return None

    def prepare(self) -> None:
        """Set up whatever else the adapter needs. Called at the end of `__init__`."""

    def given(self, session_id: str | None = None) -> dict[str, Any]:
        """
        Return the keyword arguments for `opened`. `session_id` is the id of the framework's
        session: the default plan id, if there is a store.
        """
        return {
            "toolbox": self.toolbox,
            "settings": self.settings,
            "store": self.store,
            "plan_id": None if self.store is None else self.plan_id or session_id,
            "clock": self.clock,
            "verify": self._verify,
            "actor": self.actor_of(session_id),
        }

    def actor_of(self, session_id: str | None) -> str | None:
        """
        Return the actor of a framework's session. With the tool set of a team, a session without a
        name has its id as its name, so that the claims of two sessions are told apart. If it has no
        id either, the `Session` makes up a name.
        """
        return session_id if self.actor is None and self.toolbox.toolset.team else self.actor

    @staticmethod
    def refuse_edit_beside(run: str, then: str, *, needs_id: bool = False) -> NoReturn:
        """
        Refuse an edit because an active run would overwrite it with the run's own plan.

        In the error message, `run` names the run, and `then` says what to do without a store. With
        `needs_id`, the message says that a store needs a plan id.

        Raises:
            PlanError: always.
        """
        arguments = "store=..., plan_id=..." if needs_id else "store=..."
        msg = (
            f"{run} goes on, which would not see the edit: {then}, or keep the plan in a store,"
            f" Planning({arguments}), and edit it there"
        )
        raise PlanError(msg)

    def refuse_taken(
        self, owner: str, names: Iterable[str], remedy: str = "attach one plan, once"
    ) -> None:
        """
        Refuse to add the tools to an `owner`, such as an agent, that has a tool of the same name.

        `names` are the tools that the owner has. `remedy` says in the error message what to do.

        Raises:
            PlanError: the owner already has tools with some of these names.
        """
        if taken := sorted({*self.toolbox.toolset.tool_names} & {*names}):
            msg = f"{owner} has {', '.join(taken)} already; {remedy}"
            raise PlanError(msg, names=taken)

    def opened(self, kept: Mapping[str, Any], session_id: str | None = None) -> AsyncSession:
        """Return the session that was saved in a mapping, or a new one."""
        return opened_async({**kept}, **self.given(session_id))
