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
    assert "what changed" in shown
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown)
    assert all(cell_len(line) <= 70 for line in plain.split("\n"))


def test_the_timeline_has_days_titles_and_a_legend(screen, text, recording, todo):
    """A date stands where a day begins; below the titles stands what each mark means."""
    replay(screen, [recording(todo(1, "~"), todo(2, "x"), todo(12, "xx"))])
    days = [line for line in text(screen).split("\n") if line.startswith("  2026")]
    assert days == ["  2026-03-01", "  2026-03-02"]
    assert "  . pending, ~ in progress, x completed, - cancelled" in text(screen)
    assert f"  {STATUS_MARKS}; findings: ! warning, !! error\n" in text(screen)


def test_no_column_stands_empty(screen, text, recording, todo):
    """Without times there are lines. Without calls there are no titles."""
    replay(screen, [recording(todo(1, "~", timestamp=None))])
    titles, _legend, row, *_ = text(screen).split("\n")[3:]
    assert titles == "  line  tool       plan  done  what changed"
    assert row == "     1  TodoWrite  ~      0/1  created #1 Step 1"
    shown = text(screen).count("what changed")
    replay(screen, [recording('{"type":"user","message":{"role":"user","content":"hi"}}')])
    assert text(screen).count("what changed") == shown


def test_the_mark_of_a_task_is_coloured_where_it_stands(terminal, text):
    """By its status, which may be any; that of a subtask behind its indentation."""
    assert set(Status) <= set(COLOURS)
    plan = plan_of([Task("1", "a"), Task("2", "b", parent="1", status="failed")])
    terminal.show(plan_lines(plan, terminal.width))
    assert "\n    \x1b[31m[!]\x1b[0m 2 b\n" in text(terminal)
