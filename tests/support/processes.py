"""Processes that tests start: modules of `tests/support` as programs, and `todoplan` itself."""

import os
from pathlib import Path

TESTS = Path(__file__).parents[1]


def environment():
    """Return the environment in which a process can import `todoplan` and `support`."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS.parent), str(TESTS)])}
