"""
Values: todos, tasks, plans of a size and a shape, policies, and what their fields hold.

A field of a task is drawn by its kind, for every field that `TASK_FIELDS` declares: a new field is
drawn from the day on which it is declared, by every strategy that makes or changes tasks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta, timezone
from functools import cache
from typing import Any, Literal, get_args

import attrs
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from todoplan.core.decide.assembly import plan_of
from todoplan.core.plan.frozen import FrozenDict
from todoplan.core.plan.model import TASK_FIELDS, FieldKind, Priority, Status, Task, Todo
from todoplan.core.plan.plan import Plan
from todoplan.core.rules.builtin import RULES
from todoplan.core.rules.limits import Limits
from todoplan.core.rules.policy import Policy, Severity
from todoplan.core.rules.presets import PRESETS
from todoplan.testing.strategies.text import any_ids, ids, texts, titles

__all__ = [
    "SHAPES",
    "STATUSES",
    "Shape",
    "aware_times",
    "field_values",
    "json_values",
    "limits",
    "metadata",
    "plans",
    "policies",
    "tasks",
    "times",
    "todos",
]

Texts = SearchStrategy[str]
Statuses = SearchStrategy[Status]
ByKind = Mapping[FieldKind, SearchStrategy[Any]]

STATUSES = st.sampled_from(Status)


@cache
def aware_times() -> SearchStrategy[datetime]:
    """
    Draw aware times, in any zone.
    """
    zones = st.integers(-12, 14).map(lambda hours: timezone(timedelta(hours=hours)))
    return st.datetimes(timezones=zones)


@cache
def times() -> SearchStrategy[datetime | None]:
    """
    Draw an aware time, or `None`: not known.
    """
    return st.none() | aware_times()


@cache
def json_values() -> SearchStrategy[Any]:
    """
    Draw small JSON values.
    """
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
    """
    Draw metadata with few keys, so that they meet again.
    """
    return st.dictionaries(st.sampled_from(["k", "l", "m"]), json_values(), max_size=3)


# What may be missing is one choice among others, not a choice of its own before them: a
# counterexample loses it in one step then.
_BY_KIND: dict[FieldKind, SearchStrategy[Any]] = {
    FieldKind.ID: ids(),
    FieldKind.TEXT: st.sampled_from(["", "why", "why not"]),
    FieldKind.TEXT_OR_NONE: st.sampled_from([None, None, "ann", "bob"]),
    FieldKind.STATUS: STATUSES,
    FieldKind.PRIORITY: st.sampled_from([None, None, *Priority]),
    FieldKind.IDS: st.just(()),
    FieldKind.NUMBER: st.sampled_from([None, None, 0.0, 1.0, 2.5, 30.0]),
    FieldKind.METADATA: metadata().map(FrozenDict),
    FieldKind.TIME: times(),
}


def field_values(
    kinds: ByKind | None = None,
) -> dict[str, SearchStrategy[Any]]:
    """
    Return what each field of a task may hold, by the field's name. No edges: they need a plan.

    `kinds` has other strategies for some kinds of fields.
    """
    by_kind = {**_BY_KIND, **(kinds or {})}
    drawn = {name: by_kind[field.kind] for name, field in TASK_FIELDS.items()}
    return {**drawn, "subject": titles()}


# In commands one choice of three is enough for a text, and shrinks best; a task that is drawn by
# itself goes to renderers and codecs, which have to take any.
_ANY_TEXT = {FieldKind.TEXT: _BY_KIND[FieldKind.TEXT] | texts()}
_VALUES = field_values(_ANY_TEXT)


@cache
def todos(
    text: Texts | None = None,
    given_ids: Texts | None = None,
    status: SearchStrategy[Status | None] | None = None,
) -> SearchStrategy[Todo]:
    """
    Draw lines of a whole-list write, with ids that may be wrong unless you say which are given.

    A status may be missing, unless you say which there are.
    """
    given = {
        **_VALUES,
        "content": titles() if text is None else text,
        "status": st.none() | STATUSES if status is None else status,
        "id": st.none() | (any_ids() if given_ids is None else given_ids),
    }
    names = [field.name for field in attrs.fields(Todo)]
    return st.builds(Todo, **{name: given[name] for name in names})


_DAY = datetime(2026, 1, 1, tzinfo=UTC)
_ONCE = st.integers(0, 500_000).map(lambda minutes: _DAY + timedelta(minutes=minutes))
_LATER = st.integers(0, 600).map(lambda minutes: timedelta(minutes=minutes))


def _life(made: datetime, worked: timedelta, status: Status) -> dict[str, Any]:
    """
    Return the times of a task in a status: each is there when it should be, none before another.
    """
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
    Draw a task without edges: alone it is a plan.

    `text` draws its subject; `kinds` has other strategies for some kinds of fields. Where they say
    nothing of times, these fit the status.
    """
    values = field_values({**_ANY_TEXT, **kinds}) if kinds else dict(_VALUES)
    values |= {"status": status}
    values |= {} if text is None else {"subject": text}
    values |= {} if given_ids is None else {"id": given_ids}
    own_times = FieldKind.TIME in (kinds or {})
    names = [n for n, f in TASK_FIELDS.items() if own_times or f.kind is not FieldKind.TIME]
    fields = {name: draw(values[name]) for name in names}
    return Task(**fields, **({} if own_times else draw(_LIVES[fields["status"]])))


Shape = Literal["any", "chain", "diamond", "wide", "disconnected"]
SHAPES: tuple[Shape, ...] = get_args(Shape)
"""`chain`: each task waits for the one before; `diamond`: one first, one last, the rest between;
`wide`: all wait for one; `disconnected`: no edges; `any`: each waits for some of those before."""

_FEW = st.integers(0, 2)
_SELDOM = st.sampled_from([False, False, True])
_Blockers = list[list[int]]
"""For each task, by its place, the places of its blockers."""


def _any(draw: DrawFn, size: int) -> _Blockers:
    return [
        sorted({draw(st.integers(0, place - 1)) for _ in range(draw(_FEW))}) if place else []
        for place in range(size)
    ]


def _wide(_: DrawFn, size: int) -> _Blockers:
    return [[0] if place else [] for place in range(size)]


def _diamond(draw: DrawFn, size: int) -> _Blockers:
    between = list(range(1, size - 1))
    last = between or list(range(size - 1))
    return [*_wide(draw, size - 1), last] if size else []


_MAKERS: dict[str, Callable[[DrawFn, int], _Blockers]] = {
    "any": _any,
    "chain": lambda _, size: [[place - 1] if place else [] for place in range(size)],
    "diamond": _diamond,
    "wide": _wide,
    "disconnected": lambda _, size: [[] for _ in range(size)],
}


@st.composite
def plans(  # noqa: PLR0913 - all are options, by name
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
    Draw a valid plan of `min_size` to `max_size` tasks whose edges make a shape.

    Its order need not follow its edges, its ids may have gaps, and its revision is any. `text`,
    `status` and `kinds` are those of `tasks`.
    """
    size = draw(st.integers(min_size, max_size))
    blockers = _MAKERS[shape](draw, size)
    gaps = [draw(_FEW) if draw(_SELDOM) else 0 for _ in range(size)]
    numbers = [place + 1 + sum(gaps[: place + 1]) for place in range(size)]
    made = [draw(tasks(text, status, st.just(str(number)), kinds=kinds)) for number in numbers]
    order = draw(st.permutations(range(size))) if draw(_SELDOM) else range(size)
    placed = _placed(made, blockers, order)
    later = draw(_FEW)
    return plan_of(placed, next_id=max(numbers, default=0) + 1 + later, revision=size + later)


def _placed(made: list[Task], blockers: _Blockers, order: Iterable[int]) -> list[Task]:
    """
    Return the tasks in this order, with the edges at both ends.
    """
    ids = [task.id for task in made]
    linked = [
        attrs.evolve(
            task,
            blocked_by=tuple(ids[end] for end in blockers[place]),
            blocks=tuple(ids[end] for end in range(len(made)) if place in blockers[end]),
        )
        for place, task in enumerate(made)
    ]
    return [linked[place] for place in order]


@cache
def limits() -> SearchStrategy[Limits]:
    """
    Draw the usual limits, or such that a short script reaches.
    """
    reached = {"items": 8, "open_items": 6, "edges": 2, "history": 60}
    reached |= dict.fromkeys(("metadata", "metadata_keys", "metadata_levels"), 9)
    names = (field.name for field in attrs.fields(Limits))
    small = {name: st.integers(1, reached.get(name, 4)) for name in names}
    return st.just(Limits()) | st.builds(Limits, **small)


@cache
def policies() -> SearchStrategy[Policy]:
    """
    Draw presets, and policies with a few rules at any severity.
    """
    rules = st.sampled_from(sorted(RULES))
    severities = st.dictionaries(rules, st.sampled_from(Severity), max_size=4)
    return st.sampled_from(list(PRESETS.values())) | st.builds(_policy, severities, limits())


def _policy(severities: dict[str, Severity], given: Limits) -> Policy:
    rules = ((rule, severities.get(name, Severity.OFF)) for name, rule in RULES.items())
    return Policy(tuple(rules), given)
