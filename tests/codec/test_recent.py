"""Laws of a bounded journal: the latest entries, exactly, not too many, and damage is an error."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from todoplan.codec.recent import RECENT, entry_line, read_recent, with_entry, with_lines
from todoplan.core.events.journal import Entry
from todoplan.core.events.types import TaskDeleted
from todoplan.errors import CodecError


def entry(revision, actor=None):
    return Entry(revision, (TaskDeleted(str(revision)),), actor=actor, cause="DeleteTask")


@given(st.lists(st.integers(0, 20_000), max_size=80))
def test_the_latest_entries_are_kept_exactly(lengths):
    """Whatever their lengths: an unbroken tail, bounded in number and size, with the last one."""
    kept, written = None, []
    for revision, length in enumerate(lengths):
        written.append(entry(revision, "x" * length))
        kept = with_entry(kept, written[-1])
    found = read_recent(kept)
    assert found == tuple(written[len(written) - len(found) :])
    assert len(found) <= RECENT
    assert bool(found) == bool(lengths)
    assert len(found) <= 1 or sum(map(len, kept)) <= 16_384
    assert json.loads(json.dumps(kept)) == kept


def test_an_entry_that_both_sides_have_stands_once():
    """Two branches that begin with the same entries."""
    common = with_entry(None, entry(1))
    assert with_lines(common, [*common, entry_line(entry(2))]) == [
        entry_line(entry(1)),
        entry_line(entry(2)),
    ]


def test_nothing_kept_is_no_entry():
    """A state that has never had a journal."""
    assert read_recent(None) == read_recent([]) == ()
    assert with_lines(None, []) == with_lines("damaged", []) == []


@pytest.mark.parametrize("damaged", ["text", 7, {}, [7], ["{"], ["{}"]])
def test_damage_is_an_error(damaged):
    """Never an empty journal."""
    with pytest.raises(CodecError):
        read_recent(damaged)
