"""Telling dialects apart."""

import pytest
from support.recorded import TODOS, bad_lines, calls, document_file, lines_file, text_file

from todoplan.errors import ReadError
from todoplan.transcripts import files as probe
from todoplan.transcripts.reading import DIALECTS, detect, read

USE = {"type": "tool_use", "id": "t1", "name": "TodoWrite", "input": TODOS}
LISTED = {"id": "c1", "type": "function", "function": {"name": "TodoWrite", "arguments": "{}"}}

LINES = {
    "claude-code": {"type": "assistant", "uuid": "u", "sessionId": "s", "message": {"id": "m"}},
    "codex": {"timestamp": "", "type": "session_meta", "payload": {"id": "x"}},
    "entire": {"v": 1, "agent": "codex", "ts": "", "type": "user", "content": []},
    "openhands": {"kind": "MessageEvent", "source": "user", "id": "e"},
    "langchain": {"type": "human", "content": "hi"},
    "opencode": {"info": {"role": "user"}, "parts": []},
    "copilot": {"type": "assistant.message", "data": {"toolRequests": []}},
    "gemini": {"id": "g", "type": "gemini", "content": "hi"},
    "vscode": {"requestId": "r", "message": {"text": "hi", "parts": []}, "response": []},
    "adk": {"author": "user", "invocationId": "i", "content": {"parts": [{"text": "hi"}]}},
    "pydantic-ai": {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "hi"}]},
    "ag-ui": {"type": "RUN_STARTED", "threadId": "t", "runId": "r"},
    "openai-agents": {"object": "trace", "id": "trace_1", "workflow_name": "x"},
    "otlp": {"resourceSpans": []},
    "atif": {"step_id": 1, "source": "user", "message": "hi"},
    "antigravity": {"step_index": 0, "source": "USER_EXPLICIT", "type": "USER_INPUT"},
    "kiro": {"version": "v1", "kind": "Prompt", "data": {"content": []}},
    "cline": {"ts": 1, "type": "say", "say": "text", "text": "hi"},
    "cursor": {"role": "user", "message": {"content": []}},
    "chat": {"role": "assistant", "content": None, "tool_calls": [LISTED]},
    "anthropic": {"role": "assistant", "content": [USE]},
}
DOCUMENTS = {
    "langchain": {"values": {"messages": [{"type": "human", "content": "hi"}]}},
    "opencode": {"info": {"id": "s"}, "messages": [{"info": {"role": "user"}, "parts": []}]},
    "gemini": {"sessionId": "s", "projectHash": "h", "messages": [{"type": "gemini"}]},
    "chat": {"messages": [{"role": "user", "content": "hi"}], "meta": {}},
    "anthropic": {"messages": [{"role": "assistant", "content": [USE]}]},
    "openhands": [LINES["openhands"]],
    "atif": {"schema_version": "ATIF-v1.0", "agent": {"name": "a"}, "steps": [LINES["atif"]]},
    "kiro": {"history": [{"user": {"content": {}}, "assistant": {"Response": {}}}]},
    "cline": [LINES["cline"]],
    "vscode": {"requesterUsername": "x", "requests": [LINES["vscode"]]},
    "adk": {"id": "s", "appName": "a", "state": {}, "events": [LINES["adk"]]},
    "pydantic-ai": [LINES["pydantic-ai"]],
    "ag-ui": {"events": [LINES["ag-ui"]]},
    "openai-agents": {"data": [LINES["openai-agents"]]},
    "otlp": {"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "a", "spanId": "b"}]}]}]},
}


def test_every_dialect_has_a_sample_here():
    """The samples of this test cover the table."""
    told_below = {"todoplan", "specstory"}  # for the former see readers/test_own.py
    assert set(LINES) == set(DIALECTS) - told_below
    assert all(reader.name == name for name, reader in DIALECTS.items())


@pytest.mark.parametrize("name", LINES)
def test_lines_are_told_apart(tmp_path, name):
    """One line of each dialect is enough, whatever stands before it."""
    assert detect(lines_file(tmp_path, LINES[name])) == name
    assert detect(lines_file(tmp_path, {"type": "x"}, "bad", LINES[name])) == name
    assert detect(lines_file(tmp_path, "bad first line", LINES[name])) == name
    assert detect(lines_file(tmp_path, "{bad", LINES[name], {})) == name


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents_are_told_apart(tmp_path, name):
    """A document of each dialect is known, indented or in one line."""
    assert detect(document_file(tmp_path, DOCUMENTS[name])) == name
    assert detect(lines_file(tmp_path, DOCUMENTS[name])) == name


@pytest.mark.parametrize(
    ("record", "name"),
    [
        ({"type": "summary", "summary": "x", "leafUuid": "u"}, "claude-code"),
        ({"type": "file-history-snapshot", "uuid": "u", "sessionId": "s"}, "claude-code"),
        ({"type": "function_call", "call_id": "c", "name": "shell"}, "codex"),
        ({"lc": 1, "type": "constructor", "id": ["AIMessage"], "kwargs": {}}, "langchain"),
        ({"request": {"body": {}}, "response": None}, "anthropic"),
        ({"projectHash": "h", "sessionId": "s"}, "gemini"),
        ({"role": "model", "parts": []}, "gemini"),
        ({"author": "bot", "invocation_id": "i", "content": None}, "adk"),
        ({"event_kind": "function_tool_call", "part": {"part_kind": "tool-call"}}, "pydantic-ai"),
        ({"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "x"}, "ag-ui"),
        ({"object": "trace.span", "id": "s", "span_data": {"type": "agent"}}, "openai-agents"),
        ({"traceId": "a", "spanId": "b", "name": "chat"}, "otlp"),
    ],
)
def test_other_first_lines_are_known_too(tmp_path, record, name):
    """Dialects begin in several ways."""
    assert detect(lines_file(tmp_path, record)) == name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("🧑‍💻 ## USER\n\nhello\n", "gemini"),
        ("## MODEL ✨\n", "gemini"),
        ("x\n<summary>🔧 Tool: Unity.WriteTodos (CoreAgent)</summary>\n", "gemini"),
        ("## User\n\n**Tool call: Unity.Grep**\n\n```json\n{}\n```\n", "gemini"),
        ("# Log\n\n### [1] USER · 2026-07-30\n", "openhands"),
        ("<!-- Generated by SpecStory -->\n\n## USER\n", "specstory"),
    ],
)
def test_markdown_logs_are_told_apart(tmp_path, text, name):
    """Headings tell which log it is."""
    assert detect(text_file(tmp_path, text)) == name


@pytest.mark.parametrize(
    "raw",
    [
        b"hello\n",
        b"{}",
        b"[]",
        b"[1, 2]",
        b'{"a": 1}\n{"b": 2}\n',
        b"\x00\x01\xff",
        b"\x89PNG\n",
        b"[oops",
        b"{oops",
        b'{"messages": {}}',
        b'[{"role": "user", "name": "x"}]',
        b'{"type": []}\n{"role": {}}',
        b"\x0b\x0c\n x",
    ],
)
def test_what_is_no_recording_is_a_read_error(tmp_path, raw):
    """The file and the reason are told in one line."""
    path = tmp_path / "x.jsonl"
    path.write_bytes(raw)
    with pytest.raises(ReadError, match="no recording") as caught:
        detect(path)
    assert "\n" not in str(caught.value)
    assert caught.value.data["file"] == str(path)


@pytest.mark.parametrize("raw", [b"", b"\n \n", b"\xef\xbb\xbf", b" " * 300_000])
def test_an_empty_file_is_a_read_error(tmp_path, raw):
    """Nothing but blanks is told as such, with or without a dialect."""
    path = tmp_path / "x.jsonl"
    path.write_bytes(raw)
    for dialect in (None, "codex"):
        with pytest.raises(ReadError, match="empty"):
            read(path, dialect)


@pytest.mark.parametrize("name", ["missing", ""])
def test_a_missing_file_or_a_directory_is_a_read_error(tmp_path, name):
    """The error comes at once, not with the first item."""
    with pytest.raises(ReadError, match="cannot read"):
        read(tmp_path / name)


def test_blanks_before_the_first_line_are_no_matter(tmp_path):
    """A file may begin with any number of empty lines."""
    path = tmp_path / "x.jsonl"
    path.write_bytes(b"\n" * 300_000 + b'{"role": "user", "content": ""}\n')
    assert detect(path) == "chat"


def test_a_first_line_too_long_to_look_at_is_passed_over(tmp_path, monkeypatch):
    """
    A huge first line hides neither a document nor the lines after it. Lines that follow it tell
    that the file is lines: it is not parsed as a document.
    """
    monkeypatch.setattr(probe, "_SAMPLE_BYTES", 500)
    huge = "x" * 600
    assert detect(lines_file(tmp_path, {"x": huge, "messages": [LINES["chat"]]})) == "chat"
    monkeypatch.setattr(probe, "find_list", None)
    assert detect(lines_file(tmp_path, {"x": huge}, LINES["codex"])) == "codex"
    assert detect(lines_file(tmp_path, LINES["codex"], *[{"x": "x" * 300}] * 3)) == "codex"


def test_a_named_dialect_is_believed(tmp_path):
    """With a name, a file that shows nothing is read all the same; an unknown name is an error."""
    path = lines_file(tmp_path, {"a": 1}, "{cut")
    assert calls(path, "codex") == []
    assert len(bad_lines(path, "codex")) == 1
    assert calls(lines_file(tmp_path, LINES["chat"]), "chat")[0].tool == "TodoWrite"
    with pytest.raises(ReadError, match=r"no dialect 'cobol'.*claude-code"):
        read(path, "cobol")
    path.write_bytes(b"[oops")
    assert len(bad_lines(path, "chat")) >= 1
