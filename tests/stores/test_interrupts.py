"""Ctrl-C at any instant: no lock, connection or descriptor outlives the call that took it."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from support.postgres import binaries, running

import todoplan

SCRIPT = Path(__file__).parents[1] / "support" / "interrupted.py"
MEMORY = "/dev/shm"  # noqa: S108 - files in memory: nothing here is about the disk


@pytest.mark.parametrize("signals", [50, pytest.param(500, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", ["memory", "file", "sqlite", "postgres"])
def test_a_signal_at_any_instant_leaves_nothing_behind(kind, signals):
    """Others write at once, though the traceback is kept, and nothing of it is left open."""
    where = MEMORY if Path(MEMORY).is_dir() else None
    environment = {**os.environ, "PYTHONPATH": str(Path(todoplan.__file__).parents[1])}

    def run(place):
        command = [sys.executable, SCRIPT, kind, place, str(signals)]
        options = {"env": environment, "capture_output": True, "text": True, "timeout": 240}
        return subprocess.run(command, check=False, **options)

    if kind != "postgres":
        with tempfile.TemporaryDirectory(dir=where) as folder:
            done = run(folder)
    elif binaries() is None:
        pytest.skip("no PostgreSQL binaries; install the package postgresql")
    else:
        with running() as server:
            done = run(server.address)
    assert (done.stdout, done.stderr, done.returncode) == ("sound\n", "", 0)
