"""
Commands and events independent of a plan: their ids, edges and texts may be wrong.

A command may be refused. An event applies to any plan (`apply` is total).
`todoplan.testing.strategies.sensible` has the commands that make sense for a plan.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import attrs
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from todoplan.core.commands import (
    UNSET,
    AnswerTask,
    ApprovePlan,
    Batch,
    ClaimTask,
    ClearPlan,
    Command,
    CreateTask,
    CreateTasks,
    DeleteTask,
    MoveTask,
    RecordEvidence,
    ReleaseClaim,
    RenewClaim,
    RestorePlan,
    StartNext,
    UpdateTask,
    WriteTodos,
)
from todoplan.core.events.types import (
    ClaimRenewed,
    EdgeAdded,
    EdgeRemoved,
    Event,
    ParentChanged,
    PlanApproved,
    PlanCleared,
    PlanRestored,
    StatusChanged,
    TaskClaimed,
    TaskCreated,
    TaskDeleted,
    TaskEdited,
    TasksReordered,
)
from todoplan.core.plan.model import (
    EDITABLE,
    TASK_FIELDS,
    Approval,
    FieldKind,
    FrozenDict,
    Priority,
    Task,
)
from todoplan.core.plan.plan import Plan
from todoplan.testing.strategies.text import any_ids, few, ids, texts
from todoplan.testing.strategies.values import (
    FENCES,
    STATUSES,
    WORKERS,
    approvals,
    claims,
    field_values,
    metadata,
    plans,
    tasks,
    times,
    todos,
)

# A machine's times are minutes apart: some leases have expired by the next step, others have not.
_LEASES = st.sampled_from([300.0, 30.0, 10.0**9])


@cache
def claimings(task_id: SearchStrategy[str | None] | None = None) -> SearchStrategy[ClaimTask]:
    """
    Draw claims of the next task or of a named one; `task_id` replaces the strategy for the id.
    """
    return st.builds(
        ClaimTask,
        WORKERS,
        _LEASES,
        st.none() | any_ids() if task_id is None else task_id,
        st.sampled_from([None, None, *Priority]),
        st.sampled_from([None, None, "fast"]),
        st.sampled_from([None, None, 1, 2]),
        st.sampled_from([None, "ann"]),
    )


@cache
def renewals() -> SearchStrategy[RenewClaim]:
    """Draw renewals of claims."""
    return st.builds(RenewClaim, any_ids(), FENCES, _LEASES)


@cache
def releases() -> SearchStrategy[ReleaseClaim]:
    """Draw releases of claims."""
    return st.builds(ReleaseClaim, any_ids(), FENCES)


@cache
def answers() -> SearchStrategy[AnswerTask]:
    """Draw answers, most of them to tasks that asked nothing."""
    return st.builds(AnswerTask, any_ids(), st.sampled_from(["yes", "the first"]))


@cache
def findings() -> SearchStrategy[RecordEvidence]:
    """Draw evidence that a program records for a task."""
    by = st.sampled_from([None, "ci", "ann"])
    return st.builds(RecordEvidence, any_ids(), st.booleans(), st.sampled_from(["", "3 of 4"]), by)


@cache
def agreements() -> SearchStrategy[ApprovePlan]:
    """Draw approvals of the current plan."""
    return st.builds(ApprovePlan, st.sampled_from([None, "ann", "bob"]))


_Ends = SearchStrategy[tuple[str, ...]]

# A command takes metadata in the caller's form; an event has it as the plan stores it.
_GIVEN = field_values({FieldKind.METADATA: metadata()})
CHANGES = {name: _GIVEN[name] for name in sorted(EDITABLE & attrs.fields_dict(UpdateTask).keys())}
"""Strategies for the value of each editable field in a change of a task, by the field's name."""


@cache
def creations(
    text: SearchStrategy[str] | None = None,
    ends: _Ends | None = None,
    parent: SearchStrategy[str | None] | None = None,
) -> SearchStrategy[CreateTask]:
    """Draw single creations; the ids of edges and parents may not exist."""
    edges = few(any_ids()) if ends is None else ends
    subject = texts() if text is None else text
    given = {**_GIVEN, "subject": subject, "blocks": edges, "blocked_by": edges}
    given["parent"] = st.none() | any_ids() if parent is None else parent
    names = [field.name for field in attrs.fields(CreateTask)]
    return st.builds(CreateTask, **{name: given[name] for name in names})


@cache
def lists(
    text: SearchStrategy[str] | None = None,
    ends: _Ends | None = None,
    parent: SearchStrategy[str | None] | None = None,
) -> SearchStrategy[CreateTasks]:
    """Draw creations of several tasks at once, with references between them that may be wrong."""
    # Also texts that only look like a reference, and references past the end of the list.
    local = st.integers(0, 3).map("#{}".format) | ids() | st.sampled_from(["#", "#01", "#-1"])
    edges = few(local) if ends is None else ends
    above = st.none() | local if parent is None else parent
    return st.builds(CreateTasks, few(creations(text, edges, above), 4))


@cache
def updates() -> SearchStrategy[UpdateTask]:
    """Draw changes of one task, in some fields or none."""
    ends = few(any_ids(), 2)
    given = {name: _update(name) for name in TASK_FIELDS}
    given |= {"task_id": any_ids(), "subject": st.just(UNSET) | texts()}
    given["fence"] = st.none() | FENCES
    given["parent"] = st.just(UNSET) | st.none() | any_ids()
    names = [field.name for field in attrs.fields(UpdateTask)]  # others than fields change edges
    return st.builds(UpdateTask, **{name: given.get(name, ends) for name in names})


def _update(name: str) -> SearchStrategy[Any]:
    # Metadata is merged by key, so the empty dict changes nothing.
    unset: Any = {} if TASK_FIELDS[name].kind is FieldKind.METADATA else UNSET
    return st.just(unset) | _GIVEN[name]


@cache
def writes(
    text: SearchStrategy[str] | None = None, given_ids: SearchStrategy[str] | None = None
) -> SearchStrategy[WriteTodos]:
    """Draw whole-list writes."""
    lines = todos(texts() if text is None else text, given_ids)
    return st.builds(WriteTodos, few(lines, 6), st.booleans())


@cache
def places() -> SearchStrategy[MoveTask]:
    """Draw moves of one task before or after another one."""
    before = st.builds(MoveTask, any_ids(), before=any_ids())
    return before | st.builds(MoveTask, any_ids(), after=any_ids())


@cache
def deletions() -> SearchStrategy[DeleteTask]:
    """Draw deletions."""
    return st.builds(DeleteTask, any_ids(), st.sampled_from(["refuse", "lift", "remove"]))


@cache
def restores() -> SearchStrategy[RestorePlan]:
    """Draw restored plans, most of them invalid."""
    ends = few(any_ids(), 2)
    above = st.none() | any_ids()
    made = st.builds(_linked, tasks(texts(), given_ids=any_ids()), ends, ends, above)
    return st.builds(RestorePlan, few(made), st.integers(0, 20), st.none() | approvals())


def _linked(
    task: Task, blocks: tuple[str, ...], blocked_by: tuple[str, ...], parent: str | None
) -> Task:
    return task.but(blocks=blocks, blocked_by=blocked_by, parent=parent)


@cache
def batches(of: SearchStrategy[Command] | None = None) -> SearchStrategy[Batch]:
    """Draw several commands as one, also nested batches."""
    inner = _singles() if of is None else of
    return st.recursive(
        st.builds(Batch, few(inner, 4)),
        lambda batch: st.builds(Batch, few(inner | batch)),
        max_leaves=3,
    )


@cache
def _singles() -> SearchStrategy[Command]:
    return st.one_of(
        creations(),
        lists(),
        updates(),
        writes(),
        places(),
        deletions(),
        claimings(),
        renewals(),
        releases(),
        answers(),
        findings(),
        agreements(),
        st.just(StartNext()),
        st.just(ClearPlan()),
        restores(),
    )


@cache
def commands() -> SearchStrategy[Command]:
    """Draw any command, legal or not."""
    singles = _singles()
    return singles | batches(singles)


_KEPT = field_values()
_NAMED = st.sets(st.sampled_from(sorted(EDITABLE)), min_size=1, max_size=3)
_EDITS = _NAMED.flatmap(lambda names: st.fixed_dictionaries({n: _KEPT[n] for n in names}))

_PARENTS = st.none() | ids()


def _created(task: Task, parent: str | None) -> TaskCreated:
    return TaskCreated(task.but(parent=parent))


def _restored(plan: Plan, approved: Approval | None) -> PlanRestored:
    return PlanRestored(tuple(plan), plan.next_id, approved=approved)


EVENTS: dict[type, SearchStrategy[Event]] = {
    TaskCreated: st.builds(_created, tasks(), _PARENTS),
    StatusChanged: st.builds(
        StatusChanged, ids(), STATUSES, STATUSES, times(), st.none() | WORKERS
    ),
    TaskEdited: st.builds(TaskEdited, ids(), _EDITS.map(FrozenDict), times()),
    EdgeAdded: st.builds(EdgeAdded, ids(), ids(), times()),
    EdgeRemoved: st.builds(EdgeRemoved, ids(), ids(), times()),
    ParentChanged: st.builds(ParentChanged, ids(), _PARENTS, times()),
    TaskClaimed: st.builds(TaskClaimed, ids(), claims(), st.none() | WORKERS, times()),
    ClaimRenewed: st.builds(ClaimRenewed, ids(), times(), times()),
    TaskDeleted: st.builds(TaskDeleted, ids(), times()),
    TasksReordered: st.builds(TasksReordered, few(ids()), times()),
    PlanCleared: st.builds(PlanCleared, few(ids()), times()),
    PlanRestored: st.builds(_restored, plans(max_size=3), st.none() | approvals()),
    PlanApproved: st.builds(PlanApproved, st.sampled_from([None, "ann", "bob"]), times()),
}
"""
A strategy for each type of event. Events are independent of a plan; `apply` accepts any of them.
"""


def events() -> SearchStrategy[Event]:
    """Draw any event, also one that fits no plan."""
    return st.one_of(*EVENTS.values())
