"""The benchmarks are no part of the package: they are imported from the checkout."""

import asyncio
import sys
from pathlib import Path

import pytest

ROOT = str(Path(__file__).parents[2])
if ROOT not in sys.path:
    sys.path.append(ROOT)


@pytest.fixture
def runner():
    """What runs the calls that are awaited."""
    with asyncio.Runner() as made:
        yield made
