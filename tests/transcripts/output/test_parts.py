"""The parts that all formats for people share: rows, summaries, counts, the life of a plan."""

import json
import re
from datetime import UTC, datetime

import attrs
import pytest

from todoplan import MemoryStore, Planner, Status, Task, plan_of
from todoplan.core import commands
from todoplan.core.rules import Severity
from todoplan.transcripts.output import Life, groups, mark, percent, plural, row_of, sizes, where
from todoplan.transcripts.output import recording_summary as summary
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


def finding(code, severity="warn", line=1, lane="main"):
    """A finding."""
    return Finding(code, Severity(severity), line, lane, (), "text")


def test_errors_come_first():
    """Within a severity, the order is that of the recording."""
    found = groups(map(finding, "abab"), 0) + groups([finding("c"), finding("d", "error")], 0)
    expected = [("a", "!", 2), ("b", "!", 2), ("d", "!!", 1), ("c", "!", 1)]
    assert [(group.code, group.mark, group.count) for group in found] == expected


def test_five_of_each_are_shown():
    """The rest is counted."""
    (group,) = groups([finding("a", line=line) for line in range(8)], 0)
    assert [one.line for one in group.shown] == [0, 1, 2, 3, 4]
    assert group.rest == "and 3 more; see --json"
    assert groups([finding("a")], 0)[0].rest == ""


def test_bad_lines_are_counted_though_not_kept():
    """Their number is given from outside."""
    assert groups([finding("bad_line")], 9000)[0].count == 9000


@pytest.mark.parametrize(
    ("findings", "text"),
    [
        ([], ""),
        ([finding("a")], "1 warning"),
        ([finding("a", "error")] * 2, "2 errors"),
        ([finding("a", "error"), finding("b"), finding("b")], "1 error, 2 warnings"),
    ],
)
def test_the_summary_counts_by_severity(findings, text):
    """What there is none of is left out."""
    assert summary(groups(findings, 0)) == text


@pytest.mark.parametrize(
    ("lane", "text"), [("main", "line 3"), ("", "line 3"), ("mo\nle", "line 3 (mo le)")]
)
def test_a_place_is_a_line_and_perhaps_a_lane(lane, text):
    """The main lane goes without saying."""
    assert where(finding("a", line=3, lane=lane)) == text


def test_one_is_singular():
    """And nothing else is."""
    assert [plural(count, "plan") for count in (0, 1, 2)] == ["0 plans", "1 plan", "2 plans"]


def test_a_share_of_nothing_is_no_number():
    """Shares have one decimal."""
    assert (percent(1, 3), percent(3, 3), percent(0, 0)) == ("33.3 %", "100.0 %", "-")


def test_plans_are_counted_by_their_length():
    """From the shortest on, up to the longest that there was."""
    assert sizes([]) == []
    assert sizes([0, 1, 3, 4, 12]) == [
        ("at most 1 task", 2, "2"),
        ("2 to 4 tasks", 2, "2"),
        ("5 to 9 tasks", 0, "0"),
        ("10 to 19 tasks", 1, "1"),
    ]
    assert sizes([5_000])[-1][0] == "100 or more tasks"


def plans(*subjects):
    """The plan after each creation."""
    planner = Planner(MemoryStore(), "garden")
    return [planner.apply(commands.CreateTask(subject)).unwrap() for subject in subjects]


def test_each_step_is_what_it_made_of_the_plan():
    """With what is said of it, and the element that tells of it."""
    life = Life("life-1")
    for number, plan in enumerate(plans("Dig", "</script><b>")):
        life.add(plan, f"step {number}", (), f"call-{number}")
    text = life.markup()
    assert "<b>" not in text
    (block,) = re.findall(r'<script type="application/json"[^>]*>(.*)</script>', text)
    data = json.loads(block)
    assert [step["item"] for step in data["steps"]] == ["call-0", "call-1"]
    assert [task["subject"] for task in data["steps"][1]["change"]["tasks"]] == ["</script><b>"]
    assert data["start"]["tasks"] == []


def test_without_steps_there_is_no_slider():
    """Nothing happened, or something that JSON cannot hold: then the rest of the page is enough."""
    assert Life("life-1").markup() == ""
    life = Life("life-1")
    life.add(plans("Dig")[0], "", (), "")
    life.add(plan_of([Task("1", "Dig", metadata={"beds": {1, 2}})]), "", (), "")
    assert life.markup() == ""
