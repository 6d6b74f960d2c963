"""The depth of JSON from its bytes."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from todoplan.transcripts.files import DEEPEST, Nesting

PIECE = st.text('[]{}"\\a ', max_size=6)


def _feed(text, size):
    nesting = Nesting()
    data = text.encode()
    for start in range(0, len(data), size):
        nesting.check(data[start : start + size])


@given(st.lists(PIECE), st.integers(1, 7))
def test_brackets_in_strings_do_not_count(texts, size):
    """Valid JSON passes however it is cut, and its depth is counted exactly."""
    deep = "[" * (DEEPEST - 1) + json.dumps(texts) + "]" * (DEEPEST - 1)
    _feed(deep, size * 37)
    with pytest.raises(ValueError, match="nested more than"):
        _feed("[" + deep + "]", size * 37)


def test_many_brackets_side_by_side_are_not_deep():
    """Wide is not deep."""
    _feed("[" + ",".join(["[]"] * 10 * DEEPEST) + "]", 65536)


@given(st.text('"\\[', max_size=12))
def test_strings_cut_anywhere_are_followed(text):
    """A chunk may end inside a string or an escape."""
    _feed("[" * (DEEPEST - 1) + json.dumps(text) + "[" + "]" * DEEPEST, 1)
