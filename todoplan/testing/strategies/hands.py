"""Several hands on one plan, each of which writes the list as it last saw it, changed (law 15)."""

from typing import Any

import attrs
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from todoplan.core.plan.plan import Plan
from todoplan.testing.strategies.text import titles
from todoplan.testing.strategies.values import STATUSES

__all__ = ["Rewrite", "rewrites"]


# Drawn before the plan is known: several hands take turns, and what each will have seen depends on
# what the others did.
@attrs.frozen
class Rewrite:
    """
    How a hand rewrites the list that it last saw, whatever that is: for each task a status, "" to
    leave it as it is, `None` to leave it out; behind them new ones.

    Tasks beyond the last of `lines` stay as they are.
    """

    lines: tuple[str | None, ...] = ()
    new: tuple[str, ...] = ()

    def of(self, seen: Plan) -> list[dict[str, Any]]:
        """
        Return the todos to send, each known by its id.
        """
        lines = (*self.lines, *[""] * len(seen))
        kept = [
            {"id": task.id, "content": task.subject, "status": status or task.status.value}
            for task, status in zip(seen, lines, strict=False)
            if status is not None
        ]
        return [*kept, *({"content": title, "status": "pending"} for title in self.new)]


def rewrites() -> SearchStrategy[Rewrite]:
    """
    Draw ways to rewrite a list; most leave much as it is.
    """
    line = st.sampled_from(["", "", None]) | STATUSES.map(lambda status: status.value)
    lines = st.lists(line, max_size=6).map(tuple)
    return st.builds(Rewrite, lines, st.lists(titles(), max_size=2).map(tuple))
