"""Records of others: what was changed by someone else is noticed."""

from types import SimpleNamespace

import pytest

from todoplan.codec.foreign.mirror import Mirror
from todoplan.core.decide.assembly import plan_of
from todoplan.core.plan.model import Task


def records(count):
    """
    Return records, and the plan that they stand for: the last one waits for the first.
    """
    made = [
        SimpleNamespace(id=str(n), text="t", ends=[], extra={"k": [1]}) for n in range(1, count + 1)
    ]
    ends = {1: {"blocks": (str(count),)}, count: {"blocked_by": ("1",)}}
    return made, plan_of([Task(r.id, "t", **ends.get(int(r.id), {})) for r in made])


EDITS = {
    "a field": lambda made, at: setattr(made[at], "text", "other"),
    "a list": lambda made, at: made[at].ends.append("1"),
    "a depth": lambda made, at: made[at].extra["k"].append(2),
    "a new field": lambda made, at: setattr(made[at], "more", 1),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
@pytest.mark.parametrize("at", [0, 9])
def test_every_edit_of_a_short_list_is_seen_at_once(edit, at):
    """Wherever it is, and however deep."""
    made, _ = records(10)
    mirror = Mirror(made)
    assert mirror.is_current(made, whole=False)
    edit(made, at)
    assert not mirror.is_current(made, whole=False)
    assert Mirror(made).is_current(made)


@pytest.mark.parametrize(
    "change", [list.pop, list.reverse, lambda made: made.append(records(2)[0][0])]
)
@pytest.mark.parametrize("count", [3, 200])
def test_which_records_there_are_is_always_compared(change, count):
    """Taken out, added or in another order: also of a long list, by every look."""
    made, _ = records(count)
    made[0].text = "first"
    mirror = Mirror(made)
    change(made)
    assert not mirror.is_current(made, whole=False)


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
@pytest.mark.parametrize("at", [0, 31, 32, 150, 199])
def test_an_edit_of_a_long_list_is_seen_in_turn(edit, at):
    """The parts that are looked at go round the list, and the whole is seen when asked for."""
    made, _ = records(200)
    mirror = Mirror(made)
    assert mirror.is_current(made, whole=False)
    edit(made, at)
    assert not mirror.is_current(made)
    looks = [mirror.is_current(made, whole=False) for _ in range(14)]
    assert looks.count(False) == 2


def test_what_we_write_is_no_edit_of_others():
    """Fields that differ are set; what others do to them afterwards is seen."""
    made, _ = records(3)
    mirror, kept = Mirror(made), made[1].ends
    data = {"text": "new", "ends": [], "extra": {"k": [2]}}
    mirror.write(made[1], data)
    assert (made[1].text, made[1].extra, made[1].ends is kept) == ("new", {"k": [2]}, True)
    assert mirror.is_current(made)
    made[1].extra["k"].append(3)
    assert not mirror.is_current(made)


def test_what_is_added_at_the_end_is_taken_in():
    """With its place, and as it looks."""
    made, _ = records(3)
    mirror = Mirror(made[:2])
    mirror.add(made[2])
    assert mirror.places == {"1": 0, "2": 1, "3": 2}
    assert mirror.is_current(made)


@pytest.mark.parametrize(
    ("ids", "sure"), [(("1",), False), (("5",), True), (None, False), ((), False)]
)
def test_what_a_decision_rests_on_is_looked_at(ids, sure):
    """The tasks it is about and those these have edges to; without ids, all."""
    made, plan = records(200)
    mirror = Mirror(made)
    assert mirror.is_sure(made, plan, ids)
    made[199].text = "other"
    assert mirror.is_sure(made, plan, ids) is sure


def test_a_short_list_was_looked_at_as_a_whole():
    """Nothing is left to be sure of."""
    made, plan = records(3)
    mirror = Mirror(made)
    assert mirror.is_sure(made, plan, ("1", "unknown"))


@pytest.mark.parametrize(
    ("edited", "sure"), [(10, False), (11, False), (12, False), (13, False), (14, True)]
)
def test_a_decision_rests_on_what_contains_a_task_and_what_it_contains(edited, sure):
    """Whether it is ready or done hangs on them: #11 lies in #10, and #12 and #13 in it."""
    made, _ = records(200)
    parents = {11: "10", 12: "11", 13: "12"}
    plan = plan_of([Task(r.id, "t", parent=parents.get(int(r.id))) for r in made])
    mirror = Mirror(made)
    made[edited - 1].text = "other"
    assert mirror.is_sure(made, plan, ("11",)) is sure
