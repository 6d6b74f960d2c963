"""Which files are read."""

from pathlib import Path

import pytest

from todoplan.transcripts.output import Input, expand, sample_input
from todoplan.transcripts.reading import detect


def test_a_file_stands_for_itself(tmp_path):
    """Also one that is not there, or of another kind."""
    assert list(expand([tmp_path / "x.csv"])) == [
        Input(tmp_path / "x.csv", str(tmp_path / "x.csv"))
    ]


def test_a_directory_stands_for_what_may_be_recordings(tmp_path):
    """
    Files of a few kinds at any depth, in order; directories with such names are none.

    What tools keep for themselves is not walked: repositories, packages, virtual environments.
    """
    passed_over = (".git/x.json", "a/node_modules/x.md", "env/x.json", "env/pyvenv.cfg", "x.gz")
    packed = ("p.jsonl.gz", "q.zip", "r.ndjson", "s.log")
    names = ("b.jsonl", "a/c.JSON", "a/b/x.md", "z.csv", "dir.json/x.txt")
    for name in (*names, *passed_over, *packed):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    found = list(expand([tmp_path]))
    names = [source.path.relative_to(tmp_path).as_posix() for source in found]
    assert names == ["b.jsonl", *packed, "a/c.JSON", "a/b/x.md"]
    assert not any(source.named for source in found)


def test_a_loop_of_links_ends(tmp_path):
    """Linked directories are not followed, broken links not read."""
    (tmp_path / "x.jsonl").touch()
    try:
        (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
        (tmp_path / "broken.jsonl").symlink_to(tmp_path / "nowhere")
    except OSError:
        pytest.skip("links cannot be made here")
    assert [source.path.name for source in expand([tmp_path])] == ["x.jsonl"]


def test_sizes_are_in_bytes(tmp_path):
    """What is not there has none."""
    path = tmp_path / "x"
    path.write_bytes(b"12345")
    assert (Input(path, "x").size, Input(Path("nowhere"), "x").size) == (5, 0)


def test_the_sample_comes_with_the_package():
    """It is a recording in a known dialect, with lines of moderate size."""
    with sample_input() as source:
        assert detect(source.path) == "claude-code"
        assert source.size < 40_000
        assert source.label == "sample.jsonl"
