"""Opening recordings, reading them line by line, and the depth of JSON from its bytes."""

import io
import json
from pathlib import Path

import pytest
from hypothesis import given
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
def test_what_cannot_be_opened_is_a_read_error_with_the_file(tmp_path, name):
    """A missing file, a directory and an impossible name are told in one line."""
    path = tmp_path / name
    with pytest.raises(ReadError, match="cannot read") as caught, Source(path).open():
        pass
    assert caught.value.data["file"] == str(path)
    assert "\n" not in str(caught.value)


def test_a_disk_that_fails_is_a_read_error():
    """An error while reading is a `ReadError` too."""
    stream = ByteStream(_BrokenDisk(), Path("x.jsonl"), no_progress)
    with pytest.raises(ReadError, match=r"x\.jsonl: Input/output error"):
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


def test_good_lines_around_bad_ones_are_all_read(tmp_path):
    """A bad line is a value with its number; blank lines count but say nothing."""
    path = lines_file(tmp_path, {"a": 1}, "not json", "", '{"b": 2}{"c": 3}', "[1]", {"d": 4})
    found = _read(path)
    good = [(one.line, one.value) for one in found if not isinstance(one, BadLine)]
    bad = [(one.line, one.reason) for one in found if isinstance(one, BadLine)]
    assert good == [(1, {"a": 1}), (4, {"b": 2}), (4, {"c": 3}), (6, {"d": 4})]
    assert [line for line, _ in bad] == [2, 5]
    assert bad[0][1].startswith("not JSON: Expecting value")
    assert "not an object" in bad[1][1]


def test_a_byte_order_mark_and_windows_line_ends_are_no_matter(tmp_path):
    """A BOM at the beginning and CRLF are passed over."""
    path = lines_file(tmp_path, b'\xef\xbb\xbf{"a": 1}\r', b'{"b": 2}\r')
    assert [one.value for one in _read(path)] == [{"a": 1}, {"b": 2}]


def test_a_cut_last_line_is_told_after_what_was_read(tmp_path):
    """A file cut inside its last line gives the lines before, and a note; a whole one gives all."""
    path = tmp_path / "cut.jsonl"
    path.write_bytes(b'{"a": 1}\n{"b": ')
    record, bad = _read(path)
    assert record.value == {"a": 1}
    assert bad.line == 2
    assert bad.reason.startswith("cut")
    path.write_bytes(b'{"a": 1}\n{"b": 2}')
    assert len(_read(path)) == 2


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


def test_bytes_that_are_no_utf8_are_replaced_and_told(tmp_path):
    """An invalid byte costs no line."""
    path = lines_file(tmp_path, b'{"a": "x\xffy"}')
    bad, record = _read(path)
    assert "not UTF-8" in bad.reason
    assert record.value == {"a": "x\ufffdy"}


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


def test_many_brackets_side_by_side_are_not_deep():
    """Wide is not deep."""
    _feed("[" + ",".join(["[]"] * 10 * DEEPEST) + "]", 65536)


@given(st.text('"\\[', max_size=12))
def test_strings_cut_anywhere_are_followed(text):
    """A chunk may end inside a string or an escape."""
    _feed("[" * (DEEPEST - 1) + json.dumps(text) + "[" + "]" * DEEPEST, 1)
