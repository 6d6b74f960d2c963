"""Laws of fragments: to the byte what the careful writer gives, made once."""

import pickle

import pytest
from hypothesis import given
from support.documents import tasks

from todoplan.codec.faults import MisfitError
from todoplan.codec.fragments import fragments
from todoplan.codec.tasks import write_task
from todoplan.codec.text import to_text
from todoplan.core.frozen import FrozenDict
from todoplan.core.model import Priority, Status, Task

BARE = Task("1", "a")


@given(tasks())
def test_a_fragment_is_what_the_careful_writer_gives(task):
    """Whatever a task holds, byte for byte; its edges too."""
    linked = task.but(blocks=("7", "8"), blocked_by=("9",))
    times = task.but(updated_at=task.created_at, completed_at=task.created_at)
    for one in (task, linked, times, task.but(metadata=FrozenDict())):
        assert fragments([one]) == [to_text(write_task(one))]


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
    assert fragments([task]) == [to_text(write_task(task))]


def test_a_fragment_is_made_once():
    """The text is kept with its task, and a changed task has none."""
    task = BARE.but()
    (text,) = fragments([task])
    assert task.json_memo is text
    assert fragments([task])[0] is text
    assert fragments([task.but(subject="b")]) == [text.replace('"a"', '"b"')]


def test_a_task_out_of_a_pickle_has_a_fragment():
    """A memo that was never set is no obstacle, beside one that was."""
    read = pickle.loads(pickle.dumps(BARE))  # noqa: S301 - our own bytes
    assert len({*fragments([BARE, read, BARE.but()])}) == 1


@pytest.mark.parametrize("changes", [{"subject": 5}, {"status": "done"}, {"created_at": "today"}])
def test_what_json_cannot_hold_has_no_fragment(changes):
    """It is refused as the careful writer refuses it, and nothing is kept."""
    task = BARE.but(**changes)
    with pytest.raises(MisfitError) as caught:
        fragments([task])
    assert [path for path, _ in caught.value.found] == [f".{name}" for name in changes]
    assert task.json_memo is None
