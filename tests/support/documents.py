"""
Plans, entries and values that a codec must bring back: any text, any zone, any edges.

Tasks and edits are drawn field by field as `TASK_FIELDS` says, and `full_task` has every field set:
no field is named here, so that a new one is drawn from the day it is declared.
"""

from datetime import UTC, date, datetime, timedelta, timezone

import attrs
from hypothesis import strategies as st

from todoplan.core.decide import plan_of
from todoplan.core.events.apply import Entry
from todoplan.core.events.types import (
    EdgeAdded,
    EdgeRemoved,
    ParentChanged,
    PlanApproved,
    PlanCleared,
    PlanRestored,
    StatusChanged,
    TaskCreated,
    TaskDeleted,
    TaskEdited,
    TasksReordered,
)
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
    Waiting,
)

any_text = st.text(st.characters(exclude_categories=()), max_size=8) | st.sampled_from(
    ["\ud83d", "\ud83d\ude00", "\ud83d\ufdd0\ude00", "😀", "\x00", "\u2028", "\u202e", '"\\', "é"]
)
subjects = any_text.filter(lambda text: text.strip())
offsets = st.timedeltas(timedelta(hours=-23), timedelta(hours=23))
zones = st.builds(timezone, offsets) | st.just(UTC)
times = st.datetimes(timezones=zones).map(lambda at: at.replace(fold=0))
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | numbers | any_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(any_text | st.just("todoplan"), json_values, max_size=3)
ids = st.integers(1, 10**6).map(str)


def or_none(values):
    return st.none() | values


_BY_KIND = {
    FieldKind.ID: ids,
    FieldKind.TEXT: any_text,
    FieldKind.TEXT_OR_NONE: or_none(any_text),
    FieldKind.STATUS: st.sampled_from(Status),
    FieldKind.PRIORITY: or_none(st.sampled_from(Priority)),
    FieldKind.PARENT: st.none(),
    FieldKind.WAITING: or_none(st.builds(Waiting, any_text, or_none(times), or_none(any_text))),
    FieldKind.EVIDENCE: or_none(
        st.builds(Evidence, st.booleans(), any_text, or_none(any_text), or_none(times))
    ),
    FieldKind.CLAIM: st.none(),
    FieldKind.COUNT: st.integers(0, 10**6),
    FieldKind.IDS: st.just(()),
    FieldKind.NUMBER: or_none(numbers),
    FieldKind.DATE: or_none(st.dates()),
    FieldKind.METADATA: objects,
    FieldKind.TIME: or_none(times),
}


def values_of(field):
    """
    Draw what may stand in a field; a text that every task has is not blank. Edges come with a plan.
    """
    must = field.kind is FieldKind.TEXT and field.default is attrs.NOTHING
    return subjects if must else _BY_KIND[field.kind]


@st.composite
def tasks(draw, task_id=None):
    """Draw a task without edges, at the top."""
    drawn = {name: draw(values_of(field)) for name, field in TASK_FIELDS.items()}
    return Task(**{**drawn, **({"id": task_id} if task_id else {})})


approvals = st.builds(Approval, st.integers(0, 10**9), or_none(any_text), or_none(times))


_FULL = {
    FieldKind.ID: lambda _: "5",
    FieldKind.TEXT: lambda place: f"text {place}",
    FieldKind.TEXT_OR_NONE: lambda place: f"words {place}",
    FieldKind.STATUS: lambda _: Status.COMPLETED,
    FieldKind.PRIORITY: lambda _: Priority.LOW,
    FieldKind.PARENT: lambda _: "9",
    FieldKind.WAITING: lambda place: Waiting(f"reason {place}", None, f"question {place}"),
    FieldKind.EVIDENCE: lambda place: Evidence(passed=True, summary=f"seen {place}"),
    FieldKind.CLAIM: lambda place: Claim(f"owner {place}", place),
    FieldKind.COUNT: lambda place: 1000 + place,
    FieldKind.IDS: lambda place: (str(10 + place), str(50 + place)),
    FieldKind.NUMBER: lambda place: place + 0.5,
    FieldKind.DATE: lambda place: date(2026, 1, 1 + place),
    FieldKind.METADATA: lambda place: {"k": [place, {"l": None}]},
    FieldKind.TIME: lambda place: datetime(2026, 1, 1 + place, tzinfo=UTC),
}


def full_task():
    """Return a task that has every field set, each to another value, none to its default."""
    return Task(**{n: _FULL[f.kind](place) for place, (n, f) in enumerate(TASK_FIELDS.items())})


def full_tasks():
    """
    Return it as plans may hold it, by its status: a pending one waits, one in progress is claimed,
    and no other does.
    """
    full = full_task()
    return {
        status: full.but(
            status=status,
            waiting=full.waiting if status is Status.PENDING else None,
            claim=full.claim if status is Status.IN_PROGRESS else None,
        )
        for status in Status
    }


def around(task):
    """
    Return a plan of this task, of what contains it and of those at the other ends of its edges.
    """
    above = [Task(task.parent, "above")] if task.parent else []
    after = [Task(end, "after", blocked_by=(task.id,)) for end in task.blocks]
    before = [Task(end, "before", blocks=(task.id,)) for end in task.blocked_by]
    return plan_of([*above, *before, task, *after])


@st.composite
def plans(draw):
    """Draw a plan: any order of ids, a tree, edges from earlier to later tasks, mirrored."""
    task_ids = draw(st.lists(ids, unique=True, max_size=5))
    above = [draw(st.integers(0, 2 * place)) for place in range(len(task_ids))]
    # By place: the place of the parent, which comes first, or none.
    parents = [parent if parent < place else None for place, parent in enumerate(above)]
    edges = draw(st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=6))
    pairs = [
        (task_ids[a], task_ids[b])
        for a, b in edges
        if a < b < len(task_ids) and a not in _containers(parents, b)
    ]
    made = [
        draw(tasks(task_ids[place])).but(
            parent=None if parents[place] is None else task_ids[parents[place]],
            blocks=tuple(b for a, b in pairs if a == task_ids[place]),
            blocked_by=tuple(a for a, b in pairs if b == task_ids[place]),
        )
        for place in draw(st.permutations(range(len(task_ids))))
    ]
    listed = [t if t.status is Status.PENDING else t.but(waiting=None) for t in made]
    next_id, revision = draw(st.integers(1, 2 * 10**6)), draw(st.integers(0, 10**9))
    approved = draw(or_none(approvals))
    return plan_of(listed, next_id=next_id, revision=revision, approved=approved)


def _containers(parents, place):
    while parents[place] is not None:
        place = parents[place]
        yield place


_at = or_none(times)
_several = st.lists(ids, max_size=3).map(tuple)
_changes = st.fixed_dictionaries(
    {},
    optional={name: values_of(field) for name, field in TASK_FIELDS.items() if field.editable},
).map(FrozenDict)

events = st.one_of(
    st.builds(TaskCreated, tasks()),
    st.builds(StatusChanged, ids, st.sampled_from(Status), st.sampled_from(Status), _at),
    st.builds(TaskEdited, ids, _changes, _at),
    st.builds(EdgeAdded, ids, ids, _at),
    st.builds(EdgeRemoved, ids, ids, _at),
    st.builds(ParentChanged, ids, or_none(ids), _at),
    st.builds(TaskDeleted, ids, _at),
    st.builds(TasksReordered, _several, _at),
    st.builds(PlanCleared, _several, _at),
    st.builds(
        PlanRestored,
        st.lists(tasks(), max_size=2).map(tuple),
        st.integers(1, 99),
        _at,
        or_none(approvals),
    ),
    st.builds(PlanApproved, or_none(any_text), _at),
)
entries = st.builds(
    Entry,
    st.integers(0, 10**9),
    st.lists(events, max_size=3).map(tuple),
    _at,
    or_none(any_text),
    any_text,
    or_none(st.integers(0, 10**9)),
)
