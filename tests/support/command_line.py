"""Fixtures of the command line: small recordings, a terminal, the command itself."""

import io
import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager

import attrs
import pytest
from rich.console import Console
from support.mcp_server import environment
from typer.testing import CliRunner

from todoplan.cli.app import make_app
from todoplan.render.terminal import Screen

APP = make_app()
STATUSES = {".": "pending", "~": "in_progress", "x": "completed", "-": "cancelled"}


def _todos(strip, texts):
    named = [*texts, *(f"Step {number}" for number in range(len(texts) + 1, len(strip) + 1))]
    return [
        {"content": text, "status": STATUSES[mark]}
        for text, mark in zip(named, strip, strict=False)
    ]


def call(number, tool, arguments, *, error=None, **more):
    """The two lines of a Claude Code log for one call and its answer."""
    use = {"type": "tool_use", "id": f"t{number}", "name": tool, "input": arguments}
    answer = {"type": "tool_result", "tool_use_id": f"t{number}", "content": error or "ok"}
    if error:
        answer["is_error"] = True
    message = {"id": f"m{number}", "role": "assistant", "content": [use]}
    asked = {"type": "assistant", "uuid": f"a{number}", "sessionId": "s", "message": message}
    told = {"type": "user", "uuid": f"b{number}", "message": {"role": "user", "content": [answer]}}
    at = f"2026-03-0{1 + number // 10}T10:00:{number:02}Z"
    return [{"timestamp": at, **asked, **more}, {"timestamp": at, **told, **more}]


def write(number, strip, *texts, **more):
    """The lines of one TodoWrite; `strip` has a mark of `STATUSES` for each todo."""
    return call(number, "TodoWrite", {"todos": _todos(strip, texts)}, **more)


@pytest.fixture
def recording(tmp_path):
    """Write a recording of calls (and raw text lines) and give its path."""

    def make(*calls, name="session.jsonl", end="\n"):
        lines = [one for entry in calls for one in ([entry] if isinstance(entry, str) else entry)]
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = "\n".join(one if isinstance(one, str) else json.dumps(one) for one in lines)
        path.write_text(text + end, encoding="utf-8")
        return path

    return make


@pytest.fixture
def todo():
    """Make the lines of one TodoWrite."""
    return write


@pytest.fixture
def tool_call():
    """Make the lines of any call."""
    return call


@pytest.fixture
def invoke():
    """Run the command within this process."""

    def run(*arguments):
        return CliRunner().invoke(APP, [str(argument) for argument in arguments])

    return run


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with a Git repository, in which the commands run without any setting."""
    monkeypatch.delenv("TODOPLAN_STORE")
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


@attrs.frozen
class Done:
    """How a process ended."""

    returncode: int
    stdout: bytes
    stderr: bytes


class Started(subprocess.Popen):
    """A process that is killed if the test fails, because it might never end by itself."""

    def __exit__(self, kind, *more):
        if kind is not None:
            self.kill()
        super().__exit__(kind, *more)


@pytest.fixture
def start():
    """Start a process of this Python, without the variables that force colours."""

    def begin(*arguments, stdout=subprocess.PIPE, **environment):
        clean = {k: v for k, v in os.environ.items() if k not in {"FORCE_COLOR", "PY_COLORS"}}
        return Started(
            [sys.executable, *map(str, arguments)],
            env={**clean, **environment},
            stdout=stdout,
            stderr=subprocess.PIPE,
        )

    return begin


@pytest.fixture
def command(start):
    """Run `python -m todoplan` in a fresh process to its end."""

    def run(*arguments, **options):
        with start("-m", "todoplan", *arguments, **options) as process:
            stdout, stderr = process.communicate(timeout=600)
        return Done(process.returncode, stdout, stderr)

    return run


@contextmanager
def serving(*line, **variables):
    """Serve by `todoplan` at any free port in another process, and give the URL that it prints."""
    with subprocess.Popen(
        [sys.executable, "-m", "todoplan", *map(str, line), "--port", "0"],
        env={**environment(), **variables},
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr
        try:
            yield process.stderr.readline().split()[-1]
        finally:
            process.send_signal(signal.SIGTERM)
            _, left = process.communicate(timeout=60)
            # The package mcp itself logs that a client's stream has ended.
            assert left == "" or line[0] == "mcp"


def _console(width, *, terminal):
    colours = "standard" if terminal else None
    file = io.StringIO()
    return Console(file=file, width=width, force_terminal=terminal, color_system=colours)


@pytest.fixture
def screen():
    """A screen that is no terminal; what it holds is `text(screen)`."""
    return Screen(_console(80, terminal=False), _console(80, terminal=False))


@pytest.fixture
def terminal():
    """A screen that is a terminal of 70 columns."""
    return Screen(_console(70, terminal=True), _console(70, terminal=True))


@pytest.fixture
def text():
    """A function that returns the text written to a screen."""
    return lambda screen: screen.out.file.getvalue()


@pytest.fixture
def complaints():
    """A function that returns the text of a screen's error output."""
    return lambda screen: screen.err.file.getvalue()
