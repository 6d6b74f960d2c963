"""
The commands of those who work on a plan together, of no plan in particular: claims, answers,
evidence, approval. Most are about what is not there.
"""

from __future__ import annotations

from functools import cache

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from todoplan.core.commands import (
    AnswerTask,
    ApprovePlan,
    ClaimTask,
    RecordEvidence,
    ReleaseClaim,
    RenewClaim,
)
from todoplan.core.plan.model import Priority
from todoplan.testing.strategies.text import any_ids
from todoplan.testing.strategies.values import FENCES, WORKERS

__all__ = ["agreements", "answers", "claimings", "findings", "releases", "renewals"]

# Times of a machine are minutes apart: some leases have run out by the next, and some have not.
_LEASES = st.sampled_from([300.0, 30.0, 10.0**9])


@cache
def claimings(task_id: SearchStrategy[str | None] | None = None) -> SearchStrategy[ClaimTask]:
    """
    Draw claims of the next task, or of one that is named, if it is not said of which.
    """
    return st.builds(
        ClaimTask,
        WORKERS,
        _LEASES,
        st.none() | any_ids() if task_id is None else task_id,
        st.sampled_from([None, None, *Priority]),
        st.sampled_from([None, None, "fast"]),
        st.sampled_from([None, None, 1, 2]),
        st.sampled_from([None, "ann"]),
    )


@cache
def renewals() -> SearchStrategy[RenewClaim]:
    """
    Draw renewals of claims.
    """
    return st.builds(RenewClaim, any_ids(), FENCES, _LEASES)


@cache
def releases() -> SearchStrategy[ReleaseClaim]:
    """
    Draw tasks that are given back.
    """
    return st.builds(ReleaseClaim, any_ids(), FENCES)


@cache
def answers() -> SearchStrategy[AnswerTask]:
    """
    Draw answers, most of which nobody has asked for.
    """
    return st.builds(AnswerTask, any_ids(), st.sampled_from(["yes", "the first"]))


@cache
def findings() -> SearchStrategy[RecordEvidence]:
    """
    Draw what a program found of a task.
    """
    by = st.sampled_from([None, "ci", "ann"])
    return st.builds(RecordEvidence, any_ids(), st.booleans(), st.sampled_from(["", "3 of 4"]), by)


@cache
def agreements() -> SearchStrategy[ApprovePlan]:
    """
    Draw approvals of the plan as it stands.
    """
    return st.builds(ApprovePlan, st.sampled_from([None, "ann", "bob"]))
