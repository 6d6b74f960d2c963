"""Which files are read, runs over them, and what goes wrong in them."""

import os
import sys
from pathlib import Path

import pytest

from todoplan.errors import ReadError
from todoplan.transcripts.output import Input, Run, expand, open_replay, sample_input
from todoplan.transcripts.reading import detect
from todoplan.transcripts.replay import AUDIT, Fold, Replay


def test_a_directory_stands_for_what_may_be_recordings(tmp_path):
    """
    Files of a few kinds at any depth, in order; directories with such names are none. What tools
    keep for themselves is not walked: repositories, packages, virtual environments. A file stands
    for itself, also one that is not there, or of another kind.
    """
    passed_over = (".git/x.json", "a/node_modules/x.md", "env/x.json", "env/pyvenv.cfg", "x.gz")
    packed = ("p.jsonl.gz", "q.zip", "r.ndjson", "s.log")
    names = ("b.jsonl", "a/c.JSON", "a/b/x.md", "z.csv", "dir.json/x.txt")
    for name in (*names, *passed_over, *packed):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"12345")
    found = list(expand([tmp_path]))
    names = [source.path.relative_to(tmp_path).as_posix() for source in found]
    assert names == ["b.jsonl", *packed, "a/c.JSON", "a/b/x.md"]
    assert {(source.named, source.size) for source in found} == {(False, 5)}
    missing = tmp_path / "x.csv"
    assert list(expand([missing])) == [Input(missing, str(missing))]
    assert Input(missing, "x").size == 0


def test_a_loop_of_links_ends(tmp_path):
    """Linked directories are not followed, broken links not read."""
    (tmp_path / "x.jsonl").touch()
    try:
        (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
        (tmp_path / "broken.jsonl").symlink_to(tmp_path / "nowhere")
    except OSError:
        pytest.skip("links cannot be made here")
    assert [source.path.name for source in expand([tmp_path])] == ["x.jsonl"]


def test_the_sample_comes_with_the_package():
    """It is a recording in a known dialect, with lines of moderate size."""
    with sample_input() as source:
        assert detect(source.path) == "claude-code"
        assert source.size < 40_000
        assert source.label == "sample.jsonl"


def consume(replay):
    """Consume a replay."""
    for _ in replay.steps():
        pass


def source(path, *, named=True):
    """A file to read."""
    return Input(path, str(path), named)


def test_a_disk_that_fails_ends_one_replay(screen, complaints):
    """What was read counts, the reason is told, the exit code is 2."""

    def failing():
        msg = "cannot read x.jsonl: the disk is on fire"
        raise ReadError(msg)
        yield

    replay = Replay("x.jsonl", "codex", Fold(), failing())
    run = Run(screen, AUDIT)
    run.consume(replay, consume, Path("x.jsonl"))
    assert run.exit_code == 2
    assert complaints(screen) == "todoplan: cannot read x.jsonl: the disk is on fire\n"


@pytest.mark.parametrize("named", [True, False])
def test_a_missing_reader_is_no_skipped_file(screen, complaints, tmp_path, monkeypatch, named):
    """Without ijson a document is unreadable wherever it stands, and pip is named."""
    monkeypatch.setitem(sys.modules, "ijson", None)
    path = tmp_path / "x.json"
    path.write_text('[{"role": "user", "content": "hi"}]', encoding="utf-8")
    run = Run(screen, AUDIT)
    run.replay_all([source(path, named=named)], consume)
    assert run.exit_code == 2
    assert "pip install 'todoplan[cli]'" in complaints(screen)
    assert not run.skipped


def test_a_pipe_is_refused_at_once(tmp_path):
    """It could not be read twice, and might never end."""
    path = tmp_path / "pipe.jsonl"
    try:
        os.mkfifo(path)
    except (AttributeError, OSError):
        pytest.skip("pipes cannot be made here")
    with pytest.raises(ReadError, match="not a regular file"):
        open_replay(source(path), AUDIT, None, lambda _: None)


def test_progress_reaches_the_end_also_over_files_that_fail(
    terminal, text, tmp_path, recording, todo
):
    """The bar counts the bytes of every file."""
    junk = tmp_path / "junk.txt"
    junk.write_bytes(b"junk " * 300_000)
    run = Run(terminal, AUDIT)
    run.replay_all([source(recording(todo(1, "x"))), source(junk)], consume)
    assert "100%" in text(terminal)
    assert [unread.file for unread in run.unreadable] == [str(junk)]


def test_a_replay_is_consumed_once(recording, todo):
    """Looking ahead loses no step."""
    path = recording(todo(1, "~"), todo(2, "x"))
    replay = open_replay(source(path, named=False), AUDIT, None, lambda _: None)
    assert [step.line for step in replay.steps()] == [1, 3]
    assert list(replay.steps()) == []
    assert (replay.calls, replay.has_errors) == (2, False)
