"""
Strategies for plans, entries and values that a codec must read back unchanged.

They are those of `todoplan.testing.strategies`, with other values for each kind of field: any text,
any time zone, any number. `full_task` has every field set. No field of a task is named here, so a
new field is drawn as soon as it is declared.
"""

from datetime import UTC, date, datetime, timedelta, timezone
from typing import get_args

from hypothesis import strategies as st

from todoplan.core.decide import plan_of
from todoplan.core.events.apply import Entry
from todoplan.core.events.types import Event, TaskId
from todoplan.core.plan.model import (
    EDITABLE,
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
from todoplan.testing import strategies as shipped
from todoplan.testing.strategies.command import events_of
from todoplan.testing.strategies.values import field_values

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


claims = st.builds(Claim, subjects, st.integers(1, 10**6), or_none(times))
approvals = st.builds(Approval, st.integers(0, 10**9), or_none(any_text), or_none(times))
KINDS = {
    FieldKind.TEXT: any_text,
    FieldKind.TEXT_OR_NONE: or_none(any_text),
    FieldKind.WAITING: or_none(st.builds(Waiting, any_text, or_none(times), or_none(any_text))),
    FieldKind.EVIDENCE: or_none(
        st.builds(Evidence, st.booleans(), any_text, or_none(any_text), or_none(times))
    ),
    FieldKind.CLAIM: or_none(claims),
    FieldKind.COUNT: st.integers(0, 10**6),
    FieldKind.NUMBER: or_none(numbers),
    FieldKind.DATE: or_none(st.dates()),
    FieldKind.METADATA: objects,
    FieldKind.TIME: or_none(times),
}


def tasks():
    """Draw a task without edges, at the top."""
    return shipped.tasks(subjects, given_ids=ids, kinds=KINDS)


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
    Return such a task for each status, as plans may have it: only the pending task waits, and only
    the task in progress is claimed.
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
    """Return a plan of this task, its parent, and the tasks at the other ends of its edges."""
    above = [Task(task.parent, "above")] if task.parent else []
    after = [Task(end, "after", blocked_by=(task.id,)) for end in task.blocks]
    before = [Task(end, "before", blocks=(task.id,)) for end in task.blocked_by]
    return plan_of([*above, *before, task, *after])


@st.composite
def plans(draw):
    """Draw a plan with subtasks and edges, high ids with gaps, and any approval."""
    factor, later = draw(st.integers(1, 10**5)), draw(st.integers(0, 10**6))

    def wide(task_id):
        return task_id and str(int(task_id) * factor)

    plan = draw(shipped.plans(max_size=5, text=subjects, kinds=KINDS))
    wider = [
        task.but(
            id=wide(task.id),
            parent=wide(task.parent),
            blocks=tuple(map(wide, task.blocks)),
            blocked_by=tuple(map(wide, task.blocked_by)),
        )
        for task in plan
    ]
    numbers = {"next_id": plan.next_id * factor + later, "revision": plan.revision + later}
    return plan_of(wider, **numbers, approved=draw(or_none(approvals)))


_kept = field_values(KINDS)
_changes = st.fixed_dictionaries(
    {}, optional={n: subjects if n == "subject" else _kept[n] for n in sorted(EDITABLE)}
).map(FrozenDict)
_BY_TYPE = {
    Task: tasks(),
    tuple[Task, ...]: st.lists(tasks(), max_size=2).map(tuple),
    TaskId: ids,
    TaskId | None: or_none(ids),
    tuple[TaskId, ...]: st.lists(ids, max_size=3).map(tuple),
    Status: st.sampled_from(Status),
    FrozenDict: _changes,
    Claim: claims,
    Approval | None: or_none(approvals),
    int: st.integers(1, 99),
    str | None: or_none(any_text),
    datetime | None: or_none(times),
}
events = st.one_of(*(events_of(kind, _BY_TYPE) for kind in get_args(Event)))
entries = st.builds(
    Entry,
    st.integers(0, 10**9),
    st.lists(events, max_size=3).map(tuple),
    or_none(times),
    or_none(any_text),
    any_text,
    or_none(st.integers(0, 10**9)),
)
