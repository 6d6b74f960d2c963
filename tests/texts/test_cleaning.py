"""Text that is safe to show: what every reply, reminder and printer relies on."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.hostile import HUGE, UNSAFE, texts

from todoplan.texts import one_line, plural, printable


@given(texts)
def test_printable_text_holds_nothing_unsafe(text):
    """No control but the newline, no bidi control, no tag character, no half pair is left."""
    assert not UNSAFE.search(printable(text))


@given(texts)
def test_cleaning_twice_changes_nothing(text):
    """Both cleaners are idempotent: what a removal joins together is no new sequence."""
    assert printable(printable(text)) == printable(text)
    assert one_line(one_line(text)) == one_line(text)


@given(texts)
def test_one_line_is_one_line(text):
    """No break, no double space, no space at the ends, by anyone's reckoning."""
    line = one_line(text)
    assert len(line.splitlines()) <= 1
    assert line == " ".join(line.split())


@given(st.text("abcXYZ 019.,:;-[]()<>&\u00e4\u4f60\u0301\u200d\U0001f600\n", max_size=40))
def test_honest_text_comes_through_whole(text):
    """Letters of any script, marks, joiners, emoji, punctuation and newlines are kept."""
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
    """A terminal sequence takes its payload along; one without an end loses only its introducer."""
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
    """The whole range is taken out, and its neighbours in the text are not."""
    for point in range(first, last + 1):
        assert printable(f"\u00e4{chr(point)}\u00f6") == "\u00e4\u00f6"


@pytest.mark.parametrize("text", HUGE, ids=range(len(HUGE)))
def test_a_million_characters_are_cleaned(text):
    """Texts made for regular expressions that go back come through like any other."""
    assert not UNSAFE.search(one_line(text))


def test_a_count_has_its_noun_in_the_singular_or_the_plural():
    """Only one thing is singular, and a noun may have a plural of its own."""
    assert [plural(count, "plan") for count in (0, 1, 2)] == ["0 plans", "1 plan", "2 plans"]
    assert [plural(count, "entry", "entries") for count in (1, 2)] == ["1 entry", "2 entries"]
