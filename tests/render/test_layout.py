"""Columns, cuts and wraps."""

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text

from todoplan.render.terminal import columns, cut, hanging, room, wrapped

WORDS = st.text(alphabet="ab 豆é", max_size=80)


def test_there_is_endless_room_without_a_terminal(screen, terminal):
    """On a terminal the rest of its width, and never less than 20 columns."""
    assert room(10, screen.width) is None
    assert room(10, terminal.width) == 60
    assert room(55, terminal.width) == 20


def test_a_cut_needs_a_width():
    """Without one, the text stays whole."""
    assert cut("x" * 500, None) == "x" * 500
    assert cut("Sow the beans", 8) == "Sow the…"


@given(WORDS)
def test_wrapping_loses_no_word(words):
    """Every line fits, and joined they give the text."""
    lines = list(wrapped(words, 20))
    assert all(cell_len(line) <= 20 for line in lines)
    assert "".join(lines).replace(" ", "") == words.replace(" ", "")
    assert list(wrapped(words, None)) == [" ".join(words.split())]


def test_lines_hang_below_the_first():
    """The head stands before the first line only."""
    lines = hanging(Text("  head  "), ["one", "two"])
    assert [line.plain for line in lines] == ["  head  one", "        two"]


def test_columns_line_up(screen):
    """The first to the left, the others to the right."""
    rows = [("name", "calls"), ("豆", "7"), ("longest", "12345")]
    assert list(columns(rows, screen.width)) == [
        "name     calls",
        "豆           7",
        "longest  12345",
    ]


def test_names_are_cut_from_the_front_on_a_terminal(terminal):
    """Names of files differ at their ends."""
    rows = [("name", "calls"), ("a/" * 50 + "end.jsonl", "7")]
    head, row = columns(rows, terminal.width)
    assert row.startswith("…")
    assert row.endswith("/end.jsonl      7")
    assert cell_len(row) == cell_len(head) == 70
