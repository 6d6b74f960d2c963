"""
Our tool `plan` in the recordings of coding agents, in the shapes that the real programs wrote when
they played a conversation (`python -m tests.hosts`).
"""

import json

import pytest
from support.recorded import calls, document_file, lines_file

from todoplan.transcripts.calls import CallResult, OtherCall, PersonSpoke
from todoplan.transcripts.reading import detect, read
from todoplan.transcripts.replay import replay_file

REFUSED = "Nothing was changed. There is no task 9; the ids are: 1, 2."
REMINDER = "<todoplan-reminder>\nYou gave an answer while tasks of your plan are open"
# A message of the person, calls with an answer each and whether it is refused, the reminder of a
# hook, another message of the person.
TALK = (
    "Do the garden.",
    [({"write": ["Dig", "Sow"]}, "0/2: #1-#2 created; #1 started", False)],
    [({}, "#1 [in_progress] Dig\n#2 [pending] Sow", False)],
    [({"done": [9]}, REFUSED, True)],
    REMINDER,
    [({"done": [1]}, "1/2: #1 completed; #2 started", False), ({"done": [2]}, "2/2", False)],
    "And rake.",
    [({"add": ["Rake"]}, "2/3: #3 created; #3 started", False)],
)
OTHER = [({"command": "ls"}, "a", False)]
"""Calls of the shell of the agent."""


def codex_exec(name, talk):
    yield {"type": "thread.started", "thread_id": "t"}
    at = 0
    for said in talk:
        if isinstance(said, str):
            # Prompts of hooks are not printed, and those of the person only as the turn they begin.
            yield from [{"type": "turn.started"}] * (said != REMINDER)
            continue
        called = []
        for sent, answer, refused in said:
            at += 1
            item = {"id": f"item_{at}", "type": "mcp_tool_call", "server": "plan", "tool": name}
            item |= {"arguments": sent, "result": None, "error": None, "status": "in_progress"}
            yield {"type": "item.started", "item": item}
            told = {"content": [{"type": "text", "text": answer}], "structured_content": None}
            status = "failed" if refused else "completed"
            called.append(item | {"result": told, "status": status})
        yield from ({"type": "item.completed", "item": item} for item in called)


def codex(name, talk):
    def line(kind, **payload):
        return {"timestamp": "2026-11-26T07:25:47.410Z", "type": kind, "payload": payload}

    def completed(kind, **item):
        return line("event_msg", type="item_completed", item={"type": kind} | item)

    yield line("session_meta", id="s")
    at = 0
    for said in talk:
        if isinstance(said, str):
            content = [{"type": "input_text", "text": said}]
            yield line("response_item", type="message", role="user", content=content)
            kind = "HookPrompt" if said == REMINDER else "UserMessage"
            yield completed(kind, id="m", content=[{"type": "text", "text": said}])
            continue
        begun = at
        for sent, _, _ in said:
            at += 1
            call = {"name": name, "namespace": "mcp__plan", "call_id": f"call_{at}"}
            yield line("response_item", type="function_call", arguments=json.dumps(sent), **call)
        for number, (sent, answer, refused) in enumerate(said, begun + 1):
            told = {"content": [{"type": "text", "text": answer}], "isError": refused}
            call = {"id": f"call_{number}", "server": "plan", "tool": name, "arguments": sent}
            status = "failed" if refused else "completed"
            yield completed("McpToolCall", status=status, result=told, **call)
            output = [
                {"type": "input_text", "text": "Wall time: 0.0784 seconds\nOutput:"},
                {"type": "input_text", "text": answer},
            ]
            ids = {"call_id": f"call_{number}"}
            yield line("response_item", type="function_call_output", output=output, **ids)


def copilot(name, talk):
    yield {"type": "session.start", "data": {"sessionId": "s"}}
    for number, said in enumerate(talk):
        if isinstance(said, str):
            yield {"type": "user.message", "data": {"content": said}}
            continue
        uses = [
            {"toolCallId": f"call_{number}{at}", "name": f"plan-{name}", "arguments": sent}
            for at, (sent, _, _) in enumerate(said)
        ]
        yield {"type": "assistant.message", "data": {"messageId": "m", "toolRequests": uses}}
        for use, (_, answer, refused) in zip(uses, said, strict=True):
            error = {"error": {"message": answer, "code": "failure"}}
            told = error if refused else {"result": {"content": answer}}
            done = {"toolCallId": use["toolCallId"], "success": not refused}
            yield {"type": "tool.execution_complete", "data": done | told}


def opencode_parts(name, said, number):
    for at, (sent, answer, refused) in enumerate(said):
        status = "error" if refused else "completed"
        state = {"status": status, "input": sent, "error" if refused else "output": answer}
        ids = {"callID": f"call_{number}{at}", "messageID": f"msg_{number}"}
        yield {"type": "tool", "tool": f"plan_{name}", "state": state} | ids


def opencode_run(name, talk):
    # Neither the person nor a hook is printed.
    for number, said in enumerate(talk):
        yield {"type": "step_start", "sessionID": "s", "part": {"type": "step-start"}}
        for part in opencode_parts(name, said if isinstance(said, list) else [], number):
            yield {"type": "tool_use", "timestamp": 1795677585429, "sessionID": "s", "part": part}


def opencode_export(name, talk):
    messages = [
        {"info": {"role": "user"}, "parts": [{"type": "text", "text": said}]}
        if isinstance(said, str)
        else {"info": {"role": "assistant"}, "parts": [*opencode_parts(name, said, number)]}
        for number, said in enumerate(talk)
        if said != REMINDER
    ]
    return {"info": {"id": "ses_1", "version": "1.18.33"}, "messages": messages}


def qwen(name, talk):
    def line(kind, **fields):
        ids = {"uuid": "u", "sessionId": "s", "timestamp": "2026-11-26T07:24:15.593Z"}
        return {**ids, "type": kind, **fields}

    yield line("system", subtype="ui_telemetry", systemPayload={"uiEvent": {}})
    for number, said in enumerate(talk):
        if said == REMINDER:  # not recorded
            continue
        if isinstance(said, str):
            yield line("user", message={"role": "user", "parts": [{"text": said}]})
            continue
        uses = [{"name": f"mcp__plan__{name}", "arguments": sent} for sent, _, _ in said]
        ids = [{"id": f"call_{number}{at}", "name": "tool_call"} for at in range(len(said))]
        sent = [{"functionCall": one | {"args": use}} for one, use in zip(ids, uses, strict=True)]
        yield line("assistant", message={"role": "model", "parts": sent})
        for one, (_, answer, refused) in zip(ids, said, strict=True):
            told = {
                "functionResponse": one | {"response": {"error" if refused else "output": answer}}
            }
            yield line("tool_result", message={"role": "user", "parts": [told]})


def qwen_stream(name, talk):
    # Neither the person nor a hook is printed.
    for number, said in enumerate(talk):
        if isinstance(said, str):
            continue
        blocks = [
            {
                "type": "tool_use",
                "id": f"call_{number}{at}",
                "name": "tool_call",
                "input": {"name": f"mcp__plan__{name}", "arguments": sent},
            }
            for at, (sent, _, _) in enumerate(said)
        ]
        message = {"id": f"m{number}", "role": "assistant", "content": blocks}
        yield {"type": "assistant", "uuid": f"u{number}", "session_id": "s", "message": message}
        for at, (_, answer, refused) in enumerate(said):
            told = {"type": "tool_result", "tool_use_id": f"call_{number}{at}"}
            told |= {"is_error": refused, "content": answer}
            message = {"role": "user", "content": [told]}
            ids = {"uuid": f"r{number}{at}", "session_id": "s"}
            yield {"type": "user", **ids, "message": message}


def gemini(name, talk):
    yield {"sessionId": "s", "projectHash": "h", "kind": "main"}
    for number, said in enumerate(talk):
        if isinstance(said, str):
            yield {"id": f"u{number}", "type": "user", "content": [{"text": said}]}
            continue
        told = []
        for at, (sent, answer, refused) in enumerate(said):
            ids = {"id": f"call_{number}{at}", "name": f"mcp_plan_{name}"}
            output = {"output": f"<untrusted_context>\n{answer}\n</untrusted_context>"}
            response = ids | {"response": {"error": answer} if refused else output}
            told.append(ids | {"args": sent, "result": [{"functionResponse": response}]})
        # The message is written twice, first without its calls.
        yield {"id": f"m{number}", "type": "gemini", "content": ""}
        yield {"id": f"m{number}", "type": "gemini", "content": "", "toolCalls": told}
        answers = [one["result"][0] for one in told]
        yield {"id": f"a{number}", "type": "user", "content": answers}


HOSTS = [
    (codex_exec, "codex"),
    (codex, "codex"),
    (copilot, "copilot"),
    (opencode_run, "opencode"),
    (opencode_export, "opencode"),
    (qwen, "gemini"),
    (qwen_stream, "claude-code"),
    (gemini, "gemini"),
]


def recorded(folder, host, name, talk):
    made = host(name, talk)
    return document_file(folder, made) if isinstance(made, dict) else lines_file(folder, *made)


@pytest.mark.parametrize(("host", "dialect"), HOSTS)
def test_a_conversation_over_our_server_is_read_in_each_host(tmp_path, host, dialect):
    """Each call has its answer; a refusal is one; a hook's reminder is no message of the person."""
    path = recorded(tmp_path, host, "plan", TALK)
    assert detect(path) == dialect
    exchanges = [one for said in TALK if isinstance(said, list) for one in said]
    told = [(call.arguments, call.result or CallResult("no answer")) for call in calls(path)]
    found = [(sent, result.text, result.is_error) for sent, result in told]
    assert found == exchanges
    prompts = sum(isinstance(item, PersonSpoke) for item in read(path))
    assert prompts == (0 if host in {opencode_run, qwen_stream} else 2)
    replay = replay_file(path)
    assert [step.outcome for step in replay.steps()] == [
        *("applied", "read", "refused", "applied", "applied", "applied")
    ]
    (lane,) = replay.lanes
    assert [f"{task.status}: {task.subject}" for task in lane.plan] == [
        *("completed: Dig", "completed: Sow", "in_progress: Rake")
    ]


@pytest.mark.parametrize(("host", "dialect"), HOSTS)
def test_a_tool_of_another_server_is_no_planning(tmp_path, host, dialect):
    """It is named, so that a person sees what the recording has instead of a plan."""
    found = [*read(recorded(tmp_path, host, "search", ("Look.", OTHER)), dialect)]
    assert [item.tool for item in found if isinstance(item, OtherCall)] != []
    assert calls(recorded(tmp_path, host, "search", ("Look.", OTHER)), dialect) == []


def test_the_list_that_codex_prints_is_a_checklist(tmp_path):
    """Its last state comes twice; a list without "in progress" leaves no task out of turn."""

    def item(kind, *rows):
        listed = [{"text": text, "completed": done} for text, done in rows]
        return {"type": kind, "item": {"id": "item_3", "type": "todo_list", "items": listed}}

    path = lines_file(
        tmp_path,
        {"type": "thread.started", "thread_id": "t"},
        item("item.started", ("Dig", False), ("Sow\nbeans", False)),
        item("item.updated", ("Dig", True), ("Sow\nbeans", False)),
        item("item.updated", ("Dig", True), ("Sow\nbeans", True)),
        item("item.completed", ("Dig", True), ("Sow\nbeans", True)),
    )
    replay = replay_file(path)
    assert [step.outcome for step in replay.steps()] == ["applied"] * 3
    (lane,) = replay.lanes
    done = [(task.subject, task.status) for task in lane.plan]
    assert done == [("Dig", "completed"), ("Sow beans", "completed")]
    assert replay.findings == []


def test_a_call_of_codex_that_never_ended_has_no_answer(tmp_path):
    """The next run of a resumed session begins its ids anew."""
    first, second = ([*codex_exec("plan", TALK[:2])] for _ in range(2))
    cut, whole = calls(lines_file(tmp_path, *first[:-1], *second))
    assert cut.result is None
    assert whole.result == CallResult(TALK[1][0][1])
