"""
Repair of a task list that an application wrote; each repair is reported.

This is for lists that programs write into a framework's state (AgentScope's tasks), not for models.
A fault is repaired only if there is one way to do it. Ambiguous faults, such as a duplicate id used
by edges, or a cycle, are left as they are, and `plan_of` refuses them.
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
    """Return the tasks in the same order with ids, subjects and edges repaired, and the repairs."""
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
    # New ids are higher than all earlier ids (law 6), so an id in an old reply never means another
    # task.
    named = {end for task in tasks for end in (*task.blocks, *task.blocked_by)}
    times = Counter(task.id for task in tasks)
    fresh = count(max([next_id, *(number_of(task.id) + 1 for task in tasks)]))
    seen: set[str] = set()
    ids: list[str] = []
    for task in tasks:
        # An edge to a duplicate id is ambiguous: both tasks keep the id, and `plan_of` refuses it.
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
    # so a reopened blocker would no longer block. Here either half is enough for the edge.
    mirrored = [_edge(one, other) for one, other in _mirror(blocks, blocked_by)]
    mirrored += [_edge(other, one) for one, other in _mirror(blocked_by, blocks)]
    edged = tuple(
        task.but(blocks=tuple(blocks[task.id]), blocked_by=tuple(blocked_by[task.id]))
        for task in tasks
    )
    return edged, list(dict.fromkeys(gone)), mirrored


def _kept(task: Task, ends: Iterable[str], known: set[str]) -> dict[str, None]:
    # AgentScope lets a task block itself; law 5 forbids that, and an edge to a missing task.
    return dict.fromkeys(end for end in ends if end in known and end != task.id)


def _mirror(ends: _Edges, others: _Edges) -> list[tuple[str, str]]:
    missing = [(one, end) for one in ends for end in ends[one] if one not in others[end]]
    for one, end in missing:
        others[end][one] = None
    return missing


def _edge(blocker: str, blocked: str) -> str:
    return f"#{blocker} -> #{blocked}"
