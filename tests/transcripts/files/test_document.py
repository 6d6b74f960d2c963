"""Recordings that are one JSON document."""

import io
import json
import re
import sys

import pytest
from support.recorded import document_file

from todoplan.errors import MissingExtraError
from todoplan.transcripts.calls import BadLine
from todoplan.transcripts.files import (
    DEEPEST,
    Source,
    Utf8Stream,
    document_records,
    find_list,
)


def _read(path, prefix="messages.item"):
    return list(document_records(Source(path, "document", prefix)))


def _raw(tmp_path, raw):
    path = tmp_path / "d.json"
    path.write_bytes(raw)
    return path


# What stands around the key `messages`, and the keys of other lists.
OF_MESSAGES = "values values.values state outputs output inputs input data"
PATHS = "history trajectory events conversation requests steps data"


@pytest.mark.parametrize(
    "path",
    [
        *("", "messages", *(f"{place}.messages" for place in OF_MESSAGES.split())),
        *(*PATHS.split(), "resourceSpans.item.scopeSpans.item.spans"),
    ],
)
def test_the_list_of_messages_is_found(tmp_path, path):
    """The first list at a known place is the list of messages."""
    value = [{"a": 1}]
    for key in reversed(path.split(".") if path else []):
        value = [value] if key == "item" else {"info": {"x": [1]}, key: value}
    assert find_list(Source(document_file(tmp_path, value))) == f"{path}.item".lstrip(".")


@pytest.mark.parametrize(
    "raw",
    [b'{"other": [{"messages": []}]}', b"{}", b"{oops", b"[" * (DEEPEST + 1), b'{"a": 1'],
)
def test_a_document_without_a_list_has_none(tmp_path, raw):
    """Also one that is broken before its list."""
    assert find_list(Source(_raw(tmp_path, raw))) is None


def test_messages_are_numbered_and_a_list_within_the_list_is_opened(tmp_path):
    """Numbers count from 1; what is no object is a bad line."""
    path = document_file(tmp_path, {"messages": [{"a": 1}, [{"b": 2}, {"c": 3}], "x"]})
    found = _read(path)
    assert [one.line for one in found] == [1, 2, 2, 3]
    assert isinstance(found[-1], BadLine)


def test_numbers_can_be_written_as_json_again(tmp_path):
    """Ijson makes decimals of numbers with a fraction unless it is told not to."""
    (record,) = _read(document_file(tmp_path, {"messages": [{"a": 1, "b": 1.5, "c": 1e300}]}))
    assert json.loads(json.dumps(record.value)) == {"a": 1, "b": 1.5, "c": 1e300}


@pytest.mark.parametrize(
    ("rest", "reason"),
    [
        (b', {"b": "cut h', "cut"),
        (b", {oops", "not JSON"),
        (b", [" + b"[" * DEEPEST, "nested more than"),
        (b', "\\udc00"', "not JSON|cut"),
    ],
)
def test_a_broken_document_gives_what_stands_before(tmp_path, rest, reason):
    """The messages before the break are read, and the break is told in one line."""
    found = _read(_raw(tmp_path, b'{"messages": [{"a": 1}' + b" " * 70_000 + rest))
    assert found[0].value == {"a": 1}
    assert found[1].line == 2
    assert re.search(reason, found[1].reason)
    assert "\n" not in found[1].reason


def test_a_mark_and_bad_bytes_do_not_stop_the_reading(tmp_path):
    """A byte order mark is passed over, bad bytes are replaced and told at the end."""
    path = _raw(tmp_path, b'\xef\xbb\xbf{"messages": [{"a": "x\xffy\xc3\xa4"}]}\xc3')
    record, *bad = _read(path)
    assert record.value["a"][0] == "x"
    assert record.value["a"].endswith("yä")
    assert any("not UTF-8" in one.reason for one in bad)


def test_characters_cut_by_a_chunk_are_whole(tmp_path):
    """A character on the edge of two chunks is read as one; an empty read reads nothing."""
    text = json.dumps(["ä€😀" * 10], ensure_ascii=False)
    with Source(_raw(tmp_path, text.encode())).open() as stream:
        clean = Utf8Stream(stream)
        assert clean.read(0) == b""
        assert b"".join(iter(lambda: clean.read(1), b"")).decode() == text
        assert not clean.repaired


class _Counting:
    """A stream that counts how often it is read."""

    def __init__(self, raw):
        self._file, self.sizes = io.BytesIO(raw), []

    def read(self, size):
        self.sizes.append(size)
        return self._file.read(size)


def test_a_long_string_is_handed_over_in_pieces_that_double():
    """A lexer scans an unfinished string anew with each piece: pieces of one size are quadratic."""
    stream = _Counting(b'["' + b"x" * 1_000_000 + b'"]')
    clean = Utf8Stream(stream)
    assert sum(map(len, iter(lambda: clean.read(1000), b""))) == 1_000_004
    assert len(stream.sizes) < 15


def test_many_strings_are_handed_over_in_pieces_of_one_size():
    """Memory stays flat where no string is long, wherever the pieces are cut."""
    stream = _Counting(json.dumps(["xy" * 40] * 10_000).encode())
    clean = Utf8Stream(stream)
    while clean.read(1000):
        pass
    assert set(stream.sizes) == {1000}


def test_without_ijson_the_command_to_install_it_is_told(tmp_path, monkeypatch):
    """The extra that is missing is named."""
    monkeypatch.setitem(sys.modules, "ijson", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'todoplan\[cli\]'"):
        find_list(Source(document_file(tmp_path, [])))
