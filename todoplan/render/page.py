"""A plan as a fragment of HTML."""

from collections.abc import Iterator
from html import escape

from todoplan.core.plan.plan import Plan
from todoplan.render.outline import Line, lines, nesting, summary

__all__ = ["to_html"]


def to_html(plan: Plan) -> str:
    """
    Return one `<ul class="todoplan">` with an item for each task.

    The classes of an item are its status and, if so, "waiting", "verified" or "unverified".
    Subtasks are a nested list. All texts are escaped.
    """
    inner = "".join(_items(lines(plan))) or '<li class="empty">no tasks</li>\n'
    return f'<ul class="todoplan" aria-label="{escape(summary(plan))}">\n{inner}</ul>'


def _items(rows: tuple[Line, ...]) -> Iterator[str]:
    for row, opens, ends in nesting(rows):
        yield _item(row) + ("\n<ul>\n" if opens else "</li>\n")
        yield "</ul></li>\n" * ends


def _item(line: Line) -> str:
    kinds = ("mark", line.mark), ("id", line.id), ("text", line.text)
    notes = (("note", note) for note in line.notes)
    spans = (f'<span class="{kind}">{escape(text)}</span>' for kind, text in (*kinds, *notes))
    return f'<li class="{" ".join(_classes(line))}">{" ".join(spans)}'


def _classes(line: Line) -> Iterator[str]:
    yield line.status
    if line.is_waiting:
        yield "waiting"
    if line.verified is not None:
        yield "verified" if line.verified else "unverified"
