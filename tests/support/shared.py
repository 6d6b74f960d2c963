"""Recordings of real agents, by other people: beside the project where they are, never in it."""

from pathlib import Path

import pytest

RECORDINGS = Path(__file__).parents[3] / "shared" / "transcripts"

needs_recordings = pytest.mark.recordings
"""Skipped by `conftest` where there are none."""
