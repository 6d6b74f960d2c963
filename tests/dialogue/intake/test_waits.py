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


def test_a_reason_that_is_given_counts_for_more_than_the_word():
    """Beside a status that means waiting, or alone; it needs no repair."""
    both = write([{"content": "a", "status": "blocked", "waiting_for": "ann"}])
    assert reason(both.plan) == "ann"
    alone = write([{"content": "a", "waiting_on": "ann "}])
    assert (reason(alone.plan), alone.repairs) == ("ann", ())
    new = TASKS.call(Plan(), "TaskCreate", {"subject": "a", "waitingFor": "ann"})
    assert reason(new.plan) == "ann"


def test_what_waits_is_pending():
    """A started task with a reason waits, and that is said; a closed one waits for nothing."""
    started = write([{"content": "a", "status": "in_progress", "waiting_for": "ann"}])
    assert (started.plan["1"].status, reason(started.plan)) == ("pending", "ann")
    assert 'read todos[0].status "in_progress" as pending and waiting' in started.text
    closed = write([{"content": "a", "status": "completed", "waiting_for": "ann"}])
    assert (closed.plan["1"].status, reason(closed.plan)) == ("completed", None)
    assert "ignored todos[0].waiting" in closed.text


def test_who_names_the_blockers_has_said_it_by_edges():
    """Then "blocked" is derived: a wait beside the edges would outlast them."""
    given_edges = {"taskId": 2, "status": "blocked", "addBlockedBy": [1]}
    reply = TASKS.call(planned("a", "b"), "TaskUpdate", given_edges)
    assert (reason(reply.plan, "2"), reply.plan["2"].blocked_by) == (None, ("1",))
    assert 'read status "blocked" as pending' in reply.text
    held = TASKS.call(planned("a", "b"), "TaskUpdate", {**given_edges, "status": "on hold"})
    assert reason(held.plan, "2") == "on hold"


def test_needs_are_edges_where_there_are_edges():
    """In a whole list they are a reason, unless they are ids: those are passed over, and told."""
    edges = TASKS.call(planned("a"), "TaskCreate", {"subject": "b", "needs": ["1"]})
    assert edges.plan["2"].blocked_by == ("1",)
    assert reason(write([{"content": "a", "needs": "the key of ann"}]).plan) == "the key of ann"
    for needs in (["1"], "1, 2", "#1", 1):
        reply = write([{"content": "a", "needs": needs}])
        assert reason(reply.plan) is None
        assert "ignored todos[0].waiting" in reply.text


def test_a_wait_ends_where_that_is_said():
    """By "" or a `null` that stands alone: in strict mode there is one for each argument."""
    plan = TASKS.call(planned("a"), "TaskUpdate", {"taskId": 1, "waitingFor": "ann"}).plan
    for nothing in (None, ""):
        reply = TASKS.call(plan, "TaskUpdate", {"taskId": 1, "waitingFor": nothing})
        assert reply.text == "0/1: #1 no longer waiting; now ready: #1"
    strict = {"taskId": "1", "waitingFor": None, "subject": None, "owner": None}
    assert reason(TASKS.call(plan, "TaskUpdate", strict).plan) == "ann"
    assert reason(TASKS.call(plan, "TaskUpdate", {"taskId": 1, "owner": None}).plan) == "ann"
    begun = TASKS.call(plan, "TaskUpdate", {"taskId": 1, "status": "in_progress"})
    assert reason(begun.plan) is None


def test_a_whole_list_that_does_not_say_it_ends_no_wait():
    """A person may have made the task wait, and the words of the list have none for it."""
    plan = write([{"content": "a", "status": "waiting"}]).plan
    again = write([{"content": "a", "status": "pending"}], plan)
    assert reason(again.plan) == "waiting"
    assert again.text.startswith("no change")


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


def test_lean_takes_it_on_hold():
    """The words of others for the argument itself."""
    for key in ("on_hold", "onHold", "blocked", "waiting_for"):
        reply = Toolbox(LEAN).call(planned("a", "b"), "plan", {key: {"1": "ann"}})
        assert reason(reply.plan) == "ann"


def test_lean_takes_one_wait_alone_and_ends_one():
    """One line, one object; with `null`, or "", it waits no more."""
    box = Toolbox(LEAN)
    for one in ("1 ann", {"id": 1, "for": "ann"}):
        plan = box.call(planned("a"), "plan", {"wait": one}).plan
        assert reason(plan) == "ann"
    for nothing in (None, "", " "):
        reply = box.call(plan, "plan", {"wait": {"1": nothing}})
        assert reply.text == "0/1: #1 no longer waiting; #1 started"


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
