"""
Plans as AgentScope 2 keeps them in `state.tasks_context`, both ways and exactly.

What its tasks have no field for stands in their metadata under "todoplan". A cancelled task is
`completed` there, which frees its dependents, and a failed one `pending`, which does not; either is
what it was here only while it still is that, and a task waits only while it is `pending`:
AgentScope's own fields hold, since its tools may have changed them. Next id, revision and approval
stand with every task, so that deleting one does not lose them, and beside the tasks for a plan that
has none: `TaskContext` drops that last key, so whoever keeps the data in one keeps "todoplan"
elsewhere too.
"""

from contextlib import suppress
from datetime import datetime, tzinfo
from typing import Any

import attrs

from todoplan.codec.faults import MisfitError, misfit, wrong_shape
from todoplan.codec.objects import approval
from todoplan.codec.plans import assembled, head, written
from todoplan.codec.readers import FieldReader, one_of, optional, read_each, read_object
from todoplan.codec.tasks import FIELD_READERS, write_task
from todoplan.codec.values import STATUSES, count, ids, metadata, positive, text, time
from todoplan.core.plan.frozen import EMPTY, FrozenDict
from todoplan.core.plan.model import Approval, Status, Task
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.validation import instance_of

__all__ = ["Context", "from_agentscope", "read_agentscope", "task_to_agentscope", "to_agentscope"]

_KEY = "todoplan"
_THEIRS = (
    "id",
    "subject",
    "description",
    "status",  # theirs is called "state"
    "owner",
    "blocks",
    "blocked_by",
    "metadata",
    "created_at",
)
_OURS = tuple(name for name in FIELD_READERS if name not in _THEIRS)
_HEAD: dict[str, FieldReader] = {"next_id": positive, "revision": count, "approved": approval}
_STAND_INS = {Status.CANCELLED: Status.COMPLETED, Status.FAILED: Status.PENDING}
_STATES = {s.value: s for s in Status if s not in _STAND_INS}


@attrs.frozen
class Context:
    """
    AgentScope's tasks as they stand, a plan or not, and what is kept of the plan beside them.
    """

    tasks: list[Task]
    next_id: int
    revision: int
    approved: Approval | None


def to_agentscope(plan: Plan) -> dict[str, Any]:
    """
    Return the JSON of a `TaskContext`, and "todoplan" with next id, revision and approval.

    `created_at` is "" where it is not known.

    Raises:
        CodecError: a task holds what JSON cannot.
    """
    instance_of(plan, Plan, "a Plan")
    ours = {name: value for name, value in head(plan).items() if name in _HEAD}
    return {"tasks": [_foreign(data, ours) for data in written(plan)], _KEY: ours}


def task_to_agentscope(task: Task) -> dict[str, Any]:
    """
    Return the JSON of one `Task`, without next id, revision and approval: for whoever keeps these
    elsewhere.

    Raises:
        CodecError: it holds what JSON cannot.
    """
    try:
        return _foreign(write_task(task), {})
    except MisfitError as error:
        raise wrong_shape(error.found, "task that JSON can hold") from None


def _foreign(data: dict[str, Any], beside: dict[str, Any]) -> dict[str, Any]:
    ours, kept = beside.copy(), data.get("metadata", {})
    for name in _OURS:
        if name in data:
            ours[name] = data[name]
    status = STATUSES[data["status"]]
    if status in _STAND_INS:
        ours["status"] = data["status"]
    # Metadata of the user's under our own key: they come back from within our part.
    if _KEY in kept:
        ours["metadata"] = kept[_KEY]
    return {
        "id": data["id"],
        "subject": data["subject"],
        "description": data.get("description", ""),
        "state": _STAND_INS.get(status, status).value,
        "owner": data.get("owner"),
        "blocks": data.get("blocks", []),
        "blocked_by": data.get("blocked_by", []),
        "metadata": {**kept, _KEY: ours} if ours else kept,
        "created_at": data.get("created_at", ""),
    }


def from_agentscope(data: dict[str, Any], *, zone: tzinfo | None = None) -> Plan:
    """
    Return the plan that AgentScope's tasks are, those that its own tools wrote included.

    An edge that stands on one side only is given its other side. AgentScope's own `created_at` has
    no zone: it is taken to be in `zone`; without one, the time is not known.

    Raises:
        CodecError: ids that are no numbers or stand twice, edges to nowhere, cycles, fields that
            would be lost.
    """
    read = read_agentscope(data, zone=zone)
    return assembled(_mirrored(read.tasks), read.next_id, read.revision, read.approved)


def read_agentscope(data: dict[str, Any], *, zone: tzinfo | None = None) -> Context:
    """
    Return AgentScope's tasks as they stand, a plan or not, and what is kept beside them.

    What was below a task that is gone is at the top.

    Raises:
        CodecError: values that are no task's, fields that would be lost.
    """
    try:
        read = read_object(data, _CONTEXT, ("tasks",))
    except MisfitError as error:
        raise wrong_shape(error.found, "task context of AgentScope") from None
    plain = read["tasks"]
    heads = [read.get(_KEY, {}), *(ours for _, ours in map(_parts, plain))]
    # Tasks that AgentScope's own tools made have no head; of the others the latest write counts.
    # Of two at once that with the tasks: a plan that was approved before anything happened has 0.
    latest = max(reversed(heads), key=lambda each: each.get("revision", 0))
    tasks = [_task(one, zone) for one in plain]
    # Its tools know nothing of subtasks, and may delete what contains them.
    known = {None, *(task.id for task in tasks)}
    return Context(
        [task if task.parent in known else task.but(parent=None) for task in tasks],
        max(each.get("next_id", 1) for each in heads),
        latest.get("revision", 0),
        latest.get("approved"),
    )


def _read_metadata(value: Any) -> tuple[FrozenDict, dict[str, Any]]:
    if not isinstance(value, dict):
        raise misfit(value, "no object")
    theirs = {key: item for key, item in value.items() if key != _KEY}
    ours = _read_ours(value[_KEY]) if _KEY in value else {}
    theirs.update(ours.pop("metadata", EMPTY))
    return metadata(theirs), ours


def _read_ours(value: Any) -> dict[str, Any]:
    try:
        return read_object(value, _OUR_FIELDS)
    except MisfitError as error:
        raise MisfitError(error.below(f".{_KEY}")) from None


def _read_tasks(value: Any) -> tuple[dict[str, Any], ...]:
    if not isinstance(value, list):
        raise misfit(value, "no array")
    return read_each(value, lambda task: read_object(task, _TASK, ("id", "subject")))


_OUR_FIELDS: dict[str, FieldReader] = {
    **_HEAD,
    **{name: FIELD_READERS[name] for name in _OURS},
    "status": one_of({status.value: status for status in _STAND_INS}),
    "metadata": lambda value: metadata({_KEY: value}),
}
_TASK: dict[str, FieldReader] = {
    "id": text,
    "subject": text,
    "description": text,
    "state": one_of(_STATES),
    "owner": optional(text),
    "blocks": ids,
    "blocked_by": ids,
    "metadata": _read_metadata,
    "created_at": text,
}
_CONTEXT: dict[str, FieldReader] = {
    "tasks": _read_tasks,
    _KEY: lambda value: read_object(value, _HEAD),
}


def _parts(plain: dict[str, Any]) -> tuple[FrozenDict, dict[str, Any]]:
    parts: tuple[FrozenDict, dict[str, Any]] = plain.get("metadata", (EMPTY, {}))
    return parts


def _task(plain: dict[str, Any], zone: tzinfo | None) -> Task:
    theirs, ours = _parts(plain)
    status = plain.get("state", Status.PENDING)
    if "status" in ours and _STAND_INS[ours["status"]] is status:
        status = ours["status"]
    rest = {name: ours[name] for name in _OURS if name in ours}
    if status is not Status.PENDING:
        rest.pop("waiting", None)
    return Task(
        plain["id"],
        plain["subject"],
        plain.get("description", ""),
        status,
        owner=plain.get("owner"),
        blocks=plain.get("blocks", ()),
        blocked_by=plain.get("blocked_by", ()),
        metadata=theirs,
        created_at=_created_at(plain.get("created_at", ""), zone),
        **rest,
    )


def _created_at(written_at: str, zone: tzinfo | None) -> datetime | None:
    with suppress(MisfitError):
        return time(written_at)  # as we write it: Python loses an offset of less than a second
    try:
        at = datetime.fromisoformat(written_at)
    except ValueError:
        return None
    if at.tzinfo is not None:
        return at
    return at.replace(tzinfo=zone) if zone else None


def _mirrored(tasks: list[Task]) -> tuple[Task, ...]:
    # AgentScope's tools write either side of an edge alone; dicts keep the order and each end once.
    blocks = {task.id: dict.fromkeys(task.blocks) for task in tasks}
    blocked_by = {task.id: dict.fromkeys(task.blocked_by) for task in tasks}
    for task in tasks:
        for end in task.blocks:
            blocked_by.get(end, {})[task.id] = None
        for end in task.blocked_by:
            blocks.get(end, {})[task.id] = None
    return tuple(
        task.but(blocks=tuple(blocks[task.id]), blocked_by=tuple(blocked_by[task.id]))
        for task in tasks
    )
