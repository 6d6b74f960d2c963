import pickle

from todoplan.core.events.apply import Entry
from todoplan.core.events.types import TaskDeleted


def test_entry_is_a_value():
    """A line of the journal compares by what it says, and survives pickling."""
    entry = Entry(3, (TaskDeleted("1"),), actor="ann", cause="delete", undoes=2)
    assert pickle.loads(pickle.dumps(entry)) == entry  # noqa: S301 - our own bytes
    assert hash(entry) == hash(Entry(3, (TaskDeleted("1"),), None, "ann", "delete", 2))


def test_an_entry_that_says_nothing_has_no_cause():
    """What was not said is empty: no time, nobody, no command, nothing taken back."""
    entry = Entry(3, ())
    assert (entry.at, entry.actor, entry.cause, entry.undoes) == (None, None, "", None)
