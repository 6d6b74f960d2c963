from datetime import UTC, datetime

from todoplan.core.commands import Batch, CreateTask, UpdateTask, WriteTodos
from todoplan.core.decide import Transaction, decide, plan_of
from todoplan.core.events.types import TaskDeleted
from todoplan.core.plan.model import Task, Todo
from todoplan.core.plan.plan import Draft
from todoplan.core.problems import Problem
from todoplan.core.rules import Policy


def transaction_of(tasks=25):
    """Return a transaction upon a plan of so many tasks."""
    at = datetime(2026, 1, 2, tzinfo=UTC)
    return Transaction(Draft(plan_of([Task(str(n + 1), "a") for n in range(tasks)])), at)


def test_emitted_events_happen_at_once():
    """What is emitted is noted, and later steps see it."""
    here = transaction_of(2)
    here.emit(TaskDeleted("1"))
    assert here.events == [TaskDeleted("1")]
    assert [task.id for task in here.draft] == ["2"]


def test_find_returns_the_task_and_notes_nothing():
    """A known id is found."""
    here = transaction_of(2)
    assert here.find("2", "x").id == "2"
    assert here.problems == []


def test_unknown_id_is_a_problem_that_names_known_ones():
    """What exists is told: all of few ids, or the first 20 and how many more."""
    few, many, none = transaction_of(2), transaction_of(25), transaction_of(0)
    for here in (few, many, none):
        assert here.find("99", "task_id") is None
    assert few.problems == [Problem("unknown_task", ("99",), "99", "1, 2", "task_id")]
    assert many.problems[0].legal.endswith("19, 20 and 5 more")
    assert none.problems[0].legal == ""


def test_an_unknown_id_is_told_with_those_that_there_are():
    """What the refused command itself would have created is none of them."""
    for command, ids in (
        (Batch((CreateTask("b"), UpdateTask("77", status="failed"))), "1"),
        (Batch((WriteTodos((Todo("b"),)), UpdateTask("77", status="failed"))), "2"),
    ):
        (problem,) = decide(plan_of([Task("1", "a")]), command, Policy()).problems
        assert (problem.seen, problem.legal) == ("77", ids)
