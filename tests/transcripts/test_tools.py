"""The names of planning tools."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from todoplan.transcripts.calls import PLANNING_TOOLS, canonical_tool, checklist, mentions_tool

SPELLINGS = {
    "TodoWrite": "TodoWrite todowrite todo_write",
    "TodoRead": "todoread",
    "write_todos": "Unity.WriteTodos mcp__x__write_todos mcp_plan_write_todos plan_write_todos",
    "update_plan": "functions.update_plan",
    "TaskUpdate": "TaskUpdate my-plan-TaskUpdate",
    "plan": "mcp__todoplan__plan plan_plan garden-plan",
    None: "mcp_notes_list_todos update_my_plan my_todo_list Task TaskOutput create_task",
}


@pytest.mark.parametrize(
    ("name", "canonical"),
    [("", None), *((name, tool) for tool, names in SPELLINGS.items() for name in names.split())],
)
def test_spellings_and_namespaces_lead_to_one_name(name, canonical):
    """A tool is known in any spelling and under any namespace; others are not."""
    assert canonical_tool(name) == canonical


@given(st.sampled_from(PLANNING_TOOLS), st.sampled_from(["", "mcp__srv__", "ns.", "a/"]))
def test_a_call_is_never_passed_over_by_the_cheap_look(name, prefix):
    """Bytes that hold a call of a planning tool always mention one."""
    for spelled in (name, name.lower(), name.upper()):
        assert canonical_tool(prefix + spelled)
        assert mentions_tool(json.dumps({"name": prefix + spelled}).encode())


@pytest.mark.parametrize(
    "raw",
    [
        rb'{"input": "await tools.plan({write: [1]})"}',
        rb'{"input": "tools[\"plan\"]({done: [1]})"}',
        rb"""{"input": "tools['plan'] ({done: [1]})"}""",
        rb'{"text": "{\"name\": \"plan\", \"arguments\": {}}"}',
    ],
)
def test_a_script_or_a_text_mentions_our_tool(raw):
    """However the call is written down."""
    assert mentions_tool(raw)


@pytest.mark.parametrize(
    "raw",
    [
        b'{"name": "Bash"}',
        b'{"name": "Task", "plan": 1}',
        rb'{"name": "Bash", "input": "{\"plan\": 1, \"x\" : 2}"}',
        b'{"text": "the plan is to plan (more) planning"}',
    ],
)
def test_other_lines_are_passed_over(raw):
    """Bytes without any planning tool's name mention none."""
    assert not mentions_tool(raw)


@pytest.mark.parametrize(
    ("marks", "status"), [(" ", "pending"), ("xX", "completed"), ("-~*/\u26a1", "in_progress")]
)
def test_every_mark_of_a_checklist_has_a_status(marks, status):
    """No mark is accepted without a meaning."""
    items = checklist("\n".join(f"- [{mark}] Sow" for mark in marks))
    assert items == [{"content": "Sow", "status": status}] * len(marks)
