"""Opening recordings, reading them line by line, and the depth of JSON from its bytes."""

import io
import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.recorded import lines_file

from todoplan.errors import ReadError
from todoplan.transcripts.calls import BadLine
from todoplan.transcripts.files import (
    DEEPEST,
    ByteStream,
    Nesting,
    PhysicalLine,
    Source,
    decode_line,
    line_records,
    no_progress,
    text_lines,
)


class _BrokenDisk(io.BytesIO):
    def read(self, size=-1):
        raise OSError(5, "Input/output error")


@pytest.mark.parametrize("name", ["missing.jsonl", "", "bad\0name"])
def test_what_cannot_be_opened_or_read_is_a_read_error_with_the_file(tmp_path, name):
    """A missing file, a directory, an impossible name and a failing disk are told in one line."""
    path = tmp_path / name
    with pytest.raises(ReadError, match="cannot read") as caught, Source(path).open():
        pass
    assert caught.value.data["file"] == str(path)
    assert "\n" not in str(caught.value)
    stream = ByteStream(_BrokenDisk(), path, no_progress)
    with pytest.raises(ReadError, match="Input/output error"):
        stream.read(1)


@pytest.mark.parametrize("size", [0, 10, 300_000, 1_000_000])
def test_every_byte_is_told_once(tmp_path, size):
    """The counts that are told add up to the size of the file."""
    path = tmp_path / "f"
    path.write_bytes(b"x" * size)
    told = []
    with Source(path, on_bytes=told.append).open() as stream:
        while stream.read(1000):
            pass
    assert sum(told) == size


def _read(path, **options):
    return list(line_records(Source(path, **options)))


NOT_UTF8 = "not UTF-8; read with the bad bytes replaced"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        # A bad line has its number. Blank lines count but say nothing.
        (
            [{"a": 1}, "oops", "", '{"b": 2}{"c": 3}', "[1]", {"d": 4}],
            [
                *[(1, {"a": 1}), (2, "not JSON: Expecting value"), (4, {"b": 2}), (4, {"c": 3})],
                *[(5, "a JSON value that is not an object"), (6, {"d": 4})],
            ],
        ),
        # A byte order mark and line ends of Windows are no matter.
        ([b'\xef\xbb\xbf{"a": 1}\r', b'{"b": 2}\r'], [(1, {"a": 1}), (2, {"b": 2})]),
        # Bytes that are no UTF-8 are replaced and told.
        ([b'{"a": "x\xffy"}'], [(1, NOT_UTF8), (1, {"a": "x\ufffdy"})]),
        # A file that ends within a line gives the lines before, and a note; a whole one gives all.
        ([{"a": 1}, b'{"b": \b'], [(1, {"a": 1}), (2, "cut: the recording ends inside")]),
        ([{"a": 1}, b'{"b": 2}\b'], [(1, {"a": 1}), (2, {"b": 2})]),
    ],
)
def test_good_lines_around_bad_ones_are_all_read(tmp_path, lines, expected):
    """A bad line is a value with its number and a reason. A backspace is where a file ends."""
    path = lines_file(tmp_path, *lines)
    path.write_bytes(path.read_bytes().removesuffix(b"\b\n"))
    found = _read(path)
    assert [one.line for one in found] == [line for line, _ in expected]
    for one, (_, value) in zip(found, expected, strict=True):
        assert one.reason.startswith(value) if isinstance(one, BadLine) else one.value == value


def test_an_overlong_line_is_passed_over_in_pieces(tmp_path):
    """A line over the limit is a bad line; one of just the limit is read; so are those after."""
    long = {"a": "x" * 3_000_000}
    path = lines_file(tmp_path, {"a": 1}, long, {"b": 2})
    kept = _read(path, limit=100)
    assert [one.line for one in kept] == [1, 2, 3]
    assert kept[1] == BadLine(2, "it is longer than 100 bytes", too_long=True)
    assert len(_read(path, limit=len(json.dumps(long)))) == 3
    path.write_bytes(b"x" * 200)
    assert _read(path, limit=100) == [BadLine(1, "it is longer than 100 bytes", too_long=True)]


def test_unwanted_lines_are_not_parsed_but_broken_ones_are_noticed(tmp_path):
    """What is not wanted is passed over, unless it cannot be an object at all."""
    path = lines_file(tmp_path, {"a": 1}, "oops", '{"cut": ', {"want": 1})
    found = list(line_records(Source(path), lambda raw: b"want" in raw))
    assert [one.line for one in found] == [2, 3, 4]
    assert isinstance(found[0], BadLine)
    assert isinstance(found[1], BadLine)


def test_text_lines_come_with_their_numbers(tmp_path):
    """Text is read line by line; bad bytes and long lines are told."""
    path = lines_file(tmp_path, "one", "", b"t\xffo", "x" * 60)
    found = list(text_lines(Source(path, limit=50)))
    assert found[0] == (1, "one")
    assert isinstance(found[1], BadLine)
    assert found[2] == (3, "t\ufffdo")
    assert isinstance(found[3], BadLine)


@given(st.binary(max_size=60))
def test_no_bytes_raise(raw):
    """Any line gives records and bad lines, never an error."""
    for found in decode_line(PhysicalLine(7, raw)):
        assert found.line == 7


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
    _feed("[" + ",".join(["[]"] * 2 * DEEPEST) + "]", 65536)  # wide is not deep


@example('a"[[', 3)
@given(st.text('"\\[', max_size=12), st.integers(1, 4))
def test_strings_cut_anywhere_are_followed(text, size):
    """A chunk may end inside a string or an escape."""
    _feed("[" * (DEEPEST - 1) + json.dumps(text) + "[" + "]" * DEEPEST, size)
