"""
The plan: an immutable value that holds the tasks in order, the next id and the revision.

Theory. A plan is a value: a change creates a new plan, and code that has the old plan (a loop that
may have to retry, a subscriber, an undo) still reads the old state. This is cheap because versions
share everything that did not change: the tasks are in a persistent vector. The counts, the tasks in
progress and the ready tasks are stored beside the vector and updated with every change, never
recomputed. A new plan is made from an old one with a draft; the section `draft` explains how.

Law: old versions stay readable, and one change costs nearly the same from 10 to 100,000 tasks. A
plan is independent of policies and their rules. Further queries on a plan are in
`todoplan.core.plan.questions`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from heapq import heappop, heappush
from itertools import chain, compress, count, islice
from operator import attrgetter, is_not
from typing import Any, Generic, NamedTuple, TypeVar

import attrs

from todoplan.core.plan.model import RESOLVED, Approval, Status, Task, as_id, fast_constructor

# -------- vector --------
# A persistent vector: chunks of a fixed size, copied on write. Old versions stay readable.
#
# Theory. Items are stored in lists of `CHUNK` items each, and a vector is a list of these chunks.
# Versions share the chunks in which they do not differ. One write copies one chunk and the list of
# chunks: n / CHUNK pointers, which at 100,000 items costs less than one more level of a tree. A
# builder records which chunks it has copied (`_owned`), so that a batch of writes copies each
# chunk only once.
#
# Law: a chunk that was ever part of a frozen vector is never changed in place. So if two chunks
# are the same object, they have the same items. A cache of data about chunks (section `chunk_text`)
# only compares identities, and does not need to be notified of changes.


T = TypeVar("T")

_BITS = 7  # chunks of 128: smaller ones make the list of chunks long, larger ones each copy
CHUNK = 1 << _BITS
_MASK = CHUNK - 1


# In prototypes, copying a dict took 20 times as long as the whole change at 10,000 tasks. A
# rerooting map is as fast, but reading an old version writes to it, which is unsafe with threads.
# Maps in C save only a microsecond.
class Vector(Generic[T]):
    """
    Items by position. Positions beyond the end have the `fill` value.

    A vector is immutable. Only a vector from `builder` can be written to, until its `freeze` is
    called. `notes` is a cache for data about the chunks (see the section `chunk_text`); all
    versions of a vector share the cache.
    """

    __slots__ = ("_chunks", "_owned", "fill", "notes", "size")

    def __init__(
        self,
        fill: T,
        chunks: list[list[T]] | None = None,
        size: int = 0,
        notes: dict[Any, Any] | None = None,
    ) -> None:
        self.fill = fill
        self.size = size
        self.notes = {} if notes is None else notes
        self._chunks = chunks or []
        # `None` if the vector is frozen. In a builder, the numbers of the chunks that it has
        # copied.
        self._owned: set[int] | None = None

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, position: int) -> T:
        if 0 <= position < self.size:
            return self._chunks[position >> _BITS][position & _MASK]
        return self.fill

    def __iter__(self) -> Iterator[T]:
        return chain.from_iterable(self._chunks)

    def __reduce__(self) -> tuple[type[Vector[T]], tuple[T, list[list[T]], int]]:
        # The notes are left out: they are a cache, which is filled again.
        return Vector, (self.fill, self._chunks, self.size)

    def chunks(self) -> Sequence[Sequence[T]]:
        """Return the chunks: `CHUNK` items each, the last one possibly fewer."""
        return self._chunks

    def builder(self) -> Vector[T]:
        """Return a writable vector with these items: this one if it is writable, else a copy."""
        if self._owned is not None:
            return self
        open_one = Vector(self.fill, self._chunks.copy(), self.size, self.notes)
        open_one._owned = set()
        return open_one

    def freeze(self) -> Vector[T]:
        """Make the vector immutable and return it."""
        self._owned = None
        return self

    def __setitem__(self, position: int, value: T) -> None:
        if position == self.size:
            self.extend([value])
            return
        if position > self.size:
            size = position + 1
            self.extend([self.fill] * min(-self.size % CHUNK, size - self.size))
            # All whole chunks are the same list, which `_own` copies before a write. So the first
            # edge of a large plan does not cost as much as a copy of the plan.
            whole = (size - self.size) >> _BITS
            self._chunks.extend([[self.fill] * CHUNK] * whole)
            self.size += whole << _BITS
            self.extend([self.fill] * (size - self.size))
        self._own(position >> _BITS)[position & _MASK] = value

    def _own(self, number: int) -> list[T]:
        """Return a chunk that may be changed: a copy, unless this builder has copied it before."""
        owned = self._owned
        if owned is None:
            msg = "a frozen vector cannot change; write to its builder"
            raise TypeError(msg)
        if number not in owned:
            self._chunks[number] = self._chunks[number].copy()
            owned.add(number)
        return self._chunks[number]

    def extend(self, items: Sequence[T]) -> None:
        """Append the items, chunk by chunk."""
        taken = 0
        while taken < len(items):
            number = self.size >> _BITS
            if number == len(self._chunks):
                self._chunks.append([])
            chunk = self._own(number)
            part = items[taken : taken + CHUNK - len(chunk)]
            chunk.extend(part)
            taken += len(part)
            self.size += len(part)


# -------- slots --------
# The positions of tasks: a slot for each id, and sets of slots as the bits of an integer.
#
# Theory. A slot is a position in the vector of tasks. An id is a number that is never used twice,
# so a task's slot can be computed from its id without a table: id 1 is in slot 0, id 2 in slot 1. A
# deleted task leaves its slot empty, because closing the gap would move every later task. The plan
# is packed when the gaps outnumber the tasks (`Draft.freeze`). If a whole-list write has changed
# the order of tasks, their slots are stored in `placed`. Tasks with later ids have the slots after
# these.
#
# A set of slots is an integer in which bit n stands for slot n (the section `draft` gives the
# reasons).


_LONGEST_ID = 18  # digits: such a number fits into the 64-bit integers of any language
_WORD_BITS = 1024
_WORD = (1 << _WORD_BITS) - 1
_KEPT = 4096

LARGEST_GIVEN = 10**15
"""The highest id or next id that is accepted from outside. It leaves room for new ids."""

_numbers: dict[str, int] = {}


def number_of(task_id: str) -> int:
    """
    Return the number that an id spells, or 0 for a text that is not an id ("007", "x", "½").

    Raises:
        PlanError: the value is not a string. Every lookup of a task by id makes this check.
    """
    # Results are cached, because each call needs the number of each task several times. Only low
    # ids are cached, which are all that most plans have. A cache of every argument once held 382 MB
    # of ids that a model had made up.
    try:
        return _numbers[task_id]
    except (KeyError, TypeError):
        # An unhashable value is not a string; as_id raises the error.
        as_id(task_id)
    # ASCII only: full-width digits are decimal too, and a task would then have two ids.
    if len(task_id) > _LONGEST_ID or not (task_id.isascii() and task_id.isdecimal()):
        return 0
    if task_id[0] == "0":
        return 0
    number = int(task_id)
    if number <= _KEPT:
        # The key is a plain str. An instance of a subclass would stay in memory, and could define
        # its own hash.
        _numbers[str(number)] = number
    return number


@attrs.frozen
class Layout:
    """
    The slot of every id: the task's position in the vector of tasks. Versions of a plan share it.

    Ids from `first` on have consecutive slots from `base` on, so adding a task does not change the
    layout. `placed` holds the slots of the ids whose order a whole-list write has changed.
    """

    # Versions share this dict: nothing writes to it after `of`.
    placed: dict[str, int] = attrs.Factory(dict)
    base: int = 0
    first: int = 1

    def slot(self, task_id: str) -> int:
        """Return the slot of this id, even if no task has the id yet; -1 if the id has no slot."""
        if self.placed:
            slot = self.placed.get(task_id)
            if slot is not None:
                return slot
        # The cache of `number_of`, read without the call: this runs ten times for each command.
        try:
            number = _numbers[task_id]
        except (KeyError, TypeError):
            number = number_of(task_id)
        # Every vector returns its fill value at -1, so no caller needs a branch for an unknown id.
        return self.base + number - self.first if number >= self.first else -1

    @classmethod
    def of(cls, task_ids: Iterable[str], next_id: int) -> Layout:
        """
        Return a layout with these ids in the slots 0, 1, 2, ..., and later ids after these slots.

        The later ids are those from `next_id` on.
        """
        placed = {task_id: slot for slot, task_id in enumerate(task_ids)}
        counted = next_id == len(placed) + 1
        if counted and all(task_id == str(slot + 1) for task_id, slot in placed.items()):
            return cls()
        return cls(placed, len(placed), next_id)


def bits(items: Sequence[object], wanted: object) -> int:
    """Return the positions at which `items` has the object `wanted`, as the bits of an integer."""
    # Parsed from binary digits in one step: `|= 1 << place` would copy the integer for every bit.
    digits = "".join(["1" if item is wanted else "0" for item in reversed(items)])
    return int(digits or "0", 2)


def positions(slots: int) -> Iterator[int]:
    """Yield the positions of the bits that are set, lowest first."""
    # Word by word: clearing the lowest bit of an integer of 100,000 bits copies all of it each
    # time.
    base = 0
    while slots:
        word = slots & _WORD
        if not word:
            blank = ((slots & -slots).bit_length() - 1) // _WORD_BITS * _WORD_BITS
            slots >>= blank
            base += blank
            continue
        while word:
            lowest = word & -word
            yield base + lowest.bit_length() - 1
            word ^= lowest
        slots >>= _WORD_BITS
        base += _WORD_BITS


# -------- chunk_text --------
# A vector as text. Each chunk is written once; in a changed chunk only the changed items are
# written.
#
# After every call, the plan is written again, as a document and as a view for the model. But a call
# changes only one task of perhaps a thousand. So the text of every chunk is cached together with
# the vector.
#
# Law: the cached text of a chunk is the text of its present items. A chunk is never changed in
# place (see the section `vector`), and items are immutable. So the same object has the same text,
# comparing identities is enough, and no cached text is ever stale. All versions of a vector share
# the cache. The cache has the last written text of each chunk, and is freed together with the last
# version of the vector.


class ChunkText(NamedTuple, Generic[T]):
    """
    A chunk as text.

    `pieces` has the text of each position, "" for a gap; `text` is all the pieces joined.
    """

    items: Sequence[T | None]
    pieces: list[str]
    text: str


class ChunkWriter(Generic[T]):
    """
    Functions that write items as text. An item's text depends only on the item, and is never empty.

    `one` writes one item; `many` writes several at once, with the same result. `joint` is the text
    between two items.
    """

    __slots__ = ("_joint", "_many", "_one")

    def __init__(
        self, one: Callable[[T], str], many: Callable[[Sequence[T]], list[str]], joint: str
    ) -> None:
        self._one = one
        self._many = many
        self._joint = joint

    def parts(self, vector: Vector[T | None]) -> list[ChunkText[T]]:
        """
        Return a frozen vector as text, chunk by chunk. Exceptions from `one` and `many` propagate.
        """
        kept: dict[int, ChunkText[T]] = vector.notes.setdefault(self, {})
        parts = []
        for number, chunk in enumerate(vector.chunks()):
            part = kept.get(number)
            if part is None or part.items is not chunk:
                pieces = self._brought_up(chunk, part) if part else self._pieces(chunk)
                part = kept[number] = ChunkText(
                    chunk, pieces, self._joint.join(filter(None, pieces))
                )
            parts.append(part)
        return parts

    def _brought_up(self, chunk: Sequence[T | None], last: ChunkText[T]) -> list[str]:
        # `last` may belong to an older or a newer version; its pieces stay as they are, because a
        # slice is a copy. Items are compared by identity: comparing 128 tasks field by field would
        # cost more than writing them.
        pieces = last.pieces[: len(chunk)]
        for place in compress(count(), map(is_not, chunk, last.items)):
            item = chunk[place]
            pieces[place] = "" if item is None else self._one(item)
        if len(chunk) > len(pieces):
            pieces += self._pieces(chunk[len(pieces) :])
        return pieces

    def _pieces(self, chunk: Sequence[T | None]) -> list[str]:
        present = [item for item in chunk if item is not None]
        if len(present) == len(chunk):
            return self._many(present)
        return ["" if item is None else self._one(item) for item in chunk]


class Counts(NamedTuple):
    """The number of tasks with each status."""

    pending: int = 0
    in_progress: int = 0
    completed: int = 0
    cancelled: int = 0
    failed: int = 0

    @property
    def total(self) -> int:
        """The number of all tasks."""
        return sum(self)

    @property
    def open(self) -> int:
        """The number of tasks that are pending or in progress."""
        return self.pending + self.in_progress

    @property
    def resolved(self) -> int:
        """The number of tasks that are completed or cancelled."""
        return self.completed + self.cancelled

    @property
    def closed(self) -> int:
        """The number of tasks that are completed, cancelled or failed."""
        return self.resolved + self.failed


COLUMN = {status: column for column, status in enumerate(Status)}
"""The position of each status in `Counts`."""


class Tasks:
    """The tasks of a plan or a draft in their slots, with the data derived from them."""

    __slots__ = ()

    _tasks: Vector[Task | None]
    _unresolved: Vector[int]
    _layout: Layout
    _children: dict[str, tuple[str, ...]]
    _active: int
    _ready: int
    _waiting: int

    def get(self, task_id: str) -> Task | None:
        """Return the task with this id, or `None`."""
        # The slot computed for an unknown id may hold another task, so ids are compared.
        task = self._tasks[self._layout.slot(task_id)]
        return task if task is not None and task.id == task_id else None

    def children(self, task_id: str) -> tuple[str, ...]:
        """Return the ids of the direct subtasks of a task, in order; () for an unknown id."""
        return self._children.get(task_id, ())

    @property
    def nested(self) -> bool:
        """Whether any task has subtasks."""
        return bool(self._children)

    def waits_for(self, task_id: str) -> int:
        """Return the number of unresolved blockers of a task; 0 for an unknown id."""
        return self._unresolved[self._layout.slot(task_id)]

    def is_held(self, task_id: str, known: dict[str, bool] | None = None) -> bool:
        """
        Return True if a task or one of its ancestors waits or has unresolved blockers.

        `known` is a cache of results by task id: its results are used, and new ones are added.
        """
        return from_above(
            self,
            task_id,
            {} if known is None else known,
            start=False,
            step=lambda above, task: (
                above or task.waiting is not None or self.waits_for(task.id) > 0
            ),
        )

    def ready(self) -> Iterator[Task]:
        """
        Yield the tasks that can be started, in order.

        A ready task is pending, does not wait and has no subtasks. All blockers of the task and of
        its ancestors are resolved, and no ancestor waits.
        """
        if not self._children:
            return self._at(self._ready)
        known: dict[str, bool] = {}
        return (
            task
            for task in self._at(self._ready)
            if (above := task.parent) is None
            or not (known[above] if above in known else self.is_held(above, known))
        )

    def is_ready(self, task_id: str) -> bool:
        """Return True if this task can be started (see `ready`); False for an unknown id."""
        slot = self._layout.slot(task_id)
        task = self._tasks[slot]
        if task is None or task.id != task_id or not self._ready >> slot & 1:
            return False
        return task.parent is None or not self.is_held(task.parent)

    def waiting(self) -> Iterator[Task]:
        """Yield the tasks that wait for something outside the plan, in order."""
        return self._at(self._waiting)

    def active(self) -> Iterator[Task]:
        """Yield the tasks in progress, in order."""
        return self._at(self._active)

    # Lazy, because most callers want only the first of up to 100,000 ready tasks. The sets contain
    # only slots of tasks, never of gaps; the test for `None` is for the type checker.
    def _at(self, slots: int) -> Iterator[Task]:
        return (task for slot in positions(slots) if (task := self._tasks[slot]) is not None)


# No eq by attrs: equal plans may have their tasks in different slots, depending on their history.
@attrs.frozen(eq=False, repr=False, weakref_slot=False, kw_only=True)
class Plan(Tasks):
    """
    A plan. `Plan()` is empty; `plan_of(tasks)` builds a plan from existing tasks and checks them.

    `revision` counts the events since the plan was created, `next_id` is the id of the next new
    task, and `approved` is the revision that a person has approved. The order of a plan is that of
    its tree: each task is directly followed by all tasks below it in the tree. Two plans are equal
    when their tasks, order, revision, next id and approval are equal.
    """

    revision: int = 0
    next_id: int = 1
    approved: Approval | None = None
    counts: Counts = attrs.field(default=Counts(), alias="_counts")
    _tasks: Vector[Task | None] = attrs.field(factory=lambda: Vector(None), alias="_tasks")
    _unresolved: Vector[int] = attrs.field(factory=lambda: Vector(0), alias="_unresolved")
    _layout: Layout = attrs.field(factory=Layout, alias="_layout")
    _active: int = attrs.field(default=0, alias="_active")
    _ready: int = attrs.field(default=0, alias="_ready")
    _waiting: int = attrs.field(default=0, alias="_waiting")
    _children: dict[str, tuple[str, ...]] = attrs.field(factory=dict, alias="_children")

    def __getitem__(self, task_id: str) -> Task:
        task = self.get(task_id)
        if task is None:
            raise KeyError(task_id)
        return task

    def __contains__(self, task_id: object) -> bool:
        return isinstance(task_id, str) and self.get(task_id) is not None

    def __len__(self) -> int:
        return self.counts.total

    def __iter__(self) -> Iterator[Task]:
        # This runs in C. Only a gap (`None`) is false: Task defines neither __len__ nor __bool__.
        return filter(None, self._tasks)

    def written(self, writer: ChunkWriter[Task]) -> list[ChunkText[Task]]:
        """Return the tasks in order as text made by this writer, one entry for each chunk."""
        return writer.parts(self._tasks)

    def waits(self) -> Sequence[Sequence[int]]:
        """
        Return the number of unresolved blockers of each task, in the same chunks as `written`.

        The sequence may end early: tasks without an entry have no unresolved blockers.
        """
        return self._unresolved.chunks()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Plan):
            return NotImplemented
        if self is other:
            return True
        return _head(self) == _head(other) and all(a == b for a, b in zip(self, other, strict=True))

    def __hash__(self) -> int:
        # The first tasks distinguish plans well enough; hashing 100,000 tasks would take a second.
        return hash((*_head(self), *islice(self, 8)))

    def __repr__(self) -> str:
        done, total = self.counts.resolved, self.counts.total
        return (
            f"<Plan tasks={total} resolved={done} revision={self.revision} next_id={self.next_id}>"
        )


def _head(plan: Plan) -> tuple[int, int, Counts, Approval | None]:
    return plan.revision, plan.next_id, plan.counts, plan.approved


# -------- graph --------
# Walks over the edges and the tree of a plan: cycles, order, the critical path.
#
# Law: a walk along a chain of 100,000 tasks neither recurses (Python stops at 1,000 frames) nor
# takes quadratic time. A cycle is found before it exists: a new edge closes a cycle if there
# already is a path from its blocked task to its blocker.
#
# If a task cannot start, neither can any task that it contains (law 18). So a path leads along
# `blocks`, and from a task down to its subtasks. If such a path formed a cycle, its tasks could
# never start. No path leads from a subtask up to its parent: a parent does not wait for a subtask.


_Trail = dict[str, str | None]
"""The predecessor of each task on the walk; `None` for the start."""

_blocks, _blocked_by = attrgetter("blocks"), attrgetter("blocked_by")

_Neighbours = Callable[[Task], tuple[str, ...]]


def ways(tasks: Tasks) -> tuple[_Neighbours, _Neighbours]:
    """
    Return two functions: each takes a task and returns ids of other tasks.

    The first returns the tasks that cannot start if the given task cannot: those that it blocks,
    and its subtasks. The second returns the blockers and the parent of the given task.
    """
    if not tasks.nested:  # most plans: plain attributes, read in C
        return _blocks, _blocked_by
    return (
        lambda task: (*task.blocks, *tasks.children(task.id)),
        lambda task: task.blocked_by if task.parent is None else (*task.blocked_by, task.parent),
    )


def ancestors(tasks: Tasks, task_id: str) -> Iterator[str]:
    """Yield the ids of the ancestors of this task, nearest first."""
    task = tasks.get(task_id)
    while task is not None and task.parent is not None:
        yield task.parent
        task = tasks.get(task.parent)


def from_above(
    tasks: Tasks, task_id: str, known: dict[str, T], start: T, step: Callable[[T, Task], T]
) -> T:
    """
    Return a task's value, computed as `step(value of its parent, task)`.

    For a task at the top level, `start` takes the place of the parent's value. `known` is a cache
    of values by task id: its values are used, and new ones are added. Without the cache, a chain of
    subtasks would take quadratic time.
    """
    trail: list[Task] = []
    task = tasks.get(task_id)
    while task is not None and task.id not in known:
        trail.append(task)
        task = tasks.get(task.parent) if task.parent is not None else None
    value = start if task is None else known[task.id]
    for task in reversed(trail):
        value = known[task.id] = step(value, task)
    return value


def edges_from_above(
    tasks: Tasks, task_id: str, above: Iterable[str], looked: set[str]
) -> Iterator[tuple[str, str]]:
    """
    Yield the edges by which an ancestor blocks this task or one of its descendants.

    `above` are the ancestors that the task has, or would have after a move. Each edge is a pair
    (blocked, blocker); law 18 forbids such edges. Tasks in `looked` are skipped with all their
    descendants; the visited tasks are added to `looked`.
    """
    path = dict.fromkeys(above)
    # `None` marks the end of a task's descendants; the last task of `path` is then left.
    left: list[str | None] = [task_id]
    while left:
        here = left.pop()
        if here is None:
            path.popitem()
            continue
        task = tasks.get(here)
        if task is None or here in looked:
            continue
        looked.add(here)
        yield from ((here, end) for end in task.blocked_by if end in path)
        if inner := tasks.children(here):
            path[here] = None
            left += (None, *reversed(inner))


def may_block(tasks: Tasks, blocker: str, blocked: str) -> bool:
    """
    Return True if `blocker` may block `blocked`.

    This is so if no path leads from `blocked` to `blocker`, and neither task contains the other.
    """
    apart = blocked not in ancestors(tasks, blocker) and blocker not in ancestors(tasks, blocked)
    return apart and not path_between(tasks, blocked, blocker)


def may_contain(tasks: Tasks, parent: str, child: str) -> bool:
    """
    Return True if `child` may be put below `parent`.

    This is so if no path leads from `child` to `parent`, and no edge would then join a task with
    its ancestor.
    """
    # An edge in the other direction, from descendant to ancestor, is part of such a path.
    above = (parent, *ancestors(tasks, parent))
    edges = edges_from_above(tasks, child, above, set())
    return not any(edges) and not path_between(tasks, child, parent)


def path_between(tasks: Tasks, start: str, goal: str) -> tuple[str, ...]:
    """
    Return the ids of a path from `start` to `goal`, both included; () if there is none.

    A path leads along `blocks`, and from a task down to its subtasks. The search is breadth first
    and alternates between both ends, so it ends as soon as one side is exhausted. For a new task at
    the end of a long chain it takes one step.
    """
    if start == goal:
        return (start,)
    down: _Trail = {start: None}
    up: _Trail = {goal: None}
    # No recursion: pydantic-ai-todo and pydantic-ai-harness raise RecursionError on a long chain.
    ahead, back = deque([start]), deque([goal])
    following, behind = ways(tasks)
    sides = (ahead, down, up, following), (back, up, down, behind)
    # A side with an empty queue has visited everything that it can reach: there is no path.
    while ahead and back:
        for queue, seen, other, ends in sides:
            here = queue.popleft()
            task = tasks.get(here)
            for near in ends(task) if task else ():
                if near in seen:
                    continue
                seen[near] = here
                if near in other:
                    return (*reversed(_trail(down, near)), *_trail(up, near)[1:])
                queue.append(near)
    return ()


def _trail(seen: _Trail, end: str) -> list[str]:
    trail: list[str] = []
    step: str | None = end
    while step is not None:
        trail.append(step)
        step = seen[step]
    return trail


def tree_order(tasks: Iterable[Task]) -> list[Task]:
    """
    Return the tasks in tree order: each is followed by its descendants, and siblings stay in the
    given order.

    A parent is cleared if it is not among the tasks, or if it would close a cycle of parents.
    """
    listed = list(tasks)
    known = {task.id for task in listed}
    below: dict[str | None, list[Task]] = {}
    for task in reversed(listed):
        below.setdefault(task.parent, []).append(task)
    order: list[Task] = []
    seen: set[str] = set()
    # Tasks on a cycle of parents are not below any top-level task: the first of them becomes one.
    for top in [*(task for task in listed if task.parent not in known), *listed]:
        left = [] if top.id in seen else [top if top.parent is None else top.but(parent=None)]
        while left:
            task = left.pop()
            if task.id not in seen:
                seen.add(task.id)
                order.append(task)
                left += below.get(task.id, ())
    return order


def topological_order(tasks: Iterable[Task]) -> tuple[str, ...]:
    """
    Return the ids so that every blocker comes before the tasks it blocks, and every parent before
    its subtasks.

    Otherwise the given order is kept. Tasks on a cycle, and tasks that depend on a cycle, are left
    out: the result is then shorter than the input. Edges to tasks that are not given are ignored.
    """
    # Kahn's algorithm. The heap contains positions instead of ids. So of all tasks that may come
    # next, the first in the plan comes next: the result keeps the plan's order where the edges
    # allow this.
    given = {task.id: (place, task) for place, task in enumerate(tasks)}
    by_place = [task for _, task in given.values()]
    waits = [sum(blocker in given for blocker in task.blocked_by) for task in by_place]
    below: dict[str, list[str]] = {}
    for place, task in enumerate(by_place):
        if task.parent is not None and task.parent in given:
            below.setdefault(task.parent, []).append(task.id)
            waits[place] += 1
    heap = [place for place, blockers in enumerate(waits) if not blockers]
    order: list[str] = []
    while heap:
        task = by_place[heappop(heap)]
        order.append(task.id)
        freed = [end for end in task.blocks if end in given] + below.get(task.id, [])
        for place in (given[end][0] for end in freed):
            waits[place] -= 1
            if not waits[place]:
                heappush(heap, place)
    return tuple(order)


def critical_path(tasks: Iterable[Task]) -> tuple[tuple[str, ...], float]:
    """
    Return the longest chain of the given tasks by estimate: its ids, and its length in minutes.

    A task without an estimate counts 0 minutes. A task with subtasks among the given tasks counts 0
    minutes too, because the estimates of the subtasks count instead. The blockers of a task block
    its subtasks too. If chains are equally long, the one with more tasks is returned. Without tasks
    the result is `((), 0)`.
    """
    given = {task.id: task for task in tasks}
    containers = {task.parent for task in given.values()}
    # In this order blockers come first, so the longest chain to each of them is already computed.
    best: dict[str, tuple[float, int]] = {}
    before: dict[str, str | None] = {}
    for task_id in topological_order(given.values()):
        task = given[task_id]
        before_it = (*task.blocked_by, task.parent) if task.parent else task.blocked_by
        last = max((end for end in before_it if end in best), key=best.__getitem__, default=None)
        minutes, steps = best[last] if last else (0.0, 0)
        own = 0.0 if task_id in containers else task.estimate or 0.0
        best[task_id] = (minutes + own, steps + 1)
        before[task_id] = last
    if not best:
        return (), 0.0
    end = max(best, key=best.__getitem__)
    return tuple(reversed(_trail(before, end))), best[end][0]


# -------- draft --------
# A plan under construction: the one mutable object of the core. It never leaves `decide` or
# `replay`.
#
# Theory. Every task is in a slot of a persistent vector. Beside the tasks, data are stored that
# could only be computed by a walk over all tasks: the number of tasks with each status, the number
# of unresolved blockers of each task, the subtasks of each parent, and which tasks are in progress,
# waiting or ready. A change updates these data only for the tasks that it affects, and so costs
# about the same in a plan of 10 tasks as in one of 100,000. Whether an ancestor waits or is blocked
# is not part of these data: it is computed when the ready tasks are read (`Tasks.ready`).
#
# A set of tasks is an integer in which bit n stands for slot n. Such a set is one object, whatever
# its size. Changing a bit is one operation in C, and the first task is the lowest bit. A Python set
# of ids would have to be copied for every version of the plan. Code that changes a value on which
# a task's bit depends calls `_flip` before the change and after it.
#
# A draft maintains two more invariants: `blocks` and `blocked_by` mirror each other, and the tasks
# are in the order of their tree, each directly followed by its subtasks. A task that is added or
# moved goes to the end of its siblings. If this is not the end of the plan, all tasks need new
# slots. This work is deferred until the order is read (`_late` has the tasks to place), so adding a
# thousand subtasks takes one walk.
#
# A draft checks no rules; a meaningless operation (an unknown id, an edge that exists already)
# does nothing.


_PENDING, _IN_PROGRESS = Status.PENDING, Status.IN_PROGRESS
_parent_of, _waiting_of = attrgetter("parent"), attrgetter("waiting")
_plan = fast_constructor(Plan)


class Draft(Tasks):
    """A mutable copy of `plan`. Creating it is cheap: data is copied only when it is changed."""

    __slots__ = (
        *Tasks.__annotations__,
        "_counts",
        "_late",
        "_owns_children",
        "approved",
        "next_id",
        "revision",
    )

    def __init__(self, plan: Plan) -> None:
        self._layout = plan._layout
        self._counts = list(plan.counts)
        self._tasks = plan._tasks
        self._unresolved = plan._unresolved
        self._active = plan._active
        self._ready = plan._ready
        self._waiting = plan._waiting
        self._children = plan._children
        self._owns_children = False
        self.revision = plan.revision
        self.next_id = plan.next_id
        self.approved: Approval | None = plan.approved
        # Ids of tasks that belong at the end of their siblings but are not there yet.
        self._late: dict[str, None] = {}

    def freeze(self) -> Plan:
        """Return the plan. The draft must not be used afterwards."""
        if self._late:
            self._settle()
        # Deleted tasks leave gaps; a plan with more gaps than tasks is packed.
        if self._tasks.size > CHUNK and self._tasks.size > 2 * sum(self._counts) + CHUNK:
            self._lay_out(self, self.next_id)
        return _plan(
            self.revision,
            self.next_id,
            self.approved,
            Counts._make(self._counts),
            self._tasks.freeze(),
            self._unresolved.freeze(),
            self._layout,
            self._active,
            self._ready,
            self._waiting,
            self._children,
        )

    def __iter__(self) -> Iterator[Task]:
        self._settle()
        return filter(None, self._tasks)

    def __len__(self) -> int:
        return sum(self._counts)

    @property
    def counts(self) -> Counts:
        """The present number of tasks with each status."""
        return Counts(*self._counts)

    @property
    def has_waiting(self) -> bool:
        """Whether any task waits for something outside the plan."""
        return self._waiting > 0

    def ready(self) -> Iterator[Task]:
        """Yield the tasks that can be started, in order."""
        self._settle()
        return super().ready()

    def add(self, task: Task) -> None:
        """Add the task, without its edges, as the last subtask of its parent or the last task."""
        number = number_of(task.id)
        slot = self._layout.slot(task.id)
        if slot != self._tasks.size:
            if not number or self.get(task.id) is not None:
                return
            if not self._tasks.size <= slot <= self._tasks.size + CHUNK:
                # Skipped ids leave a gap, which costs nothing while it is small. A slot before the
                # end or far after it cannot be used, so all tasks get new slots.
                self._settle()
                self._lay_out(self, number)
                slot = self._tasks.size
        if number >= self.next_id:
            self.next_id = number + 1
        parent = task.parent
        if task.blocks or task.blocked_by or parent is not None:
            task = task.but(blocks=(), blocked_by=(), parent=None)
        self._set_task(slot, task)
        self._counts[COLUMN[task.status]] += 1
        self._flip(slot, task)
        if parent is not None or self._late:
            self._attach(task, parent)

    def add_all(self, tasks: Sequence[Task]) -> None:
        """
        Add new tasks at the end. They have no edges, and their ids ascend.

        If their ids are the next ones, all are added in one step.
        """
        first, last = self._tasks.size, self.next_id + len(tasks) - 1
        if (
            not tasks
            or self._late
            or self._layout.slot(tasks[0].id) != first
            or tasks[-1].id != str(last)
            or any(map(_parent_of, tasks))
            or any(map(_waiting_of, tasks))
        ):
            for task in tasks:
                self.add(task)
            return
        self._tasks = self._tasks.builder()
        self._tasks.extend(tasks)
        self.next_id = last + 1
        statuses = [task.status for task in tasks]
        for status, column in COLUMN.items():
            self._counts[column] += statuses.count(status)
        self._ready |= bits(statuses, _PENDING) << first
        self._active |= bits(statuses, _IN_PROGRESS) << first

    def move(self, task_id: str, status: Status, at: datetime | None) -> None:
        """Change the status of the task."""
        slot = self._layout.slot(task_id)
        old = self._tasks[slot]
        if old is not None and old.id == task_id:
            self._replace(slot, old, old.moved(status, at))

    def put(self, task: Task) -> None:
        """Replace the task that has the same id. The new task must have the same edges."""
        slot = self._layout.slot(task.id)
        old = self._tasks[slot]
        if old is not None:
            self._replace(slot, old, task)

    def _replace(self, slot: int, old: Task, task: Task) -> None:
        self._set_task(slot, task)
        before, after = old.status, task.status
        if before is after and (old.waiting is None) is (task.waiting is None):
            return
        self._flip(slot, old)
        self._flip(slot, task)
        if before is not after:
            self._counts[COLUMN[before]] -= 1
            self._counts[COLUMN[after]] += 1
            was_resolved = before in RESOLVED
            if task.blocks and was_resolved is not (after in RESOLVED):
                for dependent in task.blocks:
                    self._count_blocker(dependent, 1 if was_resolved else -1)

    def _flip(self, slot: int, task: Task) -> None:
        """Put a task into its set (in progress, waiting or ready), or take it out of that set."""
        if task.status is _IN_PROGRESS:
            self._active ^= 1 << slot
        elif task.waiting is not None:
            self._waiting ^= 1 << slot
        elif (
            task.status is _PENDING and not self._unresolved[slot] and task.id not in self._children
        ):
            self._ready ^= 1 << slot

    def _count_blocker(self, task_id: str, more: int) -> None:
        """Add `more` (1 or -1) to the number of unresolved blockers of a task."""
        slot = self._layout.slot(task_id)
        task = self._tasks[slot]
        if task is not None:
            self._flip(slot, task)
            self._unresolved = self._unresolved.builder()
            self._unresolved[slot] += more
            self._flip(slot, task)

    def _set_task(self, slot: int, task: Task | None) -> None:
        tasks = self._tasks = self._tasks.builder()
        tasks[slot] = task

    def _set_children(self, parent: Task, ids: tuple[str, ...]) -> None:
        slot = self._layout.slot(parent.id)
        self._flip(slot, parent)
        if not self._owns_children:
            self._children, self._owns_children = dict(self._children), True
        if ids:
            self._children[parent.id] = ids
        else:
            del self._children[parent.id]
        self._flip(slot, parent)

    def link(self, blocker_id: str, blocked_id: str, at: datetime | None) -> None:
        """Add an edge: `blocker_id` blocks `blocked_id`."""
        blocker, blocked = self.get(blocker_id), self.get(blocked_id)
        if blocker is None or blocked is None or blocker_id == blocked_id:
            return
        if blocked_id in blocker.blocks:
            return
        self._set_edges(blocker, at, blocks=(*blocker.blocks, blocked_id))
        self._set_edges(blocked, at, blocked_by=(*blocked.blocked_by, blocker_id))
        if not blocker.status.resolved:
            self._count_blocker(blocked_id, 1)

    def unlink(self, blocker_id: str, blocked_id: str, at: datetime | None) -> None:
        """Remove the edge by which `blocker_id` blocks `blocked_id`."""
        blocker, blocked = self.get(blocker_id), self.get(blocked_id)
        if blocker is None or blocked is None or blocked_id not in blocker.blocks:
            return
        self._set_edges(blocker, at, blocks=_without(blocker.blocks, blocked_id))
        self._set_edges(blocked, at, blocked_by=_without(blocked.blocked_by, blocker_id))
        if not blocker.status.resolved:
            self._count_blocker(blocked_id, -1)

    def nest(self, task_id: str, parent: str | None, at: datetime | None) -> None:
        """Move the task, with all its subtasks, below another one, or to the top level (`None`)."""
        task = self.get(task_id)
        if task is None or task.parent == parent:
            return
        if parent is not None and (parent == task_id or self.get(parent) is None):
            return
        # A task without subtasks cannot contain its new parent. So for a long list, no walk for
        # each line is needed.
        if self.children(task_id) and parent and task_id in ancestors(self, parent):
            return
        self._detach(task)
        moved = task.but(parent=None, updated_at=at or task.updated_at)
        self._set_task(self._layout.slot(task_id), moved)
        self._attach(moved, parent)

    def _attach(self, task: Task, parent: str | None) -> None:
        """
        Put a top-level task after the subtasks of a parent; without a parent, at the plan's end.
        """
        container = None if parent is None else self.get(parent)
        slot = self._layout.slot(task.id)
        if container is not None and parent != task.id:
            in_place = False
            if slot == self._tasks.size - 1:
                # The task is at the end of the plan. It is in its place if the task before it is
                # the container or one of its descendants.
                backwards = map(self._tasks.__getitem__, reversed(range(slot)))
                last = next(each.id for each in backwards if each is not None)
                in_place = container.id == last or container.id in ancestors(self, last)
            self._set_task(slot, task.but(parent=parent))
            self._set_children(container, (*self.children(container.id), task.id))
            if in_place and not self._late:
                return
        elif slot == self._tasks.size - 1 and not self._late:
            return
        self._late.pop(task.id, None)
        self._late[task.id] = None

    def _detach(self, task: Task) -> None:
        container = None if task.parent is None else self.get(task.parent)
        if container is not None:
            self._set_children(container, _without(self.children(container.id), task.id))

    def remove(self, task_id: str, at: datetime | None) -> None:
        """Remove the task and its edges. The task's subtasks move up one level, to its place."""
        task = self.get(task_id)
        if task is None:
            return
        if self.children(task_id):
            self._settle()
            self._lift(task, at)
        self._detach(task)
        for other in map(self.get, task.blocks):
            if other is not None:
                self._set_edges(other, at, blocked_by=_without(other.blocked_by, task_id))
                if not task.status.resolved:
                    self._count_blocker(other.id, -1)
        for other in map(self.get, task.blocked_by):
            if other is not None:
                self._set_edges(other, at, blocks=_without(other.blocks, task_id))
        slot = self._layout.slot(task_id)
        self._counts[COLUMN[task.status]] -= 1
        self._flip(slot, task)
        self._set_task(slot, None)
        if self._unresolved[slot]:
            self._unresolved = self._unresolved.builder()
            self._unresolved[slot] = 0

    def _lift(self, task: Task, at: datetime | None) -> None:
        """Move the subtasks of a task up one level, directly before the task. The order is kept."""
        below = self.children(task.id)
        for child in filter(None, map(self.get, below)):
            moved = child.but(parent=task.parent, updated_at=at or child.updated_at)
            self._set_task(self._layout.slot(child.id), moved)
        self._set_children(task, ())
        container = None if task.parent is None else self.get(task.parent)
        if container is not None:
            ids = self.children(container.id)
            here = ids.index(task.id)
            self._set_children(container, (*ids[:here], *below, *ids[here:]))

    def _set_edges(self, task: Task, at: datetime | None, **ends: tuple[str, ...]) -> None:
        task = task.but(updated_at=at or task.updated_at, **ends)
        self._set_task(self._layout.slot(task.id), task)

    def reorder(self, task_ids: Iterable[str]) -> None:
        """
        Put the named tasks in this order.

        The tasks not named follow in their present order. Subtasks follow their parent.
        """
        named = [task for task_id in dict.fromkeys(task_ids) if (task := self.get(task_id))]
        seen = {task.id for task in named}
        self._lay_out([*named, *(task for task in self if task.id not in seen)], self.next_id)

    def replace(self, tasks: Iterable[Task]) -> None:
        """Replace all tasks by these, with their edges. The next id is never lowered."""
        kept = list(tasks)
        self.next_id = max(self.next_id, 1, *(number_of(task.id) + 1 for task in kept))  # law 6
        self._late = {}
        self._lay_out(kept, self.next_id)

    def _settle(self) -> None:
        """Put tasks that were added or moved into their places."""
        if self._late:
            late, self._late = self._late, {}
            placed = [task for task in self._tasks if task is not None and task.id not in late]
            self._lay_out([*placed, *filter(None, map(self.get, late))], self.next_id)

    def _lay_out(self, tasks: Iterable[Task], first: int) -> None:
        """
        Put these tasks into slots 0, 1, 2, ... in the order of their tree, and recompute all
        derived data.

        Ids from `first` on get the slots after these tasks.
        """
        kept = list(tasks)
        below: dict[str, list[str]] = {}
        if any(map(_parent_of, kept)):
            kept = tree_order(kept)
            for task in kept:
                if task.parent is not None:
                    below.setdefault(task.parent, []).append(task.id)
        statuses = [task.status for task in kept]
        self._layout = Layout.of((task.id for task in kept), first)
        self._tasks, self._unresolved = Vector[Task | None](None).builder(), Vector(0).builder()
        self._tasks.extend(kept)
        self._children = {parent: tuple(ids) for parent, ids in below.items()}
        self._owns_children = True
        self._counts = [statuses.count(status) for status in COLUMN]
        self._active, self._ready = bits(statuses, _IN_PROGRESS), bits(statuses, _PENDING)
        self._waiting = 0
        if any(map(_waiting_of, kept)):
            self._waiting = bits([task.waiting is not None for task in kept], wanted=True)
            self._ready &= ~self._waiting
        for parent in below:
            self._ready &= ~(1 << self._layout.slot(parent))
        linked = [(slot, task) for slot, task in enumerate(kept) if task.blocked_by]
        open_ids = {task.id for task in kept if not task.status.resolved} if linked else ()
        for slot, task in linked:
            count = len([blocker for blocker in task.blocked_by if blocker in open_ids])
            if count:
                self._unresolved[slot] = count
                self._ready &= ~(1 << slot)


def _without(ids: tuple[str, ...], gone: str) -> tuple[str, ...]:
    return tuple([task_id for task_id in ids if task_id != gone])
