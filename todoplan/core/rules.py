"""
Rules: what a policy may refuse or warn about. Each rule is a check of one change.

The names below are sections of this module. Read `change` (the input of a rule) and `rule` (the
definition of a rule) first, then the rules themselves: `builtin` (status changes, whole-list
writes, removed tasks), `builtin_tasks` (fields, edges, sizes), `builtin_tree` (subtasks) and
`builtin_trust` (evidence and approval). The decorator above a check declares the whole rule: what
can break it, its severity in each preset, and the limit that it uses. `policy` defines which rules
are on and how severe they are. `presets` has ready-made policies, `limits` has the maximum sizes,
and `lifecycle` has the table of status changes. `matching` finds the task that a written line
means.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from enum import StrEnum
from functools import cached_property, lru_cache
from itertools import islice
from operator import attrgetter
from types import NoneType
from typing import Any, Literal, TypedDict, Unpack, get_args

import attrs

from todoplan.core.commands import Batch, Command, CreateTasks, WriteTodos
from todoplan.core.events import types as events
from todoplan.core.events.types import Event, StatusChanged
from todoplan.core.plan.model import (
    CLOSED,
    EMPTY,
    OPEN,
    TASK_FIELDS,
    FieldKind,
    Status,
    Task,
    Todo,
    as_member,
    as_text,
    instance_of,
    short_repr,
)
from todoplan.core.plan.plan import Plan, from_above
from todoplan.core.plan.questions import unresolved_blockers
from todoplan.core.problems import MOST_NAMED, Problem
from todoplan.errors import PlanError

# -------- lifecycle --------
# The transition table: the result of each action in each status, and the kind of that transition.
#
# Two conditions hold for this table. Every pair of status and action has a cell, so no caller needs
# a default. A cell says what happens, never whether it is allowed: policies decide this by the kind
# of transition (see the section `rule`). Rules read the table, and the diagram in the guide to
# rules is generated from it. A command names the wanted status, so `decide` needs no lookup; a test
# checks that `decide` does what the table says.


class Action(StrEnum):
    """An action on a task's status."""

    START = "start"
    COMPLETE = "complete"
    CANCEL = "cancel"
    FAIL = "fail"
    RESET = "reset"


class Kind(StrEnum):
    """The kind of a transition. Rules refer to kinds, not to statuses."""

    STAY = "stay"
    STEP = "step"
    JUMP = "jump"
    BACK = "back"
    REOPEN = "reopen"


@attrs.frozen
class Move:
    """One cell of the transition table: the new status, and the kind of the transition."""

    target: Status
    kind: Kind


# The action that leads to each status. Events and commands name the status, as the tools of all
# comparable libraries do.
ACTION_TO: dict[Status, Action] = {
    Status.IN_PROGRESS: Action.START,
    Status.COMPLETED: Action.COMPLETE,
    Status.CANCELLED: Action.CANCEL,
    Status.FAILED: Action.FAIL,
    Status.PENDING: Action.RESET,
}

_STAY, _STEP, _JUMP, _BACK = Kind.STAY, Kind.STEP, Kind.JUMP, Kind.BACK
_REOPEN = Kind.REOPEN
_KINDS = {
    # The kinds of: start, complete, cancel, fail, reset.
    Status.PENDING: (_STEP, _JUMP, _STEP, _STEP, _STAY),
    Status.IN_PROGRESS: (_STAY, _STEP, _STEP, _STEP, _BACK),
    Status.COMPLETED: (_REOPEN, _STAY, _REOPEN, _REOPEN, _REOPEN),
    Status.CANCELLED: (_REOPEN, _REOPEN, _STAY, _REOPEN, _REOPEN),
    Status.FAILED: (_REOPEN, _REOPEN, _REOPEN, _STAY, _REOPEN),
}
TABLE: dict[tuple[Status, Action], Move] = {
    (status, action): Move(target, kind)
    for status, kinds in _KINDS.items()
    for (target, action), kind in zip(ACTION_TO.items(), kinds, strict=True)
}


# -------- limits --------
# The maximum sizes of a plan and its parts.


TEXTS = tuple(
    field.name
    for field in TASK_FIELDS.values()
    if field.kind in {FieldKind.TEXT, FieldKind.TEXT_OR_NONE}
)
"""The fields of a task that contain text."""


def _must_be_a_count(_: object, field: attrs.Attribute[int], value: Any) -> None:
    # Not isinstance: True is an int.
    if type(value) is not int or value < 0:
        msg = f"{short_repr(value)} is no limit; write a number from 0 on, such as {field.name}=50"
        raise PlanError(msg, seen=value)


def _at_most(number: int, rule: str, counts: str) -> Any:
    # The guide to limits shows what each limit counts, and the rule that uses it.
    told = {"rule": rule, "counts": counts}
    return attrs.field(default=number, validator=_must_be_a_count, metadata=told)


@attrs.frozen(repr=False)
class Limits:
    """
    The limits that the rules `max_items`, `max_text`, `max_metadata`, `max_edges`, `max_depth` and
    `max_history` use. A rule reads them from `change.limits`.

    `items` and `open_items` limit the number of tasks. `subject`, `active_form`, `owner` and `text`
    are numbers of characters; `text` applies to the description and to any text without a limit of
    its own. `edges` limits the blockers of one task. `metadata` is the size of one task's metadata
    as JSON, in bytes; `metadata_keys` limits the number of keys at all levels, `metadata_levels`
    the depth of nested objects and arrays. `history` limits the number of events since the plan was
    created, which is the plan's revision. `depth` limits the levels of the tree: 1 is a plan
    without subtasks.
    """

    # Limits protect against exhaustion: a runaway model gets a refusal with a reason, and the disk
    # is not filled.
    items: int = _at_most(10_000, "max_items", "tasks of a plan")
    open_items: int = _at_most(2_000, "max_items", "tasks of a plan that are open")
    subject: int = _at_most(500, "max_text", "characters of a subject")
    text: int = _at_most(
        16_384,
        "max_text",
        "characters of a description, and of any text without a limit of its own",
    )
    edges: int = _at_most(100, "max_edges", "blockers of one task")
    active_form: int = _at_most(500, "max_text", "characters of an active form")
    owner: int = _at_most(200, "max_text", "characters of an owner's name")
    metadata: int = _at_most(16_384, "max_metadata", "bytes of one task's metadata as JSON")
    metadata_keys: int = _at_most(200, "max_metadata", "keys in one task's metadata, at all levels")
    metadata_levels: int = _at_most(
        16, "max_metadata", "levels of objects and arrays in one task's metadata"
    )
    history: int = _at_most(
        100_000, "max_history", "events in a plan's life, which is its revision"
    )
    depth: int = _at_most(5, "max_depth", "levels of tasks in each other")

    def __repr__(self) -> str:
        fields = attrs.fields(Limits)
        given = [(field, getattr(self, field.name)) for field in fields]
        other = [f"{field.name}={value}" for field, value in given if value != field.default]
        return f"Limits({', '.join(other)})"

    @cached_property
    def texts(self) -> dict[str, int]:
        """The maximum length of each text field of a task; it is `text` for most fields."""
        return {name: getattr(self, name, self.text) for name in TEXTS}

    @cached_property
    def shortest(self) -> int:
        """The smallest limit of any text field. New tasks are first checked against this limit."""
        return min(self.texts.values())


# -------- matching --------
# Match written lines with tasks, so that a whole-list write keeps the identity of unchanged tasks.


_NOISE = re.compile(r"[\W_]+")
_SHORT = 64


def normalised(text: str) -> str:
    """
    Return the text as the third step of `match` compares it.

    Case, character width, spaces and punctuation are ignored.
    """
    # Cached, because the rule on duplicates normalises every task of the plan at each write. Only
    # short texts are cached: once, 400 refused titles of 1 MB each stayed in the cache, in 785 MB.
    return _of_title(text) if len(text) <= _SHORT and type(text) is str else _normalised(text)


def _normalised(text: str) -> str:
    # A text of punctuation only ("???") stays as it is: otherwise all such texts would be equal.
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return _NOISE.sub(" ", plain.casefold()).strip() or text


_of_title = lru_cache(maxsize=1024)(_normalised)


def match(tasks: Iterable[Task], todos: Sequence[Todo]) -> list[Task | None]:
    """
    Return the task that each todo means; `None` for a todo that means a new task.

    Todos are matched by id, then by exact text, then by normalised text. A task is matched at most
    once. Of several equal tasks, the first in the plan's order is matched first. An id that is not
    in the plan is ignored, because models number their own lists.
    """
    listed = list(tasks)
    subjects = [task.subject for task in listed]
    if subjects == [todo.content for todo in todos]:
        # Most writes change only statuses. Matching line by line gives the same result as the steps
        # below, unless an id names another task.
        given = [todo.id for todo in todos]
        if given.count(None) == len(given) or given == [task.id for task in listed]:
            return list(listed)
    left = {task.id: task for task in listed}
    found: list[Task | None] = [None] * len(todos)
    for index, todo in enumerate(todos):
        if todo.id is not None:
            found[index] = left.pop(todo.id, None)
    # All exact matches come first: otherwise "Test!" could take the task that another line names
    # exactly.
    for key in (str, normalised):
        if not left:
            break
        # Each of several equal lines matches a different task. (Roo gives equal lines the same id,
        # and Hermes gives the same id to all lines without one.) A deque is used because removing
        # thousands of items from the front of a list takes quadratic time.
        same: defaultdict[str, deque[Task]] = defaultdict(deque)
        for task in left.values():
            same[key(task.subject)].append(task)
        for index, todo in enumerate(todos):
            if found[index] is None and (alike := same.get(key(todo.content))):
                task = alike.popleft()
                del left[task.id]
                found[index] = task
    return found


# -------- change --------
# The input of a rule: the plan before and after a command, and the events in between.


_FILLED = events.TaskCreated, events.TaskEdited, events.PlanRestored


@attrs.frozen(slots=False)  # has a __dict__, for the cached properties
class Change:
    """
    The effect of one command, not yet accepted. It contains everything that a rule may use.

    `before` and `after` are whole plans, with `counts`, `ready()`, `active()` and `get(id)`;
    `events` are the events in between, in order. `command` is `None` when a plan is inspected as it
    is: then every task counts as created. `limits` are those of the policy; `actor` is the author
    of the command, if known.

    A check that looks at every task makes every change as slow as the plan is large. Begin with
    what the change affected: `written`, `moves`, `edited` or `removed`.

        def titled(change):
            for task in change.written():
                if len(task.subject) < 5:
                    yield Problem(code, (task.id,), note="Say more than that.")
    """

    before: Plan
    after: Plan
    command: Command | None
    events: tuple[Event, ...]
    limits: Limits = Limits()
    actor: str | None = None
    # The lines of a whole-list write that had a merge base, each with the id of its task.
    lines: tuple[tuple[str, Todo], ...] | None = attrs.field(default=None, eq=False, repr=False)

    def writes(self) -> Iterator[WriteTodos]:
        """Yield the whole-list writes of the command, including those of a batch."""
        return _writes(self.command)

    def named_by(self, *kinds: type[Event]) -> dict[str, None]:
        """Return the ids of the tasks that events of these classes name, each once."""
        ids: dict[str, None] = {}
        for event in self.events:
            if type(event) in kinds:
                for task_id in event.task_ids:
                    ids[task_id] = None
        return ids

    def moves(self, to: Status | None = None) -> Iterator[StatusChanged]:
        """Yield the status changes: all, or only those to one status."""
        for event in self.events:
            if type(event) is events.StatusChanged and (to is None or event.new is to):
                yield event

    def written(self) -> Iterator[Task]:
        """Yield the tasks that were created, restored or edited, as they are after the change."""
        return iter(self._written)

    @cached_property
    def _written(self) -> tuple[Task, ...]:
        return tuple(filter(None, map(self.after.get, self.named_by(*_FILLED))))

    def edited(self) -> Iterator[tuple[Task, Task]]:
        """Yield the tasks whose fields were edited: before and after the change."""
        for task_id in self.named_by(events.TaskEdited):
            was, task = self.before.get(task_id), self.after.get(task_id)
            if was is not None and task is not None:
                yield was, task

    def removed(self) -> Iterator[Task]:
        """Yield the removed tasks, as they were before the change."""
        return iter(self._removed)

    @cached_property
    def _removed(self) -> tuple[Task, ...]:
        ids = self.named_by(events.TaskDeleted, events.PlanCleared)
        tasks = filter(None, map(self.before.get, ids))
        # A later command of the same batch may have restored the task.
        return tuple(task for task in tasks if task.id not in self.after)


def _writes(command: Command | None) -> Iterator[WriteTodos]:
    if isinstance(command, WriteTodos):
        yield command
    elif isinstance(command, Batch):
        # Batches are nested at most LEVELS deep, so recursion is safe.
        for part in command.commands:
            yield from _writes(part)


# -------- rule --------
# Rules: a rule is a named check, declared together with all its properties.
#
# Theory. A check is a pure function of a change, and yields the problems in it. It does not decide
# their severity: the same check refuses under one policy and warns under another. A rule about the
# plan yields only new violations. A violation that existed before is not reported for a command
# that does not add to it, so that a stricter policy never blocks all work on a plan.
#
# Most changes cannot break most rules, and running a check costs more than changing a task's
# status. So each rule names what can break it (`on`), and a policy caches which rules are affected
# by which events.
#
# To write your own rule, create a `Rule` whose check is a function of a `Change`, and add it with
# `Policy.adding`.


Trigger = type | tuple[Status, Status]
Check = Callable[[Change], Iterable[Problem]]
SeverityName = Literal["off", "warn", "error"]

_TYPES = frozenset({*get_args(Event), NoneType})

STEPS = ("langchain", "agentscope", "default", "claude", "claude-strict")
"""The presets, most permissive first. Each inherits the severities of the one before it."""


class Severity(StrEnum):
    """The effect of breaking a rule: none, a warning, or the refusal of the command."""

    OFF = "off"
    WARN = "warn"
    ERROR = "error"


def _triggers(on: Iterable[Trigger]) -> frozenset[Trigger]:
    if isinstance(on, str | type) or not isinstance(on, Iterable):
        msg = f"{short_repr(on)} was given as on; give several triggers, such as (TaskCreated,)"
        raise PlanError(msg, seen=on)
    given = tuple(on)
    for each in given:
        # A rule on a trigger that never occurs would be silently off.
        is_move = isinstance(each, tuple) and [*map(type, each)] == [Status, Status]
        if not is_move and not (isinstance(each, type) and each in _TYPES):
            msg = (
                f"{short_repr(each)} was given in on; give types of events (todoplan.events),"
                " NoneType, or status changes, such as moves([Status.COMPLETED])"
            )
            raise PlanError(msg, seen=each)
    return frozenset(given)


def _check(value: Any) -> Check:
    if not callable(value):
        msg = f"{short_repr(value)} was given as a check; give a function of a Change"
        raise PlanError(msg, seen=value)
    return value  # type: ignore[no-any-return]  # its result is checked when it runs


@attrs.frozen(repr=False)
class Rule:
    """
    A named check.

    If `about_plan` is true, `todoplan.core.rules.inspect` and `todoplan check` can use the rule to
    check a plan as it is. The check then gets a change in which every task was just created.

    `on` names the triggers that can break the rule; without one of them the check is not run. A
    trigger is a type of event, a status change as (old, new), or `NoneType` for a command without
    events. If `on` is empty, the check runs for every change.

    `new_tasks_need` names a task field without which the rule refuses every new task. A tool set
    that has no argument for that field could create no tasks, so it is refused under such a policy.

    `limit` names the field of `Limits` that is set when the rule is given a number, as in
    `but(max_items=50)`. `presets` has pairs of a preset and a severity: the severity holds for that
    preset and the later ones of `STEPS`, up to the next pair. In the presets before the first pair
    the rule is off. An `opt_in` rule requires a program or person who checks, so it is off in every
    preset, even in the strict one.
    """

    name: str = attrs.field(converter=as_text)
    check: Check = attrs.field(converter=_check)
    about_plan: bool = False
    on: frozenset[Trigger] = attrs.field(default=frozenset(), converter=_triggers)
    new_tasks_need: str = ""
    limit: str = ""
    presets: tuple[tuple[str, SeverityName], ...] = ()
    opt_in: bool = False

    def __repr__(self) -> str:
        return f"<Rule {self.name}>"

    def severity_in(self, preset: str) -> Severity:
        """
        Return the rule's severity in a preset.

        In "strict" every rule is an error, except `opt_in` rules. For "", no preset, every rule is
        off.
        """
        if self.opt_in:
            return Severity.OFF
        if preset == "strict":
            return Severity.ERROR
        so_far = STEPS[: STEPS.index(preset) + 1] if preset else ()
        declared = [level for step, level in self.presets if step in so_far]
        return Severity(declared[-1]) if declared else Severity.OFF


def trigger_of(event: Event) -> Trigger:
    """Return the trigger for an event, as used in a rule's `on`."""
    return (event.old, event.new) if type(event) is events.StatusChanged else type(event)


def moves(to: Iterable[Status] = Status, *, of: Iterable[Status] = Status) -> set[Trigger]:
    """Return the triggers for all changes of a status in `of` to a status in `to`."""
    return {(old, new) for old in of for new in to if old is not new}


RULES: dict[str, Rule] = {}
"""Every rule by name."""


def _rule(
    *on: Trigger,
    about_plan: bool = False,
    new_tasks_need: str = "",
    limit: str = "",
    presets: dict[str, SeverityName] | None = None,
    opt_in: bool = False,
) -> Callable[[Check], Check]:
    """
    Return a decorator that makes a rule of a check and adds it to `RULES`.

    The parameters are the fields of the `Rule`. Its name is the name of the check without outer
    underscores, and its row in the guide to rules is the docstring of the check, "Report ...". The
    decorator returns the check unchanged: to be pickled, it must be found under its own name.
    """
    declared = tuple((presets or {}).items())

    def keep(check: Check) -> Check:
        name = check.__name__.strip("_")
        RULES[name] = Rule(
            name, check, about_plan, frozenset(on), new_tasks_need, limit, declared, opt_in
        )
        return check

    return keep


def first_ids(tasks: Iterable[Task]) -> tuple[str, ...]:
    """Return the ids of the first tasks: as many as a problem names at most, or all if fewer."""
    return tuple(task.id for task in islice(tasks, MOST_NAMED))


# -------- builtin --------
# The rules about actions: status changes, whole-list writes, removed tasks.
#
# The message of each rule to a model is under its name in `todoplan/texts/problems.txt`.


_STARTED = moves([Status.IN_PROGRESS])
_MOST_OF_A_TEXT = 60
_COMPLETED = moves([Status.COMPLETED])
_REOPENED = moves(of=[Status.COMPLETED])
# Taken from the table, so that a new status or action needs no change here.
_JUMPED: set[Trigger] = {
    (old, move.target) for (old, _), move in TABLE.items() if move.kind is Kind.JUMP
}


@_rule(
    *_STARTED,
    events.TaskCreated,
    events.PlanRestored,
    about_plan=True,
    presets={"default": "warn", "claude": "error"},
)
def _single_in_progress(change: Change) -> Iterable[Problem]:
    """Report a second task in progress that nobody has claimed."""
    # A plan with at most one task in progress cannot break the rule.
    if change.after.counts.in_progress <= 1:
        return ()
    # Claimed tasks are not counted: in a team, each worker may have a task in progress. Tasks that
    # a list left out, but that stay in the plan, belong to other sessions and are not counted.
    written = None if change.lines is None else {task_id for task_id, _ in change.lines}
    counted = _counted(change.after, written)
    now = len(counted)
    if now <= 1:
        return ()
    was = {task.id for task in _counted(change.before, written)}
    if was.issuperset(task.id for task in counted):  # the command has started none of them
        return ()
    return (Problem("single_in_progress", first_ids(counted), seen=str(now), legal="1"),)


def _counted(plan: Plan, written: Collection[str] | None) -> list[Task]:
    free = [task for task in plan.active() if task.claim is None]
    return free if written is None else [task for task in free if task.id in written]


@_rule()
def _some_in_progress(change: Change) -> Iterable[Problem]:
    """Report a list or batch after which tasks are open, but none is in progress."""
    if not isinstance(change.command, WriteTodos | Batch):
        return ()  # with single-task commands, the next call may start a task
    before, after = change.before.counts, change.after.counts
    if after.in_progress or not after.open or (before.open and not before.in_progress):
        return ()
    return (Problem("some_in_progress", first_ids(change.after.ready()), seen="0", legal="1"),)


@_rule()
def _first_in_progress(change: Change) -> Iterable[Problem]:
    """Report a new list without a task in progress."""
    after = change.after.counts
    listed = any(change.writes()) or isinstance(change.command, CreateTasks)
    if not listed or change.before.counts.open or after.in_progress or not after.open:
        return ()
    return (Problem("first_in_progress", first_ids(change.after.ready()), seen="0", legal="1"),)


@_rule(
    *_REOPENED,
    events.TaskEdited,
    events.TaskDeleted,
    events.PlanCleared,
    presets={"default": "warn"},
)
def _completed_is_final(change: Change) -> Iterator[Problem]:
    """Report a completed task reopened, reworded or removed."""
    changed: dict[str, dict[str, None]] = {}  # the ids of the tasks, by what was done to them
    for move in change.moves():
        if move.old is Status.COMPLETED:
            changed.setdefault(f"set to {move.new}", {})[move.task_id] = None
    for was, task in change.edited():
        if was.status is Status.COMPLETED and was.subject != task.subject:
            changed.setdefault("reworded", {})[task.id] = None
    # If no task is open, completed tasks may be removed: a new list begins.
    if change.before.counts.open:
        for task in change.removed():
            if task.status is Status.COMPLETED:
                changed.setdefault("removed", {})[task.id] = None
    for seen, ids in changed.items():
        yield Problem("completed_is_final", tuple(ids), seen=seen)


@_rule(*_JUMPED)
def _linear_status(change: Change) -> Iterator[Problem]:
    """Report a task completed without having been in progress."""
    for move in change.moves():
        if TABLE[move.old, ACTION_TO[move.new]].kind is Kind.JUMP:
            yield Problem("linear_status", (move.task_id,), seen=f"{move.old} to {move.new}")


def _arrived(change: Change, statuses: Collection[Status]) -> Iterable[str]:
    """Return the ids of tasks that the change put into one of these statuses, each once."""
    ids: dict[str, None] = {}
    for event in change.events:
        if type(event) is events.StatusChanged and event.new in statuses:
            ids[event.task_id] = None
        elif type(event) is events.TaskCreated and event.task.status in statuses:
            ids[event.task.id] = None
    return ids


def _blocked(change: Change, to: Status, code: str) -> Iterable[Problem]:
    """
    Return a problem for each task that the change put into a status despite unresolved blockers.
    """
    # Judged by the plan after the whole command: pydantic-ai-todo judges step by step, and so
    # refuses the hand-off {complete a, start b} that it advertises.
    after = change.after
    late = list(filter(after.waits_for, _arrived(change, (to,))))
    if not late:
        return ()
    found: list[Problem] = []
    for task in map(after.__getitem__, late):
        if task.status is to:
            waiting = unresolved_blockers(after, task)[:MOST_NAMED]
            found.append(Problem(code, (task.id,), seen=", ".join(f"#{each}" for each in waiting)))
    return tuple(found)


# EdgeAdded instead of TaskCreated: a new task with a blocker has an edge event too.
@_rule(*_STARTED, events.EdgeAdded, presets={"agentscope": "warn"})
def _blocked_start(change: Change) -> Iterable[Problem]:
    """Report a task started while blockers are unresolved."""
    return _blocked(change, Status.IN_PROGRESS, "blocked_start")


@_rule(*_COMPLETED, events.EdgeAdded, presets={"agentscope": "warn"})
def _blocked_complete(change: Change) -> Iterable[Problem]:
    """Report a task completed while blockers are unresolved."""
    return _blocked(change, Status.COMPLETED, "blocked_complete")


@_rule(events.TaskDeleted, events.PlanCleared, presets={"default": "warn"})
def _dropped_open_items(change: Change) -> Iterable[Problem]:
    """Report a list that leaves open tasks out."""
    # True also if there is no whole-list write. That is intended: a model that deletes tasks by id
    # names each of them.
    if all(write.clear for write in change.writes()):
        return ()
    dropped = tuple(task.id for task in change.removed() if not task.status.closed)
    if not dropped:
        return ()
    # The tasks are also named by text: a model that writes whole lists may never have seen an id.
    texts = [f'"{change.before[task_id].subject[:_MOST_OF_A_TEXT]}"' for task_id in dropped[:5]]
    texts += ["..."] * (len(dropped) > 5)  # noqa: PLR2004 - the number that a reply names
    seen, legal = str(len(dropped)), ", ".join(texts)
    return (Problem("dropped_open_items", dropped, seen=seen, legal=legal),)


# OpenHands' planner treated a call without a list as an empty list, and deleted the plan. With a
# merge base, an empty list does not clear the plan: it deletes each task that others have not
# changed, so `TaskDeleted` is a trigger too.
@_rule(events.PlanCleared, events.TaskDeleted, presets={"default": "error"})
def _empty_write(change: Change) -> Iterable[Problem]:
    """Report an empty list while work is open."""
    still_open = change.before.counts.open
    if not still_open or all(write.todos or write.clear for write in change.writes()):
        return ()
    return (Problem("empty_write", seen=str(still_open)),)


@_rule(*_COMPLETED)
def _batch_completion(change: Change) -> Iterable[Problem]:
    """Report several tasks completed at once."""
    done = tuple(dict.fromkeys(move.task_id for move in change.moves(Status.COMPLETED)))
    return (Problem("batch_completion", done, seen=str(len(done))),) if len(done) > 1 else ()


@_rule(NoneType, presets={"default": "warn"})
def _no_op_write(change: Change) -> Iterable[Problem]:
    """Report a list that changes nothing."""
    if change.events or not any(change.writes()):
        return ()
    return (Problem("no_op_write"),)


# -------- builtin_tasks --------
# The rules about the contents of tasks: texts, fields, owners, edges and sizes.
#
# Each rule reports only new violations (see the section `rule`), and checks only what the change
# affected.


_other_texts = attrgetter(*(n for n in TEXTS if n != "subject"), "waiting", "evidence")


def _anew(change: Change, field: str) -> Iterator[Task]:
    for task in change.written():
        was = change.before.get(task.id)
        if was is None or getattr(was, field) != getattr(task, field):
            yield task


@_rule(*_FILLED, about_plan=True)
def _duplicate_content(change: Change) -> Iterator[Problem]:
    """Report two tasks with the same text."""
    # In the order of the tasks, so that equal calls get equal replies in every process (law 12).
    written = dict.fromkeys(normalised(task.subject) for task in _anew(change, "subject"))
    if not written:
        return
    # This rule compares with every task of the plan, so it runs only if a subject was written.
    texts = Counter(normalised(task.subject) for task in change.after)
    for text in written:
        if texts[text] > 1:
            same = first_ids(task for task in change.after if normalised(task.subject) == text)
            yield Problem("duplicate_content", same, seen=str(texts[text]))


def _missing(change: Change, field: str, code: str) -> Iterable[Problem]:
    lacking = tuple(task.id for task in _anew(change, field) if not getattr(task, field))
    return (Problem(code, lacking, seen=field),) if lacking else ()


@_rule(*_FILLED, about_plan=True, new_tasks_need="active_form", presets={"claude": "error"})
def _active_form_required(change: Change) -> Iterable[Problem]:
    """Report a task without an active form."""
    return _missing(change, "active_form", "active_form_required")


@_rule(*_FILLED, about_plan=True, new_tasks_need="priority", presets={"claude-strict": "error"})
def _priority_required(change: Change) -> Iterable[Problem]:
    """Report a task without a priority."""
    return _missing(change, "priority", "priority_required")


@_rule(
    *moves(OPEN, of=CLOSED),
    events.TaskCreated,
    events.PlanRestored,
    about_plan=True,
    limit="items",
    presets={"langchain": "error"},
)
def _max_items(change: Change) -> Iterator[Problem]:
    """Report too many tasks, or too many open tasks."""
    before, after, limits = change.before.counts, change.after.counts, change.limits
    if limits.items < after.total > before.total:
        yield Problem("max_items", seen=str(after.total), legal=str(limits.items))
    if limits.open_items < after.open > before.open:
        yield Problem("max_items", seen=f"{after.open} open", legal=str(limits.open_items))


@_rule(*_FILLED, about_plan=True, presets={"langchain": "error"})
def _max_text(change: Change) -> Iterable[Problem]:
    """Report a text that is too long."""
    if not _may_be_large(change):
        return ()
    found: list[Problem] = []
    limits, other = change.limits.texts, change.limits.text
    for task in change.written():
        was = change.before.get(task.id)
        for field, limit in limits.items():
            text = getattr(task, field)
            if text and len(text) > limit and (was is None or text != getattr(was, field)):
                found.append(_too_long(task, field, text, limit))
        within: list[tuple[str, str]] = []
        if task.waiting is not None and (was is None or was.waiting != task.waiting):
            within.append(("waiting.reason", task.waiting.reason))
            within.append(("waiting.question", task.waiting.question or ""))
        if task.evidence is not None and (was is None or was.evidence != task.evidence):
            within.append(("evidence.summary", task.evidence.summary))
        for field, text in within:
            if len(text) > other:
                found.append(_too_long(task, field, text, other))
    return tuple(found)


def _too_long(task: Task, field: str, text: str, limit: int) -> Problem:
    seen = f"{field} of {len(text)} characters"
    return Problem("max_text", (task.id,), seen=seen, legal=str(limit))


def _may_be_large(change: Change) -> bool:
    """
    Return True if a text may be too long.

    This is fast for a new list of thousands of tasks: the lengths of their texts are compared with
    the smallest limit only.
    """
    shortest = change.limits.shortest
    for event in change.events:
        if type(event) is events.TaskCreated:
            if len(event.task.subject) > shortest:
                return True
            # A value that is not a string contains texts.
            texts = _other_texts(event.task)
            if any(texts) and any(type(t) is not str or len(t) > shortest for t in texts if t):
                return True
        elif type(event) is events.TaskEdited or type(event) is events.PlanRestored:
            return True
    return False


@_rule(*_FILLED, about_plan=True, limit="metadata", presets={"langchain": "error"})
def _max_metadata(change: Change) -> Iterable[Problem]:
    """Report metadata that is too large or too deep."""
    for event in change.events:
        if type(event) is events.TaskCreated:
            if event.task.metadata is not EMPTY:
                return tuple(_large_metadata(change))
        elif type(event) is events.PlanRestored or (
            type(event) is events.TaskEdited and "metadata" in event.changes
        ):
            return tuple(_large_metadata(change))
    return ()


def _large_metadata(change: Change) -> Iterator[Problem]:
    limits = change.limits
    for task in _anew(change, "metadata"):
        if not task.metadata:
            continue  # no metadata, although its JSON has two bytes
        text = _JSON.encode(task.metadata)
        # Models send single surrogates, which plain UTF-8 refuses.
        size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
        # Counting these characters gives upper bounds of keys and levels, so most metadata needs no
        # walk.
        few = text.count(":") <= limits.metadata_keys
        flat = text.count("{") + text.count("[") <= limits.metadata_levels
        keys, levels = (0, 0) if few and flat else _keys_and_levels(task.metadata)
        measured = (
            (size, limits.metadata, "bytes as JSON"),
            (keys, limits.metadata_keys, "keys"),
            (levels, limits.metadata_levels, "levels"),
        )
        for number, limit, unit in measured:
            if number > limit:
                seen = f"{number} {unit}"
                yield Problem("max_metadata", (task.id,), seen=seen, legal=str(limit))


# A value that JSON cannot represent is measured by its str; the codec refuses it later, with its
# path.
def _jsonable(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else str(value)


_JSON = json.JSONEncoder(default=_jsonable, skipkeys=True, ensure_ascii=False)


def _keys_and_levels(value: Any) -> tuple[int, int]:
    """Return the number of keys at all levels, and the depth of nested objects and arrays."""
    keys = levels = 0
    layer = [value]
    while layer := [each for each in layer if isinstance(each, Mapping | tuple)]:
        levels += 1
        keys += sum(len(each) for each in layer if isinstance(each, Mapping))
        layer = [
            item
            for each in layer
            for item in (each.values() if isinstance(each, Mapping) else each)
        ]
    return keys, levels


@_rule(
    events.EdgeAdded,
    events.PlanRestored,
    about_plan=True,
    limit="edges",
    presets={"langchain": "error"},
)
def _max_edges(change: Change) -> Iterator[Problem]:
    """Report too many blockers of a task."""
    most = change.limits.edges
    # In `inspect` every task counts as created, with its edges.
    ids = change.named_by(events.EdgeAdded, events.TaskCreated, events.PlanRestored)
    for now in filter(None, map(change.after.get, ids)):
        if len(now.blocked_by) <= most:
            continue
        was = change.before.get(now.id)
        if was is None or not set(now.blocked_by) <= set(was.blocked_by):
            yield Problem("max_edges", (now.id,), seen=str(len(now.blocked_by)), legal=str(most))


# This is the only rule that stops every further change. A runaway model would fill the disk with a
# journal, which is read at each start, although each single step looks right.
@_rule(about_plan=True, limit="history", presets={"langchain": "error"})
def _max_history(change: Change) -> Iterable[Problem]:
    """Report too many events since the plan was created."""
    number, most = change.after.revision, change.limits.history
    if number <= most or number <= change.before.revision:
        return ()
    return (Problem("max_history", seen=str(number), legal=str(most)),)


# In AgentScope a task's owner can be changed silently, and then two agents do the same work.
@_rule(events.TaskEdited, presets={"agentscope": "warn"})
def _owner_taken(change: Change) -> Iterator[Problem]:
    """Report a task reassigned from one owner to another."""
    for was, task in change.edited():
        if was.owner and task.owner and was.owner != task.owner:
            yield Problem("owner_taken", (task.id,), seen=was.owner)


# -------- builtin_tree --------
# The rules about subtasks: their depth, and the statuses of parent and child.
#
# No rule says that a task must not contain itself, since this holds under every policy (law 18).


def _placed(change: Change, *kinds: type[Event]) -> Iterator[str]:
    """Yield the ids of tasks with a new parent, among those that events of these classes name."""
    for task_id in change.named_by(*kinds):
        task, was = change.after.get(task_id), change.before.get(task_id)
        if task is not None and task.parent and (was is None or was.parent != task.parent):
            yield task_id


@_rule(
    events.TaskCreated,
    events.ParentChanged,
    events.PlanRestored,
    about_plan=True,
    limit="depth",
    presets={"langchain": "error"},
)
def _max_depth(change: Change) -> Iterable[Problem]:
    """Report too many levels of subtasks."""
    if not change.after.nested:
        return ()
    most = change.limits.depth
    found: list[Problem] = []
    levels: dict[str, int] = {}
    looked: set[str] = set()
    placed = _placed(change, events.TaskCreated, events.ParentChanged, events.PlanRestored)
    for task_id in placed:
        for inner in _within(change.after, task_id, looked):
            looked.add(inner)
            level = from_above(change.after, inner, levels, 0, lambda above, _: above + 1)
            if level > most:
                found.append(Problem("max_depth", (inner,), seen=str(level), legal=str(most)))
    return tuple(found)


def _within(plan: Plan, task_id: str, looked: Collection[str]) -> Iterator[str]:
    """Yield a task and its descendants, skipping those in `looked` with their descendants."""
    ids = [task_id]
    for inner in ids:  # the list grows during the loop
        if inner not in looked:
            yield inner
            ids += plan.children(inner)


@_rule(*moves([Status.COMPLETED]), presets={"default": "warn"})
def _parent_complete(change: Change) -> Iterable[Problem]:
    """Report a task completed while its subtasks are open."""
    after = change.after
    if not after.nested:
        return ()
    found: list[Problem] = []
    done: set[str] = set()  # all descendants of these are closed
    for move in change.moves(Status.COMPLETED):
        task = after.get(move.task_id)
        if task is None or task.status is not Status.COMPLETED:
            continue
        walked: list[str] = []
        still_open: list[str] = []
        for inner in _within(after, task.id, done):
            walked.append(inner)
            if not after[inner].status.closed:
                still_open.append(inner)
                if len(still_open) == MOST_NAMED:
                    break
        if still_open:
            found.append(Problem("parent_complete", (task.id,), seen=", ".join(still_open)))
        else:
            done.update(walked)
    return tuple(found)


@_rule(
    *moves(OPEN, of=CLOSED), events.TaskCreated, events.ParentChanged, presets={"default": "warn"}
)
def _child_of_closed(change: Change) -> Iterable[Problem]:
    """Report an open subtask of a closed task."""
    after = change.after
    if not after.nested:
        return ()
    ids = dict.fromkeys(_placed(change, events.TaskCreated, events.ParentChanged))
    reopened = (move for move in change.moves() if move.old.closed and not move.new.closed)
    ids.update(dict.fromkeys(move.task_id for move in reopened))
    found: list[Problem] = []
    known: dict[str, str] = {}
    for task in filter(None, map(after.get, ids)):
        # The nearest closed task: the task itself, or one of its ancestors.
        closed = from_above(
            after, task.id, known, "", lambda above, at: at.id if at.status.closed else above
        )
        if closed and not task.status.closed:
            found.append(Problem("child_of_closed", (task.id,), seen=closed))
    return tuple(found)


# -------- builtin_trust --------
# The rules that require somebody else: the program that checks whether a task is done, or the
# person who approves a plan.
#
# If you switch one of these rules on, you need such a program or person.


_BEGUN = {Status.IN_PROGRESS, Status.COMPLETED}


@_rule(*moves([Status.COMPLETED]), events.TaskCreated, opt_in=True)
def _evidence_required(change: Change) -> Iterator[Problem]:
    """Report a task with a check that is completed without passed evidence."""
    # Law 20. A check that the task had before the command counts too. So a command cannot avoid the
    # rule by removing the check when it completes the task.
    for task_id in _arrived(change, {Status.COMPLETED}):
        task, was = change.after.get(task_id), change.before.get(task_id)
        check = (task and task.check) or (was and was.check)
        if task is None or not check or task.status is not Status.COMPLETED:
            continue
        if task.evidence is None or not task.evidence.passed:
            yield Problem("evidence_required", (task_id,), seen=check)


@_rule(*moves(_BEGUN), events.TaskCreated, opt_in=True)
def _approval_required(change: Change) -> Iterable[Problem]:
    """Report a task started before the plan is approved."""
    if change.after.approved is not None:
        return ()
    begun = tuple(_arrived(change, _BEGUN))[:MOST_NAMED]
    return (Problem("approval_required", begun),) if begun else ()


@_rule(
    events.TaskCreated,
    events.TaskDeleted,
    events.PlanCleared,
    events.PlanRestored,
    presets={"default": "warn"},
)
def _approved_changed(change: Change) -> Iterable[Problem]:
    """
    Report a task added to or removed from an approved plan by somebody other than the approver.
    """
    approved = change.before.approved
    if approved is None or (change.actor is not None and change.actor == approved.by):
        return ()
    before, after = change.before, change.after
    if any(type(event) is events.PlanRestored for event in change.events):
        came = tuple(task.id for task in after if task.id not in before)
        went = tuple(task.id for task in before if task.id not in after)
    else:
        created = (event.task.id for event in change.events if type(event) is events.TaskCreated)
        came = tuple(task_id for task_id in created if task_id in after)
        went = tuple(task.id for task in change.removed())
    by = approved.by or "somebody else"
    return tuple(
        Problem("approved_changed", ids[:MOST_NAMED], seen=seen, legal=by)
        for ids, seen in ((came, "added since"), (went, "removed since"))
        if ids
    )


# -------- policy --------
# Policies: which rules are on, and how severe they are. A policy is a value passed to `decide`.


# Bounded, because batches may have very many sets of triggers, and a preset exists as long as the
# program runs.
_MOST_KEPT = 256
_ERROR = Severity.ERROR
_Rated = tuple[tuple[Rule, Severity], ...]


# Spelled out for type checkers, so that a misspelled rule is an error; a test compares it to RULES.
class RuleSettings(TypedDict, total=False):
    """
    The arguments of `Policy.but`: a severity for each rule. A rule with a limit also takes a
    number.
    """

    limits: Limits
    active_form_required: SeverityName | Severity
    approval_required: SeverityName | Severity
    approved_changed: SeverityName | Severity
    batch_completion: SeverityName | Severity
    blocked_complete: SeverityName | Severity
    blocked_start: SeverityName | Severity
    child_of_closed: SeverityName | Severity
    completed_is_final: SeverityName | Severity
    dropped_open_items: SeverityName | Severity
    duplicate_content: SeverityName | Severity
    empty_write: SeverityName | Severity
    evidence_required: SeverityName | Severity
    first_in_progress: SeverityName | Severity
    linear_status: SeverityName | Severity
    max_depth: SeverityName | Severity | int
    max_edges: SeverityName | Severity | int
    max_history: SeverityName | Severity | int
    max_items: SeverityName | Severity | int
    max_metadata: SeverityName | Severity | int
    max_text: SeverityName | Severity
    no_op_write: SeverityName | Severity
    owner_taken: SeverityName | Severity
    parent_complete: SeverityName | Severity
    priority_required: SeverityName | Severity
    single_in_progress: SeverityName | Severity
    some_in_progress: SeverityName | Severity


def _rated(rules: Iterable[tuple[Rule, SeverityName | Severity]]) -> _Rated:
    return tuple((rule, as_member(level, Severity)) for rule, level in rules)


@attrs.frozen(repr=False)
class Policy:
    """
    Rules with a severity each, and the limits that they use.

    Start from a preset and state the differences: `DEFAULT.but(single_in_progress="error")`.
    """

    rules: _Rated = attrs.field(
        factory=lambda: tuple((rule, Severity.OFF) for rule in RULES.values()), converter=_rated
    )
    limits: Limits = Limits()
    # A mutable cache: finding the rules that an event can break costs more than running them. It
    # only contains data derived from `rules`. So it is not part of equality, each policy starts
    # with an empty one, and several threads may fill it at the same time.
    _heeding: dict[Any, _Rated] = attrs.field(factory=dict, init=False, eq=False)
    # A dict, since every call of a model looks up severities by name.
    _levels: dict[str, Severity] = attrs.field(
        default=attrs.Factory(
            lambda policy: {rule.name: level for rule, level in policy.rules}, takes_self=True
        ),
        init=False,
        eq=False,
    )
    _begun_as: str = attrs.field(default="", eq=False, alias="_begun_as")

    @classmethod
    def preset(cls, name: str) -> Policy:
        """
        Return the policy with the severities that the rules declare for a preset.

        Raises:
            PlanError: there is no preset of that name.
        """
        if name not in (known := (*STEPS, "strict")):
            msg = f"there is no preset {short_repr(name)}; the presets are {', '.join(known)}"
            raise PlanError(msg, seen=name)
        rules = tuple((rule, rule.severity_in(name)) for rule in RULES.values())
        return cls(rules, _begun_as=name)

    def __repr__(self) -> str:
        name = self._begun_as.upper().replace("-", "_") or "Policy()"
        changes = [
            f"{rule.name}={level.value!r}"
            for rule, level in self.rules
            if RULES.get(rule.name) is rule and level is not rule.severity_in(self._begun_as)
        ]
        if self.limits != Limits():
            changes.append(f"limits={self.limits!r}")
        own = [
            f".adding({rule!r}, {level.value!r})"
            for rule, level in self.rules
            if RULES.get(rule.name) is not rule
        ]
        return name + (f".but({', '.join(changes)})" if changes else "") + "".join(own)

    def heeding(self, happened: Sequence[Event]) -> _Rated:
        """Return the rules that are on and that these events can break."""
        # A single status change is the usual case: its trigger is computed without a set or a call.
        triggers: Any
        if len(happened) != 1:
            triggers = frozenset(map(trigger_of, happened))
        elif type(event := happened[0]) is events.StatusChanged:
            triggers = event.old, event.new
        else:
            triggers = type(event)
        found = self._heeding.get(triggers)
        if found is None:
            # A user's own rule may name the class `StatusChanged` instead of pairs of statuses, and
            # `no_op_write` is triggered by a command without events.
            several = {*map(trigger_of, happened), *map(type, happened)} or {NoneType}
            found = tuple(
                [
                    (rule, severity)
                    for rule, severity in self.rules
                    if severity is not Severity.OFF
                    and not (rule.on and rule.on.isdisjoint(several))
                ]
            )
            if len(self._heeding) < _MOST_KEPT:
                self._heeding[triggers] = found
        return found

    def but(self, **changes: Unpack[RuleSettings]) -> Policy:
        """
        Return this policy with other severities for the named rules, or with other limits.

        To set the limit of a rule, pass a number for the rule: `but(max_items=50)`. If the rule is
        off, it becomes an error. Other limits are set with `but(limits=Limits(open_items=20))`,
        which replaces all limits set before; numbers in the same call are applied afterwards.

        Raises:
            PlanError: no rule has that name, or the value is neither off, warn, error nor a number
                for a rule with a limit.
        """
        given: dict[str, Any] = dict(changes)
        legal = "limits, such as Limits(items=50)"
        limits = instance_of(given.pop("limits", self.limits), Limits, legal)
        known = {rule.name for rule, _ in self.rules}
        if unknown := sorted(set(given) - known):
            near = [name for word in unknown for name in get_close_matches(word, known, 1)]
            meant = f"did you mean {', '.join(near)}? " if near else ""
            listed = ", ".join(sorted(known))
            msg = f"no rule is called {', '.join(unknown)}; {meant}the rules are {listed}"
            raise PlanError(msg, unknown=unknown)
        rules = []
        for rule, old in self.rules:
            new = given.get(rule.name, old)
            if isinstance(new, int) and not isinstance(new, bool):
                if not rule.limit:
                    fields = ", ".join(f"{field.name}=..." for field in attrs.fields(Limits))
                    msg = (
                        f"{new!r} is no severity, and {rule.name} has no single limit; write off,"
                        f" warn or error. Limits are set by but(limits=Limits({fields}))"
                    )
                    raise PlanError(msg, seen=new)
                limits = attrs.evolve(limits, **{rule.limit: new})
                new = Severity.ERROR if old is Severity.OFF else old
            rules.append((rule, new))
        return attrs.evolve(self, rules=rules, limits=limits)

    def adding(self, rule: Rule, severity: SeverityName | Severity = "error") -> Policy:
        """
        Return this policy with your own rule, which replaces a rule of the same name.

        Raises:
            PlanError: `rule` is not a rule, or the severity is none of off, warn, error.
        """
        instance_of(rule, Rule, 'a rule, such as Rule("my_rule", check)')
        kept = tuple(entry for entry in self.rules if entry[0].name != rule.name)
        return attrs.evolve(self, rules=(*kept, (rule, severity)))

    def severity(self, name: str) -> Severity:
        """Return the severity of the named rule; off for a rule that the policy does not have."""
        return self._levels.get(name, Severity.OFF)


def judge(policy: Policy, change: Change) -> tuple[tuple[Problem, ...], tuple[Problem, ...]]:
    """
    Return two tuples of problems: those for which the policy refuses the change, and the warnings.

    Raises:
        PlanError: a check returned something that is not a problem.
    """
    errors: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()
    for rule, severity in policy.heeding(change.events):
        try:
            answer = rule.check(change)
            if type(answer) is tuple and not answer:  # the usual result of most rules
                continue
            found = _problems(rule, answer)
        except Exception as error:
            error.add_note(f"raised by the rule {rule.name}")
            raise
        if severity is _ERROR:
            errors += found
        else:
            warnings += found
    return errors, warnings


def _problems(rule: Rule, answer: Any) -> tuple[Problem, ...]:
    if hasattr(answer, "__iter__"):
        found = tuple(answer)
        wrong = [each for each in found if not isinstance(each, Problem)]
    else:
        found, wrong = (), [answer]
    if wrong:
        msg = (
            f"the rule {rule.name} gave {short_repr(wrong[0])}; a check yields problems,"
            " or returns a tuple of them, () if nothing is wrong"
        )
        raise PlanError(msg, rule=rule.name, seen=wrong[0])
    return found


def inspect(plan: Plan, policy: Policy) -> tuple[Problem, ...]:
    """
    Check a plan as it is, without a command.

    Only rules with `about_plan` and severity error are checked. Their violations are returned.
    """
    # Every task counts as created, so rules that look only at new tasks see all of them.
    created: Iterable[events.TaskCreated] = map(events.TaskCreated, plan)
    change = Change(Plan(), plan, None, tuple(created), policy.limits)
    return tuple(
        problem
        for rule, severity in policy.rules
        if rule.about_plan and severity is Severity.ERROR
        for problem in _problems(rule, rule.check(change))
    )


# -------- presets --------
# Ready-made policies: as strict as the planning tools in use, and a compromise as the default.
#
# Each rule declares its severity in the presets, above its check.


PRESETS: dict[str, Policy] = {
    name: Policy.preset(name)
    for name in ("default", "langchain", "claude", "claude-strict", "agentscope", "strict")
}
"""The presets by their names on the command line."""

LANGCHAIN = PRESETS["langchain"]
"""Like LangChain's TodoListMiddleware: only sizes are limited, the rest is left to prompts."""

AGENTSCOPE = PRESETS["agentscope"]
"""Like AgentScope's task tools: statuses change freely, and ignored blockers only give warnings."""

DEFAULT = PRESETS["default"]
"""Permissive where refusals hurt users of comparable libraries, strict where data would be lost."""

CLAUDE = PRESETS["claude"]
"""Like the description of Claude's TodoWrite: one task in progress, and active forms required."""

CLAUDE_STRICT = PRESETS["claude-strict"]
"""Like CLAUDE, and each task needs a priority."""

STRICT = PRESETS["strict"]
"""Every rule is an error, except those that must be switched on explicitly (`opt_in`)."""
