import copy
import pickle
from datetime import UTC, datetime

import attrs
import pytest

from todoplan.codec import dump_plan, load_plan
from todoplan.core.decide import plan_of
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
from todoplan.errors import PlanError

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


@pytest.mark.parametrize("word", ["done", "Completed", "", "deleted", "blocked"])
def test_unknown_word_is_an_error(word):
    """The core does not guess what a word means."""
    with pytest.raises(PlanError, match="is no status; write one of pending, in_p") as caught:
        Todo("a", word)
    assert caught.value.data == {"seen": word}
    with pytest.raises(PlanError, match="is no priority; write one of high, "):
        Task("1", "a", priority=word)


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


@pytest.mark.parametrize("name", ["blocks", "blocked_by"])
def test_ends_of_edges_are_kept_as_a_tuple(name):
    """Any iterable of ids is one, but a text is not read letter by letter."""
    assert getattr(Task("1", "a", **{name: iter(["2", "12"])}), name) == ("2", "12")
    with pytest.raises(PlanError, match=r"'12' \(str\) was given; give a tuple of ids"):
        Task("1", "a", **{name: "12"})


def test_metadata_is_frozen_when_a_task_is_made():
    """What happens to the dict that was given changes no task, and the task is hashable."""
    given = {"a": [1], "b": {"c": 2}}
    task = Task("1", "x", metadata=given)
    given["a"].append(2)
    given["b"]["c"] = 3
    assert task == Task("1", "x", metadata=FrozenDict({"a": [1], "b": {"c": 2}}))
    assert type(task.metadata) is FrozenDict
    plan = plan_of([task])
    assert load_plan(dump_plan(plan)) == plan


@pytest.mark.parametrize("given", [(5, "a"), (None, "a"), ("1", None), ("1", b"a")])
def test_id_and_subject_are_texts(given):
    """A number is no id: the error says what to give."""
    with pytest.raises(PlanError, match="was given; give a"):
        Task(*given)


@pytest.mark.parametrize("name", ["description", "active_form", "owner", "check", "answer"])
def test_every_text_of_a_task_is_one(name):
    """What no document could hold is refused when the task is made, not when it is saved."""
    with pytest.raises(PlanError, match=r"5 \(int\) was given; give a text"):
        Task("1", "a", **{name: 5})


class Minutes(int):
    """A number of a library of units."""


@pytest.mark.parametrize("given", [Minutes(30), 30.0, 30])
def test_an_estimate_is_a_plain_number(given):
    """Whatever class it came in, the plan that holds it can be written and read."""
    plan = plan_of([Task("1", "a", estimate=given)])
    (task,) = load_plan(dump_plan(plan))
    assert (task.estimate, type(task.estimate)) in {(30, int), (30.0, float)}


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


@pytest.mark.parametrize("name", ["created_at", "updated_at", "started_at", "completed_at"])
def test_the_times_of_a_task_are_aware(name):
    """The error says what to give; an aware time stays in its zone."""
    with pytest.raises(PlanError, match=r"give an aware time such as datetime.now\(UTC\)"):
        Task("1", "a", **{name: "2026-01-02"})
    with pytest.raises(PlanError, match="has no time zone"):
        Task("1", "a", **{name: datetime(2026, 1, 2)})  # noqa: DTZ001 - the point
    assert getattr(Task("1", "a", **{name: FULL.created_at}), name) is FULL.created_at
