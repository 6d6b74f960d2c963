"""A plan as plain text, safe to write to a terminal."""

from todoplan.core.plan.plan import Plan
from todoplan.render.cleaning import clip
from todoplan.render.outline import Line, aside, lines, summary

__all__ = ["to_text"]

_LEAST_TEXT = 20
_INDENT = "  "


def to_text(plan: Plan, *, width: int | None = None) -> str:
    """
    Return the summary and one line a task, subtasks indented: `[ ] 3 Ship (ann; waits for 1, 2)`.

    The marks: `[~]` in progress, `[x]` completed, `[v]` completed and verified by the program,
    `[!]` failed, `[-]` cancelled. `width` is the most columns a line may take; what is said of the
    task in others' texts is cut first, then its own, what it waits for last. No newline stands at
    the end.
    """
    head = summary(plan) if width is None else clip(summary(plan), width)
    return "\n".join((head, *(_row(line, width) for line in lines(plan))))


def _row(line: Line, width: int | None) -> str:
    head, tail = f"{_INDENT * line.level}{line.mark} {line.id} ", aside(line.notes)
    if width is None:
        return f"{head}{line.text}{tail}"
    # What a task waits for outlives its text: it is why the line is not ready.
    room = width - len(head) - len(aside(line.facts))
    return clip(f"{head}{clip(line.text, max(room, _LEAST_TEXT))}{tail}", width)
