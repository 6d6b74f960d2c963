"""
A task with every field set goes through every writer, and each field is asked for.

A field that a writer forgets is lost without a sound: once one was left out of two of them, and 619
tests passed.
"""

import json

import attrs
import pytest
from support.documents import around, full_task, full_tasks

from todoplan.codec import (
    dump_plan,
    from_agentscope,
    json_schema,
    load_plan,
    plan_from_data,
    plan_to_data,
    to_agentscope,
    to_langchain,
)
from todoplan.codec.documents import (
    CHANGES,
    TASK,
    entry_from_line,
    entry_to_line,
    fragment,
    read_task,
    write_task,
)
from todoplan.codec.foreign import langchain
from todoplan.core.events.apply import Entry
from todoplan.core.events.types import PlanRestored, TaskCreated, TaskEdited
from todoplan.core.plan.model import EDITABLE, TASK_FIELDS, FrozenDict, Status, Task

FULL = full_task()
NAMES = [field.name for field in attrs.fields(Task)]


def in_an_entry(event):
    (read,) = entry_from_line(entry_to_line(Entry(1, (event,)))).events
    return read


WRITERS = {
    "table": lambda task: TASK.read(TASK.write(task)),
    "data": lambda task: read_task(write_task(task)),
    "fragment": lambda task: read_task(json.loads(fragment(task))),
    "plan": lambda task: load_plan(dump_plan(around(task)))[task.id],
    "plan data": lambda task: plan_from_data(plan_to_data(around(task)))[task.id],
    "creation": lambda task: in_an_entry(TaskCreated(task)).task,
    "restore": lambda task: in_an_entry(PlanRestored((task,))).tasks[0],
    "agentscope": lambda task: from_agentscope(to_agentscope(around(task)))[task.id],
}


def lost(write, task):
    """Return the fields that do not come back as they were, types included."""
    read = write(task)
    return [n for n in NAMES if repr(getattr(read, n)) != repr(getattr(task, n))]


def test_the_full_task_has_every_field():
    """None has its default, and no two have the same value."""
    values = [getattr(FULL, name) for name in NAMES]
    assert all(value != TASK_FIELDS[n].default for n, value in zip(NAMES, values, strict=True))
    assert len({*map(repr, values)}) == len(NAMES) == len(TASK_FIELDS)


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_every_field_is_written_and_read(write):
    """Nothing that a task holds is lost, whatever it is written as and whatever its status."""
    for task in full_tasks().values():
        assert lost(write, task) == []


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_a_field_is_written_where_it_is_the_only_one(write, name):
    """A writer looks for what is rare in groups: one that is there alone must be found as well."""
    bare = Task(FULL.id, FULL.subject)
    # What a plan holds only with others beside it: a claim is of a task in progress, and counted.
    beside = {"status": Status.IN_PROGRESS, "claims": FULL.claims} if name == "claim" else {}
    task = bare.but(**{**beside, name: getattr(FULL, name)})
    assert lost(write, task) == []


@pytest.mark.parametrize(
    "name", [n for n, f in TASK_FIELDS.items() if f.default is not attrs.NOTHING]
)
def test_a_writer_that_leaves_a_field_out_is_found(name):
    """The comparison above sees each field by itself."""
    default = TASK_FIELDS[name].default
    assert lost(lambda task: WRITERS["data"](task.but(**{name: default})), FULL) == [name]


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
    assert list(parts["task"]["properties"]) == list(TASK.readers)
    assert set(TASK.readers) == set(NAMES)
    assert set(parts["task_edited"]["properties"]["changes"]["properties"]) == EDITABLE


def test_langchain_is_given_what_it_has_a_field_for():
    """Its list has names of its own."""
    (todo,) = to_langchain([FULL])
    theirs = {"subject": "content", "status": "status", **langchain._OPTIONAL}
    waiting = {"reason": FULL.waiting.reason, "question": FULL.waiting.question}
    assert todo == {
        **{there: getattr(FULL, name) for name, there in theirs.items()},
        "waiting": waiting,
    }
    (failed,) = to_langchain([FULL.but(status=Status.FAILED)])
    assert set(failed) == set(langchain._FIELDS)
