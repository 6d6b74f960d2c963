"""
A task with every field set goes through every writer, and each field is asked for.

A field that a writer forgets is lost without a sound: once one was left out of two of them, and 619
tests passed.
"""

import json

import attrs
import pytest
from support.documents import around, full_task

from todoplan.codec import (
    dump_plan,
    json_schema,
    load_plan,
    plan_from_data,
    plan_to_data,
    to_langchain,
)
from todoplan.codec.events import CHANGES
from todoplan.codec.foreign import langchain
from todoplan.codec.foreign.agentscope import read_agentscope, task_to_agentscope
from todoplan.codec.journals import entry_from_line, entry_to_line
from todoplan.codec.tasks import FIELD_READERS, fragment, read_task, write_task
from todoplan.core.events.journal import Entry
from todoplan.core.events.types import PlanRestored, TaskCreated, TaskEdited
from todoplan.core.plan.frozen import FrozenDict
from todoplan.core.plan.model import EDITABLE, TASK_FIELDS, Status, Task

FULL = full_task()
NAMES = [field.name for field in attrs.fields(Task)]


def in_an_entry(event):
    (read,) = entry_from_line(entry_to_line(Entry(1, (event,)))).events
    return read


WRITERS = {
    "data": lambda task: read_task(write_task(task)),
    "fragment": lambda task: read_task(json.loads(fragment(task))),
    "plan": lambda task: load_plan(dump_plan(around(task)))[task.id],
    "plan data": lambda task: plan_from_data(plan_to_data(around(task)))[task.id],
    "creation": lambda task: in_an_entry(TaskCreated(task)).task,
    "restore": lambda task: in_an_entry(PlanRestored((task,))).tasks[0],
    "agentscope": lambda task: read_agentscope({"tasks": [task_to_agentscope(task)]})[0][0],
}


def lost(write, task):
    """
    Return the fields that do not come back as they were, types included.
    """
    read = write(task)
    return [n for n in NAMES if repr(getattr(read, n)) != repr(getattr(task, n))]


def test_the_full_task_has_every_field():
    """None has its default, and no two have the same value."""
    values = [getattr(FULL, name) for name in NAMES]
    assert all(value != TASK_FIELDS[n].default for n, value in zip(NAMES, values, strict=True))
    assert len({*map(repr, values)}) == len(NAMES) == len(TASK_FIELDS)


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_every_field_is_written_and_read(write):
    """Nothing that a task holds is lost, whatever it is written as."""
    assert lost(write, FULL) == []
    assert lost(write, FULL.but(status=Status.CANCELLED)) == []


@pytest.mark.parametrize(
    "name", [n for n, f in TASK_FIELDS.items() if f.default is not attrs.NOTHING]
)
@pytest.mark.parametrize(
    "write", [WRITERS["data"], WRITERS["agentscope"]], ids=["data", "agentscope"]
)
def test_a_writer_that_leaves_a_field_out_is_found(write, name):
    """The comparison above sees each field by itself."""
    assert lost(lambda task: write(task.but(**{name: TASK_FIELDS[name].default})), FULL) == [name]


@pytest.mark.parametrize("name", sorted(EDITABLE))
def test_every_editable_field_is_written_in_an_edit(name):
    """Set to a value, and set back to its default."""
    default = TASK_FIELDS[name].default
    for value in (getattr(FULL, name), *([] if default is attrs.NOTHING else [default])):
        edit = TaskEdited("1", FrozenDict({name: value}))
        assert repr(in_an_entry(edit)) == repr(edit)
    assert set(CHANGES) == EDITABLE


def test_every_field_stands_in_the_schema():
    """In its task, and in an edit where it may be set."""
    parts = json_schema()["$defs"]
    assert list(parts["task"]["properties"]) == list(FIELD_READERS)
    assert set(FIELD_READERS) == set(NAMES)
    assert set(parts["task_edited"]["properties"]["changes"]["properties"]) == EDITABLE


def test_langchain_is_given_what_it_has_a_field_for():
    """Its list has names of its own."""
    (todo,) = to_langchain([FULL])
    theirs = {"subject": "content", "status": "status", **langchain._OPTIONAL}
    assert todo == {there: getattr(FULL, name) for name, there in theirs.items()}
    assert set(todo) == set(langchain._FIELDS)
