"""The plan as a model reads it: one line a task, or one task in full. Never a repr."""

import json
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain, repeat

from todoplan.core.plan.chunk_text import ChunkText, ChunkWriter
from todoplan.core.plan.frozen import thaw
from todoplan.core.plan.model import Task
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.questions import unresolved_blockers
from todoplan.core.problems import ids_text
from todoplan.texts.wording import say

__all__ = ["ids_text", "list_text", "one_line", "task_text"]

_CLIPPED = 500
_LONGEST = 16_384
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f]")
_CONTROLS_OF_ASCII = bytes((*range(0x20), 0x7F))


def one_line(text: str, most: int = _CLIPPED) -> str:
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
    parts, waits = plan.written(_LINES), plan.waits()
    texts = _with_waits(plan, parts, waits) if waits else [part.text for part in parts]
    return "\n".join(filter(None, texts)) or say("replies", "empty_list")


def _line(task: Task) -> str:
    return f"#{task.id} [{task.status._value_}] {one_line(task.subject)}{_owner(task)}"


def _lines(tasks: Sequence[Task]) -> list[str]:
    lines = [
        f"#{task.id} [{task.status._value_}] {task.subject}{_owner(task) if task.owner else ''}"
        for task in tasks
    ]
    return lines if _are_neat(lines) else [_line(task) for task in tasks]


def _owner(task: Task) -> str:
    return f" ({one_line(task.owner)})" if task.owner else ""


def _are_neat(lines: Sequence[str]) -> bool:
    """
    Say whether `one_line` would leave the subjects in these lines as they are.
    """
    text = " ".join((*lines, ""))  # so a blank at an end is one of two
    return "  " not in text and _is_printable(text) and max(map(len, lines), default=0) <= _CLIPPED


def _is_printable(text: str) -> bool:
    if text.isascii():  # a fourth of the time
        return len(text.encode().translate(None, _CONTROLS_OF_ASCII)) == len(text)
    return text.isprintable()


_LINES = ChunkWriter(_line, _lines, "\n")


def _with_waits(
    plan: Plan, parts: Iterable[ChunkText[Task]], waits: Iterable[Sequence[int]]
) -> list[str]:
    pairs = zip(parts, chain(waits, repeat(())), strict=False)
    return [_waiting(plan, part, counts) if any(counts) else part.text for part, counts in pairs]


def _waiting(plan: Plan, part: ChunkText[Task], counts: Sequence[int]) -> str:
    """
    Return the lines of a chunk in which some tasks wait for others.
    """
    rows = zip(part.items, part.pieces, chain(counts, repeat(0)), strict=False)
    return "\n".join(
        [line + _wait(plan, task, count) if count else line for task, line, count in rows if task]
    )


def _wait(plan: Plan, task: Task, count: int) -> str:
    blockers = task.blocked_by
    if count < len(blockers):
        blockers = unresolved_blockers(plan, task)
    return f" [blocked by #{blockers[0]}]" if count == 1 else _blocked_by(blockers)


@lru_cache(maxsize=1024)
def _blocked_by(task_ids: tuple[str, ...]) -> str:
    return f" [blocked by {ids_text(task_ids)}]"


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
