"""
The outline that every format prints: one line for each task, with its mark and notes.

A line is for a person who looks at the whole plan. It shows the status, the title, the owner, the
level, what the task waits for, and whether its completion is verified. Fields that no line shows
are listed in `LEFT_OUT`, so that a new field cannot be forgotten. `details` has the notes that
quote texts of users and models.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

import attrs

from todoplan.core.plan.model import TASK_FIELDS, FieldKind, Status, Task
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.questions import stuck
from todoplan.render.cleaning import one_line
from todoplan.render.details import details, quoted, verified

__all__ = [
    "DEEPEST",
    "LEFT_OUT",
    "Line",
    "arrows",
    "aside",
    "lines",
    "nesting",
    "summary",
]

_MARKS = {
    Status.PENDING: "[ ]",
    Status.IN_PROGRESS: "[~]",
    Status.COMPLETED: "[x]",
    Status.CANCELLED: "[-]",
    Status.FAILED: "[!]",
}
_VERIFIED = "[v]"
LEFT_OUT = frozenset(
    {
        "description",
        "active_form",
        "priority",
        "blocks",  # the other side of `blocked_by`
        "estimate",
        "metadata",
        "claims",
        "failed_attempts",
        *(name for name, field in TASK_FIELDS.items() if field.kind is FieldKind.TIME),
    }
)
"""The fields of a task that no line shows."""

DEEPEST = 16
"""The maximum level of indentation. Deeper tasks are shown at this level."""

# Cleaning may remove every character of a title.
_NO_TEXT = "(no visible text)"
_OTHER_THAN_DIGIT = re.compile("[^0-9]")


@attrs.frozen
class Line:
    """
    One task, ready to print: its texts are cleaned and on one line, but not yet escaped.

    `level` is 0 for a top-level task. `blocked_by` has the ids of all blockers; `waits_for` those
    of the unresolved blockers, for an open task only. `behind` is the id of the failed task because
    of which this one can never start. `details` are notes that quote texts of users and models: the
    wait, claim, answer, check and evidence. `verified` is `False` if a completed task lacks passed
    evidence, and `None` if it needs none.
    """

    id: str
    mark: str
    text: str
    status: Status
    level: int
    owner: str | None
    waits_for: tuple[str, ...]
    blocked_by: tuple[str, ...]
    behind: str | None
    is_waiting: bool
    verified: bool | None
    details: tuple[str, ...]

    @property
    def node(self) -> str:
        """The name of the task's node in a diagram, such as "t7"."""
        return _node(self.id)

    @property
    def caption(self) -> str:
        """The id and the text, as shown on a node of a diagram."""
        return f"{self.id} {self.text}"

    @property
    def kind(self) -> str:
        """The status, or "waiting": the style of the task in diagrams and pages."""
        return "waiting" if self.is_waiting else self.status

    @property
    def facts(self) -> tuple[str, ...]:
        """Notes from the plan itself: the owner, and why the task is not ready."""
        waits = f"waits for {', '.join(self.waits_for)}" if self.waits_for else ""
        never = f"can never start: {self.behind} failed" if self.behind else ""
        return tuple(note for note in (self.owner, waits, never) if note)

    @property
    def notes(self) -> tuple[str, ...]:
        """All notes that follow the text, `facts` first."""
        return self.facts + self.details

    @property
    def words(self) -> str:
        """The status in plain words, such as "in progress"."""
        return self.status.replace("_", " ")


def lines(plan: Plan) -> tuple[Line, ...]:
    """Return one line for each task, in the plan's order. Subtasks directly follow their parent."""
    behind = stuck(plan)
    levels: dict[str | None, int] = {None: -1}
    rows = []
    for task in plan:
        levels[task.id] = min(levels.get(task.parent, -1) + 1, DEEPEST)
        rows.append(_line(plan, task, levels[task.id], next(iter(behind.get(task.id, ())), None)))
    return tuple(rows)


def _line(plan: Plan, task: Task, level: int, behind: str | None) -> Line:
    # Law 7: resolved blockers are hidden only in the view. Eino's lists keep showing them.
    blockers = [blocker for blocker in map(plan.get, task.blocked_by) if blocker]
    unresolved = () if task.status.closed else (b for b in blockers if not b.status.resolved)
    is_verified = verified(task)
    return Line(
        id=one_line(task.id),
        mark=_VERIFIED if is_verified else _MARKS[task.status],
        text=one_line(task.subject) or _NO_TEXT,
        status=task.status,
        level=level,
        owner=one_line(task.owner or "") or None,
        waits_for=tuple(one_line(blocker.id) for blocker in unresolved),
        blocked_by=tuple(one_line(blocker.id) for blocker in blockers),
        behind=behind and one_line(behind),
        is_waiting=task.waiting is not None,
        verified=is_verified,
        details=tuple(details(task)),
    )


def _node(task_id: str) -> str:
    # Ids are digits, unless damaged events say otherwise; a node must be a valid name in any case.
    return "t" + _OTHER_THAN_DIGIT.sub(lambda other: f"_{ord(other[0])}_", task_id)


def arrows(rows: Iterable[Line]) -> Iterator[tuple[str, str]]:
    """Yield the edges of a diagram: the node of the blocker and the node of the blocked task."""
    return ((_node(blocker), row.node) for row in rows for blocker in row.blocked_by)


def nesting(rows: Sequence[Line]) -> Iterator[tuple[Line, bool, int]]:
    """
    Yield each line, whether it contains the next one, and how many of its ancestors end with it.

    This is what a format needs to draw boxes around subtasks.
    """
    for place, row in enumerate(rows):
        level = rows[place + 1].level if place + 1 < len(rows) else 0
        yield row, level > row.level, max(row.level - level, 0)


def aside(notes: tuple[str, ...]) -> str:
    """Return the notes in brackets after a space, or an empty text if there are none."""
    return f" ({'; '.join(notes)})" if notes else ""


def summary(plan: Plan) -> str:
    """
    Return the progress of the plan and its approval.

    The progress looks like "3/7 completed, 1 in progress, 1 waiting, 1 failed".
    """
    counts = plan.counts
    if not counts.total:
        return "no tasks"
    others = {
        "in progress": counts.in_progress,
        "waiting": sum(1 for _ in plan.waiting()),
        "failed": counts.failed,
        "cancelled": counts.cancelled,
    }
    told = [f"{count} {word}" for word, count in others.items() if count]
    return ", ".join([f"{counts.completed}/{counts.total} completed", *told, *_approved(plan)])


def _approved(plan: Plan) -> Iterator[str]:
    if plan.approved is not None:
        by = "" if plan.approved.by is None else f" by {quoted(plan.approved.by)}"
        yield f"approved{by} at revision {plan.approved.revision}"
