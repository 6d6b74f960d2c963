"""The readers: one for each kind of field. The table is in test_bad_input."""

from datetime import date

import pytest
from support.talk import planned, toolbox

from todoplan.core.plan.model import Priority, Status
from todoplan.core.problems import Problem
from todoplan.dialogue.intake import MISSING, READERS, Findings, Kind, WaitingWord


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
    findings = Findings()
    assert READERS[kind](value, "p", findings) == read
    assert findings == Findings()


# What is no id of any list does not count; entries in an entry are read with those around them.
LENIENT = {Kind.ID_HINT, Kind.OWN_ID, Kind.WAITING, Kind.SUBTASKS}


@pytest.mark.parametrize("kind", [kind for kind in READERS if kind not in LENIENT])
@pytest.mark.parametrize("value", [[[[]]], object(), b"a"])
def test_what_is_wrong_is_refused_with_its_path(kind, value):
    """Whatever its type: one problem, at the place or within it."""
    findings = Findings()
    assert READERS[kind](value, "p", findings) in (MISSING, ())
    assert findings.problems[0].path.startswith("p")
    assert findings.problems[0].legal


@pytest.mark.parametrize(
    ("value", "code", "seen", "legal"),
    [
        ("x", "wrong_type", "x", "a number of minutes"),
        ("1_0", "wrong_type", "1_0", "a number of minutes"),
        (True, "wrong_type", "true", "a number of minutes"),
        ([1], "wrong_type", "a list", "a number of minutes"),
        (-1, "bad_number", "-1", "minutes from 0 up"),
        ("-5", "bad_number", "-5", "minutes from 0 up"),
        (1e9, "bad_number", "1000000000.0", "minutes from 0 up"),
        ("inf", "bad_number", "inf", "minutes from 0 up"),
        ("nan", "bad_number", "nan", "minutes from 0 up"),
        (10**9, "bad_number", "1000000000", "minutes from 0 up"),
        ("none", "wrong_type", "none", "a number of minutes"),
        ("9" * 30, "wrong_type", "9" * 30, "a number of minutes"),
        ("\uff13\uff10", "wrong_type", "\\uff13\\uff10", "a number of minutes"),
    ],
)
def test_what_is_no_estimate_is_refused_with_what_is(value, code, seen, legal):
    """A number of minutes, as a number or in a text, is wanted."""
    reply = toolbox("tasks").call(planned("a"), "TaskUpdate", {"taskId": "1", "estimate": value})
    assert reply.problems == (Problem(code, seen=seen, legal=legal, path="estimate"),)


def test_minutes_and_a_deletion_may_be_spelled_otherwise():
    """A number in a text, and the word "delete": what was read is told."""
    box, plan = toolbox("tasks"), planned("a")
    half = box.call(plan, "TaskUpdate", {"taskId": "1", "estimate": "30"})
    assert half.plan["1"].estimate == 30
    assert 'note: read estimate "30" as 30.0' in half.text
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


@pytest.mark.parametrize("given", ["tomorrow", "2026-02-30", "2026-W01-1", "20261231", 20261231])
def test_what_is_no_date_is_refused_with_what_is(given):
    """A model does not know today's date, so words such as "tomorrow" are not read."""
    reply = toolbox("tasks").call(planned("a"), "TaskUpdate", {"taskId": "1", "due": given})
    legal = "a date such as 2026-12-31"
    assert reply.problems == (Problem("wrong_type", seen=str(given), legal=legal, path="due"),)


@pytest.mark.parametrize(
    ("spelled", "seen"),
    [
        *((word, word) for word in ("NaN", "Infinity", "-Infinity", "1e999", "-1e999")),
        *(("9" * size, f"a number of {size} digits") for size in (19, 400, 4_301)),
    ],
)
def test_a_number_that_json_has_not_is_named(spelled, seen):
    """Also in a text, where Python's reader would take it."""
    reply = toolbox("tasks").call(
        planned("a"), "TaskUpdate", f'{{"taskId": 1, "estimate": {spelled}}}'
    )
    assert reply.problems == (Problem("bad_number", seen=seen),)


def test_a_word_that_only_had_to_be_cleaned_is_reported_once():
    """What was hidden in it is named; the word itself was read as it stands."""
    findings = Findings()
    assert READERS[Kind.ID]("3\u202e", "taskId", findings) == "3"
    assert [repair.code for repair in findings.repairs] == ["hidden_characters"]
