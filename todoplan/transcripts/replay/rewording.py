"""
Which task each line of a recorded list means, where texts and ids are not to be trusted.

A live plan takes another text for another task: it must not guess. An audit reads what already
happened, and models reword what they keep: of 38 tasks said to be dropped, a reader of the raw
files agreed with 14, since 13 were there in other words. So a line may mean a task by a likely
text, and more readily so at the same place. The other way round, ids that a model gives its lines
(1, 2, 3 in every list) make no two texts one task.
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence

import attrs

from todoplan.core.commands import WriteTodos
from todoplan.core.plan.model import Task, Todo
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.questions import open_tasks
from todoplan.core.rules.matching import normalised

__all__ = ["Meaning", "likeness", "meaning", "merged", "unnumbered"]

# Tried on the recordings of agents that reword: below 0.5 lines of one subject ("Test the parser",
# "Write the parser") become one task; between the same neighbours less is enough.
_LIKELY = 0.5
_LIKELY_IN_PLACE = 0.25
# Of two tasks that sound nearly as likely, the one that stood there is meant: "Implement the agent
# with its tools" is the agent that was to be implemented, and not the tools five lines above.
_PER_LINE, _FAR = 0.03, 5
# Each pair is compared: 200 lines against 200, beyond which only equal texts are matched.
_MOST_PAIRS = 40_000
_SMALL = frozenset(("a", "an", "and", "as", "at", "by", "for", "from", "in", "into", "of", "on"))
_SMALL |= {"or", "the", "to", "up", "with"}


@attrs.frozen
class Meaning:
    """
    The write with our ids. `begins` says that it is a new plan and not a change of the old one.
    """

    command: WriteTodos
    begins: bool


def meaning(plan: Plan, command: WriteTodos) -> Meaning:
    """
    Find out which of the plan's tasks a whole list means.
    """
    tasks, todos = list(plan), command.todos
    found: list[Task | None] = [None] * len(todos)
    # Exact texts first, as a live plan does (law 8).
    for key in (str, normalised):
        same: defaultdict[str, deque[Task]] = defaultdict(deque)
        taken = {task.id for task in found if task}
        for task in tasks:
            if task.id not in taken:
                same[key(task.subject)].append(task)
        for index, todo in enumerate(todos):
            if found[index] is None and (alike := same.get(key(todo.content))):
                # Lines of one text are told apart by their order.
                found[index] = alike.popleft()
    same_texts = any(found)
    _reworded(tasks, todos, found)
    kept = sum(task is not None for task in found)
    # A finished list and a new one often share a line, such as "Run the tests", and two lists of
    # which no line is the same may have one that sounds alike.
    most = min(len(tasks), len(todos))
    may_begin = not same_texts or not open_tasks(plan)
    begins = most > 0 and may_begin and 2 * kept < most
    if begins:
        found = [None] * len(todos)
    written = tuple(
        attrs.evolve(todo, id=task.id if task else None)
        for todo, task in zip(todos, found, strict=True)
    )
    return Meaning(attrs.evolve(command, todos=written), begins)


def _reworded(tasks: Sequence[Task], todos: Sequence[Todo], found: list[Task | None]) -> None:
    """
    Give lines without a task the likeliest of those that are left, the surest pairs first.
    """
    taken = {task.id for task in found if task}
    left = [(place, task) for place, task in enumerate(tasks) if task.id not in taken]
    new = [(index, todo) for index, todo in enumerate(todos) if found[index] is None]
    if not left or not new or len(left) * len(new) > _MOST_PAIRS:
        return
    places = {task.id: place for place, task in enumerate(tasks)}
    anchors = [-1 if task is None else places[task.id] for task in found]
    before_task = _neighbours([task.id in taken for task in tasks], list(range(len(tasks))))
    before_todo = _neighbours([anchor >= 0 for anchor in anchors], anchors)
    pairs: list[tuple[float, int, int, int]] = []
    for index, todo in new:
        for place, task in left:
            if task.status.resolved and todo.status is not task.status:
                continue  # what is done is not reworded into something to do: that is a new task
            # Without any neighbour that stayed, a place says nothing.
            in_place = bool(taken) and before_task[place] == before_todo[index]
            score = likeness(task.subject, todo.content)
            if score >= (_LIKELY_IN_PLACE if in_place else _LIKELY):
                away = min(abs(index - place), _FAR)
                pairs.append((_PER_LINE * away - score, away, index, place))
    used: set[int] = set()
    for _, _, index, place in sorted(pairs):
        if found[index] is None and place not in used:
            used.add(place)
            found[index] = tasks[place]


def _neighbours(matched: Sequence[bool], anchors: Sequence[int]) -> list[int]:
    """
    Return for each line the anchor of the nearest matched line before it, -1 for none.
    """
    nearest, last = [], -1
    for is_matched, anchor in zip(matched, anchors, strict=True):
        last = anchor if is_matched else last
        nearest.append(last)
    return nearest


def likeness(one: str, other: str) -> float:
    """
    Return the share of words that two texts have in common, from 0 to 1, small words aside.
    """
    words, others = _words(one), _words(other)
    common = len(words & others)
    return 2 * common / (len(words) + len(others)) if common else 0.0


def _words(text: str) -> frozenset[str]:
    words = normalised(text).split()
    # Chinese has no spaces: there pairs of characters are compared. Of a word the beginning
    # counts, so that "testing" is "test".
    pairs = (w[i : i + 2] for w in words if not w.isascii() for i in range(max(1, len(w) - 1)))
    stems = (word[:5] for word in words if word.isascii() and word not in _SMALL)
    return frozenset((*stems, *pairs))


def unnumbered(todos: Iterable[Todo]) -> tuple[Todo, ...]:
    """
    Return the lines without ids.
    """
    return tuple(attrs.evolve(todo, id=None) for todo in todos)


def merged(plan: Plan, command: WriteTodos, shown: Mapping[str, str]) -> WriteTodos:
    """
    Return the whole list that a merging write means: what it names changes, the rest stays.

    `shown` has our id for one that an earlier list gave to its line. Cursor's merges name tasks by
    these alone.
    """
    ids = [shown.get(todo.id or "", todo.id or "") for todo in command.todos]
    pairs = list(zip(ids, command.todos, strict=True))
    by_id = {task_id: todo for task_id, todo in pairs if task_id in plan}
    by_text = {todo.content: todo for task_id, todo in pairs if task_id not in plan}
    kept: list[Todo] = []
    for task in plan:
        todo = by_id.get(task.id) or by_text.pop(task.subject, None)
        kept.append(
            attrs.evolve(todo, id=task.id, level=None) if todo else Todo(task.subject, id=task.id)
        )
    return WriteTodos((*kept, *unnumbered(by_text.values())))
