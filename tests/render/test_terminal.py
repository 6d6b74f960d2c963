"""Consoles, complaints, the progress bar; columns, cuts and wraps."""

import io
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text

from todoplan.render.terminal import Screen, columns, cut, hanging, room, wrapped

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


def test_a_complaint_is_one_clean_line(screen, text, complaints):
    """It goes to stderr and nothing else does."""
    screen.complain("bad \x1b[31m\nfile: [bold]x[/bold]")
    assert complaints(screen) == "todoplan: bad file: [bold]x[/bold]\n"
    assert text(screen) == ""


def test_a_complaint_does_not_run_into_the_bar(terminal, text, complaints):
    """On a terminal it stands on a line of its own, above the bar."""
    with terminal.ticker(2_000_000):
        terminal.complain("no such file")
    assert "\x1b[2Ktodoplan: no such file\nreading" in text(terminal)
    assert complaints(terminal) == ""


def test_rows_are_neither_wrapped_nor_marked_up(screen, text):
    """Of however many rows, each is one line."""
    rows = [f"[red]{number}[/red] " + "x" * 100 for number in range(1200)]
    screen.show(map(Text, rows))
    assert text(screen) == "".join(f"{row}\n" for row in rows)


def test_nothing_to_show_is_no_line(screen, text):
    """No rows, no output."""
    screen.show(())
    assert text(screen) == ""


@pytest.mark.parametrize(
    ("added", "reached", "shown"), [(500_000, None, "25%"), (1, 2_000_000, "100%")]
)
def test_a_bar_is_seen_on_a_terminal_and_leaves_no_trace(terminal, text, added, reached, shown):
    """It ends where the bytes end, is wiped out, and gives the cursor back."""
    with terminal.ticker(2_000_000) as ticker:
        ticker.add(added)
        terminal.show([Text("row")])
        if reached:
            ticker.reach(reached)
    written = text(terminal)
    assert "row\nreading" in written
    assert f"{shown}\x1b[0m\n\x1b[?25h\r\x1b[1A\x1b[2K" in written


@pytest.mark.parametrize("total", [0, 999_999])
def test_what_is_read_at_once_has_no_bar(terminal, text, total):
    """A flicker helps nobody."""
    with terminal.ticker(total) as ticker:
        ticker.add(total)
        ticker.reach(total)
    assert text(terminal) == ""


def test_there_is_no_bar_without_a_terminal(screen, text, complaints):
    """Neither on stdout nor on stderr."""
    with screen.ticker(2_000_000) as ticker:
        ticker.add(1)
    assert text(screen) + complaints(screen) == ""


def test_the_bar_goes_to_stderr_if_only_that_is_a_terminal(screen, terminal, text, complaints):
    """So that redirected output holds nothing but output."""
    mixed = Screen(screen.out, terminal.err)
    with mixed.ticker(2_000_000) as ticker:
        ticker.add(1)
    assert text(mixed) == ""
    assert "reading" in complaints(mixed)


def test_a_closed_pipe_is_an_error_of_its_own():
    """The console does not exit by itself."""
    reader, writer = os.pipe()
    os.close(reader)
    screen = Screen()
    with os.fdopen(writer, "wb", buffering=0) as raw:
        screen.out.file = io.TextIOWrapper(raw, write_through=True)
        with pytest.raises(BrokenPipeError):
            screen.write("words")
