"""
Todos, tasks, policies, plans of a given size and shape, and the values of their fields.

The kind of a field in `TASK_FIELDS` decides how its values are drawn. So if `TASK_FIELDS` gets a
new field, all strategies that make or change tasks also draw it, without a change to these
strategies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, date, datetime, timedelta, timezone
from functools import cache, partial
from typing import Any, Literal, get_args

import attrs
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from todoplan.core.decide import plan_of
from todoplan.core.plan.model import (
    TASK_FIELDS,
    Approval,
    Claim,
    Evidence,
    FieldKind,
    FrozenDict,
    Priority,
    Status,
    Task,
    Todo,
    Waiting,
)
from todoplan.core.plan.plan import Plan
from todoplan.core.rules import PRESETS, RULES, Limits, Policy, Severity
from todoplan.testing.strategies.text import any_ids, ids, texts, titles

Texts = SearchStrategy[str]
Statuses = SearchStrategy[Status]
ByKind = Mapping[FieldKind, SearchStrategy[Any]]

STATUSES = st.sampled_from(Status)
# Only few values, so that they recur: two workers may have the same name (law 19).
WORKERS = st.sampled_from(["w1", "w2", "ann"])
FENCES = st.integers(1, 3)

_DAY = datetime(2026, 1, 1, tzinfo=UTC)
_MINUTES = st.integers(0, 20).map(lambda minutes: _DAY + timedelta(minutes=minutes))


@cache
def aware_times() -> SearchStrategy[datetime]:
    """Draw aware times in any time zone."""
    zones = st.integers(-12, 14).map(lambda hours: timezone(timedelta(hours=hours)))
    return st.datetimes(timezones=zones)


@cache
def times() -> SearchStrategy[datetime | None]:
    """Draw an aware time, often within the same few minutes, or `None` for an unknown time."""
    return st.none() | _MINUTES | aware_times()


@cache
def json_values() -> SearchStrategy[Any]:
    """Draw small JSON values."""
    leaves = st.none() | st.booleans() | st.integers(2, 9) | st.text(max_size=3)
    return st.recursive(
        leaves,
        lambda inner: (
            st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner, max_size=2)
        ),
        max_leaves=4,
    )


@cache
def metadata() -> SearchStrategy[dict[str, Any]]:
    """Draw metadata with few different keys, so that they recur, or with the tags of a task."""
    any_keys = st.dictionaries(st.sampled_from(["k", "l", "m"]), json_values(), max_size=3)
    return any_keys | st.sampled_from([["fast"], "fast"]).map(lambda tags: {"tags": tags})


_REASONS, _QUESTIONS = st.sampled_from(["ann", "the build"]), st.sampled_from([None, "which?"])
WAITS = st.builds(Waiting, _REASONS, times(), _QUESTIONS)
SUMMARIES, INSPECTORS = st.sampled_from(["", "3 of 4"]), st.sampled_from([None, "ci", "ann"])
EVIDENCE = st.builds(Evidence, st.booleans(), SUMMARIES, INSPECTORS, times())
CLAIMS = st.builds(Claim, WORKERS, FENCES, times())
APPROVERS = st.sampled_from([None, "ann", "bob"])
APPROVALS = st.builds(Approval, st.integers(0, 9), APPROVERS, times())

# `None` is one of the sampled values, so that a counterexample can drop a value in one step.
_BY_KIND: dict[FieldKind, SearchStrategy[Any]] = {
    FieldKind.ID: ids(),
    FieldKind.TEXT: st.sampled_from(["", "why", "why not"]),
    FieldKind.TEXT_OR_NONE: st.sampled_from([None, None, "ann", "bob"]),
    FieldKind.STATUS: STATUSES,
    FieldKind.PRIORITY: st.sampled_from([None, None, *Priority]),
    FieldKind.PARENT: st.none(),
    FieldKind.WAITING: st.none() | WAITS,
    FieldKind.EVIDENCE: st.none() | EVIDENCE,
    FieldKind.CLAIM: st.none() | CLAIMS,
    FieldKind.COUNT: st.integers(0, 3),
    FieldKind.IDS: st.just(()),
    FieldKind.NUMBER: st.sampled_from([None, None, 0.0, 1.0, 2.5, 30.0]),
    FieldKind.DATE: st.sampled_from([None, None, date(2026, 1, 1), date(2026, 12, 31)]),
    FieldKind.METADATA: metadata().map(FrozenDict),
    FieldKind.TIME: times(),
}


def field_values(kinds: ByKind | None = None) -> dict[str, SearchStrategy[Any]]:
    """
    Return a strategy for each field of a task, by the field's name. Edges are empty, because they
    need a plan.

    `kinds` replaces the strategies for some kinds of fields.
    """
    by_kind = {**_BY_KIND, **(kinds or {})}
    drawn = {name: by_kind[field.kind] for name, field in TASK_FIELDS.items()}
    return {**drawn, "subject": titles()}


# In commands, three texts are enough and shrink best. Tasks are also drawn for tests of renderers
# and codecs, which must accept any text.
_ANY_TEXT = {FieldKind.TEXT: _BY_KIND[FieldKind.TEXT] | texts()}
_VALUES = field_values(_ANY_TEXT)


@cache
def todos(
    text: Texts | None = None,
    given_ids: Texts | None = None,
    status: SearchStrategy[Status | None] | None = None,
) -> SearchStrategy[Todo]:
    """
    Draw entries of a whole-list write.

    By default, an id may be wrong and a status may be missing. `given_ids` and `status` replace
    these strategies. Only an entry with the status pending or without a status has a wait.
    """
    given = {
        **_VALUES,
        "content": titles() if text is None else text,
        "status": st.none() | STATUSES if status is None else status,
        "id": st.none() | (any_ids() if given_ids is None else given_ids),
        "level": st.sampled_from([None, None, 0, 1, 2]),
    }
    names = [field.name for field in attrs.fields(Todo)]
    may_wait = {None, Status.PENDING}
    return st.builds(Todo, **{name: given[name] for name in names}).map(
        lambda todo: todo if todo.status in may_wait else attrs.evolve(todo, waiting=None)
    )


_ONCE = st.integers(0, 500_000).map(lambda minutes: _DAY + timedelta(minutes=minutes))
_LATER = st.integers(0, 600).map(lambda minutes: timedelta(minutes=minutes))


def _life(made: datetime, worked: timedelta, status: Status) -> dict[str, Any]:
    """Return the times that a status requires, in order."""
    ended = made + worked
    return {
        "created_at": made,
        "updated_at": ended,
        "started_at": None if status is Status.PENDING else made,
        "completed_at": ended if status is Status.COMPLETED else None,
    }


_LIVES: dict[Status, SearchStrategy[dict[str, Any]]] = {
    status: st.just({}) | st.builds(_life, _ONCE, _LATER, st.just(status)) for status in Status
}


_SOME = frozenset({"waiting", "claim"})
"""Fields that only tasks with a certain status can have."""


@st.composite
def tasks(
    draw: DrawFn,
    text: Texts | None = None,
    status: Statuses = STATUSES,
    given_ids: Texts | None = None,
    *,
    kinds: ByKind | None = None,
) -> Task:
    """
    Draw a task without edges and parent, so that it is a valid plan by itself.

    Only a pending task may wait, and only a task in progress may be claimed. `text` draws the
    subject. `kinds` replaces the strategies for some kinds of fields. The times fit the status,
    unless `kinds` replaces them.
    """
    values = field_values({**_ANY_TEXT, **kinds}) if kinds else dict(_VALUES)
    values |= {"status": status}
    values |= {} if text is None else {"subject": text}
    values |= {} if given_ids is None else {"id": given_ids}
    own_times = FieldKind.TIME in (kinds or {})
    names = [n for n, f in TASK_FIELDS.items() if own_times or f.kind is not FieldKind.TIME]
    fields: dict[str, Any] = {}
    for name in names:
        if name not in _SOME:
            fields[name] = draw(values[name])
    # A wait or a claim is drawn for every status, so that a counterexample can change the task's
    # status in one step.
    held = draw(values["waiting"] | values["claim"])
    if isinstance(held, Waiting) and fields["status"] is Status.PENDING:
        fields["waiting"] = held
    if isinstance(held, Claim) and fields["status"] is Status.IN_PROGRESS:
        # The count is the highest fencing token so far (law 19).
        fields |= {"claim": held, "claims": max(fields["claims"], held.fence)}
    return Task(**fields, **({} if own_times else draw(_LIVES[fields["status"]])))


@cache
def limits() -> SearchStrategy[Limits]:
    """Draw the default limits, or small ones that a short script reaches."""
    reached = {"items": 8, "open_items": 6, "edges": 2, "history": 60, "depth": 3}
    reached |= dict.fromkeys(("metadata", "metadata_keys", "metadata_levels"), 9)
    names = (field.name for field in attrs.fields(Limits))
    small = {name: st.integers(1, reached.get(name, 4)) for name in names}
    return st.just(Limits()) | st.builds(Limits, **small)


@cache
def policies() -> SearchStrategy[Policy]:
    """Draw presets, and policies with a few rules at any severity."""

    def policy(severities: dict[str, Severity], given: Limits) -> Policy:
        rules = ((rule, severities.get(name, Severity.OFF)) for name, rule in RULES.items())
        return Policy(tuple(rules), given)

    names = st.sampled_from(sorted(RULES))
    severities = st.dictionaries(names, st.sampled_from(Severity), max_size=4)
    return st.sampled_from(list(PRESETS.values())) | st.builds(policy, severities, limits())


Shape = Literal["any", "chain", "diamond", "wide", "disconnected", "tree"]
SHAPES: tuple[Shape, ...] = get_args(Shape)
"""
Shapes of a plan. `chain`: each task waits for the previous one. `diamond`: the last task waits for
those in the middle, and these for the first one. `wide`: all tasks wait for the first one.
`disconnected`: no edges. `tree`: no edges, and each task has an earlier one as parent, or none.
`any`: each task waits for some earlier ones, and may have an earlier one as parent.
"""

_FEW = st.integers(0, 2)
_SELDOM = st.sampled_from([False, False, True])


# For each shape: a function of a task's place and the plan's size, which returns the places of the
# task's blockers. It is not called for the first task, which has none.
_BLOCKERS: dict[str, Callable[[DrawFn, int, int], Iterable[int]]] = {
    "any": lambda draw, place, _: sorted(
        {draw(st.integers(0, place - 1)) for _ in range(draw(_FEW))}
    ),
    "chain": lambda _, place, __: [place - 1],
    # The last task waits for those in the middle, or for the first one if there is no middle.
    "diamond": lambda _, place, size: range(1, place) if 1 < place == size - 1 else [0],
    "wide": lambda *_: [0],
    "disconnected": lambda *_: [],
    "tree": lambda *_: [],
}
_TOPS = {"tree": 1, "any": 4}
"""The shapes with subtasks, and the weight of "no parent" relative to each possible parent."""


@st.composite
def plans(  # noqa: PLR0913 - options, all by name
    draw: DrawFn,
    *,
    shape: Shape = "any",
    min_size: int = 0,
    max_size: int = 6,
    text: Texts | None = None,
    status: Statuses = STATUSES,
    kinds: ByKind | None = None,
) -> Plan:
    """
    Draw a valid plan of `min_size` to `max_size` tasks whose edges and subtasks have a given shape.

    The order of tasks may differ from the order of their edges. Ids may have gaps, the revision may
    be higher than needed, and the plan may be approved. `text`, `status` and `kinds` are as in
    `tasks`. If `kinds` has `FieldKind.PARENT`, there are no subtasks, whatever the shape.
    """
    size = draw(st.integers(min_size, max_size))
    tops = 0 if FieldKind.PARENT in (kinds or {}) else _TOPS.get(shape, 0)
    like = partial(tasks, text, status, kinds=kinds)
    made: list[Task] = []
    above: dict[str, set[str]] = {}
    for _ in range(size):
        # Everything about a task is one draw, so that a counterexample can drop the task in one
        # step.
        task = draw(_placed(like, shape, size, tops, made, above))
        made.append(task)
        above[task.id] = set() if task.parent is None else {task.parent, *above[task.parent]}
    order = draw(st.permutations(made)) if draw(_SELDOM) else made
    later = draw(_FEW)
    approved = draw(st.none() | APPROVALS)
    blocks = {task.id: tuple(o.id for o in made if task.id in o.blocked_by) for task in made}
    return plan_of(
        [attrs.evolve(task, blocks=blocks[task.id]) for task in order],
        next_id=_last(made) + 1 + later,
        revision=size + later,
        approved=approved,
    )


def _last(made: list[Task]) -> int:
    return int(made[-1].id) if made else 0


@st.composite
def _placed(  # noqa: PLR0913, PLR0917 - the plan drawn so far
    draw: DrawFn,
    like: Callable[..., SearchStrategy[Task]],
    shape: Shape,
    size: int,
    tops: int,
    made: list[Task],
    above: dict[str, set[str]],
) -> Task:
    """
    Draw the next task, with its parent and blockers among the earlier tasks.

    `like` draws a task without edges. `tops` is the weight of "no parent"; 0 means that no task has
    a parent. `made` has the earlier tasks, and `above` the ancestors of each.
    """
    ids = [task.id for task in made]
    # Edges and parents go from earlier to later places, so there is no cycle. An ancestor of a task
    # must not block it either. "No parent" comes first, so that trees shrink to flat plans.
    parent = draw(st.sampled_from([*[None] * tops, *ids])) if tops else None
    inside = set() if parent is None else {parent, *above[parent]}
    ends = [ids[end] for end in _BLOCKERS[shape](draw, len(ids), size)] if ids else []
    gap = draw(_FEW) if draw(_SELDOM) else 0
    task = draw(like(given_ids=st.just(str(_last(made) + 1 + gap))))
    blocked_by = tuple(end for end in ends if end not in inside)
    return attrs.evolve(task, blocked_by=blocked_by, parent=parent)
