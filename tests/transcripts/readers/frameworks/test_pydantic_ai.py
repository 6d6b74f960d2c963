"""Messages and events of Pydantic AI, also those that the installed version writes."""

import asyncio
import json

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from support.recorded import TODOS, calls, compactions, lines_file

from todoplan.transcripts.reading import detect

NAMED = {"tool_name": "write_todos", "tool_call_id": "c1"}
CALL = {"part_kind": "tool-call", "args": TODOS, **NAMED}


def response(*parts, **more):
    """What the model said."""
    return {"kind": "response", "parts": parts, "timestamp": "2026-03-02T10:00:00Z", **more}


def request(**part):
    """What it was told."""
    return {"kind": "request", "parts": [part]}


def test_what_the_installed_version_writes_is_read(tmp_path):
    """A real run with a scripted model: call and answer, in the form of `all_messages_json`."""

    def model(messages, info):
        if len(messages) == 1:
            return ModelResponse([ToolCallPart("write_todos", TODOS)])
        return ModelResponse([TextPart("done")])

    agent = Agent(FunctionModel(model))

    @agent.tool_plain
    def write_todos(todos: list[dict[str, str]]) -> str:
        return f"kept {len(todos)}"

    # `run_sync` leaves a loop open, which a later test would be blamed for.
    messages = asyncio.run(agent.run("go")).all_messages()
    path = tmp_path / "run.json"
    path.write_bytes(ModelMessagesTypeAdapter.dump_json(messages))
    assert detect(path) == "pydantic-ai"
    (call,) = calls(path)
    assert (call.arguments, call.result.text) == (TODOS, "kept 1")
    assert call.at == messages[1].timestamp


def test_events_of_a_run_are_read(tmp_path):
    """A line each; a result stands under `part`, and stood under `result`."""
    begun = {"event_kind": "function_tool_call", "part": CALL}
    told = {"part_kind": "tool-return", "content": "ok", **NAMED}
    for key in ("part", "result"):
        ended = {"event_kind": "function_tool_result", key: told}
        (call,) = calls(lines_file(tmp_path, begun, {"event_kind": "part_start"}, ended))
        assert (call.arguments, call.result.text) == (TODOS, "ok")


@pytest.mark.parametrize(
    ("answer", "refused"),
    [
        ({"part_kind": "tool-return", "content": "ok"}, False),
        ({"part_kind": "tool-return", "content": "ok", "outcome": "denied"}, True),
        ({"part_kind": "tool-return", "content": "Error: no"}, True),
        ({"part_kind": "retry-prompt", "content": [{"msg": "Field required"}]}, True),
    ],
)
def test_answers_tell_refusals(tmp_path, answer, refused):
    """By outcome, by words, or by asking to try again."""
    (call,) = calls(lines_file(tmp_path, response(CALL), request(**answer, **NAMED)))
    assert call.result.is_error is refused


def test_structured_answers_are_kept(tmp_path):
    """As data; a demand that is about no tool answers none."""
    told = request(part_kind="tool-return", content={"todos": []}, **NAMED)
    retry = request(part_kind="retry-prompt", content="plain text is not allowed")
    (call,) = calls(lines_file(tmp_path, response(CALL), retry, told))
    assert call.result.data == {"todos": []}


def test_parts_of_a_response_are_one_turn(tmp_path):
    """Also under the provider's id; a summary is met where it stands."""
    second = {**CALL, "tool_call_id": "c2"}
    path = lines_file(tmp_path, response(CALL, second, provider_response_id="p"))
    assert [call.turn for call in calls(path)] == ["p", "p"]
    summary = response({"part_kind": "compaction", "content": "x"}, {"part_kind": "text"})
    assert len(compactions(lines_file(tmp_path, summary))) == 1
    assert json.dumps(summary)
