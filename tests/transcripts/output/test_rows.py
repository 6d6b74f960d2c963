"""Steps as rows."""

from datetime import UTC, datetime

import attrs
import pytest

from todoplan import Status, Task, plan_of
from todoplan.core.rules import Severity
from todoplan.transcripts.output import mark, row_of
from todoplan.transcripts.replay import Finding, Step

WARNING = Finding("c", Severity.WARN, 1, "main", (), "t")
ERROR = attrs.evolve(WARNING, severity=Severity.ERROR)


def plan(*statuses):
    """A plan with a task of each status."""
    return plan_of([Task(str(n), "x", status=status) for n, status in enumerate(statuses, 1)])


STEP = Step(
    line=7,
    lane="main",
    actor="main",
    tool="TodoWrite",
    at=datetime(2026, 3, 2, 9, 14, 2, tzinfo=UTC),
    outcome="applied",
    plan=plan("completed", "in_progress", "pending", "cancelled"),
    events=(),
    findings=(),
    chars=0,
)


def test_a_row_says_when_what_and_how_far():
    """Day, time and line; a mark for each task; how many are done."""
    row = row_of(STEP)
    assert (row.line, row.day, row.time, row.tool) == (7, "2026-03-02", "09:14:02", "TodoWrite")
    assert (row.strip, row.done, row.mark, row.phrases) == ("x~.-", "1/4", "", ("no change",))


def test_without_a_time_there_is_the_line():
    """Day and time are empty."""
    row = row_of(attrs.evolve(STEP, at=None))
    assert (row.day, row.time) == ("", "")


@pytest.mark.parametrize(
    ("statuses", "strip"),
    [
        ((), ""),
        (("completed",) * 10, "x" * 10),
        (("completed",) * 11 + ("in_progress",) * 2 + ("pending",) * 9, "xxxxx~...."),
        (("completed",) * 20, "x" * 10),
        (("cancelled",) * 19 + ("in_progress",), "xxxxxxxxx~"),
        (("pending",) * 11, "." * 10),
        (("completed",) * 6 + ("failed",) * 5 + ("in_progress",), "xxxxx!!!!~"),
        (("completed",) * 10 + ("failed",) * 10, "xxxxx!!!!!"),
    ],
)
def test_a_long_plan_is_shown_in_proportion(statuses, strip):
    """Ten marks at most."""
    assert row_of(attrs.evolve(STEP, plan=plan(*statuses))).strip == strip


@pytest.mark.parametrize("outcome", ["read", "refused", "unreadable", "impossible"])
def test_what_changed_nothing_says_why(outcome):
    """Every outcome has its words."""
    assert outcome in row_of(attrs.evolve(STEP, outcome=outcome)).phrases[0]


@pytest.mark.parametrize(
    ("lane", "actor", "who"),
    [
        ("main", "main", ""),
        ("mole", "mole", "mole: "),
        ("main", "mole", "mole: "),
        ("m\x1b[2Jole", "fox", "mole: fox: "),
    ],
)
def test_others_are_named(lane, actor, who):
    """Lane and actor, unless they are the main ones."""
    assert row_of(attrs.evolve(STEP, lane=lane, actor=actor)).phrases == (f"{who}no change",)


@pytest.mark.parametrize(
    ("findings", "shown"), [((), ""), ((WARNING,), "!"), ((WARNING, ERROR), "!!")]
)
def test_the_mark_is_that_of_the_worst_finding(findings, shown):
    """Nothing, a warning, an error."""
    assert mark(findings) == row_of(attrs.evolve(STEP, findings=findings)).mark == shown


def test_marks_are_known_for_every_status():
    """No status is without a mark."""
    assert row_of(attrs.evolve(STEP, plan=plan(*Status))).strip == ".~x-!"
