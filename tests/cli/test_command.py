"""The command as installed, in fresh processes: what CliRunner cannot show."""

import json
import os
import signal
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from todoplan import Task, plan_of
from todoplan.codec import dump_plan

PATIENCE = 600  # seconds until a process that hangs is a failure: no test hangs on speed


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["replay", "--sample"], b"8 planning calls"),
        (["schema", "todos"], b'"write_todos"'),
        (["--version"], b"."),
        (["--help"], b"Change the plan:"),
    ],
)
def test_a_fresh_process_answers(command, arguments, shown):
    """Each command that needs no file works at once, without ANSI codes."""
    done = command(*arguments)
    assert (done.returncode, done.stderr) == (0, b"")
    assert shown in done.stdout
    assert b"\x1b" not in done.stdout


@pytest.mark.slow
def test_a_fresh_process_reads_files(command, recording, todo, tmp_path):
    """So do those that read; exit codes arrive."""
    path = recording(todo(1, "~~"))
    assert json.loads(command("stats", path, "--json").stdout)["totals"]["calls"] == 1
    assert command("replay", path, "--policy", "strict").returncode == 1
    plan = tmp_path / "plan.json"
    plan.write_text(dump_plan(plan_of([Task("1", "Sow")])), encoding="utf-8")
    assert b"[ ] 1 Sow" in command("show", plan).stdout
    missing = command("show", tmp_path / "missing.json")
    assert (missing.returncode, missing.stderr.count(b"\n")) == (2, 1)


@pytest.mark.slow
def test_the_script_is_the_module(start):
    """`todoplan` and `python -m todoplan` are the same function."""
    (script,) = entry_points(group="console_scripts", name="todoplan")
    assert script.value == "todoplan.__main__:main"
    beside = Path(sys.executable).with_name("todoplan")
    with start(beside, "replay", "--sample") as process:
        stdout, _ = process.communicate(timeout=PATIENCE)
    assert b"8 planning calls" in stdout


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["replay", "--sample"], ["replay", "--sample", "--json"]])
def test_a_closed_pipe_ends_quietly(command, arguments):
    """As under `| head`: nothing on stderr, and no exit code that means something else."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = command(*arguments, stdout=writer)
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT to send to a child")
def test_ctrl_c_ends_quietly(start, recording, todo):
    """An interrupted replay leaves no traceback: here one that would read for ever."""
    code = (
        "import sys, time\n"
        "from todoplan.transcripts.files import ByteStream\n"
        "def read_for_ever(stream, size):\n"
        "    print('reading', flush=True)\n"
        "    time.sleep(3600)\n"
        "ByteStream.readline = read_for_ever\n"
        "from todoplan.__main__ import main; main()"
    )
    with start("-c", code, "replay", "--json", recording(todo(1, "x"))) as process:
        while b"reading" not in process.stdout.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=PATIENCE)
    assert (process.returncode, stderr) == (130, b"")


@pytest.mark.slow
def test_any_text_can_be_printed_in_any_encoding(command, recording, todo):
    """What an encoding lacks is replaced."""
    path = recording(todo(1, "~", "Bohnen säen 豆"))
    done = command("replay", path, PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"Bohnen s?en ?" in done.stdout
    assert "Bohnen säen 豆".encode() in command("replay", path, PYTHONIOENCODING="utf-8").stdout


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_a_missing_extra_is_one_line(start, missing):
    """Without the extra, the line names the pip command."""
    code = (
        f"import sys; sys.modules[{missing!r}] = None\n"
        "sys.argv = ['todoplan', 'log']\n"
        "from todoplan.__main__ import main; main()"
    )
    with start("-c", code) as process:
        _, stderr = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2
    assert stderr.count(b"\n") == 1
    assert b"pip install 'todoplan[cli]'" in stderr
