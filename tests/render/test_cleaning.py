import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.hostile import CORPUS, HUGE, texts

from todoplan.render.cleaning import clip, one_line, printable

UNSAFE = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e"
    "\u2066-\u206f\ufeff\ufffe\uffff\ud800-\udfff\U000e0000-\U000e007f]"
)


def columns(text):
    zero, wide = {"Mn", "Me", "Cf"}, {"W", "F"}
    seen = [char for char in text if unicodedata.category(char) not in zero]
    return sum(2 if unicodedata.east_asian_width(char) in wide else 1 for char in seen)


@given(texts)
def test_printable_text_holds_nothing_unsafe(text):
    """
    No control but the newline, no bidi control, no tag character, no half pair is left.
    """
    assert not UNSAFE.search(printable(text))


@given(texts)
def test_cleaning_twice_changes_nothing(text):
    """
    Both cleaners are idempotent: what a removal joins together is no new sequence.
    """
    assert printable(printable(text)) == printable(text)
    assert one_line(one_line(text)) == one_line(text)


@given(texts)
def test_one_line_is_one_line(text):
    """
    No break, no double space, no space at the ends, by anyone's reckoning.
    """
    line = one_line(text)
    assert len(line.splitlines()) <= 1
    assert line == " ".join(line.split())


@given(st.text("abcXYZ 019.,:;-[]()<>&\u00e4\u4f60\u0301\u200d\U0001f600\n", max_size=40))
def test_honest_text_comes_through_whole(text):
    """
    Letters of any script, marks, joiners, emoji, punctuation and newlines are kept.
    """
    assert printable(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]8;;https://evil.example\x1b\\click\x1b]8;;\x07", "click"),
        ("\x1b]52;c;cm0=\x07copied", "copied"),
        ("\x1bPq#0\x1b\\dcs\x90q\x9c \x1b_apc\x1b\\\x1b^pm\x1b\\\x1bXsos\x9c", "dcs "),
        ("\x9b2Jc1\x9d0;t\x9c", "c1"),
        ("\x1b(Bcharset\x1bM", "charset"),
        ("\x1b]0;never ended", "0;never ended"),
        ("\x1b]0;over\na line\x07", "0;over\na line"),
        ("\x1b[\x00x\x1b", "x"),
        ("a\r\nb\rc\x85d\u2028e\x0bf\tg", "a\nb\nc\nd\ne\nf g"),
        ("\ud83d\ude00 \ud83d \ude00", "\U0001f600 \ufffd \ufffd"),
        ("\ufeffa\u202eb\U000e0041c\u200bd\u200de\uffff", "abcd\u200de"),
    ],
)
def test_sequences_go_whole_and_breaks_become_newlines(text, shown):
    """
    A terminal sequence takes its payload along; one without an end loses only its introducer.
    """
    assert printable(text) == shown


@pytest.mark.parametrize(
    ("first", "last"),
    [
        (0x00, 0x08),
        (0x0E, 0x1B),
        (0x7F, 0x84),
        (0x86, 0x9F),
        (0x061C, 0x061C),
        (0x200B, 0x200B),
        (0x200E, 0x200F),
        (0x202A, 0x202E),
        (0x2060, 0x2064),
        (0x2066, 0x206F),
        (0xFEFF, 0xFEFF),
        (0xFFF9, 0xFFFB),
        (0xFFFE, 0xFFFF),
        (0xE0000, 0xE007F),
    ],
)
def test_every_hidden_character_goes(first, last):
    """
    The whole range is taken out, and its neighbours in the text are not.
    """
    for point in range(first, last + 1):
        assert printable(f"\u00e4{chr(point)}\u00f6") == "\u00e4\u00f6"


@given(st.sampled_from(CORPUS) | texts, st.integers(-2, 30))
def test_clipped_text_fits(text, width):
    """
    The result takes at most the width, and is the text itself, or its start and an ellipsis.
    """
    line = one_line(text)
    cut = clip(line, width)
    assert columns(cut) <= max(width, 0)
    assert cut in {line, ""} or (cut[-1] == "…" and line.startswith(cut[:-1]))


@given(texts)
def test_text_that_fits_is_not_clipped(text):
    """
    Nothing is cut at the text's own width, unless it piles up marks that take no width.
    """
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
    """
    Wide characters count two columns, combining marks none.
    """
    assert clip(text, width) == cut


def test_marks_without_width_are_bounded():
    """
    A million combining marks take no column, and still the result is short.
    """
    assert len(clip("a" + "\u0301" * 1_000_000, 80)) <= 4 * 80 + 1


@pytest.mark.parametrize("text", HUGE, ids=range(len(HUGE)))
def test_a_million_characters_are_cleaned(text):
    """
    Texts made for regular expressions that go back come through like any other.
    """
    assert not UNSAFE.search(one_line(text))
    assert columns(clip(one_line(text), 80)) <= 80
