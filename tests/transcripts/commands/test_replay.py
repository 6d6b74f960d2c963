"""Replaying from the command line: forms, exit codes, files that cannot be read."""

import json
import re
from functools import partial

import pytest
from jsonschema import Draft202012Validator
from support.json_documents import REPLAY_SCHEMA
from support.own_recordings import own_recording
from support.wires import CHAT

from todoplan import Status
from todoplan.codec import plan_from_data
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import LEAN
from todoplan.transcripts.files import Source
from todoplan.transcripts.replay import POLICIES

FORMS = ["", "--json", "--markdown"]
HOSTILE = "\x1b[31mred\x1b]0;t\x07 [bold]b[/bold] \u202e\x9b2J :bug: <b>|`*_ [x](http://e.x)\nnext"


# A message without a tool call.
SILENT = [{"type": "assistant", "sessionId": "s", "uuid": "u", "message": {"content": []}}]


def flags(form):
    """The options of a form."""
    return [form] if form else []


def document(result):
    """The JSON that a run printed, checked against its schema."""
    data = json.loads(result.stdout)
    Draft202012Validator(REPLAY_SCHEMA).validate(data)
    return data


def test_the_sample_shows_timeline_plan_and_findings(invoke):
    """The packaged recording replays with findings of several kinds, none of them an error."""
    result = invoke("replay", "--sample")
    assert result.exit_code == 0
    assert result.stderr == ""
    assert "sample.jsonl\nclaude-code, 8 planning calls (1 refused), 1 plan\n" in result.stdout
    assert " 3  09:14:16  TodoWrite  ~....    0/5     created #1-#5\n" in result.stdout
    assert "completed #1 Reproduce the timeout\n" in result.stdout
    assert "  6/6 completed\n  [x] 1 Reproduce" in result.stdout
    for code in ("refused_call", "single_in_progress", "batch_completion"):
        assert f"  !  {code} 1\n" in result.stdout
    # Where there is no terminal, text is plain, and no line ends in spaces.
    for form in FORMS:
        lines = invoke("replay", "--sample", *flags(form)).stdout.split("\n")
        assert not any("\x1b" in line or line.endswith(" ") for line in lines)
        assert lines[-1] == ""


@pytest.mark.parametrize("policy", POLICIES)
def test_errors_of_the_policy_are_exit_1(invoke, recording, todo, policy):
    """
    The exit code is 1 just when a finding is an error under the policy. The audit has none, not
    even in a text that is longer than any preset of ours lets in.
    """
    path = recording(todo(1, "~", "very " * 200))
    result = invoke("replay", path, "--json", "--policy", policy)
    data = document(result)
    findings = data["recordings"][0]["findings"]
    assert data["policy"] == policy
    assert result.exit_code == any(found["severity"] == "error" for found in findings)
    if policy == "audit":
        assert "max_text" in {found["code"] for found in findings}
        assert all(level != "error" for _, level in POLICIES["audit"].rules)


def test_json_holds_what_happened(invoke, recording, todo):
    """The document has steps with events and counts, and the last plan as the codec writes it."""
    path = recording(todo(1, "~."), todo(2, "x~"), todo(3, "x~", error="no " * 99))
    (read,) = document(invoke("replay", "--json", path))["recordings"]
    keys = ["file", "dialect", "steps", "lanes", "findings", "bad_lines", "other_tools"]
    assert list(read) == keys
    assert (read["file"], read["dialect"]) == (str(path), "claude-code")
    first, second, third = read["steps"]
    assert [event["type"] for event in first["events"]] == ["task_created", "task_created"]
    assert second["at"] == "2026-03-01T10:00:02+00:00"
    assert second["counts"] == {**dict.fromkeys(Status, 0), "in_progress": 1, "completed": 1}
    assert (third["outcome"], third["events"], third["line"]) == ("refused", [], 5)
    (lane,) = read["lanes"]
    expected = {"name": "main", "calls": 3, "refused": 1, "largest": 2}
    assert {k: lane[k] for k in ("name", "calls", "refused", "largest")} == expected
    plan = plan_from_data(lane["plan"])
    assert [task.status.value for task in plan] == ["completed", "in_progress"]
    assert [found["code"] for found in read["findings"]] == ["refused_call", "ended_unfinished"]
    # The finding cuts short what its detail has in full.
    refused = read["findings"][0]
    assert (refused["detail"], len(refused["text"]) < 200) == ("no " * 99, True)


@pytest.mark.parametrize("form", FORMS)
def test_one_unreadable_file_does_not_stop_the_others(invoke, recording, todo, tmp_path, form):
    """The file is named on stderr in one line, the exit code is 2, the others are shown."""
    good = [recording(todo(1, "~", "Sow beans"), name=f"{number}.jsonl") for number in (2, 1)]
    missing = tmp_path / "missing.jsonl"
    result = invoke("replay", *flags(form), good[0], missing, good[1])
    assert result.exit_code == 2
    assert result.stderr == f"todoplan: cannot read {missing}: No such file or directory\n"
    assert result.stdout.count("Sow beans") >= 2
    if form == "--json":
        data = document(result)
        assert [read["file"] for read in data["recordings"]] == list(map(str, good))
        assert [gone["file"] for gone in data["unreadable"]] == [str(missing)]
        keys = ["format", "version", "policy", "recordings", "unreadable", "skipped"]
        assert (list(data), data["format"]) == (keys, "todoplan/replay")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (b"Dear diary,\n", "is no recording in a known dialect"),
        (b"\x00\x01\x02\xff" * 500, "is no recording in a known dialect"),
    ],
)
def test_a_file_that_is_no_recording_is_exit_2(invoke, tmp_path, content, reason):
    """The reason names the file, in one line."""
    path = tmp_path / "thing.jsonl"
    path.write_bytes(content)
    result = invoke("replay", path)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"todoplan: {path} {reason}")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("form", FORMS)
def test_a_bad_line_is_named_and_the_rest_is_read(invoke, recording, todo, form):
    """One bad line among good ones: exit code 2, file and line on stderr, every call replayed."""
    path = recording(todo(1, "~."), "{this is no JSON}TodoWrite", todo(2, "x~", "Sow", "Reap"))
    result = invoke("replay", *flags(form), path)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"todoplan: {path}:3: not JSON: ")
    assert "Reap" in result.stdout
    assert "bad" in result.stdout
    if form == "--json":
        (read,) = document(result)["recordings"]
        assert (read["bad_lines"], len(read["steps"])) == (1, 2)


def test_a_recording_cut_in_the_middle_of_a_line_is_read_to_there(invoke, recording, todo):
    """The cut is said with its line; it is no failure, as the file may still be written to."""
    last = json.dumps(todo(2, "x~")[0])
    path = recording(todo(1, "~."), last[: len(last) // 2], end="")
    result = invoke("replay", path)
    assert (result.exit_code, result.stderr) == (0, "")
    assert "unfinished_line" in result.stdout
    line = "line 3  The last line is not complete; the file may still be written to."
    assert line in result.stdout
    assert "1 planning call, 1 plan" in result.stdout


def test_many_bad_lines_are_counted_and_few_are_told(invoke, recording, todo):
    """Three are told on stderr, five in the report; all are counted."""
    path = recording(todo(1, "x"), *["{broken"] * 250)
    result = invoke("replay", path)
    assert result.stderr.count("\n") == 4
    assert "247 more lines could not be read" in result.stderr
    assert "  !  bad_line 250\n" in result.stdout
    assert "     and 245 more; see --json\n" in result.stdout
    assert "- and 245 more; see --json\n" in invoke("replay", path, "--markdown").stdout
    (read,) = document(invoke("replay", path, "--json"))["recordings"]
    assert read["bad_lines"] == 250
    assert sum(found["code"] == "bad_line" for found in read["findings"]) == 100


def test_a_directory_is_read_and_what_is_no_recording_is_listed(invoke, recording, todo, tmp_path):
    """
    Files that hold no recording are skipped without harm, and the first ten are listed for people.
    Other kinds are not looked at. A file with bad lines and no call is skipped below a directory;
    named, it is unreadable.
    """
    found = [recording(todo(1, "x"), name=name) for name in ("b/2.jsonl", "a/1.json")]
    notes = recording("# Notes", name="notes.md")
    recording("not even looked at", name="data.csv")
    prose = recording(SILENT, "{broken", name="prose.jsonl")
    result = invoke("replay", tmp_path, "--json")
    data = document(result)
    assert result.exit_code == 0
    assert [read["file"] for read in data["recordings"]] == sorted(map(str, found))
    assert [skipped["file"] for skipped in data["skipped"]] == [str(notes), str(prose)]
    shown = invoke("replay", tmp_path).stdout
    assert f"Skipped 2 files without a recording\n  {notes}: is no recording" in shown
    assert "## Skipped, no recording\n" in invoke("replay", tmp_path, "--markdown").stdout
    assert invoke("replay", prose).exit_code == 2
    for number in range(10):
        recording("# Notes", name=f"{number:02}.md")
    shown = invoke("replay", tmp_path).stdout
    assert "Skipped 12 files without a recording\n" in shown
    assert "  and 2 more; see --json\n" in shown


@pytest.mark.parametrize("name", ["notes.txt", "notes.md"])
def test_a_directory_without_recordings_is_exit_2(invoke, recording, tmp_path, name):
    """A wrong directory is not taken for a clean one."""
    recording("# Notes", name=name)
    result = invoke("replay", tmp_path)
    assert result.exit_code == 2
    assert "nothing to read" in result.stderr


def test_a_recording_without_calls_is_fine(invoke, recording):
    """An agent need not plan. `Task` starts a subagent of Claude Code, and plans nothing."""
    path = recording(SILENT)
    for form in FORMS:
        result = invoke("replay", path, *flags(form))
        assert (result.exit_code, result.stderr) == (0, "")
    shown = invoke("replay", path).stdout
    assert "0 planning calls, 0 plans\n\nNo tool call was found; a planning tool is one of" in shown
    assert "No findings" not in shown
    result = invoke("replay", recording([asked("Task")], [asked("ExitPlanMode", "c2")]))
    assert (result.exit_code, result.stderr) == (0, "")


@pytest.mark.parametrize("key", ["name", "tool", "toolName"])
def test_planning_tools_in_a_form_that_is_not_known_are_named(invoke, recording, key):
    """Calls that no reader finds are no silence: the names that are unmistakable are told."""
    steps = json.dumps({"steps": [{key: "todo_write"}, {key: "grep"}, {key: "plan_trip"}]})
    result = invoke("replay", recording([{"role": "assistant", "content": "", "meta": steps}]))
    assert result.exit_code == 2
    assert "nothing understood: it names todo_write, but in no form that is known" in result.stderr


def test_of_many_unmistakable_names_five_are_told(invoke, recording):
    """In the order of the file."""
    names = json.dumps([{"name": f"todo_{number}"} for number in range(7)])
    result = invoke("replay", recording([{"role": "assistant", "content": "", "meta": names}]))
    assert "it names todo_0, todo_1, todo_2, todo_3, todo_4, but in no form" in result.stderr


def test_a_recording_without_findings_says_so(invoke, recording, todo):
    """Planned, worked on, done: there is nothing to say."""
    path = recording(todo(1, "~."), todo(2, "x~"), todo(3, "xx"))
    shown = invoke("replay", path).stdout
    assert "No findings\n" in shown
    assert "Findings:" not in shown


def test_a_line_that_is_too_long_is_a_warning(invoke, recording, todo, monkeypatch):
    """All else was read: the finding says so, and the exit code is that of the rest."""
    monkeypatch.setattr("todoplan.transcripts.reading.Source", partial(Source, limit=2_000))
    result = invoke("replay", recording(todo(1, "~"), [asked("x" * 3_000)], todo(2, "x")))
    assert (result.exit_code, result.stderr) == (0, "")
    assert "A line was skipped: it is longer than 2000 bytes." in result.stdout


def asked(name, call_id="c1", arguments=None):
    """A chat message that calls a tool."""
    function = {"name": name, "arguments": json.dumps(arguments or {})}
    call = {"id": call_id, "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


OTHERS = "No call of a known planning tool; the first tools called are search, plan"


@pytest.mark.parametrize("form", FORMS)
def test_tools_that_are_not_known_are_named(invoke, recording, form):
    """
    If no call is a planning tool's, the first tools are told, in any form. One that sounds like
    planning means that nothing was understood.
    """
    path = recording(
        [asked("search")],
        [asked("plan", "c2", {"goal": "x"})],
        [asked("search", "c3")],
        [asked(HOSTILE, "c4")],
    )
    result = invoke("replay", *flags(form), path)
    assert result.exit_code == 2
    told = "nothing understood: no planning tool known here is called, but plan"
    assert result.stderr.endswith(f"{told}\n")
    assert invoke("replay", recording([asked("search")])).exit_code == 0
    if form == "--json":
        (read,) = document(result)["recordings"]
        assert read["other_tools"] == ["search", "plan", HOSTILE]
    else:
        assert OTHERS in result.stdout
        assert not re.search("^(No findings|none)$", result.stdout, re.MULTILINE)
        assert result.stdout.replace("\n", "").isprintable()


@pytest.mark.parametrize("form", FORMS)
def test_other_tools_beside_planning_tools_are_not_named(invoke, recording, form):
    """Where a planning tool was called they are no news. Else they do not hide the findings."""
    write = {"todos": [{"content": "Sow", "status": "completed"}]}
    path = recording([asked("search")], [asked("write_todos", "c2", write)])
    shown = invoke("replay", *flags(form), path).stdout
    assert "search" not in shown
    assert "Sow" in shown
    shown = invoke("replay", recording([asked("search")], "{broken}search")).stdout
    assert "the first tools called are search\nFindings: 1 warning\n" in shown


LEAN_TURNS = (
    [("search", {"q": "parser"})],
    [("plan", {"write": ["Read it", "Fix it", "Test it"]})],
    [("plan", {"done": [9]})],
    [("plan", {"done": [1], "add": ["Tell"]})],
    [("plan", {"done": [2]}), ("plan", {"drop": [4]})],
)


def test_a_conversation_with_our_own_tool_is_replayed(invoke, tmp_path):
    """What a loop of ours over the tool set `lean` made is shown as it happened."""
    path, plan = own_recording(tmp_path, CHAT, Toolbox(LEAN), *LEAN_TURNS)
    result = invoke("replay", path)
    assert (result.exit_code, result.stderr) == (0, "")
    assert "chat, 5 planning calls (1 refused), 1 plan\n" in result.stdout
    assert "  2/4 completed, 1 in progress, 1 cancelled\n" in result.stdout
    assert "  [~] 3 Test it\n" in result.stdout
    (read,) = document(invoke("replay", path, "--json", "--dialect", "chat"))["recordings"]
    assert plan_from_data(read["lanes"][0]["plan"]) == plan
    # A named dialect is believed, also where it is not the right one.
    (other,) = document(invoke("replay", path, "--json", "--dialect", "codex"))["recordings"]
    assert (other["dialect"], other["steps"]) == ("codex", [])


def test_lanes_are_told_apart(invoke, recording, todo):
    """Each plan is shown under its name, and a row says whose plan it changed."""
    side = todo(2, ".", "Dig", isSidechain=True, agentId="mole")
    path = recording(todo(1, "~", "Sow"), side)
    shown = invoke("replay", path).stdout
    assert "Plan at the end of main\n" in shown
    assert "Plan at the end of agent-mole\n" in shown
    assert "agent-mole: created #1 Dig\n" in shown
    assert "### Plan at the end of agent-mole\n" in invoke("replay", path, "--markdown").stdout


@pytest.mark.parametrize("form", FORMS)
def test_hostile_texts_reach_the_terminal_as_plain_words(invoke, recording, tool_call, form):
    """No control, markup or line break of a task, tool, lane, answer or file takes effect."""
    create = {"subject": HOSTILE, "description": HOSTILE}
    more = {"isSidechain": True, "agentId": HOSTILE}
    path = recording(
        tool_call(1, "TaskCreate", create),
        tool_call(2, f"mcp{HOSTILE}__write_todos", {"todos": []}, **more),
        tool_call(3, "TaskUpdate", {"taskId": "1", "owner": HOSTILE}),
        tool_call(4, "TaskCreate", create, error=HOSTILE),
        name="a\x1b[31m`*b*`.jsonl",
    )
    result = invoke("replay", path, path.with_name("gone\x1b[2J.jsonl"), *flags(form))
    shown = result.stdout.replace("\n", "")
    assert result.exit_code == 2
    assert (shown + result.stderr.replace("\n", "")).isprintable()
    assert "[bold]b[/bold]" in shown.replace("\\", "")
    assert ":bug:" in shown.replace("\\", "")
    assert not any(line.startswith("next") for line in result.stdout.split("\n"))
    if form == "--markdown":
        assert not re.search(r"(?<!\\)(?:\]\(|<b>|\*_)", shown)


def test_a_recording_of_which_no_call_is_understood_is_no_success(invoke, recording, tool_call):
    """Every planning call has arguments that make no sense: the exit code is 2."""
    path = recording(
        tool_call(1, "TodoWrite", {"todos": 7}), tool_call(2, "TodoWrite", {"todos": 8})
    )
    result = invoke("replay", path)
    assert result.exit_code == 2
    assert "not one of its 2 planning calls could be understood" in result.stderr


def test_what_happened_between_the_calls_is_shown(invoke, recording, todo):
    """Messages of the person and summaries stand in the timeline, and what each task took."""
    said = {"type": "user", "message": {"role": "user", "content": "Go on"}, "sessionId": "s"}
    compacted = {"type": "system", "subtype": "compact_boundary", "uuid": "c", "sessionId": "s"}
    path = recording(todo(1, "~"), [said, said], todo(2, "x"), [compacted, said], todo(3, "x~"))
    shown = invoke("replay", path).stdout
    assert "  -- 2 messages of the person\n" in shown
    assert "  -- the conversation was summarised, a message of the person\n" in shown
    assert "\n  took #1 1 s\n" in shown
    (read,) = document(invoke("replay", "--json", path))["recordings"]
    expected = [*["person"] * 2, "compaction", "person"]
    assert [mark["what"] for step in read["steps"] for mark in step["before"]] == expected
    assert read["lanes"][0]["seconds"] == {"1": 1.0}
    assert "| *2 messages of the person* |" in invoke("replay", "--markdown", path).stdout


def test_a_team_is_replayed_as_one(invoke, recording, tool_call, tmp_path):
    """Tasks that the leader created are no strangers in a teammate's file; each hand is named."""
    made = "Task #1 created successfully: Sow"
    create = tool_call(1, "TaskCreate", {"subject": "Sow"})
    create[1]["message"]["content"][0]["content"] = made
    todo = {"todos": [{"content": "Own", "status": "completed"}]}
    done = tool_call(3, "TaskUpdate", {"taskId": "1", "status": "completed"})
    said = {"type": "user", "message": {"role": "user", "content": "Go on"}, "sessionId": "s"}
    recording([said], create, done, name="lead.jsonl")
    mate = tool_call(2, "TaskUpdate", {"taskId": "1", "status": "in_progress"})
    recording(mate, tool_call(4, "TodoWrite", todo), name="mate.jsonl")
    recording("# Notes", name="notes.md")
    apart = document(invoke("replay", "--json", tmp_path))
    assert "made_elsewhere" in [one["code"] for one in apart["recordings"][1]["findings"]]
    result = invoke("replay", "--json", "--together", tmp_path)
    (read,) = document(result)["recordings"]
    assert result.exit_code == 0
    assert [step["actor"] for step in read["steps"]] == ["lead", "mate", "lead", "mate"]
    assert [lane["name"] for lane in read["lanes"]] == ["main", "mate"]
    assert {one["code"] for one in read["findings"]} == {"written_after"}
    assert "mate: started #1 Sow" in invoke("replay", "--together", tmp_path).stdout
    assert invoke("replay", "--together", tmp_path / "notes.md").exit_code == 2
