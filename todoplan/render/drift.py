"""The changes since a plan's approval as plain text, for the person who approved it."""

from collections.abc import Iterator
from typing import Any

from todoplan.core.events.base import Difference
from todoplan.core.events.drift import Drift
from todoplan.render.cleaning import clip, one_line
from todoplan.render.details import quoted

__all__ = ["drift_to_text"]

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
    head = f"since {approved}: {came} came, {went} went, {changed} changed"
    return "\n".join((head, *_rows(drift)))


def _rows(drift: Drift) -> Iterator[str]:
    for mark, found in (("+", drift.came), ("-", drift.went), ("~", drift.changed)):
        for each in found:
            told = ", ".join(f"{_word(each, name)}" for name in drift.fields(each))
            by = "" if each.actor is None else f" ({quoted(each.actor)})"
            title = clip(one_line(each.task.subject), _WIDTH)
            yield f"{mark} {one_line(each.task.id)} {title}{told and ': '}{told}{by}"


def _word(each: Difference, name: str) -> str:
    if name == "status":
        return "cancelled"
    was = getattr(each.was, name)
    shown = _shown((was,) if name == "parent" and was else was)  # shown as an id, like the edges
    return f"{name.replace('_', ' ')} (was {shown})"


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(one_line, value)) or "none"
    return "none" if value is None or value == "" else quoted(clip(one_line(str(value)), _WIDTH))
