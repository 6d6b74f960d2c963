"""The tool set `tasks`: one call a task, ids, edges, details."""

import json

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.strategies import full_plans
from support.talk import planned, toolbox, valid

from todoplan.codec import dump_plan, load_plan
from todoplan.core.commands import CreateTask, UpdateTask
from todoplan.core.plan.model import EDITABLE, FieldKind, TaskField
from todoplan.core.plan.plan import Plan
from todoplan.core.problems import Problem
from todoplan.dialogue.intake import Kind
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import hidden_arguments, tasks

honest = st.text("abcXYZ 019\t\n.,:;-[]()&\u00e4\u4f60\u0301\u200d\U0001f600", max_size=40)
BOX = toolbox("tasks")


def test_the_whole_list_only_on_request():
    """An update names what changed; the list comes from TaskList, one line a task."""
    plan = planned(*(f"task {n}" for n in range(50)))
    update = BOX.call(plan, "TaskUpdate", {"taskId": 7, "status": "completed"})
    assert update.text == "1/50: #7 completed"
    assert len(BOX.call(plan, "TaskList").text.splitlines()) == 50


@given(honest.filter(lambda text: text.strip() == text))
def test_a_description_comes_back_as_given(text):
    """It is the end of TaskGet's reply, to the letter; further lines are indented by two."""
    plan = BOX.call(Plan(), "TaskCreate", json.dumps({"subject": "a", "description": text})).plan
    reply = BOX.call(plan, "TaskGet", {"taskId": "1"})
    shown = text.replace("\n", "\n  ")
    assert reply.text.endswith(f"\nDescription: {shown}" if text else "Status: pending")


def targets(fields):
    """Return what commands call these arguments."""
    return {field.target for field in fields}


# What shows that a task is done, and what was found, is the program's to say; an answer is a
# person's (law 20). A fence is kept for the model.
NOT_FOR_MODELS = {"check", "evidence", "answer", "fence"}


@pytest.mark.parametrize("toolset", [tasks(), tasks("snake")], ids=repr)
def test_every_field_of_a_task_can_be_sent(toolset):
    """A new field of a task or of a command that no tool takes is named here."""
    create, update = toolset.find("TaskCreate").fields, toolset.find("TaskUpdate").fields
    (several,) = (field for field in create if field.items and not field.hidden)
    asked = {field.name for field in attrs.fields(CreateTask)} - NOT_FOR_MODELS
    assert asked >= EDITABLE - NOT_FOR_MODELS
    assert targets(several.items) - {"id"} == targets(create) - {"tasks"} == asked | {"subtasks"}
    assert targets(update) == {field.name for field in attrs.fields(UpdateTask)} - NOT_FOR_MODELS


def test_a_field_without_a_declared_argument_can_be_sent_too():
    """It costs no tokens, and "" clears it; what models may not set has no argument."""
    made = [
        TaskField("place_of_work", kind, default, editable=True, is_progress=False, for_models=own)
        for kind, default, own in (
            (FieldKind.TEXT_OR_NONE, None, True),
            (FieldKind.TEXT, "", True),
            (FieldKind.TEXT_OR_NONE, None, False),
            (FieldKind.NUMBER, None, True),
        )
    ]
    line, text = hidden_arguments(made)
    assert (line.name, line.target, line.kind) == ("placeOfWork", "place_of_work", Kind.LINE)
    assert (text.name, text.target, text.kind) == ("placeOfWork", "place_of_work", Kind.TEXT)
    assert (line.hidden, text.hidden, line.clears, text.clears) == (True, True, True, False)


SETS = (tasks(), tasks("snake"), tasks().renamed(TaskCreate="add_step", TaskUpdate="change"))
EDGES = ("blocks", "blocked_by")


def test_creating_is_what_only_adds():
    """Whatever the tools are called, and no other tool."""
    for toolset in SETS:
        found = [toolset.shown(tool.key) for tool in toolset.tools if tool.adds_only]
        assert found == [toolset.shown("TaskCreate")]


@given(full_plans, st.sampled_from(SETS), st.data())
def test_what_only_adds_leaves_the_rest(plan, toolset, data):
    """
    Tasks that were there stay as they are, but for edges that they gain and when that was; what a
    model has sent can be saved.
    """
    for tool in (tool for tool in toolset.tools if tool.adds_only):
        every = tuple(attrs.evolve(field, hidden=False) for field in tool.fields)
        arguments = data.draw(valid(every))
        after = Toolbox(toolset).call(plan, toolset.shown(tool.key), arguments).plan
        assert load_plan(dump_plan(after)) == after
        assert [task.id for task in after if task.id in plan] == [task.id for task in plan]
        for task in plan:
            now = after[task.id]
            assert all(set(getattr(task, ends)) <= set(getattr(now, ends)) for ends in EDGES)
            gained = {ends: getattr(now, ends) for ends in EDGES}
            assert attrs.evolve(task, **gained, updated_at=now.updated_at) == now


@pytest.mark.parametrize(
    ("arguments", "code", "path", "legal"),
    [
        ({}, "missing_field", "subject", "subject"),
        ({"tasks": []}, "missing_field", "tasks", "tasks"),
        ({"description": "x"}, "missing_field", "subject", "subject"),
        ({"tasks": [{"subject": "a"}], "owner": "x"}, "beside_tasks", "owner", "tasks"),
        ({"subject": "a", "tasks": ["b"]}, "beside_tasks", "subject", "tasks"),
        ({"tasks": ["b"], "blockedBy": ["9"]}, "beside_tasks", "blockedBy", "tasks"),
        ({"subject": ""}, "empty_text", "subject", ""),
        ({"tasks": [{"subject": ""}]}, "empty_text", "tasks[0].subject", ""),
    ],
)
def test_what_creates_nothing_is_refused_with_what_is_missing(arguments, code, path, legal):
    """No title, no entries, or a field beside the entries that would belong to none."""
    reply = BOX.call(Plan(), "TaskCreate", arguments)
    assert reply.problems == (Problem(code, path=path, legal=legal),)
