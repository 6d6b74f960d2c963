"""Snapshots and deltas: what the official package writes, applied as a client applies it."""

import json
from itertools import pairwise

import jsonpatch
import pytest
from ag_ui.encoder import EventEncoder
from hypothesis import given
from hypothesis import strategies as st

from todoplan import Accepted, Plan, Task, commands, decide, plan_of
from todoplan.adapters.ag_ui import make_delta, make_snapshot
from todoplan.codec import plan_from_data
from todoplan.errors import CodecError, PlanError
from todoplan.testing import strategies


def sent(event):
    """Return an event as a client reads it."""
    return json.loads(EventEncoder().encode(event).removeprefix("data: "))


def applied(state, *events):
    """Return the state of a client after some events."""
    for event in map(sent, events):
        state = jsonpatch.apply_patch(state, event.get("delta", event.get("patch")))
    return state


def as_text(value):
    """Return a JSON value as text: 1 equals `True` in Python."""
    return json.dumps(value, sort_keys=True)


@given(script=strategies.scripts(), first=st.integers(0, 4))
def test_deltas_lead_from_one_snapshot_to_the_next(script, first):
    """Whatever commands are carried out; a delta for each, or one for all of them."""
    plans = [Plan()]
    for command in script:
        answer = decide(plans[-1], command)
        plans.append(answer.plan if isinstance(answer, Accepted) else plans[-1])
    plans = plans[min(first, len(script)) :]
    state = sent(make_snapshot(plans[0], state={"mine": [1]}))["snapshot"]
    wanted = as_text(sent(make_snapshot(plans[-1], state={"mine": [1]}))["snapshot"])
    steps = [make_delta(was, now) for was, now in pairwise(plans)]
    assert as_text(applied(state, *steps)) == wanted
    assert as_text(applied(state, make_delta(plans[0], plans[-1]))) == wanted


@given(was=strategies.plans(), now=strategies.plans())
def test_a_delta_leads_from_any_plan_to_any_other(was, now):
    """As content of an activity message, too, which is the whole document."""
    content = sent(make_snapshot(was, message_id="m"))["content"]
    found = applied(content, make_delta(was, now, message_id="m"))
    assert as_text(found) == as_text(sent(make_snapshot(now, message_id="m"))["content"])


@given(plan=strategies.plans())
def test_a_snapshot_is_read_back_by_the_codec(plan):
    """The form is that of `plan_to_data`."""
    state = sent(make_snapshot(plan))["snapshot"]
    assert plan_from_data(state["plan"]) == plan
    assert sent(make_delta(plan, plan))["delta"] == []


def test_a_delta_says_what_changed():
    """Field by field, at the place where the task then is."""
    was = plan_of([Task("1", "Sow", owner="bob"), Task("2", "Rest"), Task("3", "Reap")])
    now = was
    for command in (
        commands.UpdateTask("1", status="in_progress", owner=None),
        commands.DeleteTask("2"),
        commands.CreateTask("Eat"),
    ):
        now = decide(now, command).plan
    event = sent(make_delta(was, now, key="a/b~"))
    assert event["type"] == "STATE_DELTA"
    assert event["delta"] == [
        {"op": "replace", "path": "/a~1b~0/revision", "value": now.revision},
        {"op": "replace", "path": "/a~1b~0/next_id", "value": 5},
        {"op": "remove", "path": "/a~1b~0/tasks/1"},
        {"op": "remove", "path": "/a~1b~0/tasks/0/owner"},
        {"op": "replace", "path": "/a~1b~0/tasks/0/status", "value": "in_progress"},
        {
            "op": "add",
            "path": "/a~1b~0/tasks/2",
            "value": {"id": "4", "subject": "Eat", "status": "pending"},
        },
    ]
    assert event == sent(make_delta(was, now, key="a/b~"))


@pytest.mark.parametrize("ids", [["2", "1", "3"], ["1"]])
def test_the_whole_list_is_sent_where_single_operations_would_be_more(ids):
    """Where tasks changed places, and where most of them are gone."""
    was = plan_of([Task("1", "Sow"), Task("2", "Rest"), Task("3", "Reap")])
    now = plan_of([was[i] for i in ids], next_id=4)
    (operation,) = sent(make_delta(was, now))["delta"]
    assert (operation["op"], operation["path"]) == ("replace", "/plan/tasks")


def test_an_activity_message_leaves_the_state_alone():
    """Both of its events name it and its type."""
    plan = plan_of([Task("1", "Sow")])
    events = [make_snapshot(plan, message_id="m"), make_delta(Plan(), plan, message_id="m")]
    for event, kind in zip(map(sent, events), ("SNAPSHOT", "DELTA"), strict=True):
        assert event["type"] == f"ACTIVITY_{kind}"
        assert (event["messageId"], event["activityType"]) == ("m", "PLAN")


def test_values_that_are_equal_in_python_are_told_apart():
    """`True` and 1 are not the same JSON."""
    was, now = (plan_of([Task("1", "Sow", metadata={"n": n})]) for n in (1, True))
    (operation,) = sent(make_delta(was, now))["delta"]
    assert operation["value"] == {"n": True}


def test_text_that_is_no_utf_8_is_sent_mended():
    """Half a surrogate pair cannot be encoded, and would end the run's response."""
    was, now = (plan_of([Task("1", text, metadata={"n": [text]})]) for text in ("Säen", "S\ud800"))
    assert sent(make_snapshot(now))["snapshot"]["plan"]["tasks"][0]["metadata"] == {"n": ["S�"]}
    assert sent(make_delta(was, now))["delta"][0]["value"] == "S�"


@pytest.mark.parametrize(
    ("make", "error", "reason"),
    [
        (lambda: make_snapshot(["Sow"]), PlanError, "give a plan"),
        (lambda: make_delta(Plan(), None), PlanError, "give a plan"),
        (lambda: make_delta(None, Plan()), PlanError, "give a plan"),
        (
            lambda: make_delta(
                plan_of([Task("1", "a")]),
                plan_of([Task("1", "a"), Task("2", "a", metadata={"n": {1}})]),
            ),
            CodecError,
            r"tasks\[1\]\.metadata",
        ),
    ],
)
def test_what_cannot_be_sent_is_refused(make, error, reason):
    """At once, with what to give."""
    with pytest.raises(error, match=reason):
        make()
