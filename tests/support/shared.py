"""Recordings of real agents by other people: they may lie beside the project, but not in it."""

from pathlib import Path

import pytest

RECORDINGS = Path(__file__).parents[3] / "shared" / "transcripts"

needs_recordings = pytest.mark.recordings
"""Marks a test that `conftest` skips if there are no recordings."""
