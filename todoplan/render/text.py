"""A plan as plain text, safe to write to a terminal."""

from todoplan.core.plan.plan import Plan
from todoplan.render.cleaning import clip
from todoplan.render.outline import Line, aside, lines, summary

__all__ = ["to_text"]

_LEAST_TEXT = 20
_INDENT = "  "


def to_text(plan: Plan, *, width: int | None = None) -> str:
    """
    Return the summary and one line for each task, such as `[ ] 3 Ship (ann; waits for 1, 2)`.

    Subtasks are indented. The marks are `[ ]` pending, `[~]` in progress, `[x]` completed, `[v]`
    completed and verified by the program, `[!]` failed, `[-]` cancelled. `width` is the maximum
    number of columns of a line. Notes that quote texts are cut first, then the title, and what the
    task waits for last. There is no newline at the end.
    """
    head = summary(plan) if width is None else clip(summary(plan), width)
    return "\n".join((head, *(_row(line, width) for line in lines(plan))))


def _row(line: Line, width: int | None) -> str:
    head, tail = f"{_INDENT * line.level}{line.mark} {line.id} ", aside(line.notes)
    if width is None:
        return f"{head}{line.text}{tail}"
    # What a task waits for is kept longer than its title: it is why the task is not ready.
    room = width - len(head) - len(aside(line.facts))
    return clip(f"{head}{clip(line.text, max(room, _LEAST_TEXT))}{tail}", width)
