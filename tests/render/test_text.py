import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.hostile import CORPUS, LONG, plan_with, plans

from todoplan.core.decide.assembly import plan_of
from todoplan.core.plan.model import Task
from todoplan.core.plan.plan import Plan
from todoplan.render.cleaning import clip
from todoplan.render.outline import lines, summary
from todoplan.render.text import to_text

UNSAFE = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


def test_a_plan_as_text():
    """
    The summary, then a line a task with mark, id, text, owner and blockers.
    """
    plan = plan_of(
        (
            Task("1", "Write parser", status="completed"),
            Task("2", "Write tests", status="in_progress", owner="ann", blocks=("4",)),
            Task("3", "Ask Bob", status="cancelled"),
            Task("5", "Measure", blocks=("4",)),
            Task("4", "Ship\nit", blocked_by=("2", "5")),
        )
    )
    assert to_text(plan).split("\n") == [
        "1/5 completed, 1 in progress, 1 cancelled",
        "[x] 1 Write parser",
        "[~] 2 Write tests (ann)",
        "[-] 3 Ask Bob",
        "[ ] 5 Measure",
        "[ ] 4 Ship it (waits for 2, 5)",
    ]


@given(plans(), st.none() | st.integers(0, 60))
def test_text_is_safe_for_a_terminal(plan, width):
    """
    No control but the newline, and one line a task, whatever the texts.
    """
    shown = to_text(plan, width=width)
    assert not UNSAFE.search(shown)
    assert len(shown.split("\n")) == 1 + len(plan)
    assert shown.split("\n")[0] == summary(plan)


@given(plans())
def test_text_shows_every_title_whole(plan):
    """
    Without a width nothing is cut.
    """
    rows = to_text(plan).split("\n")[1:]
    for row, line in zip(rows, lines(plan), strict=True):
        assert row.startswith(f"{line.mark} {line.id} {line.text}")


@given(plans(), st.integers(1, 60))
def test_no_line_is_wider_than_asked(plan, width):
    """
    Every row is its own clipping.
    """
    for row in to_text(plan, width=width).split("\n")[1:]:
        assert clip(row, width) == row


def test_the_title_is_cut_before_the_notes():
    """
    In a narrow terminal what a task waits for is still seen.
    """
    plan = plan_with("a", "word " * 20)
    assert to_text(plan, width=50).split("\n")[2] == (
        "[ ] 2 word word word word word word… (waits for 1)"
    )
    assert to_text(plan, width=24).split("\n")[2] == "[ ] 2 word word word wo…"
    plan = plan_with("a", "x" * 40)
    assert to_text(plan, width=30).split("\n")[2] == f"[ ] 2 {'x' * 19}… (w…"


@pytest.mark.parametrize("text", [*CORPUS, *LONG], ids=range(len(CORPUS) + len(LONG)))
def test_the_corpus_is_shown_as_text(text):
    """
    Each known attack, as a title and as an owner, stays on its line.
    """
    shown = to_text(plan_with(text, text, owner=text))
    assert not UNSAFE.search(shown)
    assert len(shown.splitlines()) == 3


def test_an_empty_plan_as_text():
    """
    It says that there is nothing.
    """
    assert to_text(Plan()) == "no tasks"
