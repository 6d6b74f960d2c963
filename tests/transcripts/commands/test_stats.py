"""Counting over many recordings."""

import json

import pytest
from jsonschema import Draft202012Validator
from support.json_documents import STATS_SCHEMA


@pytest.fixture
def folder(recording, todo, tool_call, tmp_path):
    """Two recordings, one with a subagent, and one file that is none."""
    side = todo(2, "..", isSidechain=True, agentId="mole")
    recording(todo(1, "~.."), side, todo(3, "xx~"), todo(4, "~", error="no"), name="one.jsonl")
    recording(
        tool_call(1, "TaskList", {}), tool_call(2, "TodoWrite", {"todos": 5}), name="two.json"
    )
    recording("# Notes", name="notes.md")
    return tmp_path


def document(result):
    """The JSON that a run printed, checked against its schema."""
    data = json.loads(result.stdout)
    Draft202012Validator(STATS_SCHEMA).validate(data)
    return data


def test_json_adds_everything_up(invoke, folder):
    """Totals are the sums of the recordings; shares are of all calls."""
    data = document(invoke("stats", folder, "--json"))
    one, two = data["recordings"]
    assert (one["plans"], one["largest"], one["calls"], one["updates"]) == (2, 3, 4, 3)
    assert (one["reads"], one["failed"]) == (0, 1)
    expected = (1, 2, 0, 1, 1)
    assert (two["plans"], two["calls"], two["updates"], two["reads"], two["failed"]) == expected
    assert data["totals"]["median"] == 2
    for name in ("plans", "calls", "updates", "reads", "failed", "chars", "bad_lines"):
        assert data["totals"][name] == one[name] + two[name]
    shares = {found["code"]: found for found in data["findings"]}
    assert shares["refused_call"] == {
        "code": "refused_call",
        "calls": 1,
        "share": round(1 / 6, 4),
        "recordings": 1,
        "count": 1,
    }
    assert (shares["ended_unfinished"]["calls"], shares["ended_unfinished"]["count"]) == (0, 2)
    assert [skipped["file"] for skipped in data["skipped"]] == [str(folder / "notes.md")]


def test_the_table_shows_the_same_numbers(invoke, folder):
    """For people: a row for each recording, the total, the findings, what was skipped."""
    result = invoke("stats", folder)
    assert result.exit_code == 0
    rows = {line.split()[0]: line.split()[1:] for line in result.stdout.split("\n") if line}
    assert " ".join(rows["recording"]) == "done plans calls updates failed findings chars"
    assert rows[str(folder / "one.jsonl")][:6] == ["2/5", "2", "4", "3", "1", "6"]
    assert rows["total"][:7] == ["of", "2", "2/5", "3", "6", "3", "2"]
    assert rows["refused_call"] == ["1", "16.7", "%", "1"]
    assert rows["ended_unfinished"] == ["-", "-", "1"]
    assert "Half of the plans have at most 2 tasks" in result.stdout
    assert "Skipped 1 file" in result.stdout


def test_bad_lines_and_errors_have_exit_codes(invoke, recording, todo):
    """A line that cannot be read is counted, of any number. An error of the policy is exit 1."""
    path = recording(todo(1, "x"), *["{broken"] * 120)
    result = invoke("stats", path, "--json")
    data = document(result)
    assert result.exit_code == 2
    assert data["totals"]["bad_lines"] == 120
    assert data["recordings"][0]["findings"]["bad_line"] == 120
    path = recording(todo(1, "~~"))
    assert invoke("stats", path).exit_code == 0
    assert invoke("stats", path, "--policy", "strict").exit_code == 1


def test_nothing_to_count_is_exit_2(invoke, tmp_path):
    """An empty directory is a mistake; --json is a whole document all the same."""
    result = invoke("stats", tmp_path)
    assert (result.exit_code, result.stdout) == (2, "")
    assert document(invoke("stats", tmp_path, "--json"))["totals"]["recordings"] == 0


def test_recordings_are_sorted_on_demand(invoke, recording, todo, tmp_path):
    """The most, or the latest word of the alphabet; an unknown key is refused."""
    recording(todo(5, "~"), name="a.jsonl")
    recording(todo(1, "x"), todo(2, "xx"), name="b.jsonl")
    orders = {"": "ab", "name": "ab", "calls": "ba", "open": "ab", "chars": "ba", "date": "ba"}
    found = []
    for key, order in orders.items():
        found = document(invoke("stats", tmp_path, "--json", "--sort", key))["recordings"]
        assert "".join(one["file"][-7] for one in found) == order, key
    assert found[0]["first"] == "2026-03-01T10:00:01+00:00"
    assert (found[1]["done"], found[1]["total"]) == (0, 1)
    assert invoke("stats", tmp_path, "--sort", "findings").exit_code == 0
    assert invoke("stats", tmp_path, "--sort", "luck").exit_code == 2


def test_the_tables_can_be_a_page(invoke, folder, tmp_path):
    """The same numbers as in the text, and what was skipped; a recording is never written over."""
    out = tmp_path / "page.html"
    assert invoke("stats", folder, "--html", out).exit_code == 0
    html = out.read_text(encoding="utf-8")
    text = invoke("stats", folder).stdout
    for name in ("recording", "total of", "finding", "Half of the plans"):
        assert name in html
        assert name in text
    assert html.count("<table>") == 2
    recordings = sorted(folder.rglob("*.jsonl"))
    assert "Skipped" not in invoke("stats", recordings[0], "--html", "-").stdout
    before = recordings[0].read_bytes()
    assert invoke("stats", folder, "--html", recordings[0]).exit_code == 2
    assert recordings[0].read_bytes() == before


def test_what_is_not_there_is_left_out(invoke, recording, tool_call, tmp_path):
    """Without calls there are no findings, no averages, and no division by zero."""
    recording(tool_call(1, "Search", {}), name="all/a.jsonl")
    (tmp_path / "all" / "notes.md").write_text("# Notes")
    html = invoke("stats", tmp_path / "all", "--html", "-").stdout
    assert html.count("<table>") == 1
    assert "notes.md" in html
    shown = invoke("stats", tmp_path / "all").stdout
    assert not any(word in page for word in ("share", "Half") for page in (html, shown))
    assert document(invoke("stats", tmp_path / "all", "--json"))["findings"] == []


def test_the_tables_can_be_pasted_into_an_issue(invoke, folder):
    """As Markdown; not together with --json."""
    shown = invoke("stats", folder, "--markdown").stdout
    assert "| recording | done | plans | calls |" in shown.replace("\\", "")
    assert "| --- | --: | --: |" in shown
    assert invoke("stats", folder, "--markdown", "--json").exit_code == 2
