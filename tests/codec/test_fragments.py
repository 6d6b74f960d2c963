"""Laws of tasks as text: to the byte what the careful writer gives, each made once."""

import pytest
from hypothesis import given
from support.documents import tasks

from todoplan.codec.documents import FRAGMENTS, fragment, write_task
from todoplan.codec.engine import MisfitError, to_text
from todoplan.core.commands import CreateTask
from todoplan.core.decide import decide, plan_of
from todoplan.core.plan.model import FrozenDict, Priority, Status, Task

BARE = Task("1", "a")


@given(tasks())
def test_a_fragment_is_what_the_careful_writer_gives(task):
    """Whatever a task holds, byte for byte; its edges too."""
    linked = task.but(blocks=("7", "8"), blocked_by=("9",))
    times = task.but(updated_at=task.created_at, completed_at=task.created_at)
    for one in (task, linked, times, task.but(metadata=FrozenDict())):
        assert fragment(one) == to_text(write_task(one))


@pytest.mark.parametrize(
    "task",
    [
        BARE,
        BARE.but(description="d"),
        BARE.but(active_form=""),
        BARE.but(priority=Priority.LOW),
        BARE.but(owner="o"),
        BARE.but(blocks=("2",)),
        BARE.but(estimate=0),
        BARE.but(subject=Status.PENDING, status="completed", priority="low"),
    ],
)
def test_a_field_alone_is_written(task):
    """No field hides behind the others, nor a word that stands for its member."""
    assert fragment(task) == to_text(write_task(task))


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


@pytest.mark.parametrize("changes", [{"subject": 5}, {"status": "done"}, {"created_at": "today"}])
def test_what_json_cannot_hold_has_no_fragment(changes):
    """It is refused as the careful writer refuses it."""
    task = BARE.but(**changes)
    with pytest.raises(MisfitError) as caught:
        fragment(task)
    assert [path for path, _ in caught.value.found] == [f".{name}" for name in changes]
