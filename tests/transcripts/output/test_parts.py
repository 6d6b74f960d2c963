"""The parts that all formats for people share: rows, summaries, counts, the life of a plan."""

import json
import re
from datetime import UTC, datetime

import attrs
import pytest

from todoplan import MemoryStore, Planner, Status, Task, plan_of
from todoplan.core import commands
from todoplan.core.rules import Severity
from todoplan.transcripts.output import Life, groups, percent, row_of, sizes, where
from todoplan.transcripts.output import recording_summary as summary
from todoplan.transcripts.replay import Finding, Step


def finding(code="c", severity="warn", line=1, lane="main"):
    """A finding."""
    return Finding(code, Severity(severity), line, lane, (), "text")


WARNING, ERROR = finding(), finding(severity="error")


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


def many(done=0, failed=0, active=0, pending=0):
    """A plan of so many tasks."""
    counts = {"completed": done, "failed": failed, "in_progress": active, "pending": pending}
    return {"plan": plan(*(status for status, n in counts.items() for _ in range(n)))}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, {"line": 7, "day": "2026-03-02", "time": "09:14:02", "tool": "TodoWrite"}),
        ({}, {"strip": "x~.-", "done": "1/4", "mark": "", "phrases": ("no change",)}),
        ({"at": None}, {"day": "", "time": ""}),
        # Every status has a mark. A long plan has ten marks, in proportion.
        ({"plan": plan(*Status)}, {"strip": ".~x-!"}),
        ({"plan": plan()}, {"strip": ""}),
        (many(done=10), {"strip": "x" * 10}),
        (many(done=11, active=2, pending=9), {"strip": "xxxxx~...."}),
        (many(done=20), {"strip": "x" * 10}),
        (many(done=19, active=1), {"strip": "xxxxxxxxx~"}),
        (many(pending=11), {"strip": "." * 10}),
        (many(done=6, failed=5, active=1), {"strip": "xxxxx!!!!~"}),
        (many(done=10, failed=10), {"strip": "xxxxx!!!!!"}),
        # Every outcome without a change has its words.
        ({"outcome": "read"}, {"phrases": ("read the plan",)}),
        ({"outcome": "refused"}, {"phrases": ("refused, no change",)}),
        ({"outcome": "unreadable"}, {"phrases": ("arguments unreadable, no change",)}),
        ({"outcome": "impossible"}, {"phrases": ("impossible, no change",)}),
        # Lane and actor are named, unless they are the main ones.
        ({"lane": "mole", "actor": "mole"}, {"phrases": ("mole: no change",)}),
        ({"actor": "mole"}, {"phrases": ("mole: no change",)}),
        ({"lane": "m\x1b[2Jole", "actor": "fox"}, {"phrases": ("mole: fox: no change",)}),
        # The mark is that of the worst finding.
        ({"findings": (WARNING,)}, {"mark": "!"}),
        ({"findings": (WARNING, ERROR)}, {"mark": "!!"}),
    ],
)
def test_a_row_says_when_what_and_how_far(changes, expected):
    """Day, time and line; a mark for each task; how many are done; what changed, and by whom."""
    row = row_of(attrs.evolve(STEP, **changes))
    assert {name: getattr(row, name) for name in expected} == expected


def test_findings_are_grouped_errors_first():
    """
    Within a severity, the order is that of the recording. Five of each are shown. Bad lines are
    counted, though not kept.
    """
    found = groups(map(finding, "abab"), 0) + groups([finding("c"), finding("d", "error")], 0)
    expected = [("a", "!", 2), ("b", "!", 2), ("d", "!!", 1), ("c", "!", 1)]
    assert [(group.code, group.mark, group.count) for group in found] == expected
    (group,) = groups([finding("a", line=line) for line in range(8)], 0)
    assert [one.line for one in group.shown] == [0, 1, 2, 3, 4]
    assert (group.rest, found[0].rest) == ("and 3 more; see --json", "")
    assert groups([finding("bad_line")], 9000)[0].count == 9000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (summary(groups([], 0)), ""),
        (summary(groups([WARNING], 0)), "1 warning"),
        (summary(groups([ERROR] * 2, 0)), "2 errors"),
        (summary(groups([ERROR, finding("b"), finding("b")], 0)), "1 error, 2 warnings"),
        (where(finding(line=3)), "line 3"),
        (where(finding(line=3, lane="")), "line 3"),
        (where(finding(line=3, lane="mo\nle")), "line 3 (mo le)"),
        (", ".join((percent(1, 3), percent(3, 3), percent(0, 0))), "33.3 %, 100.0 %, -"),
    ],
)
def test_counts_and_places_are_short_texts(text, expected):
    """
    What there is none of is left out, the main lane goes without saying, a share of nothing is no
    number.
    """
    assert text == expected


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


def test_each_step_is_what_it_made_of_the_plan():
    """
    With what is said of it, and the element that tells of it. Without steps, or with something that
    JSON cannot hold, the rest of the page is enough.
    """
    life, planner = Life("life-1"), Planner(MemoryStore(), "garden")
    assert life.markup() == ""
    for number, subject in enumerate(("Dig", "</script><b>")):
        plan = planner.apply(commands.CreateTask(subject)).unwrap()
        life.add(plan, f"step {number}", (), f"call-{number}")
    text = life.markup()
    assert "<b>" not in text
    (block,) = re.findall(r'<script type="application/json"[^>]*>(.*)</script>', text)
    data = json.loads(block)
    assert [step["item"] for step in data["steps"]] == ["call-0", "call-1"]
    assert [task["subject"] for task in data["steps"][1]["change"]["tasks"]] == ["</script><b>"]
    assert data["start"]["tasks"] == []
    life.add(plan_of([Task("1", "Dig", metadata={"beds": {1, 2}})]), "", (), "")
    assert life.markup() == ""
