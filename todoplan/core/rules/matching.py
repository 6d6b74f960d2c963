"""
Match written lines with tasks, so that a whole-list write keeps the identity of unchanged tasks.
"""

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
    Return the text as the third step of `match` compares it.

    Case, character width, spaces and punctuation are ignored.
    """
    # Cached, because the rule on duplicates normalises every task of the plan at each write. Only
    # short texts are cached: 400 refused titles of 1 MB each once stayed in the cache, 785 MB.
    return _of_title(text) if len(text) <= _SHORT and type(text) is str else _normalised(text)


def _normalised(text: str) -> str:
    # A text of punctuation only ("???") stays as it is: otherwise all such texts would be equal.
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return _NOISE.sub(" ", plain.casefold()).strip() or text


_of_title = lru_cache(maxsize=1024)(_normalised)


def match(tasks: Iterable[Task], todos: Sequence[Todo]) -> list[Task | None]:
    """
    Return the task that each todo means; `None` for a new one.

    Todos are matched by id, then by exact text, then by normalised text. Of several equal tasks the
    first in the plan's order is used, each at most once. An id that is not in the plan is ignored,
    because models number their own lists.
    """
    listed = list(tasks)
    subjects = [task.subject for task in listed]
    if subjects == [todo.content for todo in todos]:
        # Most writes change only statuses. Matching line by line gives the same result as the steps
        # below, unless an id names another task.
        given = [todo.id for todo in todos]
        if given.count(None) == len(given) or given == [task.id for task in listed]:
            return list(listed)
    left = {task.id: task for task in listed}
    found: list[Task | None] = [None] * len(todos)
    for index, todo in enumerate(todos):
        if todo.id is not None:
            found[index] = left.pop(todo.id, None)
    # All exact matches come first: otherwise "Test!" could take the task that another line names
    # exactly.
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
    # Equal lines match one task each: Roo gives them one id, Hermes does so for all lines without
    # an id. A deque is used because removing thousands of items from the front of a list takes
    # quadratic time.
    same: defaultdict[str, deque[Task]] = defaultdict(deque)
    for task in left.values():
        same[key(task.subject)].append(task)
    for index, todo in enumerate(todos):
        if found[index] is None and (alike := same.get(key(todo.content))):
            task = alike.popleft()
            del left[task.id]
            found[index] = task
