"""The whole list: what a write makes of a plan, keeping the identity of all that it left alone."""

from collections.abc import Sequence

from todoplan.core.commands import CreateTask, WriteTodos
from todoplan.core.decide_tasks import edit, move, new_task
from todoplan.core.events import PlanCleared, TaskCreated, TaskDeleted, TasksReordered
from todoplan.core.matching import match
from todoplan.core.model import Status, Task, Todo
from todoplan.core.scene import Scene

__all__ = ["clear", "write"]


def write(scene: Scene, command: WriteTodos) -> None:
    """
    Make the list this one: remove what it leaves out, then change, add and order what it holds.
    """
    todos = command.todos
    _check(scene, todos)
    meant = match(scene.draft, todos)
    _remove(scene, {task.id for task in meant if task is not None})
    order = [_write_one(scene, todo, task) for todo, task in zip(todos, meant, strict=True)]
    if order != [task.id for task in scene.draft]:
        scene.emit(TasksReordered(tuple(order), scene.at))


def _check(scene: Scene, todos: Sequence[Todo]) -> None:
    seen: set[str] = set()
    for index, todo in enumerate(todos):
        if not todo.content.strip():
            scene.fault("empty_text", path=f"todos[{index}].content")
        if todo.id is not None and todo.id in seen:
            scene.fault("duplicate_id", todo.id, seen=todo.id, path=f"todos[{index}].id")
        if todo.id is not None:
            seen.add(todo.id)


def _remove(scene: Scene, kept: set[str]) -> None:
    gone = [task.id for task in scene.draft if task.id not in kept]
    if gone and not kept:
        scene.emit(PlanCleared(tuple(gone), scene.at))
        return
    for task_id in gone:
        scene.emit(TaskDeleted(task_id, scene.at))


def _write_one(scene: Scene, todo: Todo, task: Task | None) -> str:
    if task is None:
        status = todo.status or Status.PENDING
        item = CreateTask(todo.content, "", status, todo.active_form, todo.priority)
        made = new_task(scene, item)
        scene.emit(TaskCreated(made))
        return made.id
    given = (
        ("subject", todo.content, task.subject),
        ("active_form", todo.active_form, task.active_form),
        ("priority", todo.priority, task.priority),
    )
    edit(scene, task, {name: new for name, new, old in given if new is not None and new != old})
    if todo.status is not None:
        move(scene, task, todo.status)
    return task.id


def clear(scene: Scene) -> None:
    """
    Remove every task; an empty plan is left alone.
    """
    if len(scene.draft):
        scene.emit(PlanCleared(tuple(task.id for task in scene.draft), scene.at))
