"""A plan that is watched: on a terminal, in a pipe, by a program."""

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import time
from contextlib import suppress

import pytest
from jsonschema import Draft202012Validator
from rich.cells import cell_len
from support.json_documents import PLAN_SCHEMAS

from todoplan import Planner
from todoplan.cli import plans as stored_plans
from todoplan.cli.plans import Place
from todoplan.cli.views import watch
from todoplan.core.commands import Batch, CreateTask, UpdateTask
from todoplan.errors import StoreError
from todoplan.stores.sqlite import SqliteStore

START, DONE = UpdateTask("1", status="in_progress"), UpdateTask("1", status="completed")
AGAIN = re.compile(r"\r(\x1b\[2K|\x1b\[1A)*")  # from where a drawing is made anew
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
PATIENCE = 60


@pytest.fixture
def path(tmp_path):
    """A file with a plan of two tasks."""
    file = tmp_path / "plans.db"
    Planner(SqliteStore(file), "garden").apply(CreateTask("Sow"))
    Planner(SqliteStore(file), "garden").apply(CreateTask("Reap", blocked_by=("1",)))
    return file


@pytest.fixture
def acting(path, monkeypatch):
    """Have others give commands while the plan is watched, one whenever it is read; then ctrl-c."""

    def begin(*commands, ends_by=KeyboardInterrupt):
        coming = iter(commands)

        class Watched(SqliteStore):
            opened = False

            def entries_since(self, plan_id, revision):
                if not self.opened:  # the planner reads the plan that is watched
                    self.opened = True
                    return super().entries_since(plan_id, revision)
                command = next(coming, None)
                if command is None:
                    raise ends_by
                Planner(SqliteStore(path), plan_id).apply(command, actor="bob")
                return super().entries_since(plan_id, revision)

            wait_for_change = None

        monkeypatch.setattr(stored_plans, "open_store", lambda _: Watched(path))

    return begin


def test_a_pipe_gets_the_plan_and_then_a_line_for_each_change(acting, path, invoke):
    """Ctrl-C ends it, with the code of all commands."""
    acting(START, DONE)
    result = invoke("watch", "--store", path)
    assert result.exit_code == 130
    rows = result.stdout.splitlines()
    assert rows[:3] == ["  0/2 completed", "  [ ] 1 Sow", "  [ ] 2 Reap (waits for 1)"]
    told = [re.sub(r"\d{4}-\S+ \S+", "TIME", row).split(maxsplit=4) for row in rows[3:]]
    assert told == [
        ["4", "TIME", "bob", "UpdateTask", "started #1 Sow"],
        ["5", "TIME", "bob", "UpdateTask", "completed #1 Sow"],
    ]


def test_a_program_gets_a_document_a_line(acting, path, invoke):
    """The first tells how the plan stands."""
    acting(START, DONE)
    result = invoke("watch", "--store", path, "--json")
    told = [json.loads(row) for row in result.stdout.splitlines()]
    for data in told:
        Draft202012Validator(PLAN_SCHEMAS["todoplan/watch"]).validate(data)
    assert [data["revision"] for data in told] == [3, 4, 5]
    assert [data["ready"] for data in told] == [["1"], [], ["2"]]
    assert told[0]["entry"] is None
    assert told[1]["entry"]["actor"] == "bob"


@pytest.fixture
def watched(acting, path, terminal):
    """Watch on a terminal while others give these commands, until ctrl-c."""

    def begin(*commands):
        acting(*commands)
        with pytest.raises(KeyboardInterrupt):
            watch(Place(str(path)), terminal, timeout=None, as_json=False)

    return begin


def rows_of(output):
    """All rows of all drawings, without colours."""
    return ESCAPES.sub("", AGAIN.sub("\n", output)).split("\n")


def drawn(screen, text):
    """The rows of the last drawing, and those of all."""
    rows = rows_of(text(screen))
    last = max(place for place, row in enumerate(rows) if "garden, revision" in row)
    return rows[last:], rows


def test_a_terminal_shows_the_plan_and_the_last_changes(watched, terminal, text):
    """Each change draws it anew."""
    watched(START, DONE)
    last, rows = drawn(terminal, text)
    assert any("[~] 1 Sow" in row for row in rows)
    assert last[1:4] == ["  1/2 completed", "  [x] 1 Sow", "  [ ] 2 Reap"]
    assert [re.sub(r"[\d:]{8}", "TIME", row) for row in last[5:7]] == [
        "  TIME  bob  started #1 Sow",
        "  TIME  bob  completed #1 Sow",
    ]


def test_long_texts_are_wrapped_and_nothing_hostile_is_drawn(watched, terminal, text):
    """No line is wider than the terminal, no word of a task is lost, no sequence of it obeyed."""
    words = " ".join(f"word{number}" for number in range(40))
    watched(CreateTask(f"{words}\x1b[2J\x1b]0;owned\x07"), UpdateTask("1", owner="a" * 100))
    last, rows = drawn(terminal, text)
    assert all(cell_len(row) <= 70 for row in rows)
    assert "\x07" not in text(terminal)
    assert "\x1b[2J" not in text(terminal)
    assert words in " ".join(" ".join(last).split())


def test_of_a_long_plan_what_matters_now_is_drawn(watched, terminal, text):
    """What is in progress and what could be started; of the others how many they are."""
    tasks = [CreateTask(f"Bed {number}") for number in range(200)]
    done = [UpdateTask(str(number), status="completed") for number in range(3, 90)]
    late = UpdateTask("150", status="in_progress")
    watched(Batch((*tasks, *done)), late)
    last, _ = drawn(terminal, text)
    shown = [row for row in last if "[" in row]
    assert 0 < len(shown) < terminal.out.height
    # The last row of the terminal is the cursor's.
    assert len("\n".join(last).rstrip().split("\n")) == terminal.out.height - 1
    assert any("[~] 150 Bed 147" in row for row in shown)
    assert any("[ ] 1 Sow" in row for row in shown)
    assert not any("[x]" in row for row in shown)
    (rest,) = (row for row in last if "not shown" in row)
    counted = sum(map(int, re.findall(r"\d+", rest)))
    assert counted + len(shown) == 202
    assert "87 completed" in rest


def test_without_a_terminal_that_can_move_lines_are_printed(watched, terminal, text, monkeypatch):
    """As in a pipe."""
    monkeypatch.setenv("TERM", "dumb")
    watched(START)
    assert text(terminal).count("started #1 Sow") == 1


def test_it_ends_when_nothing_comes(path, invoke):
    """After so many seconds; at once for none."""
    result = invoke("watch", "--store", path, "--timeout", "0")
    assert (result.exit_code, result.stdout.count("\n")) == (0, 3)


def test_a_drawing_ends_when_nothing_comes(path, terminal, text):
    """On a terminal as in a pipe, and the plan stays drawn."""
    watch(Place(str(path)), terminal, timeout=0, as_json=False)
    assert drawn(terminal, text)[0][1:3] == ["  0/2 completed", "  [ ] 1 Sow"]


def test_what_cannot_be_watched_is_exit_2(acting, path, invoke):
    """No plan, no store, a store that fails later on."""
    assert "no plan 'house'" in invoke("watch", "--store", path, "--plan", "house").stderr
    assert invoke("watch", "--timeout", "-1", "--store", path).exit_code == 2
    acting(START, ends_by=StoreError("the disk is gone"))
    result = invoke("watch", "--store", path)
    assert (result.exit_code, result.stderr) == (2, "todoplan: the disk is gone\n")
    assert "started #1 Sow" in result.stdout


@pytest.mark.slow
def test_a_pipe_is_told_at_once_and_ctrl_c_ends_it(start, path):
    """In a process of its own, of what another process does."""
    with start("-m", "todoplan", "watch", "--store", path) as process:
        for row in (b"  0/2 completed", b"  [ ] 1 Sow", b"  [ ] 2 Reap (waits for 1)"):
            assert process.stdout.readline() == row + b"\n"
        Planner(SqliteStore(path), "garden").apply(START, actor="bob")
        assert b"started #1 Sow" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 130
        assert process.stderr.read() == b""


@pytest.mark.slow
def test_a_terminal_of_80_columns_is_kept_to(path):
    """A real one: what another process does is drawn, ctrl-c ends it and leaves the cursor."""
    Planner(SqliteStore(path), "garden").apply(UpdateTask("2", subject="Reap " * 40))
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    clean = {key: value for key, value in os.environ.items() if key not in {"COLUMNS", "LINES"}}
    with subprocess.Popen(
        [sys.executable, "-m", "todoplan", "watch", "--store", str(path)],
        env={**clean, "TERM": "xterm-256color"},
        stdout=theirs,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        output, acted = b"", False
        end = time.monotonic() + PATIENCE
        while b"started #1" not in output and time.monotonic() < end:
            output += os.read(ours, 4096)
            if b"1 Sow" in output and not acted:
                acted = True
                Planner(SqliteStore(path), "garden").apply(START, actor="bob")
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 130
    with suppress(OSError):  # by which Linux tells of the end of a terminal
        output += os.read(ours, 65536)
    os.close(ours)
    assert b"started #1 Sow" in output
    assert output.rstrip().endswith(b"\x1b[?25h")
    assert max(map(cell_len, rows_of(output.decode()))) <= 80
