"""What is particular to sessions of coding agents, in small recordings written here."""

import json

import pytest
from support.recorded import TODOS, answers, bad_lines, calls, document_file, lines_file, text_file
from support.synthetic import checks

from todoplan.transcripts.calls import BadLine, OtherCall, PersonSpoke, PlanningCall, ShownPlan
from todoplan.transcripts.reading import detect, read
from todoplan.transcripts.replay import replay_file


def ended(path):
    """Replay a recording with one plan, and return its tasks."""
    replay = replay_file(path)
    list(replay.steps())
    (lane,) = replay.lanes
    return [(task.subject, task.status.value) for task in lane.plan]


# -------- cursor --------


def test_an_answer_in_a_transcript_of_cursor_is_read_where_there_is_one(tmp_path):
    """Most calls have none and count as carried out; a refusal changes nothing."""
    use = {"type": "tool_use", "name": "TodoWrite", "input": TODOS}
    told = {"type": "tool_result", "content": "no", "is_error": True}
    path = lines_file(
        tmp_path,
        {"role": "assistant", "message": {"content": [use]}},
        {"role": "assistant", "message": {"content": [use | {"name": "Grep"}, use]}},
        {"role": "user", "message": {"content": [told | {"name": "TodoWrite"}]}},
        "oops",
    )
    assert [call.result.is_error for call in calls(path)] == [False, True]
    assert len(bad_lines(path)) == 1


# -------- cline --------


def test_messages_of_cline_and_roo_are_read(tmp_path):
    """Who speaks, what the person made of the list, and which tools are called."""
    edited = '{"tool": "updateTodoList", "todos": [{"content": "Sow", "status": "completed"}]}'
    listed = '{"tool": "updateTodoList", "todos": [{"content": "Sow", "status": "pending"}]}'
    texts = [
        ("say", "user_feedback", "go on"),
        ("ask", "tool", listed),
        ("say", "user_edit_todos", edited),
        ("say", "tool", '{"tool": "readFile", "path": "a"}'),
        ("say", "tool", "no JSON"),
        ("say", "reasoning", "hm"),
    ]
    shown = [{"ts": 1, "type": kind, kind: name, "text": text} for kind, name, text in texts]
    path = document_file(tmp_path, shown)
    assert [type(item) for item in read(path)] == [PersonSpoke, PlanningCall, ShownPlan]
    assert ended(path) == [("Sow", "completed")]
    path = document_file(tmp_path, shown[3:])
    assert list(read(path)) == [OtherCall("readFile", 1)]


# -------- atif --------


def _step(number, *uses, source="agent", **fields):
    called = [
        {"tool_call_id": one, "function_name": name, "arguments": sent} for one, name, sent in uses
    ]
    return {"step_id": number, "source": source, "message": "", "tool_calls": called} | fields


def test_a_trajectory_names_a_call_once(tmp_path):
    """A step may repeat the call of another; one that was copied from before does not count."""
    use = ("c1", "TodoWrite", TODOS)
    answer = {"results": [{"source_call_id": "c1", "content": [{"type": "text", "text": "ok"}]}]}
    path = document_file(
        tmp_path,
        {
            "schema_version": "ATIF-v1.5",
            "steps": [
                _step(1, use, is_copied_context=True),
                _step(2, use, ("c2", "bash", {})),
                _step(3, use, source="system", observation=answer),
                _step(4, ("c1", "TodoWrite", {"todos": []})),
            ],
        },
    )
    assert [(call.line, call.lane) for call in calls(path)] == [(2, "main"), (4, "main")]
    assert answers(path) == ["ok", None]
    assert calls(lines_file(tmp_path, _step(1, use)))[0].arguments == TODOS


def test_a_list_in_the_text_of_a_step_is_read(tmp_path):
    """Roo writes it there if its model has no tool calls."""
    said = "<update_todo_list><todos>[x] Sow</todos></update_todo_list>"
    path = lines_file(tmp_path, _step(1, message=said))
    (call,) = calls(path)
    assert (call.tool, call.arguments) == ("update_todo_list", {"todos": "[x] Sow"})


def test_the_lists_of_subagents_are_plans_of_their_own(tmp_path):
    """Their steps stand beside the steps, or between them with a mark; tasks are shared."""
    use, task = ("c1", "TodoWrite", TODOS), ("c2", "TaskCreate", {"subject": "Sow"})
    aside = [{"steps": [_step(1, source="user"), _step(2, use)]}, {"steps": [_step(1, use, task)]}]
    marked = _step(2, ("c3", "TodoWrite", TODOS), extra={"is_sidechain": True})
    value = {"steps": [_step(1, use, source="user"), marked], "subagent_trajectories": aside}
    path = document_file(tmp_path, value)
    assert [(call.lane, call.actor) for call in calls(path)] == [
        ("main", "main"),
        ("agent-sidechain", "agent-sidechain"),
        ("agent-1", "agent-1"),
        ("agent-2", "agent-2"),
        ("main", "agent-2"),
    ]
    assert sum(isinstance(item, PersonSpoke) for item in read(path)) == 1
    text = path.read_text(encoding="utf-8")
    path.write_text(text[:-20], encoding="utf-8")
    assert len(bad_lines(path)) == 1


@pytest.mark.parametrize("is_beside_step", [True, False])
def test_the_exact_answer_of_claude_code_is_read(tmp_path, is_beside_step):
    """Harbor keeps it beside the result or its step: the text, the flag and what is structured."""
    raw = {"type": "tool_result", "content": "Task #4 created successfully: Sow"}
    data = {"task": {"id": "4", "subject": "Sow"}}
    exact = {"is_error": True, "raw_tool_result": raw, "tool_use_result": data}
    extra = {"tool_result_metadata": exact}
    result = {"source_call_id": "c1", "content": f"{raw['content']}\n\n[metadata] x"}
    step = _step(1, ("c1", "TaskCreate", {"subject": "Sow"}))
    result |= {} if is_beside_step else {"extra": extra}
    step |= {"observation": {"results": [result]}, "extra": extra if is_beside_step else {}}
    (call,) = calls(document_file(tmp_path, {"steps": [step]}))
    assert (call.result.text, call.result.is_error) == (raw["content"], True)
    assert call.result.data == data


# -------- kiro --------


def _asked(number, **arguments):
    use = {"toolUseId": f"c{number}", "name": "todo_list", "input": arguments}
    data = {"message_id": f"m{number}", "content": [{"kind": "toolUse", "data": use}]}
    return {"version": "v1", "kind": "AssistantMessage", "data": data}


def _told(number, *content):
    blocks = [{"kind": "json", "data": one} for one in content]
    result = {"toolUseId": f"c{number}", "status": "success", "content": blocks}
    data = {"message_id": f"r{number}", "content": [{"kind": "toolResult", "data": result}]}
    return {"version": "v1", "kind": "ToolResults", "data": data}


def test_the_list_that_old_versions_of_kiro_show_is_believed(tmp_path):
    """Calls name tasks by index from 0, texts come without ids, and words stand around the list."""
    sent = [
        ({"command": "create", "tasks": ["Sow", "Reap", 7]}, ".Sow .Reap .7"),
        ({"command": "complete", "completed_indices": [0]}, "xSow .Reap .7"),
        ({"command": "add", "new_tasks": ["Mow"], "insert_indices": [1]}, "xSow .Mow .Reap .7"),
        ({"command": "remove", "remove_indices": [3]}, "xSow .Mow .Reap"),
        ({"command": "complete", "completed_indices": [1], "current_id": "no"}, ""),
        ({"command": "lookup"}, ""),
        ({"command": "dance"}, ""),
        ({"command": "remove", "remove_indices": [0, 1, 2]}, " "),
    ]
    records = []
    for number, (arguments, shown) in enumerate(sent):
        tasks = [{"task_description": one[1:], "completed": one[0] == "x"} for one in shown.split()]
        state = {"tasks": tasks, "description": "Garden", "id": "17"}
        text = f"TODO LIST STATE: {json.dumps(state)}\n\n ID: 17"
        records.append(_asked(number, **arguments))
        records.append(_told(number, text if shown else "No todo list exists with the given ID"))
    path = lines_file(tmp_path, *records[:-2])
    assert ended(path) == [("Sow", "completed"), ("Mow", "pending"), ("Reap", "pending")]
    found = calls(lines_file(tmp_path, *records))
    tools = [call.tool for call in found]
    assert tools == [*["todo_write"] * 5, "todo_read", *["todo_write"] * 2]
    assert found[-1].arguments == {"todos": []}


def test_kiro_removes_tasks_by_id(tmp_path):
    """Also where the answer shows no list, as the rest is done."""
    sent = [
        {"command": "create", "tasks": [{"task_description": one} for one in ("Sow", "Mow")]},
        {"command": "complete", "completed_task_ids": ["1"]},
        {"command": "remove", "remove_task_ids": [2]},
    ]
    records = [one for n, each in enumerate(sent) for one in (_asked(n, **each), _told(n))]
    assert ended(lines_file(tmp_path, *records)) == [("Sow", "completed")]
    emptied = [_asked(9, command="create"), _told(9)]
    found = calls(lines_file(tmp_path, *emptied))
    assert [call.arguments for call in found] == [{"todos": []}]


def test_the_list_that_kiro_shows_is_believed(tmp_path):
    """It is emptied once all is done, which removes nothing from the plan."""
    rows = [{"id": "4", "task_description": "Sow", "completed": False}]
    done = {"command": "complete", "completed_task_ids": ["4"]}
    records = [_asked(1, command="load", load_id="x"), _told(1, {"tasks": rows})]
    records += [_asked(2, command="add", new_tasks=[]), _told(2, {"tasks": rows})]
    records += [_asked(3, **done), _told(3, {"tasks": []})]
    path = lines_file(tmp_path, *records)
    assert ended(path) == [("Sow", "completed")]
    replay = replay_file(path)
    list(replay.steps())
    assert {finding.code for finding in replay.findings} == set()


def test_a_call_of_kiro_without_an_answer_is_carried_out(tmp_path):
    """The session ended, or so much came after it that it is not waited for any longer."""
    created = {"command": "create", "tasks": ["Sow"]}
    path = lines_file(tmp_path, *(_asked(number, **created) for number in range(300)))
    assert answers(path) == [None] * 300
    assert ended(path) == [("Sow", "pending")]


# -------- antigravity --------


def _edited(name, **arguments):
    call = {"name": name, "args": arguments}
    step = {"step_index": 1, "source": "MODEL", "type": "PLANNER_RESPONSE", "created_at": ""}
    return step | {"tool_calls": [call]}


def test_edits_of_the_task_file_are_followed(tmp_path):
    """Arguments may be JSON again; headings and prose are no tasks; other files are no plan."""
    quoted = '"# Parser\\n\\n- [ ] Sow\\n  - [/] Mow\\nNotes\\n- [ ] Reap"'
    target = '"C:\\\\Users\\\\user00\\\\brain\\\\task.md"'
    path = lines_file(
        tmp_path,
        _edited("default_api:write_to_file", TargetFile=target, CodeContent=quoted),
        _edited("write_to_file", TargetFile="/a/plan.md", CodeContent="- [ ] no"),
        _edited(
            "replace_file_content",
            TargetFile="/b/task.md",
            TargetContent="[ ]",
            ReplacementContent='"[x]"',
            AllowMultiple="true",
        ),
    )
    assert ended(path) == [("Sow", "completed"), ("Mow", "in_progress"), ("Reap", "completed")]
    emptied = _edited("write_to_file", TargetFile="task.md", CodeContent="none")
    assert calls(lines_file(tmp_path, emptied))[0].arguments == {"todos": []}


@pytest.mark.parametrize("old", ["- [ ] Eat", ""])
def test_an_edit_that_does_not_fit_is_told(tmp_path, old):
    """The transcript may be cut, or the edit may have failed: the list stays as it was."""
    chunk = {"TargetContent": old, "ReplacementContent": "- [x] Eat"}
    path = lines_file(
        tmp_path,
        _edited("write_to_file", TargetFile="task.md", CodeContent="- [ ] Sow"),
        _edited("multi_replace_file_content", TargetFile="task.md", ReplacementChunks=[chunk]),
        _edited("write_to_file", TargetFile='"cut', CodeContent=""),
    )
    assert ended(path) == [("Sow", "pending")]
    assert [item.line for item in read(path) if isinstance(item, BadLine)] == [2]


# -------- specstory --------

HEAD = "<!-- Generated by SpecStory -->\n\n"


def test_older_forms_of_specstory_are_read(tmp_path):
    """Without tags or with bare lines; a sign for the priority, and HTML's escapes, are no text."""
    text = HEAD + "_**User**_\n\ngo\n\n---\n\n_**Assistant (x)**_\n\n- [ ] no item\n"
    text += "<details><summary>Tool use: **todo_write** • Todo List</summary>\n\n- [-] Sow\n"
    text += "  - Dependencies: a\n- [ ] Reap &amp; bind\n\n</details>\n\n- [ ] no item\n---\n"
    text += "Tool use: **TodoWrite**\n\n**Agent task list:**\n- [X] 🌡️ Sow\n- [⚡] 🔥 Reap & bind\n"
    path = text_file(tmp_path, text)
    assert ended(path) == [("Sow", "completed"), ("Reap & bind", "in_progress")]
    assert [item.line for item in read(path) if isinstance(item, PersonSpoke)] == [3]
    assert [(call.line, call.at) for call in calls(path)] == [(12, None), (22, None)]


def test_other_tools_and_fences_of_specstory_are_no_lists(tmp_path):
    """What is quoted in a fence belongs to a file. A fence of any length ends with its tool."""
    tool = '<tool-use data-tool-type="read" data-tool-name="read_file">\n- [ ] no\n</tool-use>\n'
    path = text_file(tmp_path, f"{HEAD}{tool}````md\n```\nTool use: **todos**\n- [ ] no\n````\n")
    assert detect(path) == "specstory"
    assert list(read(path)) == [OtherCall("read_file", 3)]
    tool = '<tool-use data-tool-name="TaskUpdate"><details>\n```text\nUpdated task #1 status\n```\n'
    path = text_file(tmp_path, f"{HEAD}{tool}</details></tool-use>\n")
    assert list(read(path)) == [OtherCall("TaskUpdate", 3)]
    # Old versions put a text with fences of three signs between fences of three signs.
    tool = '<tool-use data-tool-name="Read"><details>\n```text\n```py\n```\n```\nx\n```\n'
    listed = f"Tool use: **todos**\n{checks('.~x')}\n"
    text = f"{HEAD}{tool}</details></tool-use>\n\n{listed}"
    path.write_bytes(text.encode() + b"\xff\n")
    assert [len(calls(path)), len(bad_lines(path))] == [1, 1]
