"""
The outline that every format prints: one line for each task, with its mark and notes.

A line is for a person who looks at the whole plan. It shows the status, the title, the owner, the
level, a priority other than medium, what the task waits for, and whether its completion is
verified. `details` returns the notes that quote texts of users and models. No other field is shown.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import Any, assert_never

import attrs

from todoplan.core.events.apply import replay
from todoplan.core.events.base import Difference, differences
from todoplan.core.events.drift import Drift
from todoplan.core.events.types import (
    ClaimRenewed,
    EdgeAdded,
    EdgeRemoved,
    Event,
    ParentChanged,
    PlanApproved,
    PlanCleared,
    PlanRestored,
    StatusChanged,
    TaskClaimed,
    TaskCreated,
    TaskDeleted,
    TaskEdited,
    TasksReordered,
)
from todoplan.core.plan.model import Evidence, Priority, Status, Task
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.questions import stuck
from todoplan.core.problems import ids_text
from todoplan.texts import one_line

# -------- cleaning --------
# Cut text to a number of terminal columns. `todoplan.texts` removes unsafe characters.


_MOST_PER_COLUMN = 4  # characters; combining marks use no column, but are limited too


def clip(text: str, width: int) -> str:
    """Return cleaned text in at most `width` columns, with an ellipsis if it was cut."""
    shown = text[: width * _MOST_PER_COLUMN]
    if shown.isascii():  # the usual case, made fast for long logs
        if len(text) <= width:
            return text
        return shown[: width - 1].rstrip() + "…" if width > 0 else ""
    if shown == text and sum(map(_columns, text)) <= width:
        return text
    used, end = 0, 0
    while end < len(shown) and used + _columns(shown[end]) < width:
        used += _columns(shown[end])
        end += 1
    return shown[:end].rstrip() + "…" if width > 0 else ""


def _columns(character: str) -> int:
    if unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1


# -------- details --------
# Notes on a task that quote texts of users and models: its wait, claim, answer, check and
# evidence.
#
# A quoted text cannot close its quotation marks. So a reason or an answer that a model wrote cannot
# be mistaken for a word of todoplan, such as "verified".


def verified(task: Task) -> bool | None:
    """
    Return True if a completed task has evidence that passed, and False if it has not.

    Return `None` for a task that is not completed, or has neither a check nor evidence.
    """
    if task.status is not Status.COMPLETED or (task.check is None and task.evidence is None):
        return None
    return task.evidence is not None and task.evidence.passed


def details(task: Task) -> Iterator[str]:
    """Yield the notes that follow the title of a task."""
    seen = verified(task)
    if task.waiting is not None:
        yield f"waiting: {quoted(task.waiting.reason)}" if task.waiting.reason else "waiting"
        if task.waiting.until is not None:
            yield _until(task.waiting.until).lstrip()
        if task.waiting.question is not None:
            yield f"asks: {quoted(task.waiting.question)}"
    if task.claim is not None:
        yield f"held by {quoted(task.claim.owner)}{_until(task.claim.until, 'seconds')}"
    if task.answer is not None:
        yield f"answered: {quoted(task.answer)}"
    if seen is False:
        yield "unverified"
    if task.check is not None:
        yield f"check: {quoted(task.check)}"
    if task.evidence is not None:
        result = "verified" if seen else f"check {'passed' if task.evidence.passed else 'failed'}"
        by = "" if task.evidence.by is None else f" by {quoted(task.evidence.by)}"
        yield f"{result}{by}" + (f": {quoted(found)}" if (found := task.evidence.summary) else "")


def due_text(task: Task, today: date | None = None) -> str | None:
    """Return a note such as "due 2026-12-31"; `None` for a closed task or one without due date."""
    if task.due is None or task.status.closed:
        return None
    if today is not None and task.due < today:
        return f"overdue since {task.due}"
    return f"due {task.due}"


def _until(at: datetime | None, exact: str = "minutes") -> str:
    # The end of a claim is exact, because a claim may last only seconds.
    return "" if at is None else f" until {at.isoformat(' ', exact)}"


def quoted(text: str) -> str:
    """Return a cleaned text in quotation marks, with the quotation marks inside it replaced."""
    return f'"{one_line(text).replace(chr(34), chr(39))}"'


_MARKS = {
    Status.PENDING: "[ ]",
    Status.IN_PROGRESS: "[~]",
    Status.COMPLETED: "[x]",
    Status.CANCELLED: "[-]",
    Status.FAILED: "[!]",
}
_VERIFIED = "[v]"
_PRIORITIES = {Priority.HIGH: "high priority", Priority.LOW: "low priority"}  # medium is the usual

DEEPEST = 16
"""The maximum level of indentation. Deeper tasks are shown at this level."""

# Cleaning may remove every character of a title.
_NO_TEXT = "(no visible text)"
_OTHER_THAN_DIGIT = re.compile("[^0-9]")


@attrs.frozen
class Line:
    """
    One task, ready to print: its texts are cleaned and on one line, but not yet escaped.

    `level` is 0 for a top-level task. `priority` is "high priority", "low priority" or `None`.
    `due` is the note about the due date of an open task. `blocked_by` has the ids of all blockers.
    `waits_for` has the ids of the unresolved blockers, and is empty for a closed task. `behind` is
    the id of a failed task, if this task can never start because of it. `details` are notes that
    quote texts of users and models: the wait, claim, answer, check and evidence. `verified` is the
    result of the function `verified`.
    """

    id: str
    mark: str
    text: str
    status: Status
    level: int
    owner: str | None
    priority: str | None
    due: str | None
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
        """Notes from the plan itself: owner, priority, due date, and why the task is not ready."""
        waits = f"waits for {', '.join(self.waits_for)}" if self.waits_for else ""
        never = f"can never start: {self.behind} failed" if self.behind else ""
        return tuple(note for note in (self.owner, self.priority, self.due, waits, never) if note)

    @property
    def notes(self) -> tuple[str, ...]:
        """All notes that follow the text, `facts` first."""
        return self.facts + self.details

    @property
    def words(self) -> str:
        """The status in plain words, such as "in progress"."""
        return self.status.replace("_", " ")


def lines(plan: Plan, today: date | None = None) -> tuple[Line, ...]:
    """
    Return one line for each task, in the plan's order. Subtasks directly follow their parent.

    With `today`, the lines of open tasks whose due date has passed say so.
    """
    behind = stuck(plan)
    levels: dict[str | None, int] = {None: -1}
    rows = []
    for task in plan:
        levels[task.id] = min(levels.get(task.parent, -1) + 1, DEEPEST)
        first_failed = next(iter(behind.get(task.id, ())), None)
        # Resolved blockers stay in the plan, but are not shown here (law 7). Eino shows them.
        blockers = [blocker for blocker in map(plan.get, task.blocked_by) if blocker]
        unresolved = () if task.status.closed else (b for b in blockers if not b.status.resolved)
        is_verified = verified(task)
        rows.append(
            Line(
                id=one_line(task.id),
                mark=_VERIFIED if is_verified else _MARKS[task.status],
                text=one_line(task.subject) or _NO_TEXT,
                status=task.status,
                level=levels[task.id],
                owner=one_line(task.owner or "") or None,
                priority=task.priority and _PRIORITIES.get(task.priority),
                due=due_text(task, today),
                waits_for=tuple(one_line(blocker.id) for blocker in unresolved),
                blocked_by=tuple(one_line(blocker.id) for blocker in blockers),
                behind=first_failed and one_line(first_failed),
                is_waiting=task.waiting is not None,
                verified=is_verified,
                details=tuple(details(task)),
            )
        )
    return tuple(rows)


def _node(task_id: str) -> str:
    # Ids are digits. Damaged events may have other ids, and the node's name must still be valid.
    return "t" + _OTHER_THAN_DIGIT.sub(lambda other: f"_{ord(other[0])}_", task_id)


def arrows(rows: Iterable[Line]) -> Iterator[tuple[str, str]]:
    """Yield the edges of a diagram: the node of the blocker and the node of the blocked task."""
    return ((_node(blocker), row.node) for row in rows for blocker in row.blocked_by)


def nesting(rows: Sequence[Line]) -> Iterator[tuple[Line, bool, int]]:
    """
    Yield each line, whether its task has subtasks, and of how many tasks it is the last descendant.

    With these values, a format can draw a box around all subtasks of a task.
    """
    for place, row in enumerate(rows):
        level = rows[place + 1].level if place + 1 < len(rows) else 0
        yield row, level > row.level, max(row.level - level, 0)


def aside(notes: tuple[str, ...]) -> str:
    """Return the notes in brackets, with a space before them, or "" if there are no notes."""
    return f" ({'; '.join(notes)})" if notes else ""


def summary(plan: Plan) -> str:
    """Return the progress, such as "3/7 completed, 1 in progress, 1 failed", and the approval."""
    counts = plan.counts
    if not counts.total:
        return "no tasks"
    others = {
        "in progress": counts.in_progress,
        "waiting": sum(1 for _ in plan.waiting()),
        "failed": counts.failed,
        "cancelled": counts.cancelled,
    }
    parts = [f"{counts.completed}/{counts.total} completed"]
    parts += [f"{count} {word}" for word, count in others.items() if count]
    if plan.approved is not None:
        by = "" if plan.approved.by is None else f" by {quoted(plan.approved.by)}"
        parts.append(f"approved{by} at revision {plan.approved.revision}")
    return ", ".join(parts)


# -------- phrases --------
# Describe the events of a plan in a few words, for a timeline.


_SUBJECT = 60
_MOVES = {
    Status.PENDING: "put back",
    Status.IN_PROGRESS: "started",
    Status.COMPLETED: "completed",
    Status.CANCELLED: "cancelled",
    Status.FAILED: "failed",
}


def event_phrases(
    events: Iterable[Event], plan: Plan, before: Plan | None = None
) -> tuple[str, ...]:
    """
    Return a phrase for each kind of change, cleaned and on one line.

    `plan` is the plan after the events. `before` is the plan before them, if known. If a kind of
    change concerns one task only, the phrase has the subject of the task, cut at 60 columns. If the
    plan was restored, the phrases describe what the restore changed; if `before` is unknown, they
    name all tasks of the restored plan.
    """
    events = tuple(events)
    groups: dict[str, dict[str, None]] = {}
    for place, event in enumerate(events):
        if before is not None and isinstance(event, PlanRestored):
            was = replay(before, events[:place])
            changes = _changes_of_restore(was, replay(was, (event,)))
        else:
            changes = _changes(event)
        for verb, task_id in changes:
            groups.setdefault(verb, {})[task_id] = None
    phrases = []
    for verb, ids in groups.items():
        # Reordering and approving concern the whole plan, not a task.
        if [*ids] == [""]:
            phrases.append(verb)
            continue
        only = plan.get(next(iter(ids))) if len(ids) == 1 else None
        subject = f" {clip(one_line(only.subject), _SUBJECT)}" if only else ""
        phrases.append(f"{verb} {ids_text(ids)}{subject}".rstrip())
    return tuple(phrases)


def _changes_of_restore(was: Plan, now: Plan) -> Iterator[tuple[str, str]]:
    """Yield the changes like `_changes`; `was` and `now` are the plans before and after."""
    for found in differences(was, now):
        old, new = found.was, found.now
        if new is None:
            yield "removed", found.task.id
        # A changed dependency is reported for the blocked task, not for the blocker.
        elif old is not None and old.status is not new.status:
            yield (
                "reopened" if old.status.closed and not new.status.closed else _MOVES[new.status],
                new.id,
            )
        elif old is None or old.but(blocks=new.blocks, updated_at=new.updated_at) != new:
            yield "restored", new.id
    known = [task.id for task in now if task.id in was]
    if known != [task.id for task in was if task.id in now]:
        yield "reordered", ""
    if was.approved != now.approved:
        # After an undo, the previous approval is in force again; nobody has given a new one.
        last = was.approved.revision if was.approved else -1
        is_new = now.approved is not None and now.approved.revision > last
        yield "approved" if is_new else "approval taken back", ""


def _changes(event: Event) -> Iterator[tuple[str, str]]:
    """Yield a verb and a task id for each change; the id is "" if the whole plan is changed."""
    match event:
        case TaskCreated(task):
            yield "created", task.id
            # Models write lists with items that are already started or completed.
            if task.status is not Status.PENDING:
                yield _MOVES[task.status], task.id
        case StatusChanged(task_id, lost_by=str(holder)):
            yield f"released from {quoted(clip(holder, _SUBJECT))}", task_id
        case StatusChanged(task_id, old, new):
            back = old.closed and not new.closed
            yield "reopened" if back else _MOVES[new], task_id
        case TaskEdited(task_id, changes):
            yield _edited(changes), task_id
        case EdgeAdded(_, blocked):
            yield "linked", blocked
        case EdgeRemoved(_, blocked):
            yield "unlinked", blocked
        case ParentChanged(task_id):
            yield "moved", task_id
        case TaskClaimed(task_id, _, lost_by):
            yield "claimed" if lost_by is None else "taken over", task_id
        case ClaimRenewed():
            pass  # workers renew their claims often, so a history leaves this out
        case TaskDeleted(task_id):
            yield "removed", task_id
        case PlanCleared(task_ids):
            yield from (("removed", task_id) for task_id in task_ids)
        case PlanRestored(tasks):
            yield from (("restored", task.id) for task in tasks)
        case TasksReordered():
            yield "reordered", ""
        case PlanApproved():
            yield "approved", ""
        case _ as unreachable:
            assert_never(unreachable)


def _edited(changes: Mapping[str, Any]) -> str:
    """Return the word for an edit, chosen by the most important of the changed fields."""
    if "subject" in changes:
        return "reworded"
    if changes.get("answer") is not None:
        return "answered"
    if "waiting" in changes:
        return "no longer waiting" if changes["waiting"] is None else "waiting"
    if changes.get("evidence") is not None:
        found: Evidence = changes["evidence"]
        why = f" ({quoted(clip(found.summary, _SUBJECT))})" if found.summary else ""
        return "check passed" if found.passed else f"check failed{why}"
    return "edited"


# -------- text --------
# A plan as plain text, safe to write to a terminal.


_LEAST_TEXT = 20
_INDENT = "  "


def to_text(plan: Plan, *, width: int | None = None, today: date | None = None) -> str:
    """
    Return the summary and one line for each task, such as `[ ] 3 Ship (ann; waits for 1, 2)`.

    Subtasks are indented. The marks are `[ ]` pending, `[~]` in progress, `[x]` completed, `[v]`
    completed and verified by the program, `[!]` failed, `[-]` cancelled. `width` is the maximum
    number of columns of a line. A line that is too long is shortened in this order: first the notes
    that quote texts, then the title, and last the notes from the plan itself, such as what the task
    waits for. With `today`, the lines of open tasks whose due date has passed say so. There is no
    newline at the end.
    """
    rows = [summary(plan) if width is None else clip(summary(plan), width)]
    for line in lines(plan, today):
        head, tail = f"{_INDENT * line.level}{line.mark} {line.id} ", aside(line.notes)
        if width is None:
            rows.append(f"{head}{line.text}{tail}")
            continue
        # The title is cut before the facts, because the facts say why the task is not ready.
        room = width - len(head) - len(aside(line.facts))
        rows.append(clip(f"{head}{clip(line.text, max(room, _LEAST_TEXT))}{tail}", width))
    return "\n".join(rows)


# -------- drift --------
# The changes since a plan's approval as plain text, for the person who approved it.


_WIDTH = 80


def drift_to_text(drift: Drift) -> str:
    """
    Return the tasks added, removed and changed since the approval, one line each.

    The lines look like `+ 4 Send it ("model")`, `- 2 Ask legal`, `~ 3 Draft: subject (was
    "Write")`. They are safe for a terminal. Texts are cut at 80 columns. There is no newline at the
    end.
    """
    by = "" if drift.approval.by is None else f" by {quoted(drift.approval.by)}"
    approved = f"revision {drift.approval.revision}, approved{by}"
    if not drift:
        return f"no drift since {approved}"
    came, went, changed = map(len, (drift.came, drift.went, drift.changed))
    rows = [f"since {approved}: {came} added, {went} removed, {changed} changed"]
    for mark, found in (("+", drift.came), ("-", drift.went), ("~", drift.changed)):
        for difference in found:
            fields = ", ".join(
                _earlier_value(difference, name) for name in drift.fields(difference)
            )
            by = "" if difference.actor is None else f" ({quoted(difference.actor)})"
            title = clip(one_line(difference.task.subject), _WIDTH)
            rows.append(
                f"{mark} {one_line(difference.task.id)} {title}{fields and ': '}{fields}{by}"
            )
    return "\n".join(rows)


def _earlier_value(difference: Difference, name: str) -> str:
    """Return the name of a changed field with its value at the approval."""
    if name == "status":
        return "cancelled"
    was = getattr(difference.was, name)
    if name == "parent" and was:
        was = (was,)  # shown as an id, like the edges
    if isinstance(was, tuple):
        shown = ", ".join(map(one_line, was)) or "none"
    else:
        shown = "none" if was in (None, "") else quoted(clip(one_line(str(was)), _WIDTH))
    return f"{name.replace('_', ' ')} (was {shown})"
