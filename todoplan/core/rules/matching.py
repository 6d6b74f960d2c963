"""Which task a written line means: what a whole-list write did not change keeps its identity."""

import re
import unicodedata
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from todoplan.core.plan.model import Task, Todo

__all__ = ["match", "normalised"]

_NOISE = re.compile(r"[\W_]+")
_SHORT = 64


def normalised(text: str) -> str:
    """
    Return the text as the third step of `match` compares it: case, width, spaces and marks apart.
    """
    # The rule on duplicates asks for every task of the plan at each write, hence the cache. It is
    # for titles only: 400 refused ones of 1 MB each once stayed in it, 785 MB.
    return _of_title(text) if len(text) <= _SHORT and type(text) is str else _normalised(text)


def _normalised(text: str) -> str:
    # A text of marks alone ("???") stays as it is: all such would be alike.
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return _NOISE.sub(" ", plain.casefold()).strip() or text


_of_title = lru_cache(maxsize=1024)(_normalised)


def match(tasks: Iterable[Task], todos: Sequence[Todo]) -> list[Task | None]:
    """
    Return, for each todo, the task that it means; `None` where it is new.

    By id, then by exact text, then by normalised text; of several alike the first in the plan's
    order, each task at most once. An id that the plan does not hold is no match and no fault:
    models number lists of their own.
    """
    listed = list(tasks)
    subjects = [task.subject for task in listed]
    if subjects == [todo.content for todo in todos]:
        # Most writes change statuses alone. Line by line is what the steps below would find, too,
        # as long as no id points elsewhere.
        given = [todo.id for todo in todos]
        if given.count(None) == len(given) or given == [task.id for task in listed]:
            return list(listed)
    left = {task.id: task for task in listed}
    found: list[Task | None] = [None] * len(todos)
    for index, todo in enumerate(todos):
        if todo.id is not None:
            found[index] = left.pop(todo.id, None)
    # Exact texts first, all of them: else "Test!" could take the task that another line names.
    for key in (str, normalised):
        if left:
            _by_text(left, todos, found, key)
    return found


def _by_text(
    left: dict[str, Task],
    todos: Sequence[Todo],
    found: list[Task | None],
    key: Callable[[str], str],
) -> None:
    # Equal lines keep a task each: Roo gives them one id, Hermes all lines that have none. A deque,
    # since thousands of equal lines would take quadratic time from the front of a list.
    same: defaultdict[str, deque[Task]] = defaultdict(deque)
    for task in left.values():
        same[key(task.subject)].append(task)
    for index, todo in enumerate(todos):
        if found[index] is None and (alike := same.get(key(todo.content))):
            task = alike.popleft()
            del left[task.id]
            found[index] = task
