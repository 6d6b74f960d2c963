"""
The plan as text for a model: one line per task, or one task in full. Never a repr.

Laws: a task is exactly one line of a list, whatever its texts contain. The model is shown nothing
that a person could not see (`todoplan.texts.cleaning`). A list is cut at `LONGEST_LIST` characters
and a task at `LONGEST_TASK`, with a note, because a plan may come from a file that no rule has
limited in size.

A list is the most expensive reply, and most of its lines are the same as one call before. So the
plan caches the text of each chunk of tasks (`ChunkWriter`). Only the parts that depend on other
tasks are added each time: the indentation, the unresolved blockers, and whether the task can ever
start.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import chain, repeat
from operator import attrgetter
from typing import Any

from todoplan.core.plan.chunk_text import ChunkText, ChunkWriter
from todoplan.core.plan.frozen import FrozenDict, thaw
from todoplan.core.plan.model import TASK_FIELDS, Claim, Evidence, FieldKind, Status, Task, Waiting
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.questions import stuck, unresolved_blockers
from todoplan.core.problems import ids_text
from todoplan.texts import cleaning
from todoplan.texts.wording import say

__all__ = [
    "LONGEST_LIST",
    "LONGEST_TASK",
    "ids_text",
    "list_text",
    "one_line",
    "task_text",
    "waiting_text",
]

LONGEST_LIST = 250_000
LONGEST_TASK = 95_000
# No shown line needs more of a text than this. To clean a megabyte of escape sequences takes a
# second.
_MOST_READ = 65_536

_LONGEST_LINE = 500
_LONGEST_REASON = 120
_DEEPEST_SHOWN = 12  # 10,000 nested tasks would be indented by 10,000 levels
_LONGEST_DETAIL = 4_000
_LONGEST_METADATA = 8_000
_LONGEST_DESCRIPTION = 16_384  # the default limit of the rule `max_text`
_CONTROLS_OF_ASCII = bytes((*range(0x20), 0x7F))


def one_line(text: str, most: int = _LONGEST_LINE) -> str:
    """
    Return the text on one line, clipped and without hidden characters, so it cannot look like two.
    """
    if text.isprintable() and len(text) <= most and "  " not in text and text == text.strip():
        return text
    line = cleaning.one_line(text[:_MOST_READ])
    return line if len(line) <= most else f"{line[: most - 3]}..."


def list_text(plan: Plan) -> str:
    """
    Return all tasks in order, one per line.

    A line has the id, status, subject, owner, what the task waits for, its claim, and its
    unresolved blockers. Subtasks are indented. A task that can never start says why.
    """
    chunks, waits = plan.written(_LINES), plan.waits()
    if plan.nested or plan.counts.failed:
        texts = _with_places(plan, chunks)
    else:
        texts = _with_blockers(plan, chunks, waits) if waits else [chunk.text for chunk in chunks]
    text = "\n".join(filter(None, texts))
    if len(text) <= LONGEST_LIST:
        return text or say("replies", "empty_list")
    shown = text[:LONGEST_LIST].rpartition("\n")[0]
    left_out = len(plan) - shown.count("\n") - 1
    return f"{shown}\n{say('replies', 'more', count=left_out)}"


def _line(task: Task) -> str:
    # `_value_` is what the slower property `value` returns.
    owner = f" ({one_line(task.owner)})" if task.owner else ""
    waiting = _waiting_note(task.waiting) if task.waiting else ""
    claim = _claim_note(task.claim) if task.claim else ""
    return f"#{task.id} [{task.status._value_}] {one_line(task.subject)}{owner}{waiting}{claim}"


def waiting_text(waiting: Waiting) -> str:
    """Return on one line the reason why a task waits, or else the question that it asks."""
    return one_line(waiting.reason or waiting.question or "", _LONGEST_REASON)


def _waiting_note(waiting: Waiting) -> str:
    text = waiting_text(waiting)
    return f" [waiting: {text}]" if text else " [waiting]"


def _claim_note(claim: Claim) -> str:
    return f" [claimed by {one_line(claim.owner, _LONGEST_REASON)}]"


def _lines(tasks: Sequence[Task]) -> list[str]:
    # Most subjects are short and plain. One check of all lines together is much cheaper than a
    # check of each, and shows whether `one_line` would change any of them.
    lines = [
        f"#{task.id} [{task.status._value_}] {task.subject}"
        + (f" ({one_line(task.owner)})" if task.owner else "")
        + (_waiting_note(task.waiting) if task.waiting else "")
        + (_claim_note(task.claim) if task.claim else "")
        for task in tasks
    ]
    text = " ".join((*lines, ""))  # so that a blank at a line's end becomes two blanks
    if text.isascii():  # takes a quarter of the time of isprintable()
        printable = len(text.encode().translate(None, _CONTROLS_OF_ASCII)) == len(text)
    else:
        printable = text.isprintable()
    if printable and "  " not in text and max(map(len, lines), default=0) <= _LONGEST_LINE:
        return lines
    return [_line(task) for task in tasks]


_LINES = ChunkWriter(_line, _lines, "\n")


def _with_blockers(
    plan: Plan, chunks: Iterable[ChunkText[Task]], waits: Iterable[Sequence[int]]
) -> list[str]:
    """Return the text of each chunk, with the unresolved blockers added to the blocked tasks."""
    texts = []
    # The counts may end early: the remaining tasks then have no blockers. `None` in place of a task
    # is a gap.
    for chunk, counts in zip(chunks, chain(waits, repeat(())), strict=False):
        if any(counts):
            rows = zip(chunk.items, chunk.pieces, chain(counts, repeat(0)), strict=False)
            lines = [
                line + _blocked_by(plan, task, count) if count else line
                for task, line, count in rows
                if task
            ]
            texts.append("\n".join(lines))
        else:
            texts.append(chunk.text)
    return texts


def _with_places(plan: Plan, chunks: Iterable[ChunkText[Task]]) -> list[str]:
    """
    Return the lines, indented by their depth, with unresolved blockers and failed tasks.

    The failed tasks are those because of which a task can never start.
    """
    lines: list[str] = []
    vain = stuck(plan)
    depth: dict[str, int] = {}
    for chunk in chunks:
        for task, line in zip(chunk.items, chunk.pieces, strict=False):
            if task is None:
                continue
            level = depth[task.id] = depth[task.parent] + 1 if task.parent in depth else 0
            margin = "  " * min(level, _DEEPEST_SHOWN)
            count = plan.waits_for(task.id)
            blockers = _blocked_by(plan, task, count) if count else ""
            failed = f" [cannot start: {ids_text(vain[task.id])} failed]" if task.id in vain else ""
            lines.append(f"{margin}{line}{blockers}{failed}")
    return lines


def _blocked_by(plan: Plan, task: Task, count: int) -> str:
    blockers = task.blocked_by
    # Law 7: the edge from a resolved blocker is kept. AgentScope listed it as a blocker (#2540).
    if count < len(blockers):
        blockers = unresolved_blockers(plan, task)
    return f" [blocked by #{blockers[0]}]" if count == 1 else _blocked_by_several(blockers)


@lru_cache(maxsize=1024)  # in a wide graph many tasks wait for the same ones
def _blocked_by_several(task_ids: tuple[str, ...]) -> str:
    return f" [blocked by {ids_text(task_ids)}]"


def task_text(plan: Plan, task: Task) -> str:
    """
    Return one task in full, with one line for each field that differs from its default.

    The description comes last, because text after it would look like a part of it. Its lines are
    kept but indented, so that none of them looks like a field of the task or like another task.
    """
    lines = []
    for (name, show, default), given in zip(_DETAILS, _detail_values(task), strict=True):
        if given == default and name != "status":
            continue
        value = unresolved_blockers(plan, task) if name == "blocked_by" else given
        if value != default or name == "status":
            lines.append(say("replies", f"task.{name}", id=task.id, value=show(value)))
        if name == "waiting" and task.waiting and task.waiting.question:
            lines.append(say("replies", "task.question", value=_detail(task.waiting.question)))
    if children := plan.children(task.id):
        lines.append(say("replies", "task.children", value=ids_text(children)))
    if task.check and not task.evidence and task.status is Status.COMPLETED:
        lines.append(say("replies", "task.evidence", value=say("replies", "evidence.unverified")))
    if task.description:
        # The cleaner replaces tabs by blanks, but a description may contain a Makefile.
        whole = task.description[: 2 * _LONGEST_DESCRIPTION]
        kept = "\t".join(map(cleaning.printable, whole.split("\t")))[:_LONGEST_DESCRIPTION]
        indented = kept.replace("\n", "\n  ")
        lines.append(say("replies", "task.description", value=indented))
        if len(task.description) > _LONGEST_DESCRIPTION:
            lines.append(say("replies", "cut", shown=len(kept), length=len(task.description)))
    return "\n".join(lines)


def _detail(text: str) -> str:
    return one_line(text, _LONGEST_DETAIL)


def _waiting(waiting: Waiting) -> str:
    reason = _detail(waiting.reason) or say("replies", "unnamed")
    if waiting.until is None:
        return reason
    until = waiting.until.isoformat(sep=" ", timespec="minutes")
    return say("replies", "task.waiting_until", reason=reason, until=until)


def _claim(claim: Claim) -> str:
    owner = _detail(claim.owner)
    if claim.until is None:
        return say("replies", "task.claim_by", owner=owner)
    until = claim.until.isoformat(sep=" ", timespec="seconds")
    return say("replies", "task.claim_until", owner=owner, until=until)


def _evidence(found: Evidence) -> str:
    summary = _detail(found.summary)
    if found.by:
        summary = say("replies", "by", text=summary, actor=_detail(found.by)).strip()
    return say(
        "replies", "evidence.passed" if found.passed else "evidence.refuted", summary=summary
    )


def _metadata(metadata: FrozenDict) -> str:
    # JSON, where AgentScope shows a Python repr.
    text = json.dumps(thaw(metadata), ensure_ascii=False)
    start = text[:_MOST_READ]
    if cleaning.printable(start) != start:
        text = json.dumps(
            thaw(metadata)
        )  # hidden characters are shown as \\uXXXX, and nothing is lost
    return text if len(text) <= _LONGEST_METADATA else f"{text[: _LONGEST_METADATA - 3]}..."


_SHOWN: dict[FieldKind, Callable[[Any], str] | None] = {
    FieldKind.ID: None,  # part of the first line
    FieldKind.TEXT: _detail,
    FieldKind.TEXT_OR_NONE: _detail,
    FieldKind.STATUS: str,
    FieldKind.PRIORITY: str,
    FieldKind.PARENT: lambda parent: ids_text((parent,)),
    FieldKind.WAITING: _waiting,
    FieldKind.CLAIM: _claim,
    FieldKind.COUNT: None,  # the number of claims is internal
    FieldKind.EVIDENCE: _evidence,
    FieldKind.IDS: ids_text,
    FieldKind.NUMBER: "{:.15g}".format,  # all digits as they were sent: "{:g}" keeps only six
    FieldKind.METADATA: _metadata,
    FieldKind.TIME: None,  # does not help the model and costs tokens; the journal has it
}
"""The function that formats a value of each kind; `None` for kinds that are not shown."""

_DETAILS = tuple(
    (name, show, field.default)
    for name, field in TASK_FIELDS.items()
    if name != "description" and (show := _SHOWN[field.kind])
)
_detail_values = attrgetter(*(name for name, _, _ in _DETAILS))
