"""Small recordings of systems whose lists have another form, written from their descriptions."""

import pytest
from support.recorded import document_file, lines_file

from todoplan.transcripts.calls import PersonSpoke
from todoplan.transcripts.reading import read
from todoplan.transcripts.replay import replay_file

FIRST = "- [-] Sow\n- [ ] Reap"
SECOND = "- [x] Sow\n- [-] Reap"


def use(arguments, tool, number):
    return {"type": "tool_use", "id": f"t{number}", "name": tool, "input": arguments}


def answer(text, number):
    return {"type": "tool_result", "tool_use_id": f"t{number}", "content": text}


def message(role, *blocks):
    return {"role": role, "content": list(blocks)}


def roo(folder):
    """`update_todo_list` takes Markdown; the person may edit the list before it is accepted."""
    edited = "User edits todo:\n\n[x] Sow\n[-] Reap\n"
    return document_file(
        folder,
        [
            message("assistant", use({"todos": FIRST}, "update_todo_list", 1)),
            message("user", answer("Todo list updated successfully.", 1)),
            message("assistant", use({"todos": FIRST}, "update_todo_list", 2)),
            message("user", answer(edited, 2)),
        ],
    )


def roo_xml(folder):
    """The same in the text, where the model has no tool calls."""

    def said(todos):
        text = f"Now.\n<update_todo_list>\n<todos>\n{todos}\n</todos>\n</update_todo_list>"
        return {"role": "assistant", "content": [{"type": "text", "text": text}]}

    return document_file(folder, [said(FIRST), {"role": "user", "content": "ok"}, said(SECOND)])


def cline(folder):
    """`task_progress` is an argument of any tool."""
    return document_file(
        folder,
        [
            message("assistant", use({"path": "a", "task_progress": FIRST}, "read_file", 1)),
            message("user", answer("text", 1)),
            message("assistant", use({"path": "b", "task_progress": SECOND}, "read_file", 2)),
        ],
    )


def goose(folder):
    """The list is a note; requests and responses have shapes of their own."""

    def turn(number, text):
        value = {"name": "todo__todo_write", "arguments": {"content": f"# Plan\n\n{text}"}}
        asked = {"type": "toolRequest", "id": f"c{number}", "toolCall": {"value": value}}
        value = [{"type": "text", "text": "Updated (9 chars)"}]
        told = {"type": "toolResponse", "id": f"c{number}"}
        told |= {"toolResult": {"status": "success", "value": value}}
        return [message("assistant", asked), message("user", told)]

    return lines_file(folder, *turn(1, FIRST), *turn(2, SECOND))


def qwen(folder):
    """Gemini's messages in the envelope of Claude Code."""

    def turn(number, *statuses):
        rows = zip("12", ("Sow", "Reap"), statuses, strict=True)
        todos = [{"id": one, "content": text, "status": status} for one, text, status in rows]
        call = {"id": f"c{number}", "name": "todo_write", "args": {"todos": todos}}
        reply = {"id": f"c{number}", "name": "todo_write", "response": {"output": "ok"}}
        line = {"uuid": f"u{number}", "sessionId": "s", "timestamp": "2026-03-02T09:20:00Z"}
        sent = {"role": "model", "parts": [{"functionCall": call}]}
        told = {"role": "user", "parts": [{"functionResponse": reply}]}
        yield line | {"type": "assistant", "message": sent}
        yield line | {"type": "tool_result", "message": told}

    return lines_file(
        folder, *turn(1, "in_progress", "pending"), *turn(2, "completed", "in_progress")
    )


def droid(folder):
    """Numbered lines with the status in brackets."""

    def turn(number, todos):
        yield {"type": "message", "message": message("assistant", use(todos, "TodoWrite", number))}
        yield {"type": "message", "message": message("user", answer("ok", number))}

    return lines_file(
        folder,
        {"type": "session_start", "id": "s"},
        *turn(1, {"todos": "1. [in_progress] Sow\n2. [pending] Reap"}),
        *turn(2, {"todos": "1. [completed] Sow\n2. [in_progress] Reap"}),
    )


@pytest.mark.parametrize("made", [roo, roo_xml, cline, goose, qwen, droid])
def test_a_list_in_any_form_replays_to_one_plan(tmp_path, made):
    """Two writes; every status is understood, and nothing had to be repaired."""
    replay = replay_file(made(tmp_path))
    steps = list(replay.steps())
    (lane,) = replay.lanes
    assert [step.outcome for step in steps] == ["applied", "applied"]
    rows = [(task.subject, task.status.value) for task in lane.plan]
    assert rows == [("Sow", "completed"), ("Reap", "in_progress")]
    codes = {finding.code for finding in replay.findings} - {"ended_unfinished"}
    assert codes <= ({"changed_elsewhere", "no_op_write"} if made is roo else set())


def test_a_refusal_of_goose_is_a_refusal(tmp_path):
    """Its status says so, and the text stands under `error`."""
    value = {"name": "todo__todo_write", "arguments": {"content": FIRST}}
    asked = {"type": "toolRequest", "id": "c", "toolCall": {"value": value}}
    told = {"type": "toolResponse", "id": "c", "toolResult": {"status": "error", "error": "no"}}
    path = lines_file(tmp_path, message("assistant", asked), message("user", told))
    replay = replay_file(path)
    assert [step.outcome for step in replay.steps()] == ["refused"]
    assert replay.findings[0].detail == "no"


def test_who_speaks_in_a_session_of_gemini_is_told(tmp_path):
    """The person's messages stand between those of the model, in sessions and in contents."""
    said = {"type": "user", "content": "go"}
    session = {"sessionId": "s", "projectHash": "h", "messages": [said]}
    spoken = list(read(document_file(tmp_path, session), "gemini"))
    spoken += read(lines_file(tmp_path, {"role": "user", "parts": [{"text": "go"}]}), "gemini")
    assert [type(one) for one in spoken] == [PersonSpoke] * 2
