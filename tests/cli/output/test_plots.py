"""The plots of a page."""

import re

import pytest
from support.hostile import CORPUS

from todoplan.cli.output import bars, sizes


def test_a_bar_is_as_long_as_its_number():
    """The longest takes the room that there is; one of nothing can still be seen."""
    plot = bars("Findings", [("many", 40, "40 %"), ("few", 10, "10 %"), ("none", 0, "0 %")])
    many, few, none = map(int, re.findall(r'width="(\d+)" height="18"', plot))
    assert (many, few, none) == (350, 88, 1)
    assert 'aria-label="Findings: many 40 %; few 10 %; none 0 %"' in plot


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
    assert "Plans" in bars("Plans", [])


@pytest.mark.parametrize("number", range(len(CORPUS)))
def test_no_label_is_markup(number):
    """Codes of findings may be a user's own."""
    plot = bars(CORPUS[number], [(CORPUS[number], 1, CORPUS[number])])
    assert set(re.findall(r"<(\w+)", plot)) == {"h2", "div", "svg", "text", "rect"}
