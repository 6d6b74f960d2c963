"""Real agents' recordings, where they are at hand."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from support.json_documents import REPLAY_SCHEMA, STATS_SCHEMA
from support.shared import RECORDINGS, needs_recordings

CALLS = 288

pytestmark = needs_recordings


def test_all_are_replayed(invoke):
    """Thirty recordings, each call of them, nothing unreadable; the notes beside are skipped."""
    result = invoke("replay", RECORDINGS, "--json")
    data = json.loads(result.stdout)
    Draft202012Validator(REPLAY_SCHEMA).validate(data)
    assert (result.exit_code, result.stderr) == (0, "")
    assert len(data["recordings"]) == 30
    assert sum(len(read["steps"]) for read in data["recordings"]) == CALLS
    assert [Path(skipped["file"]).suffix for skipped in data["skipped"]] == [".md", ".md"]
    data = json.loads(invoke("stats", RECORDINGS, "--json").stdout)
    Draft202012Validator(STATS_SCHEMA).validate(data)
    totals = data["totals"]
    assert (totals["recordings"], totals["calls"], totals["largest"]) == (30, CALLS, 13)
    assert totals["updates"] + totals["reads"] + totals["failed"] == CALLS


@pytest.mark.parametrize("form", [(), ("--markdown",)])
def test_all_are_printed(invoke, form):
    """People get all of them too, without a control character."""
    result = invoke("replay", RECORDINGS, *form)
    assert result.exit_code == 0
    assert result.stdout.count("planning call") >= 30
    assert result.stdout.replace("\n", "").isprintable()
