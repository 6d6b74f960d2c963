"""A whole recording, read and folded."""

import json

import pytest

from todoplan.core.rules import STRICT
from todoplan.errors import ReadError
from todoplan.transcripts.replay import replay_file


def recording(tmp_path, *plans):
    lines = []
    for number, plan in enumerate(plans):
        call = {"type": "function_call", "name": "update_plan", "call_id": f"c{number}"}
        answer = {"type": "function_call_output", "call_id": f"c{number}", "output": "Plan updated"}
        arguments = json.dumps({"plan": plan})
        for payload in ({**call, "arguments": arguments}, answer):
            record = {"timestamp": "2026-06-23T07:26:12Z", "type": "response_item"}
            lines.append(json.dumps({**record, "payload": payload}))
    path = tmp_path / "rollout.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return path


BOTH = [{"step": "a", "status": "in_progress"}, {"step": "b", "status": "in_progress"}]


def test_a_recording_gives_steps_lanes_and_findings(tmp_path):
    """
    The dialect is detected, every call is a step, and the findings of steps and lanes are listed.
    """
    seen = []
    result = replay_file(recording(tmp_path, BOTH), on_bytes=seen.append)
    steps = list(result.steps())
    assert (result.dialect, len(steps), sum(seen) > 0) == ("codex", 1, True)
    assert (result.calls, result.refused, result.other_tools) == (1, 0, ())
    (lane,) = result.lanes
    assert (lane.name, lane.calls, lane.refused, lane.largest, len(lane.plan)) == (
        "main",
        1,
        0,
        2,
        2,
    )
    assert {finding.code for finding in result.findings} == {
        "single_in_progress",
        "ended_unfinished",
    }
    assert not result.has_errors


def test_a_strict_policy_makes_findings_errors(tmp_path):
    """
    The chosen policy says what is an error.
    """
    result = replay_file(recording(tmp_path, BOTH), policy=STRICT)
    assert list(result.steps())
    assert result.has_errors


def test_the_dialect_can_be_forced(tmp_path):
    """
    A forced dialect is used without looking.
    """
    assert replay_file(recording(tmp_path, BOTH), dialect="codex").dialect == "codex"


def test_no_recording_is_an_error(tmp_path):
    """
    A file that is none is said to be none.
    """
    path = tmp_path / "x.jsonl"
    path.write_text("")
    with pytest.raises(ReadError):
        replay_file(path)
