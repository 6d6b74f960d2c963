"""The benchmarks are not part of the package: they are imported from the checkout."""

import asyncio
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = str(Path(__file__).parents[2])
if ROOT not in sys.path:
    sys.path.append(ROOT)


@pytest.fixture
def command(monkeypatch):
    """A function that runs `python -m benchmarks` with these options."""

    def run(*options):
        monkeypatch.setattr(sys, "argv", ["benchmarks", *map(str, options)])
        import_module("benchmarks.__main__").main()

    return run


@pytest.fixture
def runner():
    """A runner for calls that are awaited."""
    with asyncio.Runner() as made:
        yield made
