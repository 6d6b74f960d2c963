"""Records of others: what was changed by someone else is noticed."""

from types import SimpleNamespace

import pytest

from todoplan.codec.foreign.agentscope import Mirror


def left(count):
    """Return a mirror, and the records that it has just written."""
    made = []
    mirror = Mirror(lambda item: SimpleNamespace(**item), "made_at")
    items = [{"id": str(n), "text": "t", "ends": [], "extra": {"k": [1]}} for n in range(count)]
    mirror.write(made, items, whole=True)
    return mirror, made


EDITS = {
    "a field": lambda made, at: setattr(made[at], "text", "other"),
    "a list": lambda made, at: made[at].ends.append("1"),
    "a depth": lambda made, at: made[at].extra["k"].append(2),
    "a new field": lambda made, at: setattr(made[at], "more", 1),
    "one less": lambda made, at: made.pop(at),
    "one more": lambda made, at: made.insert(at, made[at]),
    "another order": lambda made, _: made.reverse(),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
@pytest.mark.parametrize(("count", "at"), [(10, 0), (10, 9), (200, 150)])
def test_every_edit_is_seen_at_once(edit, count, at):
    """Wherever it is, and however deep."""
    mirror, made = left(count)
    assert mirror.is_current(made)
    edit(made, at)
    assert not mirror.is_current(made)


def test_of_some_records_only_their_edits_are_seen():
    """And whether there are as many as were written; a new id is not there yet."""
    mirror, made = left(10)
    made[3].text = "other"
    assert mirror.is_current(made, ["2", "4", "10"])
    assert not mirror.is_current(made, ["2", "3"])
    made.pop()
    assert not mirror.is_current(made, ["2"])


def test_what_is_written_is_no_edit():
    """One record, one more, or all of them; records and list stay the same objects."""
    mirror, made = left(3)
    first, kept = made[0], made
    mirror.write(made, [{"id": "0", "text": "x", "made_at": 1}, {"id": "3", "text": "new"}])
    assert mirror.is_current(made)
    assert [record.text for record in made] == ["x", "t", "t", "new"]
    assert not hasattr(first, "made_at")
    mirror.write(made, [{"id": "3", "text": "y"}, {"id": "0", "text": "x"}], whole=True)
    assert mirror.is_current(made)
    assert [record.id for record in made] == ["3", "0"]
    assert made is kept
    assert made[1] is first
