"""Recordings of real agents, by other people: beside the project where they are, never in it."""

from pathlib import Path

import pytest

RECORDINGS = Path(__file__).parents[3] / "shared" / "transcripts"

needs_recordings = pytest.mark.skipif(
    not RECORDINGS.is_dir(), reason="the recordings of real agents are not beside the project"
)
