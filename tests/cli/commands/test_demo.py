"""`todoplan demo`: a scripted agent, the board, a person's edit; nothing is left behind."""

import os
import pty
import re
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from urllib.request import urlopen

import pytest

from todoplan.cli import demo as demo_command
from todoplan.cli.demo import Agent, demo
from todoplan.core.commands import CreateTask

ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/")


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    """The folder of temporary files, which is empty before and after."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    yield tmp_path
    assert [*tmp_path.iterdir()] == []


def test_elsewhere_it_ends_with_the_agent(invoke):
    """The calls and replies are printed, a person adds a task and answers, and all is completed."""
    result = invoke("demo")
    assert result.exit_code == 0
    head, *rows = result.stdout.splitlines()
    assert ADDRESS.search(head)
    assert rows[0].startswith('agent: plan {"write": ["Collect the changes')
    assert "ann: created #7 Thank the contributors; linked #7 Thank the contributors" in rows
    assert any("answered: #4 1.5 or 2.0? -> 2.0" in row for row in rows)
    assert rows[-8:-6] == ["  7/7 completed", "  [x] 1 Collect the changes since the last release"]


def test_on_a_terminal_it_stays_until_ctrl_c(terminal, text, monkeypatch):
    """The board is open, the agent works on what a person adds, and Ctrl-C is no failure."""
    opened = []
    monkeypatch.setattr(demo_command, "_PAUSE", 0.001)
    monkeypatch.setattr("webbrowser.open", opened.append)

    def watched(title, steps, _):
        assert "Ctrl-C" in title
        with urlopen(opened[0], timeout=60) as page:  # noqa: S310 - our own
            assert page.status == 200
        for _, plan, _ in steps:
            if plan.counts.completed == 3 and not added:
                added.append(1)
                planner.apply(CreateTask("Thank the contributors"), actor="you").unwrap()
            if any(task.subject.startswith("Thank") and task.status.closed for task in plan):
                raise KeyboardInterrupt

    added = []
    monkeypatch.setattr(demo_command, "draw", watched)

    class Seen(Agent):
        def __init__(self, given):
            nonlocal planner
            planner = given
            super().__init__(given)

    planner = None
    monkeypatch.setattr(demo_command, "Agent", Seen)
    demo(terminal, port=0, browser=True)
    assert added
    assert ADDRESS.search(text(terminal))
    assert "the demo is over" in text(terminal)


def test_the_browser_may_stay_closed(terminal, monkeypatch):
    """By `--no-browser`; the drawing alone ends it here."""
    monkeypatch.setattr("webbrowser.open", lambda _: pytest.fail("opened"))
    monkeypatch.setattr(demo_command, "draw", lambda *_: None)
    demo(terminal, port=0, browser=False)


def test_without_the_extra_it_has_no_board(screen, text, complaints, monkeypatch):
    """It says what to install, and goes on."""
    for name in ("todoplan.board", "todoplan.board.application"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "sse_starlette", None)
    demo(screen, port=0, browser=True)
    assert "pip install 'todoplan[board]'" in complaints(screen)
    assert "7/7 completed" in text(screen)


def test_a_port_that_is_taken_is_exit_2(invoke, monkeypatch):
    """And the reason."""

    def taken(*_):
        msg = "the port is taken"
        raise OSError(msg)

    monkeypatch.setattr("todoplan.web.listen_at", taken)
    result = invoke("demo", "--port", "1")
    assert (result.exit_code, "the port is taken" in result.stderr) == (2, True)


def test_a_real_terminal_and_a_real_signal(tmp_path):
    """Ctrl-C is the end of a demo and no failure of it."""
    ours, its = pty.openpty()
    line = [sys.executable, "-m", "todoplan", "demo", "--no-browser"]
    env = {**os.environ, "TMPDIR": str(tmp_path), "TERM": "xterm"}
    with subprocess.Popen(line, env=env, stdin=its, stdout=its, stderr=its) as process:
        os.close(its)
        seen = b""
        while b"Collect the changes" not in seen:
            seen += os.read(ours, 10_000)
        process.send_signal(signal.SIGINT)
        with suppress(OSError):  # the terminal is closed
            while more := os.read(ours, 10_000):
                seen += more
        assert process.wait(60) == 0
    os.close(ours)
    assert b"the demo is over" in seen
