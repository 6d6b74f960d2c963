"""A plan as a GitHub task list in Markdown."""

import re

from todoplan.core.plan.model import Status
from todoplan.core.plan.plan import Plan
from todoplan.render.cleaning import one_line
from todoplan.render.outline import Line, aside, lines, summary

__all__ = ["escaped", "to_markdown"]

# Some sites make a link of "todo.md", so a dot between two characters is escaped, but not at the
# end of a sentence.
_MARKUP = re.compile(r"[!#$&*+:<=>@\[\\\]^_`{|}~]|(?<=\S)\.(?=\S)")
_INDENT = "  "


def escaped(text: str) -> str:
    """Return cleaned text on one line, with every markup character escaped."""
    return _MARKUP.sub(r"\\\g<0>", one_line(text))


def to_markdown(plan: Plan) -> str:
    """
    Return the summary and a task list, one line for each task, with subtasks indented.

    All markup in texts is escaped. A site that turns @names and #numbers into links after rendering
    the Markdown still does so.
    """
    rows = [_row(line) for line in lines(plan)]
    return "\n".join((escaped(summary(plan)), "", *rows)) if rows else summary(plan)


def _row(line: Line) -> str:
    # A box has two states. Every other status is written as a word.
    box = "[x]" if line.status is Status.COMPLETED else "[ ]"
    plain = line.status in {Status.PENDING, Status.COMPLETED}
    notes = line.notes if plain else (line.words, *line.notes)
    told = escaped(f"{line.id} {line.text}{aside(notes)}")
    return f"{_INDENT * line.level}- {box} {told}"
