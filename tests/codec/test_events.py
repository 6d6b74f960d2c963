"""Laws of entries as data: strict, all faults at once, cattrs only when it is needed."""

from datetime import datetime
from typing import get_args

import pytest

from todoplan.codec import entry_from_data, entry_to_data
from todoplan.codec.documents import EVENTS
from todoplan.core.events.apply import Entry
from todoplan.core.events.types import (
    Event,
    PlanCleared,
    StatusChanged,
    TaskCreated,
    TaskDeleted,
    TaskEdited,
)
from todoplan.core.plan.model import FrozenDict, Priority, Status, Task
from todoplan.errors import CodecError


def faults(**changes):
    data = {"revision": 1, "events": [], **changes}
    with pytest.raises(CodecError) as caught:
        entry_from_data(data)
    return {problem.path: problem.note for problem in caught.value.data["problems"]}


def test_every_event_has_its_word():
    """No event of the core is without a name in documents."""
    assert len(EVENTS) == len(get_args(Event))
    assert list(EVENTS)[:2] == ["task_created", "status_changed"]


def test_all_faults_of_an_entry_are_named_at_once():
    """Fields that are missing, wrong or unknown, at every depth, with their paths."""
    moved = {"type": "status_changed", "task_id": 1, "old": "done", "at": "today", "by": "ann"}
    edited = {"type": "task_edited", "task_id": "1", "changes": {"id": "2", "priority": "urgent"}}
    born = {"type": "task_created", "task": {"id": "1", "subject": None, "status": "pending"}}
    named = faults(
        revision=True,
        events=[moved, edited, born, {"type": "exploded"}, 5, {"type": "plan_cleared"}],
        actor=5,
        undoes=2.9,
        extra=1,
    )
    assert set(named) == {
        "revision",
        "events[0].task_id",
        "events[0].old",
        "events[0].new",
        "events[0].at",
        "events[0].by",
        "events[1].changes.id",
        "events[1].changes.priority",
        "events[2].task.subject",
        "events[3].type",
        "events[4]",
        "events[5].task_ids",
        "actor",
        "undoes",
        "extra",
    }
    assert named["events[0].new"] == named["events[5].task_ids"] == "missing"
    assert named["events[3].type"].startswith('"exploded" is none of task_created, ')
    assert named["undoes"] == "2.9 is no whole number from 0 on"


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        *(({"events": events}, "events") for events in (None, "abc", {"0": 1})),
        *(
            ({"events": [{"type": "plan_cleared", "task_ids": ids}]}, "events[0].task_ids")
            for ids in ("12", [1], [None])
        ),
    ],
)
def test_a_text_is_no_array(changes, path):
    """Neither of events nor of ids: its characters are none."""
    assert [each.removesuffix("[0]") for each in faults(**changes)] == [path]
    with pytest.raises(CodecError, match="this is no entry: an array is no object"):
        entry_from_data([])


@pytest.mark.parametrize(
    "event",
    [
        TaskDeleted(1),
        TaskDeleted("1", datetime(2025, 1, 1)),  # noqa: DTZ001 - the point
        StatusChanged("1", "done", Status.PENDING),
        TaskEdited("1", FrozenDict({"subject": None})),
        TaskEdited("1", FrozenDict({"blocks": ("1",)})),
        TaskEdited("1", FrozenDict({"metadata": {"a": float("nan")}})),
        TaskCreated(Task("1", "a").but(estimate=float("inf"))),
        PlanCleared("12"),
    ],
)
def test_what_could_not_be_read_is_not_written(event):
    """An event that JSON cannot hold is refused when it is written."""
    with pytest.raises(CodecError, match="no entry that JSON can hold"):
        entry_to_data(Entry(1, (event,)))


def test_an_edit_is_written_as_plain_json():
    """A priority becomes its word, metadata plain dicts and lists."""
    changes = FrozenDict({"priority": Priority.HIGH, "metadata": {"a": [{"b": 1}]}, "owner": None})
    data = entry_to_data(Entry(1, (TaskEdited("1", changes),)))["events"][0]["changes"]
    assert data == {"priority": "high", "metadata": {"a": [{"b": 1}]}, "owner": None}
    assert type(data["priority"]) is str
    assert type(data["metadata"]["a"]) is list
