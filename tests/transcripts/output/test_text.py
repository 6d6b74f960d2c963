"""What a terminal of 70 columns gets."""

import re

import pytest
from rich.cells import cell_len

from todoplan import Task, plan_of
from todoplan.core.plan.model import Status
from todoplan.render.terminal import COLOURS, plan_lines
from todoplan.transcripts.commands import replay
from todoplan.transcripts.output import STATUS_MARKS


@pytest.mark.parametrize("policy", ["audit", "strict"])
def test_no_line_is_wider_than_the_terminal(terminal, text, policy):
    """Subjects are cut and findings wrapped; colours are there."""
    assert replay(terminal, sample=True, policy=policy) == (policy == "strict")
    shown = text(terminal)
    assert "\x1b[32mx\x1b[0m" in shown
    assert "…" in shown
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown)
    assert all(cell_len(line) <= 70 for line in plain.split("\n"))


def test_each_day_is_shown_where_it_begins(screen, text, recording, todo):
    """A recording of several days has its dates between the rows."""
    path = recording(todo(1, "~"), todo(2, "x"), todo(12, "xx"))
    replay(screen, [path])
    days = [line for line in text(screen).split("\n") if line.startswith("  2026")]
    assert days == ["  2026-03-01", "  2026-03-02"]


def test_without_times_there_are_lines(screen, text, recording, todo):
    """No column stands empty."""
    replay(screen, [recording(todo(1, "~", timestamp=None))])
    titles, _legend, row, *_ = text(screen).split("\n")[3:]
    assert titles == "  line  tool       plan  done  what changed"
    assert row == "     1  TodoWrite  ~      0/1  created #1 Step 1"


def test_the_marks_are_explained(screen, terminal, text, recording, todo):
    """Below the titles stands what each mark means, within the width of a terminal."""
    path = recording(todo(1, "~"))
    replay(screen, [path])
    assert "  . pending, ~ in progress, x completed, - cancelled" in text(screen)
    assert f"  {STATUS_MARKS}; findings: ! warning, !! error\n" in text(screen)
    replay(terminal, [path])
    assert "what changed" in text(terminal)


def test_every_status_has_a_colour():
    """A plan may hold any of them."""
    assert set(Status) <= set(COLOURS)


def test_without_calls_there_are_no_titles(screen, text, recording):
    """Nothing to explain."""
    replay(screen, [recording('{"type":"user","message":{"role":"user","content":"hi"}}')])
    assert "what changed" not in text(screen)


def test_the_mark_of_a_subtask_is_coloured_where_it_stands(terminal, text):
    """Behind its indentation, by its status."""
    plan = plan_of([Task("1", "a"), Task("2", "b", parent="1", status="failed")])
    terminal.show(plan_lines(plan, terminal.width))
    assert "\n    \x1b[31m[!]\x1b[0m 2 b\n" in text(terminal)
