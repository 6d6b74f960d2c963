"""
Several hands on one plan: each writes the list as it last saw it, changed (law 15), or meddles with
what another one has claimed (law 19).
"""

from typing import Any

import attrs
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from todoplan.core.commands import (
    Batch,
    ClaimTask,
    ClearPlan,
    Command,
    DeleteTask,
    ReleaseClaim,
    RenewClaim,
    UpdateTask,
    WriteTodos,
)
from todoplan.core.plan.model import Todo, Waiting
from todoplan.core.plan.plan import Plan
from todoplan.testing.strategies.text import titles
from todoplan.testing.strategies.values import STATUSES

__all__ = ["Rewrite", "meddling", "rewrites"]


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


@st.composite
def meddling(draw: DrawFn, plan: Plan) -> Command:
    """
    Draw what somebody does to a task of the plan that is claimed: without a fence, with the current
    one, or with another.
    """
    held = [(task.id, task.claim.fence) for task in plan if task.claim]
    claimed, current = draw(st.sampled_from(held))
    fence = draw(st.sampled_from([None, current, max(current - 1, 1), current + 1]))
    changes = UpdateTask(claimed, status=draw(STATUSES), fence=fence)
    others = [Todo(task.subject, id=task.id) for task in plan if task.id != claimed]
    given = current if fence is None else fence
    done: list[Command] = [
        changes,
        UpdateTask(claimed, subject="b", fence=fence),
        UpdateTask(claimed, waiting=Waiting("ann"), fence=fence),
        # What a part of a batch is given the next one has as well.
        Batch((UpdateTask(claimed, fence=fence), DeleteTask(claimed, "lift"))),
        Batch((changes, ClaimTask("w2", task_id=claimed))),
        DeleteTask(claimed, "remove"),
        WriteTodos(tuple(others)),
        ClearPlan(),
        ClaimTask("w2", task_id=claimed),
        RenewClaim(claimed, given, 900.0),
        ReleaseClaim(claimed, given),
    ]
    return draw(st.sampled_from(done))
