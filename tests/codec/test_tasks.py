"""Laws of tasks as data and as text: the short way and the long way agree."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.documents import json_values, tasks

from todoplan.codec.documents import (
    FRAGMENTS,
    TASK,
    fragment,
    read_task,
    read_tasks,
    write_task,
    write_tasks,
)
from todoplan.codec.engine import MisfitError, to_text
from todoplan.core.commands import CreateTask
from todoplan.core.decide import decide, plan_of
from todoplan.core.plan.model import FrozenDict, Task


def the_long_way(data):
    try:
        return TASK.read(data)
    except MisfitError as error:
        return error.found


def the_short_way(data):
    try:
        return read_task(data)
    except MisfitError as error:
        return error.found


mutations = st.tuples(st.sampled_from([*TASK.readers, "prio"]), json_values | st.just("2"))


@given(st.lists(tasks(), min_size=1, max_size=4), mutations | st.none(), st.integers(0, 3))
def test_an_array_is_read_as_its_items_are(several, mutation, place):
    """One odd task among good ones: the tasks, or the faults with their places, are the same."""
    data = write_tasks(several)
    place %= len(data)
    if mutation is not None:
        data[place] = {**data[place], mutation[0]: mutation[1]}
    try:
        seen = read_tasks(data)
    except MisfitError as error:
        seen = error.found
    outcomes = [the_long_way(item) for item in data]
    assert repr([the_short_way(item) for item in data]) == repr(outcomes)
    faults = outcomes[place] if isinstance(outcomes[place], tuple) else ()
    expected = tuple((f"[{place}]{path}", sentence) for path, sentence in faults)
    assert repr(seen) == repr(expected or tuple(outcomes))


@pytest.mark.parametrize("item", [None, 5, "id", [], [["id", "1"]], FrozenDict({"id": "1"})])
def test_a_task_is_an_object(item):
    """Neither pairs nor a mapping of another class pass for one."""
    assert the_short_way(item) == the_long_way(item)


class Text(str):
    """A text of a class of its own."""

    __slots__ = ()


def test_a_text_of_a_subclass_is_read_as_a_plain_one():
    """Data from a framework may hold one; the table reads what the shortcut refuses."""
    read = read_task({"id": "1", "subject": Text("a"), "status": "pending"})
    assert read == Task("1", "a")
    assert type(read.subject) is str


@given(tasks())
def test_times_that_are_one_are_read_as_one(task):
    """Equal spellings share an object, so that writing them again is quick."""
    at = task.created_at
    read = read_task(write_task(task.but(updated_at=at, completed_at=at)))
    assert read.created_at is read.updated_at is read.completed_at


BARE = Task("1", "a")


@given(tasks())
def test_all_ways_of_writing_agree(task):
    """The quick writers give what the table gives, byte for byte, whatever a task holds."""
    linked = task.but(blocks=("7", "8"), blocked_by=("9",))
    times = task.but(updated_at=task.created_at, completed_at=task.created_at)
    for one in (task, linked, times, task.but(metadata=FrozenDict())):
        assert repr(write_task(one)) == repr(TASK.write(one))
        assert fragment(one) == to_text(write_task(one))


def test_a_fragment_is_made_once():
    """It is kept with its plan, for later versions too; only a changed task is written again."""
    plan = plan_of([BARE, BARE.but(id="2")])
    (part,) = plan.written(FRAGMENTS)
    (after,) = decide(plan, CreateTask("c")).plan.written(FRAGMENTS)
    assert plan.written(FRAGMENTS) == [part]
    assert [one is other for one, other in zip(part.pieces, after.pieces, strict=False)] == [
        True
    ] * 2
    assert after.text == f"{part.text},{after.pieces[2]}"
