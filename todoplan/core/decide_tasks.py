"""Item by item: what creating, updating and deleting tasks makes of a plan."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any

from todoplan.core.commands import UNSET, CreateTask, UpdateTask
from todoplan.core.events import (
    EdgeAdded,
    EdgeRemoved,
    StatusChanged,
    TaskCreated,
    TaskDeleted,
    TaskEdited,
)
from todoplan.core.frozen import EMPTY, LEVELS, FrozenDict, freeze
from todoplan.core.graph import path_between
from todoplan.core.lifecycle import ACTION_TO, TABLE, Kind
from todoplan.core.model import Status, Task, Todo
from todoplan.core.scene import Scene
from todoplan.core.twin import maker
from todoplan.errors import PlanError

__all__ = ["create", "delete", "edit", "move", "new_task", "start_next", "task_of", "update"]

_Times = tuple[datetime | None, datetime | None, datetime | None, datetime | None]
_NO_TIMES: _Times = (None, None, None, None)
_PENDING, _IN_PROGRESS, _COMPLETED = Status.PENDING, Status.IN_PROGRESS, Status.COMPLETED
_TEXTS = ("subject", "description", "active_form", "priority", "owner", "estimate")
_fields = attrgetter(*_TEXTS, "metadata")
_NO_FIELDS = (*(UNSET for _ in _TEXTS), EMPTY)
_ends = attrgetter("add_blocks", "add_blocked_by", "remove_blocks", "remove_blocked_by")
_NO_ENDS = ((), (), (), ())
_task = maker(Task)
_moved = maker(StatusChanged)
_created = maker(TaskCreated)


def create(scene: Scene, items: Sequence[CreateTask], *, single: bool = False) -> None:
    """
    Add the tasks, then their edges: "#0" means the first of them.
    """
    ids: dict[str, str] = {}
    for index, item in enumerate(items):
        if not item.subject.strip():
            scene.fault("empty_text", path="subject" if single else f"tasks[{index}].subject")
        task_id = ids[f"#{index}"] = str(scene.draft.next_id)
        task = new_task(scene, item, task_id, "" if single else f"tasks[{index}].")
        scene.emit(_created(task))
    for index, item in enumerate(items):
        where, mine = "" if single else f"tasks[{index}].", ids[f"#{index}"]
        for end in _resolved(scene, item.blocked_by, ids, f"{where}blocked_by"):
            _link(scene, end, mine, f"{where}blocked_by")
        for end in _resolved(scene, item.blocks, ids, f"{where}blocks"):
            _link(scene, mine, end, f"{where}blocks")


def new_task(scene: Scene, item: CreateTask, task_id: str, where: str = "") -> Task:
    """
    Return the task that a creation makes, with the times that its status implies.

    `where` is where the creation stands in the command, such as "tasks[0].".
    """
    return _task(
        task_id,
        item.subject,
        item.description,
        item.status,
        item.active_form,
        item.priority,
        item.owner,
        (),
        (),
        item.estimate,
        _frozen(scene, item.metadata, where),
        *_times_of(item.status, scene.at),
    )


def _frozen(scene: Scene, metadata: Mapping[str, Any], where: str = "") -> FrozenDict:
    try:
        frozen: FrozenDict = freeze(metadata)
    except PlanError:
        seen, path = f"over {LEVELS} levels", f"{where}metadata"
        scene.fault("too_deep", seen=seen, legal=str(LEVELS), path=path)
        return EMPTY
    return frozen


def task_of(todo: Todo, task_id: str, at: datetime | None) -> Task:
    """
    Return the task that a new line makes.
    """
    status = todo.status or _PENDING
    form, priority = todo.active_form, todo.priority
    return _task(
        task_id, todo.content, "", status, form, priority, None, (), (), None, EMPTY,
        *_times_of(status, at),
    )  # fmt: skip


def _times_of(status: Status, at: datetime | None) -> _Times:
    """
    Return when a task that is created with a status was created, updated, started, completed.
    """
    if at is None:
        return _NO_TIMES
    started, completed = status is _IN_PROGRESS, status is _COMPLETED
    return at, at, at if started else None, at if completed else None


def _resolved(scene: Scene, ends: Iterable[str], ids: dict[str, str], path: str) -> Iterable[str]:
    for end in dict.fromkeys(ends):
        if not end.startswith("#"):
            yield end
        elif end in ids:
            yield ids[end]
        else:
            scene.fault("unknown_reference", seen=end, legal=f"#0 to #{len(ids) - 1}", path=path)


def _link(scene: Scene, blocker: str, blocked: str, path: str) -> None:
    if blocker == blocked:
        scene.fault("self_edge", blocker, seen=blocker, path=path)
        return
    end = scene.find(blocker, path), scene.find(blocked, path)
    if end[0] is None or end[1] is None or blocked in end[0].blocks:
        return
    way = path_between(scene.draft, blocked, blocker)
    if way:
        scene.fault("cycle", *way, blocked, seen=" -> ".join((*way, blocked)), path=path)
        return
    scene.emit(EdgeAdded(blocker, blocked, scene.at))


def _unlink(scene: Scene, blocker: str, blocked: str, path: str) -> None:
    ends = scene.find(blocker, path), scene.find(blocked, path)
    if ends[0] is not None and ends[1] is not None and blocked in ends[0].blocks:
        scene.emit(EdgeRemoved(blocker, blocked, scene.at))


def update(scene: Scene, command: UpdateTask) -> None:
    """
    Change one task: its fields, then edges taken away, edges added, and its status.
    """
    task = scene.find(command.task_id, "task_id")
    if task is None:
        return
    if _fields(command) != _NO_FIELDS:
        _rewrite(scene, task, command)
    if _ends(command) != _NO_ENDS:
        _edges(scene, command)
    if command.status is not UNSET:
        move(scene, task, command.status)


def _rewrite(scene: Scene, task: Task, command: UpdateTask) -> None:
    if command.subject is not UNSET and not command.subject.strip():
        scene.fault("empty_text", task.id, path="subject")
    edit(scene, task, _changes(scene, task, command))


def _changes(scene: Scene, task: Task, command: UpdateTask) -> dict[str, Any]:
    given = zip(_TEXTS, _fields(command), strict=False)
    changes = {
        name: value for name, value in given if value is not UNSET and value != getattr(task, name)
    }
    if command.metadata:
        merged = {**task.metadata, **_frozen(scene, command.metadata)}
        gone = {key for key, value in command.metadata.items() if value is None}
        kept = FrozenDict({key: value for key, value in merged.items() if key not in gone})
        if kept != task.metadata:
            changes["metadata"] = kept
    return changes


def edit(scene: Scene, task: Task, changes: dict[str, Any]) -> None:
    """
    Set the fields, if there are any to set.
    """
    if changes:
        scene.emit(TaskEdited(task.id, FrozenDict(changes), scene.at))


def _edges(scene: Scene, command: UpdateTask) -> None:
    task_id = command.task_id
    for end in command.remove_blocks:
        _unlink(scene, task_id, end, "remove_blocks")
    for end in command.remove_blocked_by:
        _unlink(scene, end, task_id, "remove_blocked_by")
    for end in command.add_blocks:
        _link(scene, task_id, end, "add_blocks")
    for end in command.add_blocked_by:
        _link(scene, end, task_id, "add_blocked_by")


def move(scene: Scene, task: Task, status: Status) -> None:
    """
    Take the task to the status, unless it is there.
    """
    cell = TABLE[task.status, ACTION_TO[status]]
    if cell.kind is not Kind.STAY:
        scene.emit(_moved(task.id, task.status, cell.target, scene.at))


def delete(scene: Scene, task_id: str) -> None:
    """
    Remove one task.
    """
    if scene.find(task_id, "task_id") is not None:
        scene.emit(TaskDeleted(task_id, scene.at))


def start_next(scene: Scene) -> None:
    """
    Start the first ready task, if none is in progress.
    """
    task = scene.draft.first_ready()
    if task is not None and not scene.draft.counts.in_progress:
        move(scene, task, _IN_PROGRESS)
