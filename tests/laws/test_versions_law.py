"""Old versions of a plan stay readable, and the next one shares nearly all with the last."""

from hypothesis import given
from support import strategies as some

from todoplan.core.commands import CreateTask, CreateTasks, DeleteTask, UpdateTask
from todoplan.core.decide import decide
from todoplan.core.plan.plan import CHUNK, Plan
from todoplan.core.rules import Policy

MANY = 20_000


def copied(old, new):
    """Return how many chunks of the new plan's tasks are not the old plan's."""
    before = {id(chunk) for chunk in old._tasks._chunks}
    return sum(id(chunk) not in before for chunk in new._tasks._chunks)


def test_one_change_copies_one_chunk():
    """A change to one task of many copies the cells of its chunk; an edge those of two."""
    items = tuple(CreateTask(f"t{n}") for n in range(MANY))
    plan = decide(Plan(), CreateTasks(items), Policy()).plan
    assert len(plan._tasks._chunks) == MANY // CHUNK + 1
    for command, chunks in (
        (UpdateTask("7", status="completed"), 1),
        (UpdateTask("7", owner="ann"), 1),
        (UpdateTask("7", add_blocks=(str(MANY),)), 2),
        (DeleteTask("7"), 1),
        (CreateTask("x"), 1),
    ):
        after = decide(plan, command, Policy()).plan
        assert copied(plan, after) == chunks
        assert after._layout is plan._layout


@given(some.scripts)
def test_old_versions_are_as_they_were(script):
    """Whatever is done to a plan, the versions before read the same."""
    plan, seen = Plan(), []
    for command in script:
        ready = tuple(plan.ready())
        seen.append((plan, tuple(plan), plan.counts, ready, tuple(plan.active()), plan.revision))
        answer = decide(plan, command, Policy())
        plan = getattr(answer, "plan", plan)
    for old, tasks, counts, ready, active, revision in seen:
        assert (tuple(old), old.counts, tuple(old.ready())) == (tasks, counts, ready)
        assert (tuple(old.active()), old.revision) == (active, revision)
        assert all(old[task.id] is task for task in tasks)
