import copy
import pickle
from datetime import UTC, datetime

import attrs
import pytest

from todoplan.core.plan.model import (
    CLOSED,
    OPEN,
    RESOLVED,
    Evidence,
    FrozenDict,
    Priority,
    Status,
    Task,
    Todo,
    Waiting,
    as_priority,
    as_status,
)

FULL = Task(
    "1",
    "a",
    description="why",
    status=Status.COMPLETED,
    priority=Priority.HIGH,
    blocks=("2",),
    estimate=2.5,
    metadata=FrozenDict({"k": [1]}),
    created_at=datetime(2026, 1, 2, tzinfo=UTC),
)


def test_statuses_are_open_or_closed():
    """Each status is open or closed, never both; of the closed ones all but failed are resolved."""
    assert set(Status) == OPEN | CLOSED
    assert not OPEN & CLOSED
    assert {Status.FAILED} == CLOSED - RESOLVED
    assert {status for status in Status if status.resolved} == RESOLVED
    assert {status for status in Status if status.closed} == CLOSED


def test_status_is_its_word():
    """A status equals and hashes as its word, so that it serves as a key beside it."""
    assert Status.IN_PROGRESS == "in_progress"
    assert {Status.IN_PROGRESS: 1}["in_progress"] == 1
    assert str(Status.IN_PROGRESS) == "in_progress"


def test_words_become_members():
    """Words are converted; members and `None` pass."""
    assert as_status("pending") is as_status(Status.PENDING) is Status.PENDING
    assert as_priority("low") is as_priority(Priority.LOW) is Priority.LOW
    assert as_priority(None) is None
    assert Todo("a", "completed", priority="high") == Todo(
        "a", Status.COMPLETED, None, Priority.HIGH
    )


def test_but_changes_only_what_it_names():
    """`but` does what `attrs.evolve` does, and the original stays."""
    changed = FULL.but(subject="b", owner="ann")
    assert changed == attrs.evolve(FULL, subject="b", owner="ann")
    assert type(changed) is Task
    assert (FULL.subject, FULL.owner) == ("a", None)
    assert FULL.but() == FULL


def test_but_knows_no_other_field():
    """A misspelt field is an error, not a new attribute."""
    with pytest.raises(AttributeError):
        FULL.but(titel="x")


@pytest.mark.parametrize("task", [FULL, FULL.but(subject="b")])
def test_task_is_a_value(task):
    """A task is frozen, hashable, and survives pickling and copying, also when made by `but`."""
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        task.subject = "c"
    for twin in (pickle.loads(pickle.dumps(task)), copy.deepcopy(task), copy.copy(task)):  # noqa: S301 - our own bytes
        assert twin == task
        assert hash(twin) == hash(task)
        assert type(twin) is Task


@pytest.mark.parametrize("status", Status)
@pytest.mark.parametrize("at", [None, datetime(2026, 5, 6, tzinfo=UTC)])
def test_a_move_sets_the_times_that_it_implies(status, at):
    """The first start stays, an end is that of completion only, no time touches nothing."""
    for task in (FULL, FULL.but(started_at=FULL.created_at)):
        moved = task.moved(status, at)
        assert type(moved) is Task
        assert moved.but(status=task.status, updated_at=None, started_at=None) == task.but(
            completed_at=moved.completed_at, updated_at=None, started_at=None
        )
        assert moved.status is status
        assert moved.updated_at == (at or task.updated_at)
        assert moved.completed_at == (at if status is Status.COMPLETED else None)
        first = at if status is Status.IN_PROGRESS else None
        assert moved.started_at == (task.started_at or first)


WAITING, FOUND = Waiting("ann"), Evidence(passed=True)


@pytest.mark.parametrize("new", Status)
@pytest.mark.parametrize("old", Status)
def test_a_move_ends_waits_and_takes_evidence_away(old, new):
    """
    Law 20: only a pending task waits, and what was found goes when the task is started or reopened;
    a step back from the middle of the work keeps it.
    """
    moved = Task("1", "a", status=old, waiting=WAITING, evidence=FOUND).moved(new, None)
    assert moved.waiting == (WAITING if new is Status.PENDING else None)
    assert (moved.evidence is None) == (new is Status.IN_PROGRESS or old.closed)


def test_a_repr_shows_what_is_set():
    """Fields that have their default are left out, and a long value is cut."""
    assert repr(Task("1", "a")) == "Task('1', 'a')"
    assert repr(Task("1", "a", status="completed", estimate=2.5, blocks=("2",))) == (
        "Task('1', 'a', status='completed', blocks=('2',), estimate=2.5)"
    )
    every = {
        "metadata": {"k": ["x" * 99] * 99},
        "owner": "o" * 999,
        "created_at": datetime.now(UTC),
    }
    assert len(repr(FULL.but(subject="s" * 9999, description="d" * 9999, **every))) < 700
