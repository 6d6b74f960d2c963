"""The merge base of a session, by the journal."""

from datetime import UTC, datetime

from todoplan import Plan
from todoplan.core import commands
from todoplan.core.decide import decide
from todoplan.core.events.apply import Entry
from todoplan.core.events.base import Base
from todoplan.core.rules import DEFAULT
from todoplan.dialogue.toolbox import base_at

AT = datetime(2026, 1, 1, tzinfo=UTC)


def edited(plan, subject, actor="ann"):
    """Return the plan with one task more, and the journal's entry."""
    decision = decide(plan, commands.CreateTask(subject), DEFAULT, at=AT)
    return decision.plan, Entry(decision.plan.revision, decision.events, AT, actor, "CreateTask")


def test_a_base_is_found_in_a_journal():
    """The plan at the revision that is known, and who changed what since."""
    one, first = edited(Plan(), "Dig", None)
    two, second = edited(one, "Tell Ann")
    base = base_at((first, second), 1)
    assert base == Base(one, {"2": "ann"})
    assert base_at((first, second), two.revision).unseen(two) == ()
