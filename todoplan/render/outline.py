"""
The plan as every printer shows it: one line a task, marks and counts worked out once.

A line is for a person who looks at the whole plan: who, what, how far, and what it waits for. The
fields of a task that no line shows stand in `LEFT_OUT`, so that a new one is left out on purpose.
"""

import re
from collections.abc import Iterable, Iterator

import attrs

from todoplan.core.plan.model import TASK_FIELDS, FieldKind, Status, Task
from todoplan.core.plan.plan import Plan
from todoplan.render.cleaning import one_line

__all__ = ["LEFT_OUT", "Line", "arrows", "aside", "lines", "summary"]

_MARKS = {
    Status.PENDING: "[ ]",
    Status.IN_PROGRESS: "[~]",
    Status.COMPLETED: "[x]",
    Status.CANCELLED: "[-]",
}
LEFT_OUT = frozenset(
    {
        "description",
        "active_form",
        "priority",
        "blocks",  # the other side of `blocked_by`
        "estimate",
        "metadata",
        *(name for name, field in TASK_FIELDS.items() if field.kind is FieldKind.TIME),
    }
)
"""The fields of a task that no line shows."""

# A title may be nothing but what cleaning takes away.
_NO_TEXT = "(no visible text)"
_OTHER_THAN_DIGIT = re.compile("[^0-9]")


@attrs.frozen
class Line:
    """
    One task, ready to be printed: its texts are cleaned and on one line, but not yet escaped.

    `waits_for` holds the ids of the unresolved blockers, of an open task only; `blocked_by` those
    of all blockers.
    """

    id: str
    mark: str
    text: str
    status: Status
    owner: str | None
    waits_for: tuple[str, ...]
    blocked_by: tuple[str, ...]

    @property
    def node(self) -> str:
        """
        The name of the task's node in a diagram: "t7".
        """
        return _node(self.id)

    @property
    def caption(self) -> str:
        """
        Id and text, as a node of a diagram shows them.
        """
        return f"{self.id} {self.text}"

    @property
    def notes(self) -> tuple[str, ...]:
        """
        What is said behind the text: the owner, and what an open task waits for.
        """
        waits = f"waits for {', '.join(self.waits_for)}" if self.waits_for else ""
        return tuple(note for note in (self.owner, waits) if note)

    @property
    def words(self) -> str:
        """
        The status in plain words: "in progress".
        """
        return self.status.replace("_", " ")


def lines(plan: Plan) -> tuple[Line, ...]:
    """
    Return one line for each task, in the plan's order.
    """
    return tuple(_line(plan, task) for task in plan)


def _line(plan: Plan, task: Task) -> Line:
    # Law 7: resolved blockers are left out of the view alone. Eino's lists go on showing them.
    blockers = [blocker for blocker in map(plan.get, task.blocked_by) if blocker]
    unresolved = () if task.status.resolved else (b for b in blockers if not b.status.resolved)
    return Line(
        id=one_line(task.id),
        mark=_MARKS[task.status],
        text=one_line(task.subject) or _NO_TEXT,
        status=task.status,
        owner=one_line(task.owner or "") or None,
        waits_for=tuple(one_line(blocker.id) for blocker in unresolved),
        blocked_by=tuple(one_line(blocker.id) for blocker in blockers),
    )


def _node(task_id: str) -> str:
    # Ids are digits. Of events that say otherwise, a node is a word of a diagram all the same.
    return "t" + _OTHER_THAN_DIGIT.sub(lambda other: f"_{ord(other[0])}_", task_id)


def arrows(rows: Iterable[Line]) -> Iterator[tuple[str, str]]:
    """
    Yield the edges of a diagram: the node of a blocker, the node of the task that it blocks.
    """
    return ((_node(blocker), row.node) for row in rows for blocker in row.blocked_by)


def aside(notes: tuple[str, ...]) -> str:
    """
    Return the notes in brackets, with a space before them; no notes, no brackets.
    """
    return f" ({'; '.join(notes)})" if notes else ""


def summary(plan: Plan) -> str:
    """
    Return how far the plan is: "3/7 completed, 1 in progress, 1 cancelled".
    """
    counts = plan.counts
    if not counts.total:
        return "no tasks"
    parts = [f"{counts.completed}/{counts.total} completed"]
    if counts.in_progress:
        parts.append(f"{counts.in_progress} in progress")
    if counts.cancelled:
        parts.append(f"{counts.cancelled} cancelled")
    return ", ".join(parts)
