"""Which task a written line means: what a whole-list write did not change keeps its identity."""

import re
import unicodedata
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from todoplan.core.plan.model import Task, Todo

__all__ = ["match", "normalised"]

_NOISE = re.compile(r"[\W_]+")


@lru_cache(maxsize=4096)
def normalised(text: str) -> str:
    """
    Return the text as the third step of `match` compares it: case, width, spaces and marks apart.
    """
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return _NOISE.sub(" ", plain.casefold()).strip() or text


def match(tasks: Iterable[Task], todos: Sequence[Todo]) -> list[Task | None]:
    """
    Return, for each todo, the task that it means; `None` where it is new.

    By id, then by exact text, then by normalised text; of several alike the first in the plan's
    order, each task at most once. An id that the plan does not hold is no match and no fault:
    models number lists of their own.
    """
    listed = list(tasks)
    if _line_by_line(listed, todos):
        return list(listed)
    left = {task.id: task for task in listed}
    found: list[Task | None] = [None] * len(todos)
    _by_id(left, todos, found)
    for key in (str, normalised):
        if left:
            _by_text(left, todos, found, key)
    return found


def _line_by_line(tasks: Sequence[Task], todos: Sequence[Todo]) -> bool:
    """
    Say whether each line plainly means the task in its place: what the steps of `match` find too.
    """
    if [task.subject for task in tasks] != [todo.content for todo in todos]:
        return False
    given = [todo.id for todo in todos]
    return given.count(None) == len(given) or given == [task.id for task in tasks]


_Left = dict[str, Task]


def _by_id(left: _Left, todos: Sequence[Todo], found: list[Task | None]) -> None:
    for index, todo in enumerate(todos):
        if todo.id is not None:
            found[index] = left.pop(todo.id, None)


def _by_text(
    left: _Left, todos: Sequence[Todo], found: list[Task | None], key: Callable[[str], str]
) -> None:
    same: defaultdict[str, deque[Task]] = defaultdict(deque)
    for task in left.values():
        same[key(task.subject)].append(task)
    for index, todo in enumerate(todos):
        if found[index] is None and (alike := same.get(key(todo.content))):
            task = alike.popleft()
            del left[task.id]
            found[index] = task
