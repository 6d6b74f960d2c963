"""
The entries of a plan: `Todo`, a line that a model writes, and `Task`, an entry that the plan keeps.

The fields of a task are declared here. `CreateTask` and `UpdateTask` name those that commands set.
Code that handles tasks field by field (events, codecs, views, schemas, test strategies) iterates
over `TASK_FIELDS`, so that no new field can be forgotten. Once, a separate list of fields lacked a
new field: the field was lost on saving, and no test noticed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from datetime import UTC, date, datetime
from difflib import get_close_matches
from enum import Enum, StrEnum
from functools import cache
from operator import attrgetter
from reprlib import Repr
from typing import Any, Literal, TypeVar, cast

import attrs

from todoplan.errors import PlanError

# -------- frozen --------
# Deeply immutable JSON values, so that a plan with metadata is still a value: comparable and
# hashable.


# freeze, thaw and hashing recurse; this limit is far below Python's limit of 1,000 frames.
LEVELS = 64
"""The maximum nesting depth of objects and arrays. Documents have the same limit."""

# Values of exactly these classes are immutable; an instance of a subclass may be mutable.
_PLAIN = frozenset({str, int, float, bool, type(None)})


class FrozenDict(Mapping[str, Any]):
    """
    An immutable, hashable mapping. It is equal to any mapping with the same items.

    Each of the values may be nested at most `LEVELS` deep.
    """

    __slots__ = ("_items",)

    _items: dict[str, Any]

    def __init__(self, items: Mapping[str, Any] | None = None) -> None:
        frozen = {key: _frozen(value, LEVELS) for key, value in (items or {}).items()}
        object.__setattr__(self, "_items", frozen)

    def __getitem__(self, key: str) -> Any:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __eq__(self, other: object) -> bool:
        if type(other) is FrozenDict:  # same result as Mapping's, without two copies as dicts
            return self._items == other._items
        return super().__eq__(other)

    def __hash__(self) -> int:
        # Equality ignores the order of items, so the hash must ignore it too.
        return hash(frozenset(self._items.items()))

    def __repr__(self) -> str:
        return f"FrozenDict({self._items!r})"

    def __setattr__(self, name: str, value: object) -> None:
        msg = f"a FrozenDict cannot change; build a new one instead of setting {name!r}"
        raise AttributeError(msg)

    def __reduce__(self) -> tuple[type[FrozenDict], tuple[dict[str, Any]]]:
        # Calls the constructor: pickle's default sets the slot, which __setattr__ refuses.
        return FrozenDict, (self._items,)


EMPTY = FrozenDict()


def freeze(value: Any) -> Any:
    """
    Return the JSON value with every object as a `FrozenDict` and every array as a tuple.

    A `FrozenDict` is returned unchanged.

    Raises:
        PlanError: objects and arrays are nested more than `LEVELS` deep.
    """
    return value if isinstance(value, FrozenDict) else _frozen(value, LEVELS)


def _frozen(value: Any, levels: int) -> Any:
    if type(value) in _PLAIN:
        return value
    is_array = isinstance(value, list | tuple)
    if not is_array and not isinstance(value, Mapping):
        return value
    if not levels:
        msg = f"objects and arrays are nested more than {LEVELS} levels deep; give a flatter value"
        raise PlanError(msg, limit=LEVELS)
    if is_array:
        return tuple([_frozen(item, levels - 1) for item in value])
    # A FrozenDict is walked too: together with the objects around it, it may exceed LEVELS.
    items = {key: _frozen(item, levels - 1) for key, item in value.items()}
    if isinstance(value, FrozenDict):
        return value
    made = FrozenDict()  # the items are frozen already; the constructor would freeze them again
    object.__setattr__(made, "_items", items)
    return made


def thaw(value: Any) -> Any:
    """Return the value with plain dicts and lists, for `json.dumps`."""
    if isinstance(value, Mapping):
        return {key: thaw(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [thaw(item) for item in value]
    return value


# -------- fast_constructor --------
# Constructors for frozen attrs values that take a third of the time.
#
# A frozen attrs class sets each field through `object.__setattr__`, and a task has more than
# twenty. A mutable class with the same slots assigns its fields directly. Once an instance is
# filled, its `__class__` is set to the frozen class; Python allows this because the slots are
# equal.
#
# No converter runs. A fast constructor is for values that were validated before, such as fields of
# another value. Public constructors are for unchecked arguments.


_Frozen = TypeVar("_Frozen", bound=attrs.AttrsInstance)


@cache
def mutable_variant(frozen: type[attrs.AttrsInstance]) -> Any:
    """
    Return the mutable class with the fields of a frozen class.

    To freeze an instance, set its `__class__` to the frozen class. The frozen class must have no
    slot for weak references: with one, CPython refuses the assignment.
    """
    fields = {
        field.name: attrs.field(default=field.default, alias=field.alias)
        for field in attrs.fields(frozen)
    }
    # Measured with 8 fields: creating a value takes 244 ns instead of 680, and changing a field
    # takes 276 ns instead of 1,900 with attrs.evolve. There is no eq and no repr, since no other
    # code sees an instance before its class is set.
    return attrs.make_class(
        f"{frozen.__name__}Draft",
        fields,
        bases=frozen.__bases__,
        slots=True,
        weakref_slot=False,
        eq=False,
        repr=False,
    )


def fast_constructor(frozen: type[_Frozen]) -> Callable[..., _Frozen]:
    """Return a constructor of the class that neither converts nor checks its arguments."""
    mutable = mutable_variant(frozen)

    def make(*values: Any, **named: Any) -> _Frozen:
        made = mutable(*values, **named)
        made.__class__ = frozen
        return made  # type: ignore[no-any-return]  # its class was just set

    return make


class Value:
    """A base of frozen values: the repr of attrs, which would take time to build for each class."""

    __slots__ = ()

    def __repr__(self) -> str:
        given: Any = self
        shown = [f"{name}={getattr(self, name)!r}" for name in given.__match_args__]
        return f"{type(self).__name__}({', '.join(shown)})"


# -------- validation --------
# Converters for the arguments of public constructors. Unsuitable values are refused with a remedy.
#
# The fast constructors (section `fast_constructor`) skip all this, because their arguments were
# validated before.


T = TypeVar("T")
_Member = TypeVar("_Member", bound=StrEnum)

# A value passed by mistake may be a whole plan, or a megabyte long.
_short = Repr()
_short.maxstring = _short.maxother = 80
_short.maxlevel = 1


def short_repr(value: object, *, kind: bool = True) -> str:
    """
    Return a short repr of the value for error messages, followed by its type if `kind` is true.
    """
    # An enum member is shown as its word, which is what a user writes.
    plain = str.__str__(value) if isinstance(value, StrEnum) else value
    return f"{_short.repr(plain)} ({type(value).__name__})" if kind else _short.repr(plain)


def as_text(value: str) -> str:
    """
    Return the value as a plain `str`. A member of a string enum becomes its text.

    Raises:
        PlanError: the value is not a string.
    """
    if not isinstance(value, str):
        raise _unfit(value, "a text")
    # str(value) would call the subclass, which may return anything or raise.
    return value if type(value) is str else str.__str__(value)


def as_text_or_none(value: str | None) -> str | None:
    """
    Return a string as a plain `str`, and `None` unchanged.

    Raises:
        PlanError: the value is anything else.
    """
    if value is not None and not isinstance(value, str):
        raise _unfit(value, "a text or None")
    return None if value is None else as_text(value)


def as_member(word: str, of: type[_Member]) -> _Member:
    """
    Return the member of a string enum for a word.

    Raises:
        PlanError: the word is unknown.
    """
    try:
        return of(word)
    except ValueError:
        near = get_close_matches(str(word), list(of), 1)
        meant = f"; did you mean {near[0]}?" if near else ""
        words = ", ".join(of)
        msg = f"{short_repr(word)} is no {of.__name__.lower()}; write one of {words}{meant}"
        raise PlanError(msg, seen=word) from None


def as_number_or_none(value: float | None) -> float | None:
    """
    Return a finite number as a plain `int` or `float`, and `None` unchanged.

    A bool is refused: it is usually a mistake for another value.

    Raises:
        PlanError: the value is anything else.
    """
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _unfit(value, "a finite number or None")
    # The subclass's own conversion is not called. Numbers are stored as plain types, because
    # NumPy's floats and numeric enums do not survive a document.
    plain = int.__int__(value) if isinstance(value, int) else float.__float__(value)
    try:
        finite = math.isfinite(plain)
    except OverflowError:  # an integer that is too large for a float
        finite = False
    if not finite:
        raise _unfit(value, "a finite number or None")
    return plain


def as_whole_number(value: Any, least: int | None = None) -> int:
    """
    Return the value as a plain `int`: a whole number, not below `least` if `least` is given.

    Raises:
        PlanError: the value is anything else.
    """
    legal = "a whole number" if least is None else f"a whole number from {least} on"
    if isinstance(value, bool) or not isinstance(value, int):
        raise _unfit(value, legal)
    if least is not None and value < least:
        raise _unfit(value, legal)
    return int.__int__(value)


def as_count(value: int) -> int:
    """
    Return the value, which must be a whole number of 0 or more.

    Raises:
        PlanError: the value is anything else.
    """
    return as_whole_number(value, 0)


def count_or_none(value: int | None) -> int | None:
    """
    Return the value, which must be `None` or a whole number of 0 or more.

    Raises:
        PlanError: the value is anything else.
    """
    return None if value is None else as_count(value)


def as_fence(value: int) -> int:
    """
    Return the value, a claim's fencing token, which must be a whole number of 1 or more.

    Raises:
        PlanError: the value is anything else.
    """
    return as_whole_number(value, 1)


def as_time_or_none(value: datetime | None) -> datetime | None:
    """
    Return the value, which must be `None` or an aware time. The time keeps its time zone.

    Raises:
        PlanError: the value is anything else.
    """
    if value is None:
        return None
    at = instance_of(value, datetime, "an aware time such as datetime.now(UTC), or None")
    _require_zone(at)
    return at


def as_date_or_none(value: date | None) -> date | None:
    """
    Return the value, which must be `None` or a date without a time of day.

    Raises:
        PlanError: the value is anything else. A `datetime` is refused too: its day depends on a
            time zone, and its time would be lost.
    """
    given: object = value
    if isinstance(given, datetime) or not isinstance(given, date | None):
        raise _unfit(value, "a date such as date(2026, 12, 1), or None")
    return value


def instance_of(value: object, kind: type[T], legal: str) -> T:
    """
    Return the value if it is an instance of this class.

    Raises:
        PlanError: the value is of another class; the message has `legal`, the allowed values.
    """
    if not isinstance(value, kind):
        raise _unfit(value, legal)
    return value


def tuple_of(value: object, kinds: type[T] | tuple[type[T], ...], legal: str) -> tuple[T, ...]:
    """
    Return the items as a tuple.

    Raises:
        PlanError: the value is a string or not iterable, or an item is of another class.
    """
    # A string iterates over its letters: "12" would silently become two ids.
    items: tuple[Any, ...]
    if type(value) is tuple:
        items = value
    elif isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise _unfit(value, legal)
    else:
        items = tuple(value)
    for kind in {*map(type, items)}:  # thousands of items have one or two classes
        if not issubclass(kind, kinds):
            raise _unfit(next(item for item in items if type(item) is kind), legal)
    return items


def as_truth(value: bool) -> bool:  # noqa: FBT001 - a converter's one argument
    """
    Return the value, which must be True or False.

    Raises:
        PlanError: the value is not a bool. In Python even the strings "no" and "false" are true.
    """
    return instance_of(value, bool, "True or False")


def as_id(value: str) -> str:
    """
    Return the value, which must be a string, as every id is.

    Raises:
        PlanError: the value is not a string.
    """
    if not isinstance(value, str):
        raise _unfit(value, 'an id, which is a text such as "3": str(id)')
    return value


Ids = tuple[str, ...] | list[str] | AbstractSet[str] | Iterator[str]
"""Any iterable of strings except a string. An alias, because `help()` shows its name."""


def as_ids(value: Ids) -> tuple[str, ...]:
    """
    Return ids as a tuple.

    Raises:
        PlanError: the value is not an iterable of strings, or is a single string, which would be
            read letter by letter.
    """
    # Most commands have four empty lists of ids, and every call passes here.
    if type(value) is tuple and not value:
        return ()
    return tuple_of(value, str, 'a tuple of ids, which are texts, such as ("3", "12")')


def as_metadata(value: Mapping[str, Any]) -> FrozenDict:
    """
    Return a deeply frozen copy of a mapping.

    Raises:
        PlanError: the value is not a mapping, or is nested too deeply.
    """
    if type(value) is FrozenDict:  # true of the default, and of values read from a document
        return value
    if not isinstance(value, Mapping):
        raise _unfit(value, 'a mapping such as {"key": "value"}')
    frozen: FrozenDict = freeze(value)
    return frozen


def in_utc(at: datetime) -> datetime:
    """
    Return an aware time in UTC. The core keeps times in UTC, so that they are unambiguous in any
    document.

    If the time in UTC would be outside the range of datetime, the time is returned unchanged.

    Raises:
        PlanError: the time has no time zone.
    """
    _require_zone(at)
    try:
        return at.astimezone(UTC)
    except OverflowError:
        return at


def _require_zone(at: datetime) -> None:
    # Without a time zone, a time means a different moment on each machine.
    if at.utcoffset() is None:
        msg = f"{at.isoformat()} has no time zone; give an aware time such as datetime.now(UTC)"
        raise PlanError(msg, at=at)


def _unfit(value: object, legal: str) -> PlanError:
    return PlanError(f"{short_repr(value)} was given; give {legal}", seen=value)


# -------- values --------
# Small values that tasks and plans are made of: statuses, priorities, waiting, claims, evidence
# and approvals.
#
# `TaskField` and `FieldKind` describe the fields of a task.


class Status(StrEnum):
    """
    The status of a task. "Blocked" is derived from edges and never stored.

    A failed task is closed without its result: the tasks that depend on it stay blocked.
    """

    # pydantic-ai-todo stores "blocked", and nothing resets it once the blockers are completed.
    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    CANCELLED = "cancelled"
    FAILED = "failed"

    __hash__ = str.__hash__  # Enum's own hash is written in Python and ten times slower

    @property
    def resolved(self) -> bool:
        """True for completed and cancelled: such a task blocks no other task."""
        return self in RESOLVED

    @property
    def closed(self) -> bool:
        """True for completed, cancelled and failed: nobody works on such a task any more."""
        return self in CLOSED


# Written out, so that a new status must be put into one of the sets; a test checks this.
RESOLVED = frozenset({Status.COMPLETED, Status.CANCELLED})
CLOSED = RESOLVED | {Status.FAILED}
OPEN = frozenset({Status.PENDING, Status.IN_PROGRESS})


class Priority(StrEnum):
    """The priority of a task, with the words that OpenCode and Claude Code use."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


# The types that converters accept. The words are spelled out, so a misspelled one is a type error.
StatusWord = Status | Literal["pending", "in_progress", "completed", "cancelled", "failed"]
PriorityWord = Priority | Literal["high", "medium", "low"]


def as_status(word: StatusWord) -> Status:
    """
    Return the status for a word.

    Raises:
        PlanError: the word is unknown.
    """
    return word if type(word) is Status else as_member(word, Status)


def status_or_none(word: StatusWord | None) -> Status | None:
    """
    Return the status for a word, and `None` for `None`.

    Raises:
        PlanError: the word is unknown.
    """
    return None if word is None else as_status(word)


def as_priority(word: PriorityWord | None) -> Priority | None:
    """
    Return the priority for a word, and `None` for `None`.

    Raises:
        PlanError: the word is unknown.
    """
    return word if word is None or type(word) is Priority else as_member(word, Priority)


@attrs.frozen(weakref_slot=False, repr=False)
class Waiting(Value):
    """
    What a pending task waits for outside the plan. `reason` names the person or thing.

    `until` is an aware time; from then on the task no longer waits. A `question` can be answered
    with `AnswerTask`, which ends the wait.
    """

    reason: str = attrs.field(default="", converter=as_text)
    until: datetime | None = attrs.field(default=None, converter=as_time_or_none)
    question: str | None = attrs.field(default=None, converter=as_text_or_none)


@attrs.frozen(weakref_slot=False, repr=False)
class Evidence(Value):
    """
    The result of a check by the program: is a task done? The task's `check` says how to check this.

    `summary` is what the check found, `by` the name of the checker, `at` the time. No tool offered
    to a model creates evidence (law 20).
    """

    passed: bool = attrs.field(converter=as_truth)
    summary: str = attrs.field(default="", converter=as_text)
    by: str | None = attrs.field(default=None, converter=as_text_or_none)
    at: datetime | None = attrs.field(default=None, converter=as_time_or_none)


@attrs.frozen(weakref_slot=False, repr=False)
class Claim(Value):
    """
    The right of `owner` to work on a task until a time, which the owner can extend (law 19).

    `fence` is the fencing token: it numbers the claims of a task from 1, and so identifies this
    claim even where two workers have the same name. A claim with `until=None` does not expire.
    """

    # Procrastinate identifies owners by their id alone, but a restarted pod has the same id as
    # before (Procrastinate#1518).
    owner: str = attrs.field(converter=as_text)
    fence: int = attrs.field(converter=as_fence)
    until: datetime | None = attrs.field(default=None, converter=as_time_or_none)

    def is_live(self, at: datetime | None) -> bool:
        """Return True if the claim has not expired at the given time, or if no time is given."""
        return at is None or self.until is None or at < self.until


@attrs.frozen(weakref_slot=False, repr=False)
class Approval(Value):
    """The revision of a plan that a person has approved, with the person's name and the time."""

    revision: int = attrs.field(converter=as_count)
    by: str | None = attrs.field(default=None, converter=as_text_or_none)
    at: datetime | None = attrs.field(default=None, converter=as_time_or_none)


class FieldKind(Enum):
    """
    The kind of value in a field of a task: the field's annotation in `Task`.

    `ID` and `PARENT` are kinds of one field each, and have its name. Where `None` is allowed, it
    means "not given" and is the default.
    """

    ID = "id"
    PARENT = "parent"
    TEXT = "str"
    TEXT_OR_NONE = "str | None"
    STATUS = "Status"
    PRIORITY = "Priority | None"
    WAITING = "Waiting | None"
    EVIDENCE = "Evidence | None"
    CLAIM = "Claim | None"
    COUNT = "int"
    IDS = "tuple[str, ...]"
    NUMBER = "float | None"
    DATE = "date | None"
    METADATA = "FrozenDict"
    TIME = "datetime | None"


@attrs.frozen
class TaskField:
    """
    Describes one field of a task.

    An `editable` field can be set by a `TaskEdited` event. The other fields either have events of
    their own (status, parent, edges) or follow from these (times). A field `is_progress` if it
    changes while a plan is carried out, or contains data of programs; the other fields are what a
    person approves. Of the fields that commands can set, models may set those `for_models`.
    """

    name: str
    kind: FieldKind
    default: Any
    editable: bool
    is_progress: bool
    for_models: bool


def as_waiting(value: Waiting | None) -> Waiting | None:
    """
    Return the value, which must be a `Waiting` or `None`.

    Raises:
        PlanError: the value is anything else.
    """
    legal = 'None, or a Waiting, such as Waiting("the answer of ann")'
    return None if value is None else instance_of(value, Waiting, legal)


def as_claim(value: Claim | None) -> Claim | None:
    """
    Return the value, which must be a `Claim` or `None`.

    Raises:
        PlanError: the value is anything else.
    """
    legal = 'None, or a claim, such as Claim("worker-1", fence=1)'
    return None if value is None else instance_of(value, Claim, legal)


def as_evidence(value: Evidence | None) -> Evidence | None:
    """
    Return the value, which must be an `Evidence` or `None`.

    Raises:
        PlanError: the value is anything else.
    """
    legal = 'None, or an Evidence, such as Evidence(True, "40 passed")'
    return None if value is None else instance_of(value, Evidence, legal)


@attrs.frozen(weakref_slot=False, repr=False)
class Todo(Value):
    """
    One line of a whole-list write: a value without identity.

    A field that is `None` is not given: an existing task keeps its value of the field, and a new
    task without a status is pending. `waiting` makes a task wait, unless the task already waits.
    `level` is the depth of the line's indentation, from 0: the line is a subtask of the nearest
    line above that is indented less. If no line of a list has a level, tasks keep their parents.
    """

    content: str = attrs.field(converter=as_text)
    status: Status | None = attrs.field(default=None, converter=status_or_none)
    active_form: str | None = attrs.field(default=None, converter=as_text_or_none)
    priority: Priority | None = attrs.field(default=None, converter=as_priority)
    id: str | None = attrs.field(default=None, converter=as_text_or_none)
    waiting: Waiting | None = attrs.field(default=None, converter=as_waiting)
    level: int | None = attrs.field(default=None, converter=count_or_none)


# With a slot for weak references, `fast_constructor` could not set the class of an instance.
@attrs.frozen(weakref_slot=False, repr=False)
class Task:
    """
    One entry of the plan: identity, text, status, owner, position in the tree, edges, metadata,
    times.

    `id` is a numeric string without leading zeros. `estimate` is in minutes. `due` is the day by
    which the task should be closed. Times are aware.
    `blocks` and `blocked_by` hold ids and mirror each other across the plan. `parent` is the id of
    the task that contains this one.

    Only a pending task has `waiting`; `answer` is the latest answer to the question of a wait.
    `check` describes how to verify that the task is done; `evidence` is the latest result of that
    check since the task was last started. Only a task in progress has a `claim`. `claims` counts
    the claims over the task's whole life, `failed_attempts` the claims that were released or lost
    since the task was last closed.

    The repr shows the fields that differ from their default, and shortens long values.
    """

    id: str = attrs.field(converter=as_id)
    subject: str = attrs.field(converter=as_text)
    description: str = attrs.field(default="", converter=as_text)
    status: Status = attrs.field(default=Status.PENDING, converter=as_status)
    active_form: str | None = attrs.field(default=None, converter=as_text_or_none)
    priority: Priority | None = attrs.field(default=None, converter=as_priority)
    owner: str | None = attrs.field(default=None, converter=as_text_or_none)
    blocks: tuple[str, ...] = attrs.field(default=(), converter=as_ids)
    blocked_by: tuple[str, ...] = attrs.field(default=(), converter=as_ids)
    estimate: float | None = attrs.field(default=None, converter=as_number_or_none)
    # Not hashed: `freeze` does not change values that are not JSON, such as a set, and these may be
    # unhashable.
    metadata: FrozenDict = attrs.field(default=EMPTY, converter=as_metadata, hash=False)
    parent: str | None = attrs.field(default=None, converter=as_text_or_none)
    waiting: Waiting | None = attrs.field(default=None, converter=as_waiting)
    check: str | None = attrs.field(default=None, converter=as_text_or_none)
    due: date | None = attrs.field(default=None, converter=as_date_or_none)
    answer: str | None = attrs.field(default=None, converter=as_text_or_none)
    evidence: Evidence | None = attrs.field(default=None, converter=as_evidence)
    claim: Claim | None = attrs.field(default=None, converter=as_claim)
    claims: int = attrs.field(default=0, converter=as_count)
    failed_attempts: int = attrs.field(default=0, converter=as_count)
    created_at: datetime | None = attrs.field(default=None, converter=as_time_or_none)
    updated_at: datetime | None = attrs.field(default=None, converter=as_time_or_none)
    started_at: datetime | None = attrs.field(default=None, converter=as_time_or_none)
    completed_at: datetime | None = attrs.field(default=None, converter=as_time_or_none)

    def but(self, **changes: Any) -> Task:
        """Return a copy with the named fields changed. It is much faster than `attrs.evolve`."""
        copy = _MutableTask(*_values(self))
        for name, value in changes.items():
            setattr(copy, name, value)
        copy.__class__ = Task
        return cast("Task", copy)

    def moved(self, status: Status, at: datetime | None) -> Task:
        """
        Return a copy with another status. Times and fields that depend on it are changed too.
        """
        copy: Any = _MutableTask(*_values(self))
        copy.status = status
        # A reopened task has no completion time, but keeps the time of its first start.
        copy.completed_at = at if status is _COMPLETED else None
        if status is not _PENDING:
            copy.waiting = None
        # Law 20: only evidence since the last start counts, and reopening a task discards it.
        if status is _IN_PROGRESS:
            copy.evidence = None
            if copy.started_at is None:
                copy.started_at = at
        else:
            copy.claim = None
            if status in CLOSED:
                copy.failed_attempts = 0
            if copy.evidence is not None and self.status in CLOSED:
                copy.evidence = None
        if at is not None:
            copy.updated_at = at
        copy.__class__ = Task
        return cast("Task", copy)

    def __repr__(self) -> str:
        shown = [short_repr(self.id, kind=False), short_repr(self.subject, kind=False)]
        for field in list(TASK_FIELDS.values())[2:]:
            value = getattr(self, field.name)
            if value != field.default:
                shown.append(f"{field.name}={short_repr(value, kind=False)}")
        return f"Task({', '.join(shown)})"


_PENDING, _IN_PROGRESS, _COMPLETED = Status.PENDING, Status.IN_PROGRESS, Status.COMPLETED
_MutableTask = mutable_variant(Task)  # every status change makes a copy, so this must be fast
# Reads all fields in one call in C.
_values = attrgetter(*(field.name for field in attrs.fields(Task)))

# Each of these has an event of its own or follows from such an event, as all times do.
_SET_BY_OTHER_EVENTS = frozenset(
    {"id", "status", "blocks", "blocked_by", "parent", "claim", "claims", "failed_attempts"}
)
# `blocks` is here because it mirrors `blocked_by`.
_PROGRESS = frozenset(
    {"status", "active_form", "owner", "blocks", "metadata", "waiting", "answer", "evidence"}
    | {"claim", "claims", "failed_attempts"}
)
# A check shows that a task is done, so the model that works on the task must not choose it (law
# 20). An answer is for people to give.
_NOT_FOR_MODELS = frozenset({"check", "answer", "evidence"})


def _task_field(field: attrs.Attribute[Any]) -> TaskField:
    name = field.name
    kind = FieldKind(name if name in {"id", "parent"} else field.type)
    is_time = kind is FieldKind.TIME
    return TaskField(
        name,
        kind,
        field.default,
        editable=not is_time and name not in _SET_BY_OTHER_EVENTS,
        is_progress=is_time or name in _PROGRESS,
        for_models=name not in _NOT_FOR_MODELS,
    )


TASK_FIELDS: dict[str, TaskField] = {field.name: _task_field(field) for field in attrs.fields(Task)}
"""Every field of a task by name, in the order of `Task`."""

EDITABLE = frozenset(field.name for field in TASK_FIELDS.values() if field.editable)
"""The fields that a `TaskEdited` event may set."""
