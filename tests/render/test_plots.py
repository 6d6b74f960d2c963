"""The plots of a page."""

import re

import pytest
from support.hostile import CORPUS

from todoplan.render.pictures import bars


def test_a_bar_is_as_long_as_its_number():
    """The longest takes the room that there is; one of nothing can still be seen."""
    plot = bars("Findings", [("many", 40, "40 %"), ("few", 10, "10 %"), ("none", 0, "0 %")])
    many, few, none = map(int, re.findall(r'width="(\d+)" height="18"', plot))
    assert (many, few, none) == (350, 88, 1)
    assert 'aria-label="Findings: many 40 %; few 10 %; none 0 %"' in plot


@pytest.mark.parametrize("number", range(len(CORPUS)))
def test_no_label_is_markup(number):
    """Codes of findings may be a user's own."""
    plot = bars(CORPUS[number], [(CORPUS[number], 1, CORPUS[number])])
    assert set(re.findall(r"<(\w+)", plot)) == {"h2", "div", "svg", "text", "rect"}
