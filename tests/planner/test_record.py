"""The record of a session: exact both ways, and damage is an error."""

import json

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from todoplan import Todo, plan_of
from todoplan.core.events.base import Base, Note
from todoplan.core.plan.model import Task, Waiting
from todoplan.dialogue import Memory
from todoplan.errors import CodecError
from todoplan.planner.session import (
    OpenTurn,
    Record,
    Request,
    base_from_data,
    base_to_data,
    bounded,
    note_from_data,
    note_to_data,
    record_from_data,
    record_of_0_2,
    record_to_data,
)
from todoplan.testing import strategies

IDS = st.integers(1, 40).map(str)
NUMBERS = st.integers(0, 10**6)
WORDS = st.builds(
    Task,
    IDS,
    st.text(min_size=1).filter(str.strip),
    status=st.sampled_from(["pending", "completed"]),
    active_form=st.none() | st.text(),
    priority=st.none() | st.sampled_from(["high", "low"]),
    waiting=st.none() | st.builds(Waiting, st.text()),
)
MINE = st.lists(WORDS, max_size=4).map(lambda tasks: {task.id: task for task in tasks})
SIGHTS = {
    "listed": st.none() | st.frozensets(IDS),
    "mine": MINE,
    "order": st.lists(IDS, unique=True, max_size=4).map(tuple),
    "told": NUMBERS,
    "overflow": st.booleans(),
}
MEMORIES = st.builds(Memory, turn=NUMBERS, revision=st.integers(-1, 99))
LINES = st.tuples(IDS, st.builds(Todo, st.text(), st.none() | st.just("pending")))
NOTES = st.builds(
    Note,
    lines=st.none() | st.lists(LINES, max_size=3).map(tuple),
    named=st.lists(IDS, max_size=3).map(tuple),
    read=st.none() | st.just("") | IDS,
)
TURNS = st.builds(
    OpenTurn,
    calls=st.lists(st.text(), max_size=3).map(tuple),
    before=st.builds(Record, st.just(""), st.none() | NUMBERS, **SIGHTS),
    own=st.lists(NUMBERS, max_size=3).map(tuple),
    notes=st.lists(NOTES, max_size=3).map(tuple),
)
RECORDS = st.builds(
    Record,
    id=st.text(min_size=1),
    revision=st.none() | NUMBERS,
    fences=st.dictionaries(IDS, st.integers(1, 9), max_size=3),
    memory=MEMORIES,
    answered=NUMBERS,
    asked=st.none() | st.builds(Request, MEMORIES, NUMBERS),
    turn=st.none() | TURNS,
    **SIGHTS,
)


def through_json(data):
    return json.loads(json.dumps(data))


@given(RECORDS)
def test_a_record_is_read_as_it_was_written(record):
    """Through JSON text."""
    assert record_from_data(through_json(record_to_data(record))) == record


@given(NOTES, MINE)
def test_notes_and_sights_travel_as_data(note, mine):
    """For states whose reducer advances the session; ids that were given anew are followed."""
    assert note_from_data(through_json(note_to_data(note))) == note
    moved = note_from_data(note_to_data(note), {str(n): str(n + 100) for n in range(41)})
    assert [int(task_id) - 100 for task_id in moved.named] == [*map(int, note.named)]
    assert [line for _, line in moved.lines or ()] == [line for _, line in note.lines or ()]
    base = Base(plan_of([Task("1", "a")]), listed=frozenset({"1", "3"}), mine=mine, told=4)
    for one in (base, Base(base.plan, {"1": "ann"}), Base(plan_of([]))):
        # What is not listed could be dropped if it came back as listed.
        assert base_from_data(through_json(base_to_data(one))) == one


@pytest.mark.parametrize("listed", [None, frozenset(str(number) for number in range(1, 121))])
def test_a_session_that_forgets_its_own_tasks_has_listed_no_others(listed):
    """What it has not listed could be dropped if it counted as listed."""
    plan = plan_of([Task(str(number), "a") for number in range(1, 131)])
    mine = {task.id: task for task in [*plan][:102]}
    kept = bounded(Base(plan, listed=listed, mine=mine))
    assert kept.listed == (listed or {task.id for task in plan}) - {"1", "2"}
    assert [*kept.mine] == [*mine][2:]


@given(strategies.plans(max_size=5), strategies.plans(max_size=5))
def test_what_is_behind_a_plan_is_told_from_it(was, now):
    """Whatever two plans: the record of a slot gives back the one that the session knows."""
    known = attrs.evolve(Record(), revision=was.revision, behind=Base(was, {"1": "ann"}))
    data = through_json(record_to_data(known, now))
    behind = record_from_data(data, now).behind
    if behind is None:
        assert was.revision == now.revision
        assert was == now
    else:
        assert [*behind.plan] == [*was]
        assert (behind.plan.revision, behind.plan.approved) == (was.revision, was.approved)
        assert dict(behind.actors) == {"1": "ann"}


GOOD = {"version": 1, "id": "s", "revision": 3}


DAMAGE = {
    "version": [2, None],
    "id": [None],
    "revision": ["3", -1],
    "listed": ["1", [1], [[2, 1]], [[0, 1]], [[1, 2, 3]], [[1, 1_000_002]], [[1, 1]] * 1001],
    "mine": [
        *({}, [["1"]], [["1", {}]], [["1", {"content": "a", "extra": 1}]]),
        [["1", {"content": "a"}]] * 101,
    ],
    "order": [[1]],
    "told": ["4"],
    "overflow": [False],
    "fences": [[], {"1": 0}],
    "guidance": [[], {"turn": "1"}],
    "answered": [None],
    "asked": [{"revision": 1}, {"guidance": {}, "revision": "1"}],
    "turn": [
        {"calls": ["1"]},
        {"calls": "1", "revision": 1},
        {"calls": [], "revision": 1, "notes": [{"lines": 1}]},
        {"calls": [], "revision": 1, "own": 1},
    ],
    "behind": [{"was": [{}]}, {"actors": []}],
    "unknown": [1],
}


@pytest.mark.parametrize(
    ("field", "value"), [(field, value) for field, values in DAMAGE.items() for value in values]
)
def test_a_damaged_record_is_an_error(field, value):
    """Never a new session, which would have listed nothing; and never one that has listed more."""
    assert record_from_data(GOOD).revision == 3
    with pytest.raises(CodecError):
        record_from_data({**GOOD, field: value}, plan_of([Task("1", "a")]))


@pytest.mark.parametrize(
    "data", [[], *({key: GOOD[key] for key in GOOD if key != missing} for missing in GOOD)], ids=str
)
def test_a_record_without_what_it_needs_is_an_error(data):
    """So is what is no record at all."""
    with pytest.raises(CodecError):
        record_from_data(data)


def test_what_is_behind_a_plan_has_to_be_one():
    """Tasks that wait for others that are not there are none."""
    was = {"id": "2", "subject": "b", "status": "pending", "blocked_by": ["9"]}
    with pytest.raises(CodecError, match="is damaged"):
        record_from_data({**GOOD, "behind": {"was": [was]}}, plan_of([Task("1", "a")]))


def test_damaged_parts_are_errors_too():
    """A base and a note by themselves."""
    good = base_to_data(Base(plan_of([])))
    for read, data in (
        (note_from_data, {"unknown": 1}),
        (base_from_data, {"unknown": 1}),
        (base_from_data, None),
        (base_from_data, {**good, "unknown": 1}),
        (base_from_data, {**good, "listed": "all"}),
    ):
        with pytest.raises(CodecError):
            read(data)


def test_a_list_of_ten_thousand_in_another_order_is_forgotten_past_a_thousand():
    """Then the next list counts as newly ordered, which undoes nothing."""
    plan = plan_of([Task(str(n), f"t{n}") for n in range(1, 1102)])
    known = Base(plan, order=tuple(str(n) for n in range(1101, 0, -1)))
    assert Record().after_turn(known, Memory(), 0, None).order == ()


def test_what_0_2_0_did_not_save_is_no_record():
    """An empty mapping, or one of somebody else's."""
    assert record_of_0_2({}) is record_of_0_2({"messages": []}) is None
