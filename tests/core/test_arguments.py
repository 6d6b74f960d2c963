"""What commands take for a field that may be left out, cleared, or said in words."""

from datetime import UTC, datetime

import pytest

from todoplan.core.commands import (
    AnswerTask,
    ClaimTask,
    CreateTask,
    DeleteTask,
    MoveTask,
    ReleaseClaim,
    RenewClaim,
    RestorePlan,
    UpdateTask,
    WriteTodos,
)
from todoplan.core.plan.model import Approval, Claim, Evidence, Task, Todo, Waiting
from todoplan.errors import PlanError


@pytest.mark.parametrize(
    ("misuse", "remedy"),
    [
        (lambda: AnswerTask("1", " "), r"the answer is empty; say something, or end the wait by"),
        (lambda: AnswerTask("1", None), "give a text"),
        (
            lambda: DeleteTask("1", "keep"),
            "'keep' is no value of children; write one of refuse, lift, remove",
        ),
        (lambda: DeleteTask("1", []), "is no value of children"),
        (lambda: MoveTask("1"), r"say where to: MoveTask\('1', before=\"3\"\)"),
        (lambda: MoveTask("1", before="2", after="3"), "not both"),
        (lambda: MoveTask("1", before=2), "give an id"),
        (lambda: MoveTask(1, before="2"), "give an id"),
        (lambda: CreateTask("a", parent=1), "give an id"),
        (lambda: CreateTask("a", waiting="ann"), r"such as Waiting\(\"the answer of ann\"\)"),
        (lambda: UpdateTask("1", waiting="ann"), "None, or a Waiting"),
        (lambda: Task("1", "a", evidence=True), r"such as Evidence\(True"),
        (lambda: Evidence("no"), "True or False"),
        (lambda: Waiting("ann", until="tomorrow"), "an aware time"),
        (lambda: CreateTask("a", due="2026-12-31"), "a date such as"),
        (lambda: UpdateTask("1", due=datetime(2026, 12, 31, tzinfo=UTC)), "a date such as"),
        (lambda: Approval(-1), "a whole number from 0 on"),
        (lambda: RestorePlan((), approved=3), "or an approval"),
        (lambda: Task("1", "a", claim="bot"), r"such as Claim\(\"worker-1\", fence=1\)"),
        (lambda: Claim("bot", 0), "a whole number from 1 on"),
        (lambda: ClaimTask(" "), "the owner of a claim has no name"),
        (lambda: ClaimTask("bot", lease=0), "a lease has 0 seconds; give a number above 0"),
        (lambda: ClaimTask("bot", lease=None), "a lease has None seconds"),
        (lambda: RenewClaim("1", 1, lease=1e300), "at most 1,000,000,000"),
        (lambda: ReleaseClaim("1", "x"), "a whole number from 1 on"),
        (lambda: UpdateTask("1", fence=0), "a whole number from 1 on"),
        (lambda: WriteTodos((Todo("a", level=-1),)), "a whole number from 0 on"),
    ],
)
def test_what_does_not_fit_is_refused_where_it_is_given(misuse, remedy):
    """With what was seen, and what to write instead."""
    with pytest.raises(PlanError, match=remedy):
        misuse()


def test_what_fits_is_kept():
    """None clears, a word says what becomes of subtasks."""
    assert UpdateTask("1", parent=None).parent is None
    assert UpdateTask("1", waiting=None).waiting is None
    assert DeleteTask("1", "lift").children == "lift"
    assert RestorePlan((), approved=Approval(2)).approved == Approval(2)
