"""Opening recordings."""

import io
from pathlib import Path

import pytest

from todoplan.errors import ReadError
from todoplan.transcripts.files import ByteStream, Source, no_progress


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
