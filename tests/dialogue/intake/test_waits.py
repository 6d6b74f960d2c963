"""What tasks wait for, in the words of models."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.talk import check_reply, planned, toolbox, write

from todoplan.core.plan.plan import Plan
from todoplan.dialogue.intake import Field, InputLimits, Kind, read
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import LEAN

TASKS = toolbox("tasks")


def reason(plan, task_id="1"):
    """Return what a task waits for, `None` if it does not."""
    waiting = plan[task_id].waiting
    return waiting and waiting.reason


@pytest.mark.parametrize(
    ("word", "waits_for"),
    [
        ("blocked", "blocked"),
        ("Waiting", "waiting"),
        ("on hold", "on hold"),
        ("on_hold", "on hold"),
        ("needs input", "input"),
        ("input-required", "input"),
        ("review", "review"),
        ("[!]", "blocked"),
    ],
)
def test_a_status_that_means_waiting(word, waits_for):
    """It is pending and waits, in every tool set, and the reply says so."""
    todos = write([{"content": "a", "status": word}])
    update = TASKS.call(planned("a"), "TaskUpdate", {"taskId": 1, "status": word})
    create = TASKS.call(Plan(), "TaskCreate", {"subject": "a", "status": word})
    for reply in (todos, update, create):
        assert (reply.plan["1"].status, reason(reply.plan)) == ("pending", waits_for)
        assert f'status "{word}" as pending and waiting' in reply.text
        assert not [*reply.plan.ready()]


WAITS = [
    {"3": "ann", "#4": "the key"},
    {"task 3": "ann", 4: "the key"},
    '{"3": "ann", "4": "the key"}',
    ["3 ann", "#4: the key"],
    ["3: ann", {"id": 4, "for": "the key"}],
    [{"taskId": "3", "waiting_for": "ann"}, {"id": 4, "reason": " the key "}],
    [{"id": 3, "why": "ann"}, "4 - the key"],
]


@pytest.mark.parametrize("waits", WAITS)
def test_lean_takes_waits_in_any_shape(waits):
    """As published an object; a JSON text, lines and objects mean the same."""
    if isinstance(waits, dict):
        waits = {str(key): value for key, value in waits.items()}
    reply = Toolbox(LEAN).call(planned(*"abcd"), "plan", {"wait": waits})
    assert [reason(reply.plan, task_id) for task_id in "1234"] == [None, None, "ann", "the key"]
    assert reply.text.startswith("0/4: #3-#4 waiting; #1 started")


@pytest.mark.parametrize(
    ("waits", "code"),
    [
        (["3"], "bad_id"),
        ([3], "bad_id"),
        ("ann", "bad_id"),
        ([{"id": 3}], "bad_id"),
        ({"ann": "3"}, "bad_id"),
        ({"3": ["ann"]}, "wrong_type"),
        ({"3": "ann", "#3": "bob"}, "duplicate_key"),
        (["1 a", "2 b", "3 c"], "too_many"),
        ('{"3": ', "truncated"),
        (True, "bad_id"),
    ],
)
def test_a_wait_without_an_id_or_a_reason_is_refused(waits, code):
    """With what is wanted; nothing else of the call is done."""
    box = Toolbox(LEAN, limits=InputLimits(items=2))
    reply = box.call(planned(*"abc"), "plan", {"wait": waits, "done": [1]})
    assert [problem.code for problem in reply.problems] == [code]
    check_reply(reply.plan, reply)


def test_a_status_is_pending_where_nothing_can_wait():
    """A tool without such a field, as of another system, takes the word for pending."""
    found = read({"state": "blocked"}, (Field("state", "status", Kind.STATUS),))
    assert (found.values, found.repairs[0].used) == ({"status": "pending"}, "pending")


@given(st.text(max_size=30), st.sampled_from(["status", "waitingFor", "parentId"]))
def test_any_text_is_answered(text, key):
    """Never an exception, and what is read is said or done."""
    plan = planned("a", "b")
    check_reply(plan, TASKS.call(plan, "TaskUpdate", {"taskId": 1, key: text}))
    check_reply(plan, Toolbox(LEAN).call(plan, "plan", {"wait": {"1": text, text: "x"}}))
