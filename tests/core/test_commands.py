import copy
import pickle

import pytest
from hypothesis import given
from support import strategies as some

from todoplan.core.commands import UNSET, CreateTask, UpdateTask
from todoplan.core.model import Priority, Status


@given(some.commands)
def test_commands_are_values(command):
    """A command survives pickling, and UNSET stays the one and only."""
    twin = pickle.loads(pickle.dumps(command))  # noqa: S301 - our own bytes
    assert twin == command
    assert type(twin) is type(command)


def test_unset_is_neither_none_nor_a_copy():
    """UNSET means "leave it"; `None` clears."""
    assert copy.deepcopy(UNSET) is UNSET
    assert repr(UNSET) == "UNSET"
    assert UpdateTask("1").status is UpdateTask("1").priority is UNSET
    assert UpdateTask("1", priority=None).priority is None


def test_words_become_members():
    """Statuses and priorities may be given as words; unknown ones are an error."""
    assert UpdateTask("1", status="completed", priority="low").status is Status.COMPLETED
    assert UpdateTask("1", priority="low").priority is Priority.LOW
    assert CreateTask("a", status="cancelled").status is Status.CANCELLED
    with pytest.raises(ValueError, match="blocked"):
        UpdateTask("1", status="blocked")
