"""
Laws of what a framework's state keeps: the base as it was; of the journal the latest entries,
exactly, and not too many. Damage is an error.
"""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from todoplan import Task, plan_of
from todoplan.codec import plan_to_data
from todoplan.codec.documents import (
    RECENT,
    base_of_0_2,
    entry_line,
    read_recent,
    with_entry,
    with_lines,
)
from todoplan.core.events.apply import Entry
from todoplan.core.events.base import Base
from todoplan.core.events.types import TaskDeleted
from todoplan.errors import CodecError

PLAN = plan_of([Task("1", "Draft")])


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


def test_a_base_of_0_2_is_read():
    """The plan that its model last saw, and who has changed it since, if anybody is known."""
    data = {"plan": plan_to_data(PLAN)}
    assert base_of_0_2({**data, "actors": {"1": "ann"}}) == Base(PLAN, {"1": "ann"})
    assert base_of_0_2(data) == Base(PLAN)


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        5,
        {},
        {"plan": None},
        {"plan": plan_to_data(PLAN), "actors": [1]},
        {"plan": plan_to_data(PLAN), "actors": {"1": 5}},
    ],
)
def test_what_is_no_base_is_an_error(wrong):
    """A damaged one is never an empty plan: everything would seem new."""
    with pytest.raises(CodecError):
        base_of_0_2(wrong)
