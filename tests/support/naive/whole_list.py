"""
The whole list, as the naive model takes it: which task each line means, and what becomes of it.

Law 8: a write keeps the identity of what it leaves alone, and the same list again changes nothing.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from support.naive.model import Model, normalised
from support.naive.steps import Steps

from todoplan.core.plan.model import Todo

_SAME: tuple[Callable[[Todo, dict[str, Any]], bool], ...] = (
    lambda todo, task: todo.id == task["id"],
    lambda todo, task: todo.content == task["subject"],
    lambda todo, task: normalised(todo.content) == normalised(task["subject"]),
)
"""Law 8: a line means the task of its id, else of its exact text, else of its normalised text."""


def write(steps: Steps, todos: tuple[Todo, ...]) -> None:
    """Change the model `after` to this list."""
    ids = [todo.id for todo in todos if todo.id is not None]
    steps.faults["duplicate_id"] += len(ids) - len(set(ids))
    steps.faults["empty_text"] += sum(not todo.content.strip() for todo in todos)
    steps.faults["cannot_wait"] += sum(
        todo.waiting is not None and todo.status not in (None, "pending") for todo in todos
    )
    model = steps.after
    meant = _meant(model, todos)
    if not any(meant):
        steps.clear()
    else:
        for task_id in [each for each in model.ids() if each not in meant]:
            steps.delete(task_id)
    for todo, old in zip(todos, meant, strict=True):
        if old is not None:
            _change(steps, todo, old)
    order = [*meant]
    # In the order of numbers, not of lines: the next id only grows (law 6).
    for number, place in sorted(_numbers(model.next_id, todos, meant)):
        model.next_id, new = number, todos[place]
        fields = {name: getattr(new, name) for name in ("active_form", "priority", "waiting")}
        order[place] = steps.new(new.status or "pending", subject=new.content, **fields)
    ids = [task_id for task_id in order if task_id is not None]
    _nest(steps, todos, ids)
    stood = model.ids()
    # Tasks that could not be removed come last. Such a list is refused with all its faults.
    model.arrange([*ids, *(task_id for task_id in stood if task_id not in ids)])
    steps.changed |= stood != model.ids()


def _meant(model: Model, todos: tuple[Todo, ...]) -> list[str | None]:
    meant = _matched(model, todos)
    # Where tasks lie in others, a line may come to stand elsewhere than the list says. Of two lines
    # alike the first means the task that is to stand first: so it will mean it again (law 8).
    for _ in todos if all(todo.level is None for todo in todos) else ():
        before, meant = meant, _matched(_as_it_will_stand(model, todos, meant), todos)
        if meant == before:
            break
    return [task_id if task_id in model.ids() else None for task_id in meant]


def _matched(model: Model, todos: tuple[Todo, ...]) -> list[str | None]:
    left = model.ids()
    meant: list[str | None] = [None] * len(todos)
    for same in _SAME:
        for place, todo in enumerate(todos):
            alike = [task_id for task_id in left if same(todo, model[task_id])]
            if meant[place] is None and alike:
                meant[place] = alike[0]
                left.remove(alike[0])
    return meant


def _as_it_will_stand(model: Model, todos: tuple[Todo, ...], meant: Iterable[str | None]) -> Model:
    """
    Return the tasks that lines mean, and one for each new line, with the texts and in the order
    that they will have.
    """
    then = Model()
    then.tasks = [dict(task) for task in model.tasks]
    order = [task_id or f"+{place}" for place, task_id in enumerate(meant)]
    for task_id in [each for each in model.ids() if each not in order]:
        for child in then.children(task_id):
            then[child]["parent"] = then[task_id]["parent"]
        then.tasks.remove(then[task_id])
    for place, todo in enumerate(todos):
        if then.get(order[place]) is None:
            then.tasks.append({"id": order[place], "parent": None})
        then[order[place]]["subject"] = todo.content
    then.arrange(order)
    return then


def _change(steps: Steps, todo: Todo, task_id: str) -> None:
    waited = steps.after[task_id]["waiting"]
    given = {name: getattr(todo, name) for name in ("active_form", "priority")}
    # What a line does not say stays as it was (law 8).
    said = {name: value for name, value in given.items() if value is not None}
    steps.edit(task_id, subject=todo.content, **said)
    steps.move(task_id, todo.status or steps.after.status(task_id))
    # A task that waits goes on as it does: a list says that it waits, not what for.
    if todo.waiting is not None and waited is None:
        steps.wait(task_id, todo.waiting)


def _numbers(
    start: int, todos: tuple[Todo, ...], meant: Iterable[str | None]
) -> Iterator[tuple[int, int]]:
    """Yield new numbers with their places: a line's own id if unused and near, else the next."""
    # A line that numbers itself keeps its number: the same list, written twice, then means the
    # same tasks (law 8). Only a near one: a huge number would use up all ids below it.
    near = {str(number): number for number in range(start, start + len(todos))}
    own = {p: near.get(todos[p].id or "") for p, old in enumerate(meant) if old is None}
    number = max([start - 1, *filter(None, own.values())])
    for place, given in own.items():
        if given is None:
            number += 1
            # What another line says would mean that other task the next time.
            while str(number) in [todo.id for todo in todos]:
                number += 1
        yield given or number, place


def _nest(steps: Steps, todos: tuple[Todo, ...], ids: list[str]) -> None:
    """Put each indented line below the nearest line above it that is indented less."""
    if all(todo.level is None for todo in todos):  # then all stay where they are
        return
    said = [(todo.level or 0, task_id) for todo, task_id in zip(todos, ids, strict=True)]
    for place, (level, task_id) in enumerate(said):
        above = [other for deep, other in said[:place] if deep < level]
        steps.nest(task_id, above[-1] if above else None)
