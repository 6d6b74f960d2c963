"""Texts without what hides from a reader."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from todoplan.dialogue.intake import MISSING, Reading, clean, is_clean, quoted, unleaked

anything = st.text(st.characters(exclude_categories=()), max_size=30)
tags = st.sampled_from(["</invoke>", " ", "\n", "</parameter>", "x", "<b>", "</b>", "</invoke>"])


@given(anything | st.lists(tags, max_size=8).map("".join))
def test_clean_texts_stay_clean(text):
    """Cleaning twice is cleaning once, can be encoded, and says so exactly when it changed."""
    kept, repairs = clean(text, "p")
    kept.encode("utf-8")
    again, _ = clean(kept, "p")
    assert (kept == text) == (not repairs)
    assert again == kept
    assert not any(
        unicodedata.bidirectional(c) in {"LRO", "RLO", "LRI", "RLI", "FSI", "PDI"} for c in kept
    )


@given(anything | st.lists(tags, max_size=8).map("".join))
def test_a_clean_text_has_nothing_to_take_out(text):
    """What is found clean at a glance is left as it is; without a tag, nothing else is."""
    changed = clean(text, "p") != (text, ())
    assert not (is_clean(text) and changed)
    assert "<" in text or is_clean(text) != changed


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a</invoke>", "a"),
        ("a </parameter>\n</invoke>\n", "a"),
        ("</invoke>", ""),
        ("a</invoke> b", "a</invoke> b"),
        ("a</b>", "a</b>"),
        ("a >", "a >"),
        ("a  ", "a  "),
    ],
)
def test_only_closers_at_the_very_end_are_leaks(text, kept):
    """Other tags, and those within the text, are text."""
    assert unleaked(text) == kept


@given(anything | st.integers() | st.floats() | st.none() | st.booleans() | st.lists(st.none()))
def test_what_is_quoted_is_short_and_printable(value):
    """At most forty ASCII characters."""
    shown = quoted(value)
    assert len(shown) <= 40
    assert shown.isascii()
    assert shown.isprintable()


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (1.5, "1.5"),
        ([], "a list"),
        ({}, "an object"),
        (10**18, "a number of over 18 digits"),
        ("a" * 41, "a" * 37 + "..."),
    ],
)
def test_values_are_named_as_json_names_them(value, shown):
    """Never as Python does."""
    assert quoted(value) == shown


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a < b", "a < b"),
        ("<parameters name=", "<parameters name="),
        ('a<parameter name="x">', MISSING),
        (f"a<{'antml'}:parameter\nname =", MISSING),
    ],
)
def test_a_leaked_opening_tag(text, kept):
    """With a prefix or spaces too: a field was lost. Other tags are text."""
    assert Reading().cleaned(text, "p") == kept
