"""A plan as plain text, safe to write to a terminal."""

from todoplan.core.plan.plan import Plan
from todoplan.render.cleaning import clip
from todoplan.render.outline import Line, aside, lines, summary

__all__ = ["to_text"]

_LEAST_TEXT = 20


def to_text(plan: Plan, *, width: int | None = None) -> str:
    """
    Return the summary and one line a task: `[ ] 3 Ship it (ann; waits for 1, 2)`.

    `width` is the most columns a line may take; the task's text is cut first, what it waits for
    last. No newline stands at the end.
    """
    return "\n".join((summary(plan), *(_row(line, width) for line in lines(plan))))


def _row(line: Line, width: int | None) -> str:
    head, tail = f"{line.mark} {line.id} ", aside(line.notes)
    if width is None:
        return f"{head}{line.text}{tail}"
    # What a task waits for outlives its text: it is why the line is not ready.
    text = clip(line.text, max(width - len(head) - len(tail), _LEAST_TEXT))
    return clip(f"{head}{text}{tail}", width)
