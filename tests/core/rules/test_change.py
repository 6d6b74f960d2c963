from todoplan.core.commands import (
    Batch,
    ClearPlan,
    CreateTask,
    DeleteTask,
    RestorePlan,
    StartNext,
    UpdateTask,
    WriteTodos,
)
from todoplan.core.decide import decide, plan_of
from todoplan.core.plan.model import Status, Task, Todo
from todoplan.core.rules import Change, Policy

PLAN = plan_of([Task("1", "a"), Task("2", "b")])


def change(*commands):
    """Return what these commands do to a plan of two."""
    command = Batch(commands)
    answer = decide(PLAN, command, Policy())
    return Change(PLAN, answer.plan, command, answer.events)


def test_moves_are_all_or_those_to_a_status():
    """Every status change counts, also two of one task."""
    seen = change(StartNext(), UpdateTask("1", status="completed"), UpdateTask("2", owner="x"))
    assert [move.new for move in seen.moves()] == [Status.IN_PROGRESS, Status.COMPLETED]
    assert [move.task_id for move in seen.moves(Status.COMPLETED)] == ["1"]


def test_written_are_created_and_edited_tasks_once_each_if_they_still_exist():
    """A task edited twice is told once; one that is gone again is not told."""
    seen = change(
        UpdateTask("1", owner="x"),
        UpdateTask("1", owner="y"),
        CreateTask("c"),
        CreateTask("d"),
        DeleteTask("4"),
        UpdateTask("2", status="completed"),
    )
    assert [(task.id, task.owner) for task in seen.written()] == [("1", "y"), ("3", None)]


def test_written_are_tasks_that_were_brought_back_as_well():
    """A restored plan is written anew; what is deleted after that is not told."""
    tasks = Task("2", "x"), Task("7", "y"), Task("8", "z")
    seen = change(UpdateTask("1", owner="x"), RestorePlan(tasks), DeleteTask("8"))
    assert [task.id for task in seen.written()] == ["2", "7"]


def test_edited_are_tasks_as_they_were_and_are():
    """One pair a task that was edited and was there all along."""
    seen = change(
        UpdateTask("1", owner="x"),
        UpdateTask("1", owner="y"),
        CreateTask("c"),
        UpdateTask("3", owner="z"),
        UpdateTask("2", owner="z"),
        DeleteTask("2"),
    )
    assert [(was.owner, now.owner) for was, now in seen.edited()] == [(None, "y")]


def test_removed_are_tasks_that_were_there_and_are_gone():
    """Deleted or cleared; what was created within the command does not count."""
    assert [task.id for task in change(DeleteTask("2")).removed()] == ["2"]
    assert [task.id for task in change(CreateTask("c"), ClearPlan()).removed()] == ["1", "2"]
    assert list(change(CreateTask("c"), DeleteTask("3")).removed()) == []


def test_writes_are_found_in_batches():
    """A write counts wherever in a batch it stands; a plan under inspection has none."""
    one, two = WriteTodos((Todo("a"),)), WriteTodos(())
    seen = Change(PLAN, PLAN, Batch((one, StartNext(), Batch((two,)))), ())
    assert list(seen.writes()) == [one, two]
    assert list(Change(PLAN, PLAN, None, ()).writes()) == []
