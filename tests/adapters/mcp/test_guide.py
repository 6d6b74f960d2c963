"""The guide mcp.md keeps its word: its code runs and prints what it shows."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.docs import fenced

PATHS = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


@pytest.mark.slow
def test_the_client_prints_what_is_shown(tmp_path):
    """A client of either mcp starts `todoplan mcp` over stdio and writes a list."""
    done = subprocess.run(
        [sys.executable, "-c", fenced("mcp", "code: mcp", "python")],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env=PATHS,
    )
    assert done.stdout == fenced("mcp", "output: mcp", "text")


@pytest.mark.slow
def test_without_a_token_nothing_is_served_to_others():
    """The refusal reads as shown."""
    command, told, _, code = fenced("mcp", "output: mcp refusal", "text").splitlines()
    env = {key: value for key, value in PATHS.items() if key != "TODOPLAN_MCP_TOKEN"}
    done = subprocess.run(
        command.removeprefix("$ ").split(), capture_output=True, text=True, check=False, env=env
    )
    assert (done.stderr.strip(), str(done.returncode)) == (told, code)
