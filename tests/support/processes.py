"""Processes that tests start: modules of `tests/support` as programs, and `todoplan` itself."""

import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]


def environment():
    """Return the environment in which a process can import `todoplan` and `support`."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS.parent), str(TESTS)])}


def program(name, *arguments, inside=(), **how):
    """
    Start a module of `tests/support` as a program whose output can be read as text.

    `inside` is a command that runs the program, such as one that enters a network namespace.
    """
    line = [*inside, sys.executable, "-m", f"support.{name}", *arguments]
    return subprocess.Popen(line, stdout=subprocess.PIPE, text=True, env=environment(), **how)


def started(script, *given):
    """Start a script in a process of its own, whose output can be read as text."""
    line = [sys.executable, "-c", script, *map(str, given)]
    return subprocess.Popen(line, stdout=subprocess.PIPE, text=True, env=environment())
