"""Real recordings, replayed, against what was read from the raw files without these readers."""

import hashlib
from types import SimpleNamespace

import pytest
from support.readings import READINGS
from support.shared import RECORDINGS, needs_recordings

from todoplan.transcripts.replay import replay_file

by_file = pytest.mark.parametrize("reading", READINGS, ids=lambda reading: reading.file)


@pytest.fixture
def replayed(reading):
    replay = replay_file(RECORDINGS / reading.file)
    return SimpleNamespace(steps=tuple(replay.steps()), replay=replay, lanes=replay.lanes)


def lanes_of(replayed, reading):
    """
    Pair the lanes in the order in which they first appear; only the main one has a fixed name.
    """
    assert [lane.name for lane in replayed.lanes].count("main") == list(reading.lanes).count("main")
    return list(zip(replayed.lanes, reading.lanes.values(), strict=True))


def steps_with(replayed, lane, code):
    """Count the lane's calls with a finding, and the findings."""
    steps = [step.findings for step in replayed.steps if step.lane == lane.name]
    counts = [sum(finding.code == code for finding in findings) for findings in steps]
    return sum(map(bool, counts)), sum(counts)


@needs_recordings
@by_file
def test_calls_are_counted_as_a_person_counts_them(replayed, reading):
    """The dialect, the number of planning calls and of refused ones agree with the reading."""
    refused = sum(step.outcome == "refused" for step in replayed.steps)
    counted = (replayed.replay.dialect, len(replayed.steps), refused)
    assert counted == (reading.dialect, reading.calls, reading.refused)
    assert {step.outcome for step in replayed.steps} <= {"applied", "read", "refused"}


@needs_recordings
@by_file
def test_every_plan_ends_as_a_person_reads_it(replayed, reading):
    """Final statuses in order, texts, ids, edges and the largest size agree with the reading."""
    for lane, expected in lanes_of(replayed, reading):
        tasks = list(lane.plan)
        assert tuple(task.status.value for task in tasks) == expected.final
        assert lane.largest == expected.max_size
        texts = "\n".join(task.subject.strip() for task in tasks)
        assert hashlib.sha256(texts.encode()).hexdigest()[:12] == expected.digest
        if expected.ids:
            assert tuple(task.id for task in tasks) == expected.ids
        edges = sorted((task.id, blocker) for task in tasks for blocker in task.blocked_by)
        assert tuple(edges) == expected.edges


@needs_recordings
@by_file
def test_what_happened_in_one_call_is_found(replayed, reading):
    """
    Completions in a batch, jumps and writes without change are found where the reading has them.
    """
    for lane, expected in lanes_of(replayed, reading):
        counts = expected.counts
        assert steps_with(replayed, lane, "batch_completion")[0] == counts.several_completed
        assert steps_with(replayed, lane, "linear_status") == (counts.jumps, counts.jump_items)
        emptied = sum(
            step.lane == lane.name and not len(step.plan) and bool(step.events)
            for step in replayed.steps
        )
        assert emptied == counts.emptied


@needs_recordings
@by_file
def test_how_a_list_stands_is_found_when_it_comes_about(replayed, reading):
    """
    Several in progress is found if and only if the reading has it, at most once for each write.
    """
    for lane, expected in lanes_of(replayed, reading):
        found = steps_with(replayed, lane, "single_in_progress")[0]
        assert (found > 0) == (expected.counts.several_in_progress > 0)
        assert found <= expected.counts.several_in_progress
        changed = steps_with(replayed, lane, "completed_is_final")[0]
        assert changed <= expected.counts.completed_changed
        none = steps_with(replayed, lane, "some_in_progress")[0]
        assert none <= expected.counts.none_in_progress


@needs_recordings
def test_every_recording_of_the_folder_was_read():
    """The readings leave no file out."""
    files = {path.relative_to(RECORDINGS).as_posix() for path in RECORDINGS.glob("*/*.json*")}
    assert files == {reading.file for reading in READINGS}


@needs_recordings
@by_file
def test_open_ends_are_found(replayed, reading):
    """A lane ends with a finding exactly when the reading has open items at its end."""
    findings = replayed.replay.findings
    ended = {finding.lane for finding in findings if finding.code == "ended_unfinished"}
    unfinished = {
        lane.name
        for lane, expected in lanes_of(replayed, reading)
        if {"pending", "in_progress"} & set(expected.final)
    }
    assert ended == unfinished
