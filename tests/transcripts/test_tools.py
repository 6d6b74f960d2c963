"""The names of planning tools."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from todoplan.transcripts.calls import PLANNING_TOOLS, canonical_tool, mentions_tool


@pytest.mark.parametrize(
    ("name", "canonical"),
    [
        ("TodoWrite", "TodoWrite"),
        ("todowrite", "TodoWrite"),
        ("todo_write", "TodoWrite"),
        ("todoread", "TodoRead"),
        ("Unity.WriteTodos", "write_todos"),
        ("mcp__x__write_todos", "write_todos"),
        ("functions.update_plan", "update_plan"),
        ("TaskUpdate", "TaskUpdate"),
        ("mcp__todoplan__plan", "plan"),
        ("mcp_plan_write_todos", "write_todos"),
        ("plan_write_todos", "write_todos"),
        ("my-plan-TaskUpdate", "TaskUpdate"),
        ("plan_plan", "plan"),
        ("garden-plan", "plan"),
        ("mcp_notes_list_todos", None),
        ("update_my_plan", None),
        ("my_todo_list", None),
        ("Task", None),
        ("TaskOutput", None),
        ("", None),
        ("create_task", None),
    ],
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
