"""A plan as a fragment of HTML."""

from html import escape

from todoplan.core.plan.plan import Plan
from todoplan.render.outline import Line, lines, summary

__all__ = ["to_html"]


def to_html(plan: Plan) -> str:
    """
    Return one `<ul class="todoplan">`, an item a task with its status as class; all is escaped.
    """
    items = "".join(f"{_item(line)}\n" for line in lines(plan))
    inner = items or '<li class="empty">no tasks</li>\n'
    return f'<ul class="todoplan" aria-label="{escape(summary(plan))}">\n{inner}</ul>'


def _item(line: Line) -> str:
    kinds = ("mark", line.mark), ("id", line.id), ("text", line.text)
    notes = (("note", note) for note in line.notes)
    spans = (f'<span class="{kind}">{escape(text)}</span>' for kind, text in (*kinds, *notes))
    return f'<li class="{line.status}">{" ".join(spans)}</li>'
