"""One browser for the tests of a module."""

import pytest
from support.browser import chromium


@pytest.fixture(scope="module")
def browser():
    """A real Chromium."""
    with chromium() as started:
        yield started
