"""
Notes on a task that quote texts of users and models: its wait, claim, answer, check and evidence.

The quoted texts follow the title and cannot close their quotation marks. So a reason or an answer
that a model chose cannot be mistaken for a word of ours, such as "verified".
"""

from collections.abc import Iterator
from datetime import datetime

from todoplan.core.plan.model import Evidence, Status, Task, Waiting
from todoplan.render.cleaning import one_line

__all__ = ["details", "quoted", "verified"]


def verified(task: Task) -> bool | None:
    """Return whether a completed task has passed evidence; `None` if it needs no evidence."""
    if task.status is not Status.COMPLETED or (task.check is None and task.evidence is None):
        return None
    return task.evidence is not None and task.evidence.passed


def details(task: Task) -> Iterator[str]:
    """Yield the notes that follow the title of a task."""
    seen = verified(task)
    if task.waiting is not None:
        yield from _wait(task.waiting)
    if task.claim is not None:
        yield f"held by {quoted(task.claim.owner)}{_until(task.claim.until, 'seconds')}"
    if task.answer is not None:
        yield f"answered: {quoted(task.answer)}"
    if seen is False:
        yield "unverified"
    if task.check is not None:
        yield f"check: {quoted(task.check)}"
    if task.evidence is not None:
        yield _finding(task.evidence, seen=bool(seen))


def _wait(waiting: Waiting) -> Iterator[str]:
    yield f"waiting: {quoted(waiting.reason)}" if waiting.reason else "waiting"
    if waiting.until is not None:
        yield _until(waiting.until).lstrip()
    if waiting.question is not None:
        yield f"asks: {quoted(waiting.question)}"


def _until(at: datetime | None, exact: str = "minutes") -> str:
    # A claim may last only seconds; rounded to the minute, it would seem to have expired.
    return "" if at is None else f" until {at.isoformat(' ', exact)}"


def _finding(evidence: Evidence, *, seen: bool) -> str:
    found = "verified" if seen else f"check {'passed' if evidence.passed else 'failed'}"
    by = "" if evidence.by is None else f" by {quoted(evidence.by)}"
    return f"{found}{by}: {quoted(evidence.summary)}" if evidence.summary else f"{found}{by}"


def quoted(text: str) -> str:
    """Return a cleaned text in quotation marks, with the quotation marks inside it replaced."""
    return f'"{one_line(text).replace(chr(34), chr(39))}"'
