"""The same session in every dialect, so that no reader depends on recordings from elsewhere."""

import re

import pytest
from support.recorded import bad_lines, calls, compactions
from support.synthetic import ITEMS, SYNTHETIC, synthetic

from todoplan.transcripts.calls import Compaction, OtherCall, PersonSpoke, ShownPlan
from todoplan.transcripts.reading import DIALECTS, read
from todoplan.transcripts.replay import replay_file, replay_together

by_name = pytest.mark.parametrize("name", SYNTHETIC)
ENDING = list(zip(ITEMS, ("completed", "in_progress", "pending"), strict=True))
COMPACTED = {"claude-code": 1, "codex": 1, "opencode": 4}
UNTIMED = {
    "cursor",
    "kiro",
    "langchain",
    "langchain serialised",
    "gemini contents",
    "gemini markdown",
    "gemini unity",
}
# The dialects whose recording here has a message of the person, and how many.
SPOKEN = {
    **dict.fromkeys(("cursor", "atif", "kiro", "kiro history", "antigravity", "specstory"), 1),
    **dict.fromkeys(("adk", "pydantic-ai", "ag-ui", "opencode", "openhands", "chat"), 1),
    **dict.fromkeys(("langchain", "langchain serialised", "anthropic"), 1),
    "vscode": 4,
}
UNANSWERED = {"cursor", "cline", "antigravity", "specstory"}
WITHOUT_BEGUN = {"kiro", "kiro history"}


def test_no_dialect_is_left_out():
    """
    Each dialect of the table has a recording here, written from its format's description.

    Our own journals have a test of their own: no call was ever refused in them.
    """
    assert {name.split()[0] for name in SYNTHETIC} == set(DIALECTS) - {"todoplan"}


@by_name
def test_one_session_replays_to_one_plan_in_every_dialect(tmp_path, name):
    """
    The dialect is told, every call is met once, the refused one changes nothing, the plan is whole.

    A dialect without answers holds no refusal.
    """
    replay = replay_file(synthetic(tmp_path, name))
    outcomes = [step.outcome for step in replay.steps()]
    (lane,) = replay.lanes
    assert replay.dialect == name.split()[0]
    refused = 0 if name in UNANSWERED else 1
    assert outcomes.count("refused") == replay.refused == refused
    assert set(outcomes) == {"applied", "refused"} - (set() if refused else {"refused"})
    ending = [ENDING[0], (ITEMS[1], "pending"), ENDING[2]] if name in WITHOUT_BEGUN else ENDING
    assert [(task.subject, task.status) for task in lane.plan] == ending
    assert [finding.code for finding in replay.findings if finding.code == "bad_line"] == []


def test_recordings_that_are_read_as_one_name_each_of_their_dialects(tmp_path):
    """In the order of the recordings, and a dialect of several of them once."""
    paths = [synthetic(tmp_path, name) for name in ("codex", "claude-code", "codex")]
    assert replay_together("team", paths).dialect == "codex, claude-code"


@by_name
def test_times_turns_and_compactions_are_read_where_a_dialect_has_them(tmp_path, name):
    """A time is of the day of the session; a summary and a person's message are met."""
    path = synthetic(tmp_path, name)
    days = {step.at and step.at.date().isoformat() for step in replay_file(path).steps()}
    assert days == ({None} if name in UNTIMED else {"2026-03-02"})
    assert len(compactions(path)) == COMPACTED.get(name, 0)
    assert sum(isinstance(one, PersonSpoke) for one in read(path)) == SPOKEN.get(name, 0)
    assert bad_lines(path) == []


@pytest.mark.parametrize(
    "name", [name for name, make in SYNTHETIC.items() if not isinstance(make(), str | dict)]
)
def test_a_line_that_is_cut_is_told_and_the_others_are_read(tmp_path, name):
    """In every dialect whose recordings are lines, at its place among the items."""
    path = synthetic(tmp_path, name)
    whole = calls(path)
    first, second, *others = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join((first, second, '{"name": "TodoWrite\n', *others)), encoding="utf-8")
    assert [line.line for line in bad_lines(path)] == [3]
    assert [(call.arguments, call.result) for call in calls(path)] == [
        (call.arguments, call.result) for call in whole
    ]


PLANNING = re.compile(
    "TodoWrite|WriteTodos|write_todos|update_plan|todowrite|todo_write|task_tracker"
    "|manage_todo_list|TaskCreate|TaskUpdate"
)


@pytest.mark.parametrize(
    # In the others, a list is no call of a tool with a name.
    "name",
    sorted(set(SYNTHETIC) - {"antigravity", "cline", "copilot", "kiro", "kiro history"}),
)
def test_a_tool_that_is_not_known_is_told_once(tmp_path, name):
    """Its name and where it was first called, and no planning call, though requests repeat it."""
    path = synthetic(tmp_path, name)
    path.write_text(PLANNING.sub("Search", path.read_text(encoding="utf-8")), encoding="utf-8")
    found = list(read(path, name.split()[0]))
    assert {type(one) for one in found} <= {OtherCall, Compaction, PersonSpoke, ShownPlan}
    others = [one.tool for one in found if isinstance(one, OtherCall)]
    assert others == ["Unity.Search" if name == "gemini unity" else "Search"]
