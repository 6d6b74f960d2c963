"""Ctrl-C at any instant: no lock, connection or descriptor outlives the call that took it."""

import subprocess
import tempfile
from pathlib import Path

import pytest
from support.postgres import binaries, running
from support.processes import program

MEMORY = "/dev/shm"  # noqa: S108 - files in memory: nothing here is about the disk


@pytest.mark.parametrize("signals", [50, pytest.param(500, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", ["memory", "file", "sqlite", "postgres"])
def test_a_signal_at_any_instant_leaves_nothing_behind(kind, signals):
    """Others write at once, though the traceback is kept, and nothing of it is left open."""
    where = MEMORY if Path(MEMORY).is_dir() else None

    def run(place):
        arguments = "interrupted", kind, place, str(signals)
        with program(*arguments, stderr=subprocess.PIPE) as process:
            return (*process.communicate(timeout=240), process.returncode)

    if kind != "postgres":
        with tempfile.TemporaryDirectory(dir=where) as folder:
            done = run(folder)
    elif binaries() is None:
        pytest.skip("no PostgreSQL binaries; install the package postgresql")
    else:
        with running() as server:
            done = run(server.address)
    assert done == ("sound\n", "", 0)
