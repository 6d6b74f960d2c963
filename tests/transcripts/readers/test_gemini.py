"""Gemini CLI sessions and shared chats."""

import json

import pytest
from support.pace import is_linear, seconds
from support.recorded import answers, bad_lines, calls, document_file, lines_file, text_file
from support.synthetic import unity_calls

from todoplan.transcripts import files as markdown
from todoplan.transcripts.reading import detect
from todoplan.transcripts.replay import replay_file

ARGUMENTS = {"todos": [{"description": "A", "status": "in_progress"}]}
STAMPED = "write_todos-1763508947866-5d9827e51a1dd"
DONE = "Successfully updated the todo list."


def _fence(value):
    return f"```json\n{json.dumps(value, indent=2)}\n```"


def _command(**fields):
    return "**Tool Command**:\n" + _fence({"name": "write_todos", "args": ARGUMENTS} | fields)


def _response(name="write_todos", response_id=STAMPED, **response):
    fields = {"id": response_id, "name": name, "response": response or {"output": DONE}}
    return "**Tool Response**:\n" + _fence(fields) + "\n"


MODEL, USER = "\n---\n\n✨ ## MODEL\n\n", "\n---\n\n🧑‍💻 ## USER\n\n"


def test_a_shared_chat_is_read(tmp_path):
    """
    Commands have no id: responses are taken in turn, by name. Newer chats have ids on both sides;
    an id tells the time.
    """
    other = "**Tool Command**:\n" + _fence({"name": "read_file", "args": {}})
    text = USER + "go\n" + MODEL + "Now." + other + _command() + "\n"
    text += USER + _response("read_file") + _response()
    text += MODEL + _command(id="a") + _command(id=STAMPED) + "\n"
    text += USER + _response() + _response(response_id="zz")
    path = text_file(tmp_path, text)
    assert detect(path) == "gemini"
    found = [(call.tool, call.arguments, call.turn, call.call_id) for call in calls(path)]
    turns = [("turn-2", ""), ("turn-4", "a"), ("turn-4", STAMPED)]
    assert found == [("write_todos", ARGUMENTS, *one) for one in turns]
    assert answers(path) == [DONE, None, DONE]
    assert calls(path)[2].at.year == 2025


def test_errors_are_told(tmp_path):
    """A response with an error is refused; one without either is given whole."""
    for response, answer in (({"error": "[Cancelled]"}, "![Cancelled]"), ({"x": 1}, '{"x": 1}')):
        text = MODEL + _command() + "\n" + USER + _response(**response)
        assert answers(text_file(tmp_path, text)) == [answer]


def test_a_block_that_cannot_be_read_is_told(tmp_path, monkeypatch):
    """
    It is no JSON, or too long. Only the block right under a label is looked at; that another one is
    cut is no matter.
    """
    monkeypatch.setattr(markdown, "_LARGEST", 300)
    huge = "**Tool Command**:\n```\n" + ("x" * 100 + "\n") * 9 + "```\n"
    text = MODEL + "**Tool Command**:\n```\noops\n```\n" + "```sh\nls\n```\n" + huge + _command()
    path = text_file(tmp_path, text + "\n```sh\nls")
    assert len(calls(path)) == 1
    bad, long = bad_lines(path)
    assert "not JSON" in bad.reason
    assert "longer than 300" in long.reason


def _details(tool, *blocks):
    labelled = (f"**引数**\n\n```json\n{block}\n```\n\n" for block in blocks)
    summary = f"<summary>🔧 Tool: {tool} (CoreAgent)</summary>"
    return f"<details>\n{summary}\n\n{''.join(labelled)}</details>\n"


def test_unitys_assistant_is_read(tmp_path):
    """The list is JSON within JSON and stays so; the second block is the result."""
    arguments = {"planPath": "p.md", "todos": json.dumps(ARGUMENTS["todos"])}
    text = "## 🤖 Assistant\n\n" + _details("Unity.ReadFile", "{}", "text")
    text += _details("Unity.WriteTodos", json.dumps(arguments), DONE)
    text += "**bold**\n\n```\nelse\n```\n" + _details("Unity.WriteTodos", "{}", "Error: no")
    text += _details("Unity.WriteTodos", "{}")
    path = text_file(tmp_path, text)
    assert detect(path) == "gemini"
    found = calls(path)
    assert [call.tool for call in found] == ["Unity.WriteTodos"] * 3
    assert found[0].arguments == arguments
    assert answers(path) == [DONE, "!Error: no", None]
    assert len({call.turn for call in found}) == 3


@pytest.mark.parametrize("label", ["Error", "エラー", "오류"])
def test_an_error_of_unitys_assistant_is_told_by_its_label(tmp_path, label):
    """In place of the result stands a block under another word, in the editor's language."""
    text = _details("Unity.WriteTodos", "{}", "no such plan")
    first, _, second = text.rpartition("**引数**")
    path = text_file(tmp_path, f"{first}**{label}**{second}{_details('Unity.WriteTodos', '{}')}")
    assert answers(path) == ["!no such plan", None]


def test_unitys_second_form_is_read(tmp_path):
    """A line in bold names the tool; other bold lines are thoughts, and no block is an answer."""
    path = text_file(tmp_path, unity_calls())
    assert detect(path) == "gemini"
    found = calls(path)
    assert [call.tool for call in found] == ["Unity.WriteTodos"] * 2
    assert [call.result for call in found] == [None, None]
    # All that the model did until the person spoke is one section: nothing was sent at once.
    assert found[0].turn != found[1].turn
    replay = replay_file(path)
    assert [step.outcome for step in replay.steps()] == ["applied", "applied"]
    (lane,) = replay.lanes
    assert [task.status for task in lane.plan] == ["completed", "in_progress", "pending"]
    thought = "**Tool call: Unity.WriteTodos**\n\n**Thinking**\n\n```\ncode\n```\n"
    assert calls(text_file(tmp_path, thought), "gemini") == []


@pytest.mark.parametrize("again", ["a", "<summary>a("])
def test_a_long_summary_takes_linear_time(tmp_path, again):
    """The time to read a line of a log grows with its length, not with the square of it."""

    def taking(times):
        path = text_file(tmp_path, f"<summary>{again * times}\n" + _details("WriteTodos", "{}"))
        assert [call.tool for call in calls(path, "gemini")] == ["WriteTodos"]
        return seconds(lambda: calls(path, "gemini"))

    assert is_linear(taking, 20_000)


def _session_call(call_id="w1", **fields):
    response = {
        "functionResponse": {"id": call_id, "name": "write_todos", "response": {"output": DONE}}
    }
    call = {"id": call_id, "name": "write_todos", "args": ARGUMENTS, "result": [response]}
    return call | fields


def _session(*tool_calls):
    at = "2026-01-01T00:00:00Z"
    return {
        "id": "m1",
        "timestamp": at,
        "type": "gemini",
        "content": "",
        "toolCalls": list(tool_calls),
    }


@pytest.mark.parametrize("write", [lines_file, lambda f, *m: document_file(f, {"messages": m})])
def test_session_files_are_read(tmp_path, write):
    """Calls hold their results; a message that is written again counts once."""
    timed = _session_call("w2", timestamp="2026-01-02T00:00:00Z", result=[])
    other = _session_call("w3", name="read_file")
    path = write(tmp_path, _session(_session_call(), timed, other), _session(_session_call()))
    found = calls(path)
    expected = [("w1", 1, "m1"), ("w2", 2, "m1")]
    assert [(call.call_id, call.at.day, call.turn) for call in found] == expected
    assert answers(path) == [DONE, None]


def test_api_contents_are_read(tmp_path):
    """Function calls and responses stand in parts, with ids or without."""
    call = {"functionCall": {"name": "write_todos", "args": ARGUMENTS}}
    other = {"functionCall": {"name": "read_file", "args": {}}}
    response = {"functionResponse": {"name": "write_todos", "response": {"output": DONE}}}
    path = lines_file(
        tmp_path,
        {"role": "model", "parts": [other, call, {"text": "x"}]},
        "oops",
        {"role": "user", "parts": [response, response]},
    )
    (found,) = calls(path)
    assert (found.arguments, found.result.text, found.turn) == (ARGUMENTS, DONE, "#1")
    assert len(bad_lines(path)) == 1
