"""
One session as each dialect would have recorded it, written by us from descriptions of the formats.

The session writes a list of three items. One write is refused. At the end the first item is done
and the second begun. The files also contain what other records such a file has.
"""

import json

ITEMS = ("Read the notes", "Write the parser", "Test it")
CALLS = ((".~.", None), ("~..", None), ("...", "Error: not now"), ("x~.", None))
"""Each write of the list as a strip of marks, and the text it was refused with."""

STATUSES = {".": "pending", "~": "in_progress", "x": "completed"}
DONE = {
    "TodoWrite": "Todos have been modified successfully.",
    "write_todos": "Successfully updated the todo list.",
    "update_plan": "Plan updated",
    "todowrite": "[]",
    "task_tracker": "Task list has been updated with 3 item(s).",
}
SECONDS = 1_772_443_200  # 2026-03-02T09:20:00Z


def todos(strip, key="content", **words):
    """The items of a write; `words` replaces statuses by the dialect's own."""
    names = [STATUSES[mark] for mark in strip]
    rows = zip(ITEMS, names, strict=True)
    return [{key: item, "status": words.get(name, name)} for item, name in rows]


def at(number):
    """The moment of a call."""
    return f"2026-03-02T09:20:{number:02}.000Z"


def lines(records):
    """One object a line."""
    return "".join(json.dumps(record) + "\n" for record in records)


def claude_code():
    """Lines of one content block each; a snapshot, a compaction and a summary between."""
    yield {"type": "summary", "summary": "Parser", "leafUuid": "z"}
    for number, (strip, refusal) in enumerate(CALLS):
        use = {"type": "tool_use", "id": f"t{number}", "name": "TodoWrite"}
        use["input"] = {"todos": todos(strip)}
        answer = {"type": "tool_result", "tool_use_id": f"t{number}"}
        answer |= {"content": refusal or DONE["TodoWrite"], "is_error": bool(refusal)}
        common = {"sessionId": "s", "timestamp": at(number), "isSidechain": False}
        message = {"id": f"m{number}", "role": "assistant", "content": [use]}
        yield common | {"type": "assistant", "uuid": f"a{number}", "message": message}
        yield {"type": "file-history-snapshot", "uuid": f"f{number}", "sessionId": "s"}
        beside = refusal or {"oldTodos": [], "newTodos": todos(strip)}
        message = {"role": "user", "content": [answer]}
        told = {"type": "user", "uuid": f"b{number}", "message": message, "toolUseResult": beside}
        yield common | told
    yield common | {"type": "system", "subtype": "compact_boundary", "uuid": "c"}


def claude_code_tasks():
    """Task tools: ids stand in results only."""
    sent = [("TaskCreate", {"subject": item}) for item in ITEMS]
    sent += [("TaskUpdate", {"taskId": "9", "status": "completed"})]
    sent += [("TaskUpdate", {"taskId": "1", "status": "completed"})]
    sent += [("TaskUpdate", {"taskId": "2", "status": "in_progress"})]
    for number, (tool, arguments) in enumerate(sent):
        text = f"Task #{number + 1} created successfully: x" if tool == "TaskCreate" else "Updated"
        use = {"type": "tool_use", "id": f"t{number}", "name": tool, "input": arguments}
        answer = {"type": "tool_result", "tool_use_id": f"t{number}", "content": text}
        if arguments.get("taskId") == "9":
            answer |= {"content": "Task not found", "is_error": True}
        common = {"sessionId": "s", "timestamp": at(number)}
        message = {"id": "m", "role": "assistant", "content": [use]}
        yield common | {"type": "assistant", "uuid": f"a{number}", "message": message}
        yield common | {"type": "user", "uuid": f"b{number}", "message": {"content": [answer]}}


def codex():
    """A rollout: payloads in envelopes, arguments as text."""
    yield {"timestamp": at(0), "type": "session_meta", "payload": {"id": "s"}}
    for number, (strip, refusal) in enumerate(CALLS):
        arguments = json.dumps({"plan": todos(strip, "step")})
        call = {"type": "function_call", "name": "update_plan", "call_id": f"c{number}"}
        output = {"type": "function_call_output", "call_id": f"c{number}"}
        output["output"] = refusal or DONE["update_plan"]
        for payload in (call | {"arguments": arguments}, output):
            yield {"timestamp": at(number), "type": "response_item", "payload": payload}
    yield {"timestamp": at(9), "type": "compacted", "payload": {"message": ""}}


def codex_code_mode():
    """Tools called from a script: an object literal, keys without quotes."""
    yield {"timestamp": at(0), "type": "turn_context", "payload": {"model": "m"}}
    for number, (strip, refusal) in enumerate(CALLS):
        rows = [
            f'{{step: "{one["step"]}", status: "{one["status"]}"}}' for one in todos(strip, "step")
        ]
        script = f"const p = await tools.update_plan({{plan: [{', '.join(rows)}]}}); text(p)"
        call = {"type": "custom_tool_call", "name": "exec", "call_id": f"c{number}"}
        said = f"Script {'failed' if refusal else 'completed'}\nOutput:\n"
        output = {"type": "custom_tool_call_output", "call_id": f"c{number}"}
        output["output"] = [{"type": "input_text", "text": said}]
        for payload in (call | {"input": script}, output):
            yield {"timestamp": at(number), "type": "response_item", "payload": payload}


def entire():
    """One message a line, the result inside the call."""
    for number, (strip, refusal) in enumerate(CALLS):
        result = {"output": refusal or "ok", "status": "error" if refusal else "success"}
        use = {"type": "tool_use", "id": f"t{number}", "name": "TodoWrite", "result": result}
        use["input"] = {"todos": todos(strip)}
        line = {"v": 1, "agent": "Claude Code", "ts": at(number), "type": "assistant"}
        yield line | {"id": f"m{number}", "content": [{"type": "text", "text": "Now."}, use]}


def opencode():
    """Call and result are one part; a compaction; redacted ids."""
    messages = [{"info": {"role": "user", "id": "m"}, "parts": [{"type": "text", "text": "go"}]}]
    for number, (strip, refusal) in enumerate(CALLS):
        state = {"input": {"todos": todos(strip)}, "metadata": {"todos": todos(strip)}}
        state |= {"status": "error", "error": refusal} if refusal else {"status": "completed"}
        state |= {"output": "[]", "time": {"start": (SECONDS + number) * 1000}}
        part = {"type": "tool", "tool": "todowrite", "callID": "REDACTED", "state": state}
        info = {"role": "assistant", "id": f"m{number}"}
        messages.append({"info": info, "parts": [{"type": "compaction"}, part]})
    return {"info": {"id": "s", "title": "Parser"}, "messages": messages}


def langchain():
    """A thread's state: arguments as objects, the result a Python literal."""
    messages = [{"type": "human", "content": "go", "id": "h"}]
    for number, (strip, refusal) in enumerate(CALLS):
        call = {"name": "write_todos", "args": {"todos": todos(strip)}, "id": f"c{number}"}
        messages.append({"type": "ai", "content": "", "id": f"a{number}", "tool_calls": [call]})
        told = refusal or f"Updated todo list to {todos(strip)!r}"
        answer = {"type": "tool", "name": "write_todos", "tool_call_id": f"c{number}"}
        messages.append(answer | {"content": told, "status": "error" if refusal else "success"})
    return {"values": {"messages": messages, "todos": todos("x~.")}, "next": [], "metadata": {}}


def langchain_serialised():
    """Constructors: the message stands in `kwargs`."""
    kinds = {"ai": "AIMessage", "tool": "ToolMessage", "human": "HumanMessage"}
    for message in langchain()["values"]["messages"]:
        kind = ["langchain", "schema", "messages", kinds[message["type"]]]
        yield {"lc": 1, "type": "constructor", "id": kind, "kwargs": message}


def gemini_session():
    """A session file: responses stand in the calls."""
    messages = []
    for number, (strip, refusal) in enumerate(CALLS):
        said = {"error": refusal} if refusal else {"output": DONE["write_todos"]}
        response = {"functionResponse": {"name": "write_todos", "response": said}}
        call = {"id": f"w{number}", "name": "write_todos", "timestamp": at(number)}
        call |= {"args": {"todos": todos(strip, "description")}, "result": [response]}
        messages.append({"id": f"g{number}", "type": "gemini", "content": "", "toolCalls": [call]})
    return {"sessionId": "s", "projectHash": "h", "messages": messages}


def gemini_contents():
    """Contents as the API takes them: no ids, one answer after the other."""
    for strip, refusal in CALLS:
        call = {"name": "write_todos", "args": {"todos": todos(strip, "description")}}
        yield {"role": "model", "parts": [{"text": "Now."}, {"functionCall": call}]}
        said = {"error": refusal} if refusal else {"output": DONE["write_todos"]}
        response = {"name": "write_todos", "response": said}
        yield {"role": "user", "parts": [{"functionResponse": response}]}


def _fenced(value, language="json"):
    text = value if isinstance(value, str) else json.dumps(value, indent=2)
    return f"```{language}\n{text}\n```\n"


def gemini_markdown():
    """The markdown of `/chat share`."""
    text = "## USER\n\ngo\n"
    for number, (strip, refusal) in enumerate(CALLS):
        command = {"name": "write_todos", "args": {"todos": todos(strip, "description")}}
        said = {"error": refusal} if refusal else {"output": DONE["write_todos"]}
        call_id = f"write_todos-{(SECONDS + number) * 1000}-abc"
        response = {"id": call_id, "name": "write_todos", "response": said}
        text += f"\n---\n\n## MODEL\n\n**Tool Command**:\n{_fenced(command)}"
        text += f"\n---\n\n## USER\n\n**Tool Response**:\n{_fenced(response)}"
    return text


def unity_markdown():
    """Unity's assistant: the list is a text inside the arguments."""
    text = "## User\n\ngo\n"
    for strip, refusal in CALLS:
        arguments = {"planPath": "p", "todos": json.dumps(todos(strip, "description"))}
        text += "\n## Assistant\n\n<details>\n<summary>Tool: Unity.WriteTodos (Agent)</summary>\n\n"
        text += f"**Arguments**\n\n{_fenced(arguments)}\n"
        text += f"**Result**\n\n{_fenced(refusal or DONE['write_todos'], '')}\n</details>\n"
    return text


def openhands():
    """Events, an action and its observation; a refused call has an error event."""
    yield {"kind": "MessageEvent", "source": "user", "id": "e"}
    for number, (strip, refusal) in enumerate(CALLS):
        listed = todos(strip, "title", pending="todo", completed="done")
        arguments = json.dumps({"command": "plan", "task_list": listed})
        event = {"tool_name": "task_tracker", "tool_call_id": f"t{number}", "timestamp": at(number)}
        action = {"kind": "ActionEvent", "source": "agent", "action": {"kind": "TaskTrackerAction"}}
        yield event | action | {"tool_call": {"id": f"t{number}", "arguments": arguments}}
        if refusal:
            yield event | {"kind": "AgentErrorEvent", "source": "agent", "error": refusal}
        else:
            content = [{"type": "text", "text": DONE["task_tracker"]}]
            observation = {"is_error": False, "content": content, "task_list": listed}
            seen = {"kind": "ObservationEvent", "source": "environment"}
            yield event | seen | {"observation": observation}


def openhands_markdown():
    """A log: a heading for each call and each result."""
    text = "# Log\n\n### [1] USER · 2026-03-02 09:20:00 UTC\n\ngo\n\n"
    for number, (strip, refusal) in enumerate(CALLS):
        stamp = f"2026-03-02 09:20:{number:02} UTC"
        listed = todos(strip, "title", pending="todo", completed="done")
        text += f"### [{2 * number + 2}] TOOL CALL — task_tracker · {stamp}\n\n"
        text += _fenced({"command": "plan", "task_list": listed})
        flag = " [ERROR]" if refusal else ""
        text += f"\n### [{2 * number + 3}] TOOL RESULT — task_tracker{flag} · {stamp}\n\n"
        text += (
            _fenced(f"ERROR: {refusal}" if refusal else {"content": [], "is_error": False}) + "\n"
        )
    return text


def chat():
    """Chat completions: the same call in the content and in `tool_calls`."""
    messages = [{"role": "user", "content": "go"}]
    for number, (strip, refusal) in enumerate(CALLS):
        function = {"name": "update_plan", "arguments": json.dumps({"plan": todos(strip, "step")})}
        inside = {"type": "tool_call", "tool_call_id": f"c{number}", **function}
        listed = {"id": f"c{number}", "type": "function", "function": function}
        call = {"role": "assistant", "content": [inside], "tool_calls": [listed]}
        messages.append(call | {"_metadata": {"timestamp": at(number)}})
        told = [{"type": "tool_output", "text": refusal or DONE["update_plan"]}]
        answer = {"role": "tool", "tool_call_id": f"c{number}", "content": told}
        messages.append(answer)
    return {"messages": messages, "meta": {}}


def anthropic():
    """Bare messages, one a line."""
    yield {"role": "user", "content": "go", "timestamp": at(0)}
    for number, (strip, refusal) in enumerate(CALLS):
        use = {"type": "tool_use", "id": f"t{number}", "name": "TodoWrite"}
        use["input"] = {"todos": todos(strip)}
        yield {"role": "assistant", "content": [use], "timestamp": at(number)}
        answer = {"type": "tool_result", "tool_use_id": f"t{number}", "is_error": bool(refusal)}
        yield {"role": "user", "content": [answer | {"content": refusal or DONE["TodoWrite"]}]}


def anthropic_http():
    """An HTTP log: every request repeats the history, answers are streamed."""
    history = []
    for number, (strip, refusal) in enumerate((*CALLS, ("", None))):
        request = {"timestamp": SECONDS + number, "body": {"system": "s", "messages": [*history]}}
        events = [{"type": "message_start", "message": {"id": f"m{number}"}}]
        if strip:
            use = {"type": "tool_use", "id": f"t{number}", "name": "TodoWrite"}
            text = json.dumps({"todos": todos(strip)})
            events += [{"type": "content_block_start", "index": 0, "content_block": use}]
            for piece in (text[:9], text[9:]):
                delta = {"type": "input_json_delta", "partial_json": piece}
                events += [{"type": "content_block_delta", "index": 0, "delta": delta}]
            use = use | {"input": json.loads(text)}
            answer = {
                "type": "tool_result",
                "tool_use_id": f"t{number}",
                "content": refusal or "ok",
            }
            history += [{"role": "assistant", "content": [use]}]
            history += [{"role": "user", "content": [answer | {"is_error": bool(refusal)}]}]
        raw = "".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in events)
        yield {"request": request, "response": {"status_code": 200, "body_raw": raw}}


def copilot():
    """Copilot CLI: the plan is a table, and each call a few statements."""
    yield {"type": "session.start", "data": {"sessionId": "s"}}
    for number, (strip, refusal) in enumerate(CALLS):
        rows = [(f"t{n}", one["content"], one["status"]) for n, one in enumerate(todos(strip))]
        if number:
            change = "UPDATE todos SET status = '{}' WHERE id = '{}';".format
            query = "".join(change(status, name) for name, _, status in rows)
        else:
            values = ", ".join(f"('{a}', '{b}', '{c}')" for a, b, c in rows)
            query = f"INSERT INTO todos (id, title, status) VALUES {values}; "  # noqa: S608 - text of a recording
            query += "INSERT INTO todo_deps VALUES ('t1', 't0')"
        arguments = {"query": query}
        call = {"toolCallId": f"c{number}", "name": "sql", "arguments": arguments}
        asked = {"messageId": f"m{number}", "toolRequests": [call]}
        told = {"toolCallId": f"c{number}", "success": not refusal}
        told["result"] = {"content": refusal or "Executed 2 statement(s)"}
        yield {"type": "assistant.message", "timestamp": at(number), "data": asked}
        yield {"type": "tool.execution_complete", "timestamp": at(number), "data": told}


def unity_calls():
    """Unity's assistant now: a call each under a line in bold, between thoughts; no results."""
    text = "# Parser\n\n## User\n\ngo\n\n## Assistant\n"
    for strip, _ in (CALLS[0], CALLS[-1]):
        text += "\n**Thinking of the Parser**\n\nNow.\n\n"
        text += f"**Tool call: Unity.Grep**\n\n{_fenced({'args': 'x'})}\n"
        arguments = {"todos": json.dumps(todos(strip, "description")), "planPath": "p"}
        text += f"**Tool call: Unity.WriteTodos**\n\n{_fenced(arguments)}\n"
    return text


def vscode():
    """An exported chat: calls in rounds with their results, and once more as they were shown."""
    requests = []
    words = {"pending": "not-started", "in_progress": "in-progress"}
    for number, (strip, refusal) in enumerate(CALLS):
        listed = [{"id": n, **one} for n, one in enumerate(todos(strip, "title", **words), 1)]
        call_id = f"call_{number}__vscode-{number}"
        call = {"id": call_id, "name": "manage_todo_list"}
        call["arguments"] = json.dumps({"operation": "write", "todoList": listed})
        told = {"$mid": 20, "content": [{"$mid": 21, "value": refusal or "Successfully wrote"}]}
        rounds = [{"id": f"r{number}", "response": "Now.", "toolCalls": [call]}]
        metadata = {"toolCallRounds": rounds, "toolCallResults": {call_id: told}}
        shown = {"kind": "todoList", "todoList": listed}
        part = {"kind": "toolInvocationSerialized", "toolId": "manage_todo_list"}
        part |= {"toolCallId": f"call_{number}", "isComplete": True, "toolSpecificData": shown}
        request = {"requestId": f"q{number}", "message": {"text": "go", "parts": []}}
        request |= {"response": [{"value": "Now."}, part], "timestamp": (SECONDS + number) * 1000}
        requests.append(request | {"result": {"metadata": metadata}})
    return {"requesterUsername": "ann", "responderUsername": "Copilot", "requests": requests}


def adk():
    """A session's events: what streamed first as a piece, then whole."""
    yield {"id": "e", "author": "user", "invocationId": "i", "content": {"parts": [{"text": "go"}]}}
    for number, (strip, refusal) in enumerate(CALLS):
        common = {"invocationId": "i", "timestamp": SECONDS + number + 0.5}
        call = {"id": f"adk-{number}", "name": "write_todos", "args": {"todos": todos(strip)}}
        sent = common | {"id": f"m{number}", "author": "root_agent"}
        sent["content"] = {"role": "model", "parts": [{"functionCall": call}]}
        yield sent | {"partial": True}
        yield sent
        said = {"error": refusal} if refusal else {"result": DONE["write_todos"]}
        response = {"id": f"adk-{number}", "name": "write_todos", "response": said}
        content = {"role": "user", "parts": [{"functionResponse": response}]}
        yield common | {"id": f"t{number}", "author": "root_agent", "content": content}


def pydantic_ai():
    """Messages of a run: a refusal asks to try again."""
    messages = [{"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "go"}]}]
    for number, (strip, refusal) in enumerate(CALLS):
        named = {"tool_name": "write_todos", "tool_call_id": f"c{number}"}
        call = {"part_kind": "tool-call", "args": json.dumps({"todos": todos(strip)}), **named}
        messages.append({"kind": "response", "parts": [call], "timestamp": at(number)})
        kind = "retry-prompt" if refusal else "tool-return"
        content = refusal or DONE["write_todos"]
        answer = {"part_kind": kind, "content": content, "timestamp": at(number), **named}
        messages.append({"kind": "request", "parts": [answer]})
    return {"messages": messages}


def ag_ui():
    """The events of a run: arguments in two pieces, a snapshot that repeats all calls."""
    messages = [{"id": "u", "role": "user", "content": "go"}]
    yield {"type": "RUN_STARTED", "threadId": "t", "runId": "r", "input": {"messages": messages}}
    calls = []
    for number, (strip, refusal) in enumerate(CALLS):
        arguments = json.dumps({"todos": todos(strip)})
        named = {"toolCallId": f"c{number}", "timestamp": (SECONDS + number) * 1000}
        begun = {"toolCallName": "write_todos", "parentMessageId": f"m{number}"}
        yield {"type": "TOOL_CALL_START", **named, **begun}
        for piece in (arguments[:9], arguments[9:]):
            yield {"type": "TOOL_CALL_ARGS", "delta": piece, **named}
        yield {"type": "TOOL_CALL_END", **named}
        told = refusal or DONE["write_todos"]
        yield {"type": "TOOL_CALL_RESULT", "messageId": "x", "content": told, **named}
        function = {"name": "write_todos", "arguments": arguments}
        calls.append({"id": f"c{number}", "type": "function", "function": function})
    yield {"type": "MESSAGES_SNAPSHOT", "messages": [{"role": "assistant", "toolCalls": calls}]}
    yield {"type": "STATE_SNAPSHOT", "snapshot": {}}
    yield {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}


def openai_agents():
    """An exported trace: a span for each call, among those of the agent and the model."""
    yield {"object": "trace", "id": "trace_1", "workflow_name": "Parser"}
    for number, (strip, refusal) in enumerate(CALLS):
        span = {"object": "trace.span", "trace_id": "trace_1", "started_at": at(number)}
        data = {"type": "function", "name": "write_todos", "output": DONE["write_todos"]}
        data |= {"input": json.dumps({"todos": todos(strip)}), "mcp_data": None}
        error = {"message": refusal, "data": None} if refusal else None
        if refusal:
            data["output"] = None
        yield span | {"id": f"s{number}", "span_data": data, "error": error}
        yield span | {"id": f"g{number}", "span_data": {"type": "response"}, "error": None}
    yield span | {"id": "a", "span_data": {"type": "agent", "name": "Parser"}, "error": None}


def _span(number, strip, refusal):
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "write_todos",
        "gen_ai.tool.call.id": f"c{number}",
        "gen_ai.tool.call.arguments": json.dumps({"todos": todos(strip)}),
        "gen_ai.tool.call.result": refusal or DONE["write_todos"],
        "gen_ai.conversation.id": "t",
    }
    listed = [{"key": key, "value": {"stringValue": text}} for key, text in attributes.items()]
    began = (SECONDS + number) * 1_000_000_000
    span = {"traceId": "a" * 32, "spanId": f"{number:016}", "name": "execute_tool write_todos"}
    span |= {"startTimeUnixNano": str(began), "endTimeUnixNano": str(began + 1000)}
    status = {"code": 2, "message": refusal} if refusal else {}
    return span | {"attributes": listed, "status": status}


def otlp():
    """Traces, a batch a line; the last two calls stand in one batch, the later one first."""
    spans = [_span(number, *call) for number, call in enumerate(CALLS)]
    chat = [{"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}}]
    model = {"traceId": "a" * 32, "spanId": "f" * 16, "name": "chat", "attributes": chat}
    for batch in ([spans[0], model], [spans[1]], [spans[3], spans[2]]):
        yield {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": batch}]}]}


def otlp_document():
    """All of it as one document."""
    spans = [_span(number, *call) for number, call in enumerate(CALLS)]
    scopes = [{"scope": {"name": "x"}, "spans": [span]} for span in spans]
    attributes = [{"key": "service.name", "value": {"stringValue": "x"}}]
    return {"resourceSpans": [{"resource": {"attributes": attributes}, "scopeSpans": scopes}]}


ANSWERED = [strip for strip, refusal in CALLS if not refusal]
"""The writes in a dialect without answers, in which a refused call leaves no trace."""

CHECKS = {".": " ", "~": "-", "x": "x"}


def checks(strip, marks=CHECKS):
    """The items of a write as a checklist."""
    return "\n".join(f"- [{marks[mark]}] {item}" for mark, item in zip(strip, ITEMS, strict=True))


def cursor():
    """An agent transcript: a whole list, and then merges by id; no ids of calls, no answers."""
    yield {"role": "user", "message": {"content": [{"type": "text", "text": "go"}]}}
    whole = [{"id": f"s{at}", **row} for at, row in enumerate(todos(ANSWERED[0]))]
    sent = [{"merge": False, "todos": whole}]
    for strip in ANSWERED[1:]:
        changed = [{"id": f"s{at}", "status": STATUSES[mark]} for at, mark in enumerate(strip)]
        sent.append({"merge": True, "todos": changed[:2]})
    for arguments in sent:
        use = {"type": "tool_use", "name": "TodoWrite", "input": arguments}
        content = [{"type": "text", "text": "ok"}, use]
        yield {"role": "assistant", "message": {"content": content}}
    yield {"type": "turn_ended", "status": "success"}


def cline():
    """`ui_messages.json`: what the window shows, with the list when it changes."""
    shown = [{"type": "say", "say": "text", "text": "go"}]
    for number, strip in enumerate(ANSWERED):
        ts, tool = SECONDS * 1000 + number, json.dumps({"tool": "readFile", "path": "a"})
        shown.append({"ts": ts, "type": "ask", "ask": "tool", "text": tool})
        progress = {"ts": ts, "type": "say", "say": "task_progress", "text": checks(strip)}
        shown += [progress | {"text": "- [", "partial": True}, progress]
    return {"messages": shown}


def atif():
    """A trajectory: each step has its calls with their results."""
    steps = [{"step_id": 1, "source": "user", "message": "go"}]
    for number, (strip, refusal) in enumerate(CALLS):
        name = {"tool_call_id": f"c{number}", "function_name": "write_todos"}
        calls = [name | {"arguments": {"todos": todos(strip)}}]
        results = [{"source_call_id": f"c{number}", "content": refusal or DONE["write_todos"]}]
        step = {"step_id": number + 2, "source": "agent", "timestamp": at(number), "message": "x"}
        steps.append(step | {"tool_calls": calls, "observation": {"results": results}})
    return {"schema_version": "ATIF-v1.7", "agent": {"name": "a", "version": "1"}, "steps": steps}


KIRO = [
    ({"command": "create", "tasks": [{"task_description": item} for item in ITEMS]}, None),
    ({"command": "complete", "completed_task_ids": ["2"]}, "not now"),
    ({"command": "complete", "completed_task_ids": ["1"]}, None),
]
"""Kiro's list knows open and done tasks; calls name the tasks by number."""


def kiro():
    """A session in lines: calls and results in messages of their own. Only prompts have times."""
    done = 0
    prompt = {"message_id": "p", "content": [], "meta": {"timestamp": SECONDS}}
    yield {"version": "v1", "kind": "Prompt", "data": prompt}
    for number, (arguments, refusal) in enumerate(KIRO):
        use = {"toolUseId": f"c{number}", "name": "todo_list", "input": arguments}
        content = [{"kind": "text", "data": "ok"}, {"kind": "toolUse", "data": use}]
        sent = {"message_id": f"m{number}", "content": content}
        yield {"version": "v1", "kind": "AssistantMessage", "data": sent}
        done += arguments["command"] == "complete" and not refusal
        rows = [
            {"id": str(place), "task_description": item, "completed": place <= done}
            for place, item in enumerate(ITEMS, 1)
        ]
        told = {"kind": "json", "data": {"tasks": rows, "context": []}}
        result = {"toolUseId": f"c{number}", "status": "error" if refusal else "success"}
        result["content"] = [{"kind": "text", "data": refusal} if refusal else told]
        answer = {"message_id": f"r{number}", "content": [{"kind": "toolResult", "data": result}]}
        yield {"version": "v1", "kind": "ToolResults", "data": answer}


def kiro_history():
    """A saved conversation, in which a result stands in the next turn, and shows no list."""
    history, told = [], {"Prompt": {"prompt": "go"}}
    for number, (arguments, refusal) in enumerate(KIRO):
        use = {"id": f"c{number}", "name": "todo_list", "args": arguments}
        asked = {"ToolUse": {"message_id": f"m{number}", "content": "", "tool_uses": [use]}}
        history.append({"user": {"content": told, "timestamp": at(number)}, "assistant": asked})
        status = {"status": "Error" if refusal else "Success"}
        result = {"tool_use_id": f"c{number}", "content": [{"Text": refusal or "done"}], **status}
        told = {"ToolUseResults": {"tool_use_results": [result]}}
    said = {"Response": {"message_id": "m", "content": "done"}}
    history.append({"user": {"content": told, "timestamp": at(9)}, "assistant": said})
    return {"conversation_id": "c", "history": history}


TASK_FILE = "/home/user00/.gemini/antigravity/brain/c/task.md"


def antigravity():
    """Steps: `task.md` is written, edited at one place, and edited at several places."""
    step = {"step_index": 0, "source": "USER_EXPLICIT", "type": "USER_INPUT", "content": "go"}
    yield step | {"created_at": at(0)}
    marks = CHECKS | {"~": "/"}
    first, *then = [checks(strip, marks).splitlines() for strip in ANSWERED]
    edits = [("write_to_file", {"CodeContent": "\n".join(["# Parser", "", *first, "", "Notes"])})]
    for before, after in zip([first, *then], then, strict=False):
        changed = [pair for pair in zip(before, after, strict=True) if pair[0] != pair[1]]
        chunks = [{"TargetContent": old, "ReplacementContent": new} for old, new in changed]
        edits.append(("multi_replace_file_content", {"ReplacementChunks": chunks}))
    for number, (name, arguments) in enumerate(edits):
        call = {"name": name, "args": {"TargetFile": TASK_FILE, **arguments}}
        step = {"step_index": number, "source": "MODEL", "type": "PLANNER_RESPONSE"}
        yield step | {"created_at": at(number), "tool_calls": [call]}
        yield step | {"created_at": at(number), "type": "CODE_ACTION", "content": "ok"}


def specstory():
    """Markdown of a session of Cursor: the whole list after each call."""
    text = "<!-- Generated by SpecStory, Markdown v2.1.0 -->\n\n# Parser\n\n"
    text += "_**User (2026-03-02 09:20Z)**_\n\ngo\n\n```\n- [ ] not an item\n```\n\n---\n\n"
    for number, strip in enumerate(ANSWERED):
        text += f"_**Agent (model x 2026-03-02 09:20:{number:02}Z)**_\n\n"
        text += '<tool-use data-tool-type="task" data-tool-name="todo_write">\n'
        text += "<details><summary>Tool use: **todo_write** • Todo List</summary>\n\n"
        text += f"{checks(strip)}\n\n</details>\n</tool-use>\n\n---\n\n"
    return text


SYNTHETIC = {
    "cursor": cursor,
    "cline": cline,
    "atif": atif,
    "kiro": kiro,
    "kiro history": kiro_history,
    "antigravity": antigravity,
    "specstory": specstory,
    "vscode": vscode,
    "adk": adk,
    "pydantic-ai": pydantic_ai,
    "ag-ui": ag_ui,
    "openai-agents": openai_agents,
    "otlp": otlp,
    "otlp document": otlp_document,
    "copilot": copilot,
    "claude-code": claude_code,
    "claude-code tasks": claude_code_tasks,
    "codex": codex,
    "codex code mode": codex_code_mode,
    "entire": entire,
    "opencode": opencode,
    "langchain": langchain,
    "langchain serialised": langchain_serialised,
    "gemini session": gemini_session,
    "gemini contents": gemini_contents,
    "gemini markdown": gemini_markdown,
    "gemini unity": unity_markdown,
    "openhands": openhands,
    "openhands markdown": openhands_markdown,
    "chat": chat,
    "anthropic": anthropic,
    "anthropic http": anthropic_http,
}
"""By name; the first word is the dialect."""


def synthetic(folder, name):
    """Write one of the recordings and return its path."""
    made = SYNTHETIC[name]()
    if isinstance(made, str):
        text, suffix = made, "md"
    elif isinstance(made, dict):
        text, suffix = json.dumps(made, indent=1), "json"
    else:
        text, suffix = lines(made), "jsonl"
    path = folder / f"{name.replace(' ', '-')}.{suffix}"
    path.write_text(text, encoding="utf-8")
    return path
