"""Tasks of Backlog.md, in both directions."""

import sys

import pytest

from todoplan.codec import from_backlog, to_backlog
from todoplan.core.decide import plan_of
from todoplan.core.plan.model import Task
from todoplan.errors import CodecError, MissingExtraError

FIRST = """---
id: task-1
title: Bootstrap
status: Done
assignee: '@ann'
created_date: 2025-06-03
labels: [a, b]
more: {when: 2025-06-03}
---

## Description

Do it.

## Acceptance Criteria
<!-- AC:BEGIN -->
- [x] #1 The folder is there
- [ ] #2 It is read
<!-- AC:END -->
"""
PART = """---
id: task-1.1
title: >-
  A long title
  in two lines
status: To Do
assignee: []
dependencies:
  - TASK-2
priority: medium
---
"""
SECOND = "---\nid: TASK-2\ntitle: 2024\nstatus: in progress\nassignee: [a, b]\n---\nText"
FILES = {"task-1 - Bootstrap.md": FIRST, "part.md": PART, "second.md": SECOND}


def test_its_tasks_are_read():
    """A dotted id is a subtask; criteria become the check; other fields stay in the metadata."""
    one, part, two = from_backlog(FILES)
    assert (one.subject, one.status, one.owner) == ("Bootstrap", "completed", "@ann")
    assert one.check == "The folder is there\nIt is read"
    assert one.metadata["created_date"] == "2025-06-03"
    assert (part.subject, part.parent, part.blocked_by) == (
        "A long title in two lines",
        "1",
        ("3",),
    )
    assert (two.subject, two.status, two.owner) == ("2024", "in_progress", None)
    assert two.metadata["assignee"] == ("a", "b")


def test_what_is_written_is_read():
    """With ids, titles as names of files, and all fields."""
    plan = from_backlog(FILES)
    files = to_backlog(plan)
    assert list(files) == [
        "task-1 - Bootstrap.md",
        "task-1.1 - A long title in two lines.md",
        "task-2 - 2024.md",
    ]
    assert from_backlog(files) == plan


def test_tasks_of_ours_get_ids_that_are_free():
    """What its fields cannot express is lost."""
    tasks = [
        Task("1", "a/b: c.", metadata={"original_id": "task-2"}, owner="ann"),
        Task("2", "d", parent="1", status="cancelled"),
    ]
    files = to_backlog(plan_of(tasks))
    assert list(files) == ["task-2 - a b  c.md", "task-3 - d.md"]
    again = from_backlog(files)
    assert [(task.subject, task.owner, task.status, task.parent) for task in again] == [
        ("a/b: c.", "ann", "pending", None),
        ("d", None, "completed", "1"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "no fields",
        "---\n- a list\n---\n",
        "---\n: [\n---\n",
        "---\nid: &a task-1\ntitle: *a\nstatus: Done\n---\n",
        "---\nid: task-1\ntitle: a\nstatus: Somewhere\n---\n",
        "---\nid: task-1\nstatus: Done\n---\n",
    ],
)
def test_what_is_no_task_is_an_error(text):
    """It names the file or the field."""
    with pytest.raises(CodecError, match=r"x\.md|files\[0\]"):
        from_backlog({"x.md": text})


def test_without_yaml_the_extra_is_named(monkeypatch):
    """`pip install` with it."""
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(MissingExtraError, match=r"todoplan\[markdown\]"):
        from_backlog(FILES)
