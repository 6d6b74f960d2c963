"""The readers: one for each kind of field. The table is in test_bad_input."""

from datetime import date

import pytest
from support.talk import planned, toolbox

from todoplan.core.plan.model import Priority, Status
from todoplan.core.problems import Problem
from todoplan.dialogue.intake import MISSING, READERS, Kind, Reading, WaitingWord


def test_every_kind_has_a_reader():
    """All but lists of entries, which intake reads itself."""
    assert set(READERS) == set(Kind) - {Kind.ITEMS}


@pytest.mark.parametrize(
    ("kind", "value", "read"),
    [
        (Kind.LINE, "a", "a"),
        (Kind.STATUS, "pending", Status.PENDING),
        (Kind.STATUS_OR_DELETED, "deleted", "deleted"),
        (Kind.PRIORITY, "low", Priority.LOW),
        (Kind.ID, 7, "7"),
        (Kind.ID_HINT, "7", "7"),
        (Kind.ID_HINT, " 2.1 ", "2.1"),
        (Kind.ID_HINT, 2.1, "2.1"),
        (Kind.ID_HINT, ["x"], MISSING),
        (Kind.ID_HINT, True, MISSING),
        (Kind.OWN_ID, " 2.1 ", "2.1"),
        (Kind.REF, "#0", "#0"),
        (Kind.REF, 2, "2"),
        (Kind.WAITING, " ann ", "ann"),
        (Kind.WAITS, {"3": "ann", "#4": None}, (("3", "ann"), ("4", ""))),
        (Kind.PARENT, 2, "2"),
        (Kind.PARENT, "none", ""),
        (Kind.SUBTASKS, ["a"], ["a"]),
        (Kind.STATUS, "failed", Status.FAILED),
        (Kind.STATUS, "on_hold", WaitingWord("on hold", "on_hold")),
        (Kind.STATUS_OR_DELETED, "Needs-Input", WaitingWord("input", "Needs-Input")),
        (Kind.IDS, [1, "2"], ("1", "2")),
        (Kind.REFS, ["#0", 2], ("#0", "2")),
        (Kind.MINUTES, 1.5, 1.5),
        (Kind.DATE, "2026-12-31", date(2026, 12, 31)),
        (Kind.FLAG, False, False),
        (Kind.METADATA, {"k": [1]}, {"k": [1]}),
    ],
)
def test_what_is_right_is_read_in_silence(kind, value, read):
    """No repair, no problem."""
    reading = Reading()
    assert READERS[kind](value, "p", reading) == read
    assert reading == Reading()


# What is no id of any list does not count; entries in an entry are read with those around them.
LENIENT = {Kind.ID_HINT, Kind.OWN_ID, Kind.WAITING, Kind.SUBTASKS}


@pytest.mark.parametrize("kind", [kind for kind in READERS if kind not in LENIENT])
@pytest.mark.parametrize("value", [[[[]]], object(), b"a"])
def test_what_is_wrong_is_refused_with_its_path(kind, value):
    """Whatever its type: one problem, at the place or within it."""
    reading = Reading()
    assert READERS[kind](value, "p", reading) in (MISSING, ())
    assert reading.problems[0].path.startswith("p")
    assert reading.problems[0].legal


MINUTES, FROM_0, A_DATE = "a number of minutes", "minutes from 0 up", "a date such as 2026-12-31"
WRONG = [
    *(("estimate", value, "wrong_type", seen, MINUTES) for value, seen in (
        ("x", "x"), ("1_0", "1_0"), (True, "true"), ([1], "a list"), ("none", "none"),
        ("9" * 30, "9" * 30), ("\uff13\uff10", "\\uff13\\uff10"))),
    *(("estimate", value, "bad_number", seen, FROM_0) for value, seen in (
        (-1, "-1"), ("-5", "-5"), (1e9, "1000000000.0"), (10**9, "1000000000"), ("inf", "inf"),
        ("nan", "nan"))),
    # A model does not know today's date, so words such as "tomorrow" are not read.
    *(("due", value, "wrong_type", str(value), A_DATE)
      for value in ("tomorrow", "2026-02-30", "2026-W01-1", "20261231", 20261231)),
]  # fmt: skip


@pytest.mark.parametrize(("field", "value", "code", "seen", "legal"), WRONG)
def test_what_is_no_estimate_or_date_is_refused_with_what_is(field, value, code, seen, legal):
    """A number of minutes, as a number or in a text; the day, as JSON Schema writes it."""
    reply = toolbox("tasks").call(planned("a"), "TaskUpdate", {"taskId": "1", field: value})
    assert reply.problems == (Problem(code, seen=seen, legal=legal, path=field),)


def test_what_was_read_otherwise_is_told():
    """A number in a text, the word "delete", and what hid in an id, which is named once."""
    box, plan = toolbox("tasks"), planned("a")
    half = box.call(plan, "TaskUpdate", {"taskId": "1\u202e", "estimate": "30"})
    assert half.plan["1"].estimate == 30
    assert [repair.code for repair in half.repairs] == ["hidden_characters", "word"]
    assert 'read estimate "30" as 30.0' in half.text
    gone = box.call(plan, "TaskUpdate", {"taskId": 1, "status": "Delete"})
    assert len(gone.plan) == 0
    assert 'note: read status "Delete" as deleted' in gone.text
    wrong = box.call(plan, "TaskUpdate", {"taskId": 1, "status": "gone"})
    assert "completed, cancelled, failed, deleted" in wrong.text


@pytest.mark.parametrize(
    "given", ["2026-12-31", "2026-12-31T17:00:00Z", " 2026-12-31 ", "2026-12-31 17:00"]
)
def test_a_due_date_is_the_day_that_was_written(given):
    """A time of day is dropped with a note, and the task shows its date."""
    box = toolbox("tasks")
    reply = box.call(planned("a"), "TaskUpdate", {"taskId": "1", "dueDate": given})
    assert reply.plan["1"].due == date(2026, 12, 31)
    assert bool(reply.repairs) is (given != "2026-12-31")
    assert "Due: 2026-12-31" in box.call(reply.plan, "TaskGet", {"taskId": "1"}).text
    cleared = box.call(reply.plan, "TaskUpdate", {"taskId": "1", "due": ""})
    assert cleared.plan["1"].due is None
    kept = box.call(reply.plan, "TaskUpdate", {"taskId": "1", "owner": "ann", "due": "none"})
    assert kept.plan["1"].due == date(2026, 12, 31)
