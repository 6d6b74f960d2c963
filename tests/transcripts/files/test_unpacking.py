"""Recordings that are packed, or in UTF-16."""

import bz2
import gzip
import json
import lzma
import sys
import zipfile
from functools import partial
from random import Random

import pytest

from todoplan.errors import ReadError
from todoplan.transcripts.files import Source, line_records
from todoplan.transcripts.reading import read

TEXT = '{"a": "x\u2028y"}\n{"b": 2}\n'
VALUES = [{"a": "x\u2028y"}, {"b": 2}]


def zipped(path, compression=zipfile.ZIP_STORED, **members):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, text in members.items():
            archive.writestr(name.replace("_", "."), text)
    return path


def values(path):
    return [record.value for record in line_records(Source(path))]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le-bom"])
@pytest.mark.parametrize("packing", ["plain", "gzip", "gzip twice", "zip"])
def test_the_same_lines_in_any_wrapping(tmp_path, packing, encoding):
    """By how the file begins, whatever it is called; U+2028 ends no line."""
    raw = "\ufeff".encode("utf-16-be") + TEXT.encode("utf-16-be")
    raw = raw if encoding == "utf-16-le-bom" else TEXT.encode(encoding)
    path = tmp_path / "recording"
    if packing == "zip":
        zipped(path, notes_txt="", session_jsonl=raw)
    else:
        for _ in range(("plain", "gzip", "gzip twice").index(packing)):
            raw = gzip.compress(raw)
        path.write_bytes(raw)
    assert values(path) == VALUES


@pytest.mark.parametrize(
    "compress", [gzip.compress, partial(bz2.compress, compresslevel=1), lzma.compress]
)
def test_a_package_that_is_cut_is_read_as_far_as_it_goes(tmp_path, compress):
    """The last line is reported as unfinished; nothing before it is lost."""
    draw = Random(7)  # noqa: S311 - numbers that do not compress
    lines = [json.dumps({"n": number, "x": draw.random()}) for number in range(9_000)]
    whole = compress("\n".join(lines).encode())
    (tmp_path / "x").write_bytes(whole[: len(whole) // 2])
    *records, cut = line_records(Source(tmp_path / "x"))
    assert [record.value["n"] for record in records] == [*range(len(records))]
    assert len(records) > 1_500
    assert cut.unfinished


def test_a_packing_that_this_python_lacks_is_named(tmp_path, monkeypatch):
    """Some builds lack a module, and zstd is in none before Python 3.14."""
    monkeypatch.setitem(sys.modules, "compression.zstd", None)
    monkeypatch.setitem(sys.modules, "lzma", None)
    for raw, module in (
        (b"\x28\xb5\x2f\xfd\0", "compression.zstd"),
        (lzma.compress(b"{}"), "lzma"),
    ):
        (tmp_path / "x").write_bytes(raw)
        with pytest.raises(ReadError, match=f"this Python has no {module}; unpack the file first"):
            values(tmp_path / "x")


def test_a_document_is_read_from_a_package_too(tmp_path):
    """Documents are read in pieces, not in lines."""
    call = {"name": "write_todos", "args": {"todos": []}, "id": "1"}
    raw = json.dumps([{"type": "ai", "content": "", "tool_calls": [call]}], indent=1)
    for name, data in (("x.gz", gzip.compress(raw.encode())), ("y", raw.encode("utf-16"))):
        (tmp_path / name).write_bytes(data)
        assert [item.tool for item in read(tmp_path / name)] == ["write_todos"]


def test_a_package_that_is_cut_or_broken_is_a_read_error(tmp_path):
    """In one line, with the file. So is an archive without one recording, or with several."""
    several = {"a_jsonl": "{}", "b_jsonl": "{}"}
    for members, reason in (({}, "no recording"), (several, "2 files that may be recordings")):
        with pytest.raises(ReadError, match=f"holds {reason}: unpack"):
            values(zipped(tmp_path / "x.zip", **members))
    path = tmp_path / "x"
    whole = gzip.compress(TEXT.encode() * 9)
    archive = zipped(tmp_path / "y", a_jsonl=TEXT).read_bytes()
    # A wrong checksum, a broken packing, and a name that says it is UTF-8.
    sums, packed, name = (
        zipped(tmp_path / "y", compression, **{member: TEXT}).read_bytes().replace(old, new)
        for compression, member, old, new in (
            (zipfile.ZIP_STORED, "a_jsonl", b'"b"', b'"c"'),
            (zipfile.ZIP_LZMA, "a_jsonl", b"\x5d\0\0", b"\xff\0\0"),
            (zipfile.ZIP_STORED, "\xe9_jsonl", b"\xc3\xa9", b"\xff\xff"),
        )
    )
    broken = (whole[:-8] + b"\0" * 8, b"\x1f\x8b\0\0", b"\x1f\x8b", archive[:50])
    for raw in (*broken, sums, packed, name):
        path.write_bytes(raw)
        with pytest.raises(ReadError, match=f"^cannot read {path}") as caught:
            values(path)
        assert caught.value.data["file"] == str(path)


def test_a_package_in_too_many_others_is_a_read_error(tmp_path):
    """A package may even hold itself: there is no end to unpacking it."""
    raw = TEXT.encode()
    for _ in range(600):
        raw = gzip.compress(raw)
    (tmp_path / "x").write_bytes(raw)
    with pytest.raises(ReadError, match="packed 8 times or more"):
        values(tmp_path / "x")
