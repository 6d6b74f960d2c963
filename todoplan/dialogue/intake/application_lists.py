"""
A list that an application wrote, repaired where there is one way to do it; each repair is reported.

For what programs write into a framework's state (AgentScope's tasks), not for models. What has more
than one reading (an id that stands twice and is named by edges, a cycle) is left as it is, for
`plan_of` to refuse.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import count

from todoplan.core.plan.model import Task
from todoplan.core.plan.slots import number_of
from todoplan.dialogue.intake.repairs import Repair
from todoplan.texts.wording import say

__all__ = ["repaired_list"]

_Edges = dict[str, dict[str, None]]


def repaired_list(
    tasks: Sequence[Task], next_id: int
) -> tuple[tuple[Task, ...], tuple[Repair, ...]]:
    """
    Return as many tasks in the same order, with ids, subjects and edges repaired, and what was.
    """
    titled = [task if task.subject.strip() else task.but(subject=_title(task)) for task in tasks]
    numbered = _numbered(titled, next_id)
    edged, gone, mirrored = _edged(numbered)
    renamed = [
        f'"{a.id}" is now #{b.id}' for a, b in zip(tasks, numbered, strict=True) if a.id != b.id
    ]
    untitled = [f"#{b.id}" for a, b in zip(tasks, edged, strict=True) if a.subject != b.subject]
    lists = {
        "list_ids": renamed,
        "list_titles": untitled,
        "list_gone": gone,
        "list_mirrored": mirrored,
    }
    return edged, tuple(Repair(code, seen=", ".join(seen)) for code, seen in lists.items() if seen)


def _title(task: Task) -> str:
    # AgentScope creates tasks with an empty subject.
    return next(iter(task.description.strip().splitlines()), say("repairs", "untitled"))


def _numbered(tasks: Sequence[Task], next_id: int) -> list[Task]:
    # New ids are above all there ever were (law 6): an old reply must name no other task by one.
    named = {end for task in tasks for end in (*task.blocks, *task.blocked_by)}
    times = Counter(task.id for task in tasks)
    fresh = count(max([next_id, *(number_of(task.id) + 1 for task in tasks)]))
    seen: set[str] = set()
    ids: list[str] = []
    for task in tasks:
        # Which of two equal ids an edge means cannot be told: both stay, for `plan_of` to refuse.
        unclear = times[task.id] > 1 and task.id in named
        fine = number_of(task.id) and task.id not in seen
        ids.append(task.id if unclear or fine else str(next(fresh)))
        seen.add(task.id)
    new_ids = {task.id: new for task, new in zip(tasks, ids, strict=True) if task.id in named}
    return [_renamed(task, new, new_ids) for task, new in zip(tasks, ids, strict=True)]


def _renamed(task: Task, new: str, renamed: dict[str, str]) -> Task:
    blocks = tuple(renamed.get(end, end) for end in task.blocks)
    blocked_by = tuple(renamed.get(end, end) for end in task.blocked_by)
    return task.but(id=new, blocks=blocks, blocked_by=blocked_by)


def _edged(tasks: Sequence[Task]) -> tuple[tuple[Task, ...], list[str], list[str]]:
    known = {task.id for task in tasks}
    blocks = {task.id: _kept(task, task.blocks, known) for task in tasks}
    blocked_by = {task.id: _kept(task, task.blocked_by, known) for task in tasks}
    gone = [
        _edge(task.id, end) for task in tasks for end in task.blocks if end not in blocks[task.id]
    ]
    gone += [
        _edge(end, task.id)
        for task in tasks
        for end in task.blocked_by
        if end not in blocked_by[task.id]
    ]
    # Law 4: AgentScope drops one half of an edge when the blocker is completed (its fix for #2540),
    # and a reopened blocker would block no more. So either half stands for the edge.
    mirrored = [_edge(one, other) for one, other in _mirror(blocks, blocked_by)]
    mirrored += [_edge(other, one) for one, other in _mirror(blocked_by, blocks)]
    edged = tuple(
        task.but(blocks=tuple(blocks[task.id]), blocked_by=tuple(blocked_by[task.id]))
        for task in tasks
    )
    return edged, list(dict.fromkeys(gone)), mirrored


def _kept(task: Task, ends: Iterable[str], known: set[str]) -> dict[str, None]:
    # AgentScope lets a task block itself; law 5 knows neither that nor an edge to a missing task.
    return dict.fromkeys(end for end in ends if end in known and end != task.id)


def _mirror(ends: _Edges, others: _Edges) -> list[tuple[str, str]]:
    missing = [(one, end) for one in ends for end in ends[one] if one not in others[end]]
    for one, end in missing:
        others[end][one] = None
    return missing


def _edge(blocker: str, blocked: str) -> str:
    return f"#{blocker} -> #{blocked}"
