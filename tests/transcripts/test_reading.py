"""Reading recordings of any kind."""

import json
import tempfile
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.readings import READINGS
from support.recorded import TODOS, lines_file
from support.shared import RECORDINGS, needs_recordings

from todoplan.errors import ReadError
from todoplan.transcripts.calls import BadLine, Compaction, PersonSpoke, PlanningCall
from todoplan.transcripts.reading import DIALECTS, detect, read

COMPACTED = {
    "claude-code/tasks-entireio-cli-d4cbcc6d0339.jsonl": 1,
    "opencode/session-savekirk-session-bridge-13dddd416599.json": 1,
}
by_file = pytest.mark.parametrize("reading", READINGS, ids=lambda reading: reading.file)


@needs_recordings
@by_file
def test_recordings_of_real_agents_are_read_whole(reading):
    """Every call of a real recording is read once, with its result; no line is bad."""
    path = RECORDINGS / reading.file
    told = []
    items = list(read(path, on_bytes=told.append))
    kinds = Counter(type(item) for item in items)
    calls = [item for item in items if isinstance(item, PlanningCall)]
    assert kinds[PlanningCall] == reading.calls
    assert kinds[Compaction] == COMPACTED.get(reading.file, 0)
    assert kinds[BadLine] == 0
    assert sum(call.result.is_error for call in calls) == reading.refused
    assert all(isinstance(call.arguments, dict) for call in calls)
    assert sum(told) == path.stat().st_size


@needs_recordings
@by_file
def test_a_recording_cut_anywhere_gives_its_beginning(reading, tmp_path):
    """What is read of a cut file is the beginning of what is read of the whole one."""
    path = RECORDINGS / reading.file
    raw = path.read_bytes()
    cut = tmp_path / path.name
    cut.write_bytes(raw[: len(raw) * 2 // 3])
    dialect = detect(path)
    whole = [call.arguments for call in read(path) if isinstance(call, PlanningCall)]
    found = list(read(cut, dialect))
    part = [call.arguments for call in found if isinstance(call, PlanningCall)]
    assert part == whole[: len(part)]
    assert any(isinstance(item, BadLine) for item in found)


def test_bytes_are_told_and_only_once(tmp_path):
    """The look that tells the dialect is not counted."""
    path = lines_file(tmp_path, *[{"role": "system", "content": "x" * 1000}] * 900)
    told = []
    assert list(read(str(path), on_bytes=told.append)) == []
    assert len(told) > 2
    assert sum(told) == path.stat().st_size


WORDS = """
TodoWrite TaskUpdate tool_use tool_result assistant tool t1 REDACTED function_call custom_tool_call
function_call_output ai gemini progress ActionEvent ObservationEvent compacted exec constructor {}
completed custom_tool_call_output compact_boundary compaction
"""
LEAF = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.sampled_from([*WORDS.split(), "tools.update_plan({a: ["])
    | st.text(max_size=5)
)
KEYS = """
type message content id name input tool_use_id tool_calls function payload arguments call_id
output role parts info state status kind source tool_name tool_call_id tool_call observation
action error v agent ts result toolCalls args functionCall functionResponse request response
body body_raw messages system data kwargs lc uuid parentUuid isSidechain agentId timestamp time
toolUseResult tool subtype sessionId metadata _metadata partial_json
"""
VALUES = st.recursive(
    LEAF,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(KEYS.split()), inner, max_size=6)
    ),
    max_leaves=20,
)
RECORDS = st.dictionaries(st.sampled_from(KEYS.split()), VALUES, max_size=8)


def _drained(raw, dialect):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "recording"
        path.write_bytes(raw)
        with suppress(ReadError):
            return list(read(path, dialect))
        return []


def _check(items):
    for item in items:
        assert isinstance(item, PlanningCall | BadLine | Compaction | PersonSpoke)
        assert item.line >= 1
        if isinstance(item, PlanningCall):
            assert item.turn
            assert isinstance(item.arguments, dict | str)


@given(st.binary(max_size=200), st.sampled_from([None, *DIALECTS]))
def test_no_bytes_raise_anything_but_a_read_error(raw, dialect):
    """Any bytes give items or a `ReadError`."""
    _check(_drained(raw, dialect))


@example([{"type": []}], "gemini")
@given(st.lists(RECORDS, min_size=1, max_size=5), st.sampled_from([None, *DIALECTS]))
def test_no_json_lines_raise_anything_but_a_read_error(records, dialect):
    """Any JSON objects, a line each, give items or a `ReadError`."""
    _check(_drained("\n".join(map(json.dumps, records)).encode(), dialect))


@given(VALUES, st.sampled_from([None, *DIALECTS]), st.integers(0, 20))
def test_no_document_raises_anything_but_a_read_error(value, dialect, cut):
    """Any JSON document, whole or cut, gives items or a `ReadError`."""
    raw = json.dumps({"messages": [value, RECORD]}, indent=1).encode()
    _check(_drained(raw[: len(raw) - cut], dialect))


RECORD = {"role": "assistant", "content": [{"type": "tool_use", "name": "TodoWrite", "id": "1"}]}


@given(st.lists(st.sampled_from(["call", "result", "other"]), max_size=12))
def test_passing_over_lines_unparsed_changes_nothing(script):
    """A Claude Code log reads the same when no line is passed over."""
    records = [_claude(kind, number) for number, kind in enumerate(script)]
    wrapped = [{**record, "isSidechain": False, "note": "TodoWrite"} for record in records]
    first = {"type": "summary", "leafUuid": "u"}
    plain, full = (
        _drained("\n".join(json.dumps(one) for one in (first, *group)).encode(), None)
        for group in (records, wrapped)
    )
    assert plain == full
    assert len(plain) == script.count("call")


def _claude(kind, number):
    use = {"type": "tool_use", "id": f"t{number}", "name": "TodoWrite", "input": TODOS}
    answer = {"type": "tool_result", "tool_use_id": f"t{number - 1}", "content": "ok"}
    block = {"call": use, "result": answer, "other": {"type": "text", "text": "hm"}}[kind]
    return {"type": "assistant", "uuid": f"u{number}", "message": {"id": "m", "content": [block]}}
