"""Tools that are no planning tools, named by the reader of each dialect."""

import json

import pytest
from support.recorded import document_file, lines_file, text_file

from todoplan.transcripts.calls import OtherCall
from todoplan.transcripts.reading import detect, read

USE = {"type": "tool_use", "id": "c1", "name": "Search", "input": {"q": "x"}}
TOLD = {"type": "tool_result", "tool_use_id": "c1", "content": "ok"}
FUNCTION = {"name": "Search", "arguments": "{}"}
CODEX = {"type": "function_call", "name": "Search", "arguments": "{}", "call_id": "c1"}
SCRIPT = {"type": "custom_tool_call", "name": "exec", "call_id": "c2", "input": "tools.Search({})"}
EVENT = {"kind": "ActionEvent", "source": "agent", "tool_name": "Search", "tool_call_id": "c1"}
OBSERVED = {"kind": "ObservationEvent", "source": "environment", "tool_name": "Search"}
PART = {"type": "tool", "tool": "Search", "callID": "c1", "state": {"status": "completed"}}
SNAKE = [
    {"role": "model", "parts": [{"function_call": {"name": "Search", "args": {}}}]},
    {"role": "user", "parts": [{"function_response": {"name": "Search", "response": {}}}]},
]
ROUND = {"toolCalls": [{"id": "c1", "name": "Search", "arguments": "{}"}]}
SPAN = {
    "traceId": "a",
    "spanId": "b",
    "attributes": [
        {"key": "gen_ai.operation.name", "value": {"stringValue": "execute_tool"}},
        {"key": "gen_ai.tool.name", "value": {"stringValue": "Search"}},
    ],
}
NAMED = {"tool_name": "Search", "tool_call_id": "c1"}
UNITY = "## 🤖 Assistant\n\n<details>\n<summary>🔧 Tool: Search (Core)</summary>\n\n"
RECORDINGS = {
    "claude-code": [
        {"type": "assistant", "sessionId": "s", "uuid": "u", "message": {"content": [USE]}},
        {"type": "user", "sessionId": "s", "uuid": "v", "message": {"content": [TOLD]}},
    ],
    "codex": [CODEX, {"type": "response_item", "payload": SCRIPT}],
    "entire": [{"v": 1, "agent": "a", "ts": "2026-01-01", "content": [{**USE, "result": TOLD}]}],
    "openhands": [EVENT, {**OBSERVED, "tool_call_id": "c1", "observation": {"content": "ok"}}],
    "opencode": [{"info": {"id": "m1"}, "parts": [PART]}],
    "gemini": [*SNAKE, {"type": "gemini", "id": "m", "toolCalls": [{"name": "Search"}]}],
    "langchain": [{"type": "ai", "content": "", "tool_calls": [{**FUNCTION, "id": "c1"}]}],
    "anthropic": [{"role": "assistant", "content": [USE]}, {"role": "user", "content": [TOLD]}],
    "adk": [
        {"author": "a", "invocationId": "i", "content": {"parts": SNAKE[0]["parts"]}},
        {"author": "a", "invocationId": "i", "content": {"parts": SNAKE[1]["parts"]}},
    ],
    "pydantic-ai": [
        {"kind": "response", "parts": [{"part_kind": "tool-call", "args": "{}", **NAMED}]},
        {"kind": "request", "parts": [{"part_kind": "tool-return", "content": "ok", **NAMED}]},
    ],
    "ag-ui": [
        {"type": "TOOL_CALL_START", "toolCallId": "c1", "toolCallName": "Search"},
        {"type": "TOOL_CALL_END", "toolCallId": "c1"},
    ],
    "openai-agents": [
        {"object": "trace.span", "id": "s", "span_data": {"type": "function", "name": "Search"}}
    ],
    "otlp": [SPAN],
    "chat": [
        {"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "function": FUNCTION}]},
        {"role": "tool", "tool_call_id": "c1", "content": "ok"},
    ],
}
LOG = {"request": {"body": {"messages": [{"role": "assistant", "content": [USE]}]}}, "response": {}}
TEXTS = {
    "openhands": "### [1] TOOL CALL > Search\n```json\n{}\n```\n"
    "### [2] TOOL RESULT < Search\n```\nok\n```\n",
    "gemini": "## USER 🧑\n\n## MODEL ✨\n\n**Tool Command**:\n```json\n"
    + json.dumps({"name": "Search", "args": {}})
    + "\n```\n",
}


@pytest.mark.parametrize("dialect", RECORDINGS)
@pytest.mark.parametrize("write", [lines_file, lambda folder, *all: document_file(folder, all)])
def test_a_tool_that_is_not_known_is_told_once(tmp_path, dialect, write):
    """In lines or in a document: its name and where it was first called, and no planning call."""
    path = write(tmp_path, *RECORDINGS[dialect])
    assert detect(path) == dialect
    assert list(read(path)) == [OtherCall("Search", 1)]


def test_a_log_of_requests_tells_it_too(tmp_path):
    """Though every request repeats it."""
    assert list(read(lines_file(tmp_path, LOG, LOG))) == [OtherCall("Search", 1)]


@pytest.mark.parametrize("dialect", TEXTS)
def test_a_log_in_markdown_tells_it_too(tmp_path, dialect):
    """With the line where its block begins."""
    path = text_file(tmp_path, TEXTS[dialect])
    assert detect(path) == dialect
    (found,) = read(path)
    assert found.tool == "Search"


def test_unitys_tools_are_told(tmp_path):
    """What is no planning tool there is one of the others."""
    text = f"{UNITY}**Input**\n\n```json\n{{}}\n```\n\n**Output**\n\n```\nok\n```\n</details>\n"
    assert [item.tool for item in read(text_file(tmp_path, text), "gemini")] == ["Search"]


def test_a_plan_of_another_product_is_no_planning_call(tmp_path):
    """Its name is told like that of any other tool."""
    foreign = {**USE, "name": "plan", "input": {"goal": "x"}}
    bare = {**USE, "name": "plan", "input": {}, "id": "c2"}
    path = lines_file(
        tmp_path, *({"role": "assistant", "content": [one]} for one in (foreign, bare))
    )
    assert list(read(path)) == [OtherCall("plan", 1), OtherCall("plan", 2)]
