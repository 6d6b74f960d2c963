"""Every spelling of every argument, by hand: one that is lost or means another field is noticed."""

import pytest
from support.talk import TOOLSETS

from todoplan.dialogue.intake import meant_by
from todoplan.dialogue.tools import BASIC_TOOLSETS

TITLES = "content subject title text task name step todo item"
WAITS = "waitingFor waitsFor waitFor waitingOn blockedReason"
INNER = "children subitems subtodos"
PARENT = "parent parentTask"
NEW = {
    "subject": TITLES,
    "description": "details notes",
    "status": "state",
    "owner": "assignee",
    "estimate": "minutes estimate_minutes",
    "metadata": "meta",
    "due": "dueDate dueAt deadline",
    "blockedBy": "dependsOn dependencies addBlockedBy needs",
    "blocks": "addBlocks",
    "parentId": PARENT,
    "waitingFor": WAITS,
    "subtasks": INNER,
}
INSIDE = {**NEW, "id": "taskId todo_id"}
ALIASES = {
    "write_todos": {
        "todos": "plan items tasks todo_list list",
        "todos.content": TITLES,
        "todos.status": "state",
        "todos.id": "taskId todo_id",
        "todos.waiting": WAITS,
        "todos.parent": "parentId parentTask",
        "todos.subtasks": INNER,
    },
    "TaskCreate": {
        **NEW,
        "tasks": "items todos",
        **{f"tasks.{name}": words for name, words in INSIDE.items()},
        **{f"subtasks.{name}": words for name, words in INSIDE.items()},
    },
    "TaskGet": {"taskId": "id todo_id task"},
    "TaskUpdate": {
        "taskId": "id todo_id task",
        "status": "state",
        "subject": "content title name text",
        "description": "details notes",
        "owner": "assignee",
        "estimate": "minutes estimate_minutes",
        "metadata": "meta",
        "due": "dueDate dueAt deadline",
        "addBlocks": "blocks",
        "addBlockedBy": "blockedBy dependsOn needs",
        "removeBlockedBy": "removeDependsOn",
        "parentId": PARENT,
        "waitingFor": WAITS,
    },
    "plan": {
        "write": "plan tasks todos",
        "write.text": TITLES,
        "write.subtasks": INNER,
        "done": "complete completed",
        "add": "create",
        "add.text": TITLES,
        "add.subtasks": INNER,
        "add.parent": "parentId under",
        "edit": "update",
        "edit.id": "taskId",
        "edit.text": TITLES,
        "edit.after": "blockedBy dependsOn needs",
        "edit.parent": "parentId under",
        "drop": "cancel remove delete",
        "wait": f"waiting on_hold blocked {WAITS}",
        "fail": "failed",
        "start": "reopen undone restart",
    },
}
WEAK = {"write_todos": ["todos.content", "todos.waiting"], "plan": ["write.text", "add.text"]}
TOOLS = {tool.key: tool for toolset in BASIC_TOOLSETS.values() for tool in toolset.tools}


def places(tool):
    """Yield each field of a tool by its path, with the fields that it stands among."""
    for field in tool.fields:
        yield field.name, field, tool.fields
        for inner in field.items:
            yield f"{field.name}.{inner.name}", inner, field.items


@pytest.mark.parametrize("key", ALIASES)
def test_the_table_is_whole(key):
    """It names all aliases that the tools have, and no others."""
    found = {path: field.aliases for path, field, _ in places(TOOLS[key]) if field.aliases}
    assert found == {path: tuple(words.split()) for path, words in ALIASES[key].items()}
    weak = [path for path, field, _ in places(TOOLS[key]) if field.weak]
    assert weak == WEAK.get(key, [])


def test_only_tools_without_arguments_have_no_aliases():
    """Every other one is in the table."""
    assert {key for key, tool in TOOLS.items() if tool.fields} == set(ALIASES)


@pytest.mark.parametrize("toolset", TOOLSETS, ids=lambda toolset: toolset.name)
def test_every_spelling_means_its_field(toolset):
    """In camelCase, snake_case or capitals, as name, target or alias."""
    for tool in toolset.tools:
        for _, field, beside in places(tool):
            for word in (field.name, field.target, *field.aliases):
                for spelling in (word, word.upper(), word.replace("_", "-")):
                    assert meant_by(spelling, beside)[0] is field
