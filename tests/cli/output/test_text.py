"""What a terminal of 70 columns gets."""

import re

import pytest
from rich.cells import cell_len

from todoplan.cli.commands.replay import ReplayOptions, replay, replay_sample


@pytest.mark.parametrize("policy", ["audit", "strict"])
def test_no_line_is_wider_than_the_terminal(terminal, text, policy):
    """Subjects are cut and findings wrapped; colours are there."""
    assert replay_sample(ReplayOptions(policy=policy), terminal) == (policy == "strict")
    shown = text(terminal)
    assert "\x1b[32mx\x1b[0m" in shown
    assert "…" in shown
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown)
    assert all(cell_len(line) <= 70 for line in plain.split("\n"))


def test_each_day_is_shown_where_it_begins(screen, text, recording, todo):
    """A recording of several days has its dates between the rows."""
    path = recording(todo(1, "~"), todo(2, "x"), todo(12, "xx"))
    replay([path], ReplayOptions(), screen)
    days = [line for line in text(screen).split("\n") if line.startswith("  2026")]
    assert days == ["  2026-03-01", "  2026-03-02"]


def test_without_times_there_are_lines(screen, text, recording, todo):
    """No column stands empty."""
    replay([recording(todo(1, "~", timestamp=None))], ReplayOptions(), screen)
    assert "\n  1  TodoWrite  ~  0/1  created #1 Step 1\n" in text(screen)
