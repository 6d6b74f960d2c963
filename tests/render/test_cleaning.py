"""Text in so many columns of a terminal."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.hostile import CORPUS, HUGE, texts

from todoplan.render.outline import clip
from todoplan.texts import one_line


def columns(text):
    zero, wide = {"Mn", "Me", "Cf"}, {"W", "F"}
    seen = [char for char in text if unicodedata.category(char) not in zero]
    return sum(2 if unicodedata.east_asian_width(char) in wide else 1 for char in seen)


@given(st.sampled_from(CORPUS) | texts, st.integers(-2, 30))
def test_clipped_text_fits(text, width):
    """The result takes at most the width, and is the text itself, or its start and an ellipsis."""
    line = one_line(text)
    cut = clip(line, width)
    assert columns(cut) <= max(width, 0)
    assert cut in {line, ""} or (cut[-1] == "…" and line.startswith(cut[:-1]))


@given(texts)
def test_text_that_fits_is_not_clipped(text):
    """Nothing is cut at the text's own width, unless it piles up marks that take no width."""
    line = one_line(text)
    width = max(columns(line), len(line))
    assert clip(line, width) == line


@pytest.mark.parametrize(
    ("text", "width", "cut"),
    [
        ("abcdef", 6, "abcdef"),
        ("abcdef", 5, "abcd…"),
        ("abc def", 5, "abc…"),
        ("abcdef", 1, "…"),
        ("abcdef", 0, ""),
        ("\u4f60\u597d\u4e16", 6, "\u4f60\u597d\u4e16"),
        ("\u4f60\u597d\u4e16", 5, "\u4f60\u597d…"),
        ("\u4f60\u597d\u4e16", 4, "\u4f60…"),
        ("e\u0301e\u0301e\u0301", 3, "e\u0301e\u0301e\u0301"),
        ("e\u0301e\u0301e\u0301", 2, "e\u0301…"),
        ("e" + "\u0301" * 99, 1, "…"),
        ("\uff21\uff22", 3, "\uff21…"),
        ("a\u20dd\u0488b", 2, "a\u20dd\u0488b"),
    ],
)
def test_width_is_counted_in_columns(text, width, cut):
    """Wide characters count two columns, combining marks none."""
    assert clip(text, width) == cut


def test_marks_without_width_are_bounded():
    """A million combining marks take no column, and still the result is short."""
    assert len(clip("a" + "\u0301" * 1_000_000, 80)) <= 4 * 80 + 1


@pytest.mark.parametrize("text", HUGE, ids=range(len(HUGE)))
def test_a_million_characters_are_clipped(text):
    """They fit into a line like any other text."""
    assert columns(clip(one_line(text), 80)) <= 80
