"""The tables of the guides are drawn from the code."""

import re

import pytest
from support.docs import PAGES, page
from support.reference import MARKED, TABLES, redrawn

from todoplan.core.rules import RULES
from todoplan.texts import names


@pytest.mark.parametrize("name", PAGES)
def test_the_tables_are_those_of_the_code(name):
    """A new rule, code, limit or setting wants `python tests/support/reference.py`."""
    assert page(name) == redrawn(name), "run: python tests/support/reference.py"


def test_every_table_stands_somewhere():
    """What can be drawn is shown, and is no empty table."""
    shown = {found[1] for name in PAGES for found in MARKED.findall(page(name))}
    assert shown == set(TABLES)
    assert all(draw().count("\n") > 2 for name, draw in TABLES.items() if name != "capabilities")


def test_every_rule_says_what_it_objects_to():
    """A rule that refuses is a problem: its name is a code, and the page has a text for it."""
    assert set(RULES) <= set(names("problems"))


def test_no_text_breaks_its_row():
    """As many cells in each row as in the head, whatever the texts hold."""
    for draw in TABLES.values():
        rows = draw().splitlines()
        cells = {len(re.findall(r"(?<!\\)\|", row)) for row in rows}
        assert len(cells) <= 1
