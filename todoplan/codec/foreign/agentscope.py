"""
Reading and writing plans in the format of AgentScope 2 (`state.tasks_context`), without losses.

Fields that AgentScope does not have are saved in a task's metadata under "todoplan". AgentScope has
no status for cancelled and failed tasks. A cancelled task becomes `completed`, so the tasks that it
blocks can start. A failed task becomes `pending`, so the tasks that it blocks stay blocked.
AgentScope's tools may have changed AgentScope's own fields, so these take precedence on reading:
the original status is restored only if AgentScope's task still has the substitute, and `waiting`
only if the task is `pending`.

The plan's next id, revision and approval are saved with every task, so that they survive if some
tasks are deleted. For a plan without tasks, they are also saved beside the tasks under "todoplan".
AgentScope's `TaskContext` drops this key. So a caller that saves the data as a `TaskContext` must
save the value of "todoplan" elsewhere.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime, tzinfo
from operator import attrgetter
from typing import Any

import attrs

from todoplan.codec.documents import TASK, assembled, head, write_task, written
from todoplan.codec.engine import (
    KINDS,
    STATUSES,
    FieldReader,
    MisfitError,
    count,
    ids,
    metadata,
    misfit,
    one_of,
    optional,
    positive,
    read_array,
    read_object,
    text,
    time,
    wrong_shape,
)
from todoplan.core.decide import mirrored
from todoplan.core.plan.model import EMPTY, Approval, FrozenDict, Status, Task, instance_of
from todoplan.core.plan.plan import Plan

_KEY = "todoplan"
_THEIRS = (
    "id",
    "subject",
    "description",
    "status",  # AgentScope's name is "state"
    "owner",
    "blocks",
    "blocked_by",
    "metadata",
    "created_at",
)
_OURS = tuple(name for name in TASK.readers if name not in _THEIRS)
_HEAD: dict[str, FieldReader] = {
    "next_id": positive,
    "revision": count,
    "approved": KINDS[Approval].read,
}
_STAND_INS = {Status.CANCELLED: Status.COMPLETED, Status.FAILED: Status.PENDING}
_STATES = {s.value: s for s in Status if s not in _STAND_INS}


@attrs.frozen
class Context:
    """
    The content of AgentScope's `TaskContext`: its tasks, and what our extra key "todoplan" holds.

    The tasks are not checked yet, so they may form no valid plan.
    """

    tasks: list[Task]
    next_id: int
    revision: int
    approved: Approval | None


def to_agentscope(plan: Plan) -> dict[str, Any]:
    """
    Return the JSON of a `TaskContext`. Its extra key "todoplan" has next id, revision and approval.

    `created_at` is "" if it is unknown.

    Raises:
        CodecError: a task contains a value that JSON cannot represent.
    """
    instance_of(plan, Plan, "a Plan")
    ours = {name: value for name, value in head(plan).items() if name in _HEAD}
    return {"tasks": [_foreign(data, ours) for data in written(plan)], _KEY: ours}


def task_to_agentscope(task: Task) -> dict[str, Any]:
    """
    Return the JSON of one `Task`, for callers that save next id, revision and approval elsewhere.

    Raises:
        CodecError: the task contains a value that JSON cannot represent.
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
    # If the user's own metadata have the key "todoplan", its value is saved inside our data.
    if _KEY in kept:
        ours["metadata"] = kept[_KEY]
    return {
        "id": data["id"],
        "subject": data["subject"],
        "description": data.get("description", ""),
        "state": _STAND_INS.get(status, status)._value_,  # `value` is a descriptor
        "owner": data.get("owner"),
        "blocks": data.get("blocks", []),
        "blocked_by": data.get("blocked_by", []),
        "metadata": {**kept, _KEY: ours} if ours else kept,
        "created_at": data.get("created_at", ""),
    }


def from_agentscope(data: dict[str, Any], *, zone: tzinfo | None = None) -> Plan:
    """
    Return the plan of AgentScope's tasks, including tasks that its own tools wrote.

    If only one of the two tasks of an edge names the edge, the edge is added to the other task. If
    AgentScope made a task, its `created_at` has no time zone, and is read as a time in `zone`;
    without `zone`, the plan's task has no `created_at`.

    Raises:
        CodecError: ids are not numbers or are duplicated, edges lead nowhere, there are cycles, or
            fields would be lost.
    """
    read = read_agentscope(data, zone=zone)
    return assembled(mirrored(read.tasks), read.next_id, read.revision, read.approved)


def read_agentscope(data: dict[str, Any], *, zone: tzinfo | None = None) -> Context:
    """
    Return AgentScope's tasks, even if they are no valid plan, with next id, revision and approval.

    A subtask whose parent was deleted is moved to the top level.

    Raises:
        CodecError: a field of a task has an invalid value, or a field would be lost.
    """
    try:
        read = read_object(data, _CONTEXT, ("tasks",))
    except MisfitError as error:
        raise wrong_shape(error.found, "task context of AgentScope") from None
    plain = read["tasks"]
    heads = [read.get(_KEY, {}), *(ours for _, ours in map(_parts, plain))]
    # A head has next id, revision and approval; tasks created by AgentScope's own tools have none.
    # The head with the highest revision is used. If revisions are equal, the head of a task is
    # used, and not the head beside the tasks. A missing head counts as revision 0.
    latest = max(reversed(heads), key=lambda each: each.get("revision", 0))
    tasks = [_task(one, zone) for one in plain]
    # AgentScope's tools have no subtasks, and may delete the parent of one.
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
    ours: dict[str, Any] = {}
    if _KEY in value:
        try:
            ours = read_object(value[_KEY], _OUR_FIELDS)
        except MisfitError as error:
            raise MisfitError(error.below(f".{_KEY}")) from None
    theirs.update(ours.pop("metadata", EMPTY))
    return metadata(theirs), ours


_OUR_FIELDS: dict[str, FieldReader] = {
    **_HEAD,
    **{name: TASK.readers[name] for name in _OURS},
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
    "tasks": lambda value: read_array(
        value, lambda task: read_object(task, _TASK, ("id", "subject"))
    ),
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
    fields = {name: plain[name] for name in _THEIRS if name in plain}
    fields |= {name: ours[name] for name in _OURS if name in ours}
    fields |= {"status": status, "metadata": theirs}
    fields["created_at"] = _created_at(plain.get("created_at", ""), zone)
    if status is not Status.PENDING:
        fields.pop("waiting", None)
    return Task(**fields)


def _created_at(written_at: str, zone: tzinfo | None) -> datetime | None:
    with suppress(MisfitError):
        # Our own format. `fromisoformat` would lose an offset of less than a second.
        return time(written_at)
    try:
        at = datetime.fromisoformat(written_at)
    except ValueError:
        return None
    if at.tzinfo is not None:
        return at
    return at.replace(tzinfo=zone) if zone else None


# -------- mirror --------
# Records of AgentScope that represent a plan's tasks, and that other code may change at any time.
#
# AgentScope's tools, its users and its storage all write to the same records, without notifying
# todoplan. A plan that was read from the records is valid only while they are unchanged.


_fields_of = attrgetter("__dict__")


class Mirror:
    """
    A copy of the records as they were last written, with which later changes are detected.

    A record is an object with an `id`. Its fields, which are JSON values, are in its `__dict__`.
    `make` returns a new record for an item, which is the JSON of a task. The fields named `theirs`
    of an existing record are never changed.
    """

    def __init__(self, make: Callable[[dict[str, Any]], Any], *theirs: str) -> None:
        self._make, self._theirs = make, theirs
        self._copies: list[dict[str, Any]] = []
        self._places: dict[str, int] = {}

    def is_current(self, records: Sequence[Any], ids: Sequence[str] | None = None) -> bool:
        """
        Return whether the records are unchanged since the last `write`.

        With `ids`, only the records with these ids and the number of records are compared.
        """
        if ids is None:
            return list(map(_fields_of, records)) == self._copies
        if len(records) != len(self._copies):
            return False
        for task_id in ids:
            place = self._places.get(task_id)
            if place is not None and records[place].__dict__ != self._copies[place]:
                return False
        return True

    def write(
        self, records: list[Any], items: Sequence[dict[str, Any]], *, whole: bool = False
    ) -> None:
        """
        Update the records in place to match the items.

        With `whole`, the items are all tasks; records without an item are removed. Otherwise, the
        items are only the changed tasks, whose records must be unchanged since the last `write`.
        """
        if whole:
            by_id = {record.id: record for record in records}
            records[:] = [by_id.get(item["id"]) or self._make(item) for item in items]
            self._copies = [_copy(record.__dict__) for record in records]
            self._places = {record.id: place for place, record in enumerate(records)}
        for item in items:
            place = self._places.setdefault(item["id"], len(records))
            if place == len(records):
                records.append(self._make(item))
                self._copies.append(_copy(records[place].__dict__))
            copy = self._copies[place]
            for name, value in item.items():
                # Set a field only if its value differs, because AgentScope's app compares dumps of
                # the record to detect changes.
                if copy.get(name) != value and name not in self._theirs:
                    setattr(records[place], name, value)
                    copy[name] = _copy(value)


def _copy(value: Any) -> Any:
    # `copy.deepcopy` takes three times as long, because it handles types that JSON does not have.
    if isinstance(value, dict):
        if not value:
            return _NO_FIELDS
        # Most values are texts, which need no call.
        return {key: item if type(item) is str else _copy(item) for key, item in value.items()}
    if isinstance(value, list):
        return list(map(_copy, value)) if value else _NO_ITEMS
    return value


# Most lists and dicts are empty: all copies share these two, which saves memory and time.
_NO_ITEMS: list[Any] = []
_NO_FIELDS: dict[str, Any] = {}
