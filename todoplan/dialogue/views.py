"""The plan as a model reads it: one line a task, or one task in full. Never a repr."""

import json
import re
from collections.abc import Iterable
from functools import lru_cache

from todoplan.core.frozen import thaw
from todoplan.core.model import Task, keep_line
from todoplan.core.plan import Plan
from todoplan.core.questions import unresolved_blockers
from todoplan.dialogue.wording import say

__all__ = ["ids_text", "list_text", "one_line", "task_text"]

_MOST_IDS = 10
_LONGEST = 16_384
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f]")


def one_line(text: str, most: int = 500) -> str:
    """
    Return the text on one line, clipped, without control characters: no task can pass for two.
    """
    if text.isprintable() and len(text) <= most and "  " not in text and text == text.strip():
        return text
    folded = " ".join(_CONTROLS.sub(" ", text).split())
    return folded if len(folded) <= most else f"{folded[: most - 3]}..."


def list_text(plan: Plan) -> str:
    """
    Return all tasks in order, one a line: id, status, subject, owner, unresolved blockers.
    """
    if not len(plan):
        return say("replies", "empty_list")
    try:
        return _joined(plan)
    except AttributeError:  # a memo was never set, as in a task out of a pickle
        for task in plan:
            _kept(task)
        return _joined(plan)


def _joined(plan: Plan) -> str:
    return "\n".join(
        [
            (task.line_memo or _kept(task)) + (_wait(plan, task) if task.blocked_by else "")
            for task in plan
        ]
    )


def _kept(task: Task) -> str:
    owner = f" ({one_line(task.owner)})" if task.owner else ""
    line = f"#{task.id} [{task.status._value_}] {one_line(task.subject)}{owner}"
    keep_line(task, line)
    return line


def _wait(plan: Plan, task: Task) -> str:
    waiting = unresolved_blockers(plan, task)
    return _blocked_by(waiting) if waiting else ""


@lru_cache(maxsize=1024)
def _blocked_by(task_ids: tuple[str, ...]) -> str:
    return f" [blocked by {ids_text(task_ids)}]"


def ids_text(task_ids: Iterable[str]) -> str:
    """
    Return ids as "#1-#3, #7", at most ten ranges.
    """
    numbers = sorted(map(int, task_ids))
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    told = [f"#{a}" if a == b else f"#{a}-#{b}" for a, b in ranges[:_MOST_IDS]]
    rest = sum(b - a + 1 for a, b in ranges[_MOST_IDS:])
    return ", ".join(told) + (" " + say("replies", "more", count=rest) if rest else "")


def task_text(plan: Plan, task: Task) -> str:
    """
    Return one task with all that it holds; the description stands last, exactly as given.
    """
    return "\n".join(
        f"{name}: {value}" for name, value in _details(plan, task) if value not in ("", None)
    )


def _details(plan: Plan, task: Task) -> tuple[tuple[str, object], ...]:
    return (
        (f"Task #{task.id}", one_line(task.subject, _LONGEST)),
        ("Status", task.status.value),
        ("Priority", task.priority and task.priority.value),
        ("Active form", one_line(task.active_form or "", _LONGEST)),
        ("Owner", one_line(task.owner or "", _LONGEST)),
        ("Estimate", task.estimate and f"{task.estimate:g} minutes"),
        ("Blocked by", ids_text(unresolved_blockers(plan, task))),
        ("Blocks", ids_text(task.blocks)),
        ("Metadata", json.dumps(thaw(task.metadata), ensure_ascii=False) if task.metadata else ""),
        ("Description", task.description),
    )
