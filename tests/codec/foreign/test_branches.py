"""A plan in a state that branches write at once: in order exact, side by side nothing is lost."""

import copy
import json
import pickle
from dataclasses import asdict, dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from todoplan.codec import dump_plan, plan_to_data
from todoplan.codec.foreign import langchain as branches
from todoplan.codec.foreign.langchain import (
    Document,
    Step,
    document_of,
    head_of,
    merge_plans,
    plan_in_value,
    whole,
    write_document,
)
from todoplan.core.commands import (
    ApprovePlan,
    Batch,
    ClearPlan,
    CreateTask,
    DeleteTask,
    UpdateTask,
    WriteTodos,
)
from todoplan.core.decide import Accepted, decide, plan_of
from todoplan.core.events.apply import Entry
from todoplan.core.plan.model import FrozenDict, Task, Todo, Waiting
from todoplan.core.plan.plan import Plan
from todoplan.core.rules import Policy
from todoplan.errors import CodecError

BASE = whole(plan_of([Task("1", "base")]), "first")


def settled(value):
    """Return what is left of a write once it stands in the state."""
    return {key: value[key] for key in ("head", "plan")}


def step(value, command, name, turn=""):
    """Return the step that a command comes to upon a value."""
    decision = decide(plan_in_value(value), command, Policy())
    assert isinstance(decision, Accepted)
    entry = Entry(decision.plan.revision, decision.events)
    return Step(decision.plan, entry, name, head_of(value), turn or name).value(value)


def subjects(value):
    """Return the subjects of a value's tasks."""
    return [task.subject for task in plan_in_value(value)]


def test_nothing_is_the_empty_plan():
    """No value and an empty one are no plan yet, and come from no write."""
    assert plan_in_value(None) == plan_in_value({}) == Plan()
    assert head_of(None) == head_of({}) == ""
    assert merge_plans({}, {}) == {}
    first = step(None, CreateTask("a"), "x")
    assert subjects(merge_plans({}, first)) == ["a"]
    assert head_of(first) == "1:x"


def test_a_step_that_follows_is_taken_as_it_is():
    """Also one after another; only the head and the plan stay in the state."""
    value = settled(BASE)
    for number in range(3):
        update = step(value, CreateTask(f"t{number}"), f"c{number}")
        value = merge_plans(value, update)
        assert value == settled(update)
    assert subjects(value) == ["base", "t0", "t1", "t2"]


COMMANDS = st.one_of(
    st.builds(CreateTask, st.sampled_from("ab")),
    st.builds(UpdateTask, st.just("1"), status=st.sampled_from(["completed", "in_progress"])),
    st.just(DeleteTask("1")),
    st.just(ClearPlan()),
)


@given(COMMANDS, COMMANDS)
def test_two_steps_upon_the_same_value_lose_nothing(one, two):
    """What both made is there, no id stands twice, and the head is neither's alone."""
    value = settled(BASE)
    first, second = step(value, one, "x"), step(value, two, "y")
    done = merge_plans(merge_plans(value, first), second)
    made = [c.subject for c in (one, two) if isinstance(c, CreateTask)]
    assert [text for text in subjects(done) if text != "base"] == made
    assert len({task.id for task in plan_in_value(done)}) == len(plan_in_value(done))
    assert head_of(done) not in {head_of(first), head_of(second)}


def test_later_steps_of_a_turn_know_what_moved():
    """Where its task got another id, the turn's next step changes that one."""
    value = settled(BASE)
    mine = step(value, CreateTask("mine"), "x")
    other = step(value, CreateTask("other"), "y1", turn="y")
    after = step(settled(other), UpdateTask("2", status="completed"), "y2", turn="y")
    done = merge_plans(merge_plans(merge_plans(value, mine), other), after)
    assert [(t.id, t.subject, t.status.value) for t in plan_in_value(done)] == [
        ("1", "base", "pending"),
        ("2", "mine", "pending"),
        ("3", "other", "completed"),
    ]


def test_a_whole_value_replaces_or_joins():
    """The application's own word replaces; a value without it, a subgraph's, is joined."""
    value = merge_plans(settled(BASE), step(settled(BASE), CreateTask("mine"), "x"))
    set_anew = whole(plan_of([Task("9", "set")]), "app")
    assert merge_plans(value, set_anew) == settled(set_anew)
    followed = merge_plans(value, step(value, CreateTask("later"), "z"))
    assert merge_plans(value, dict(followed)) == followed
    beside = merge_plans(settled(BASE), step(settled(BASE), CreateTask("other"), "y"))
    assert subjects(merge_plans(value, beside)) == ["base", "other", "mine"]
    assert merge_plans(value, dict(value)) is value
    assert merge_plans({}, value) == merge_plans(value, {}) == value


PLAN = plan_of([Task("1", "a"), Task("2", "b"), Task("3", "c")])


@pytest.mark.parametrize(
    "command",
    [
        UpdateTask("2", status="completed"),
        DeleteTask("1"),
        WriteTodos((Todo("c"), Todo("new"), Todo("a"))),
    ],
)
@pytest.mark.parametrize("plain", [False, True])
def test_a_document_is_that_of_the_codec(command, plain):
    """Written with or without what was there before, and read from any copy."""
    before = plan_to_data(PLAN) if plain else write_document(PLAN)
    # Read once: the 64th document that is read has all before it forgotten.
    old = document_of(before).plan
    after = decide(old, command).unwrap()
    document = write_document(after, before)
    assert document == plan_to_data(after) == write_document(after)
    assert document_of(document).plan is after
    assert document_of(json.loads(json.dumps(document))).plan == after
    kept = next(task for task in document["tasks"] if task["subject"] == "c")
    assert (kept is before["tasks"][2]) == (after["3"] is old["3"])


def pickled(value):
    """Return the value after a trip through pickle."""
    return pickle.loads(pickle.dumps(value))  # noqa: S301 - our own bytes


@dataclass
class Holder:
    """As LangGraph has a command."""

    document: dict


def shown_in_a_command(value):
    """Return the value as LangGraph shows it, rebuilt by its type."""
    return asdict(Holder(value))["document"]


@pytest.mark.parametrize("twin", [copy.copy, copy.deepcopy, pickled, shown_in_a_command])
def test_a_copy_is_plain_data_and_read_for_itself(twin):
    """Whoever changes a copy has changed what it says."""
    copied = twin(write_document(PLAN))
    assert (type(copied), copied) == (dict, plan_to_data(PLAN))
    copied["tasks"] = [*copied["tasks"][:2], {**copied["tasks"][2], "subject": "other"}]
    assert document_of(copied).plan["3"].subject == "other"


def test_the_same_object_is_read_once():
    """As long as it is remembered; one that was forgotten is read again."""
    plain = plan_to_data(PLAN)
    plan = document_of(plain).plan
    assert document_of(plain).plan is plan
    others = [plan_to_data(Plan()) for _ in range(100)]
    assert {len(document_of(other)["tasks"]) for other in others} == {0}
    assert len(branches._read) <= 16
    assert document_of(plain).plan == plan
    assert document_of(plain).plan is not plan


def test_an_id_that_was_used_before_is_no_identity():
    """What is remembered of one object is never taken for another's."""
    plain, other = plan_to_data(PLAN), plan_to_data(Plan())
    branches._read[id(plain)] = other, document_of(other)
    assert document_of(plain).plan == PLAN


def test_a_document_of_an_older_version_is_written_anew(monkeypatch):
    """Nothing of its tasks is taken over as it stands."""
    plain = plan_to_data(PLAN)
    monkeypatch.setattr(branches, "VERSION", plain["version"] + 1)
    document = document_of(plain)
    assert type(document) is Document
    assert document["tasks"][0] is not plain["tasks"][0]
    assert document.plan == PLAN


def test_a_corrupt_document_is_an_error():
    """Never an empty plan, neither read nor built upon."""
    for wrong in ({"format": "other"}, None, [], {"tasks": []}):
        with pytest.raises(CodecError):
            document_of(wrong)
    with pytest.raises(CodecError):
        write_document(PLAN, {"format": "other"})
    for value in ({"head": "", "plan": {"tasks": []}}, {"tasks": []}, {"plan": None}):
        with pytest.raises(CodecError):
            plan_in_value(value)
        with pytest.raises(CodecError):
            merge_plans(settled(BASE), value)


@pytest.mark.parametrize("before", [None, write_document(PLAN)])
def test_what_json_cannot_hold_is_named(before):
    """The path is that of the task in the whole plan."""
    bad = PLAN["2"].but(metadata=FrozenDict({"k": frozenset()}))
    with pytest.raises(CodecError, match=r"tasks\[1\].metadata"):
        write_document(plan_of([PLAN["1"], bad]), before)


def test_an_approval_is_written_and_taken_back():
    """The head of a document is that of its plan, whatever the document before it said."""
    approved = decide(PLAN, ApprovePlan("ann"), at=None).unwrap()
    first = write_document(approved, write_document(PLAN))
    assert first == plan_to_data(approved)
    assert document_of(json.loads(json.dumps(first))).plan.approved == approved.approved
    assert write_document(PLAN, first) == plan_to_data(PLAN)


def test_a_document_with_a_check_is_gone_on_from_without_it():
    """The check was of what stood there before."""
    before = json.loads(dump_plan(PLAN, check=True))
    after = decide(document_of(before).plan, CreateTask("d")).unwrap()
    assert write_document(after, before) == plan_to_data(after)


def test_a_document_out_of_the_order_of_its_tree_is_written_in_that_order():
    """A plan's subtasks stand behind what contains them: no task is taken for another."""
    nested = plan_to_data(plan_of([*PLAN, Task("4", "d", parent="1")]))
    nested["tasks"] = sorted(nested["tasks"], key=lambda task: task["id"])
    plan = document_of(nested).plan
    after = decide(plan, UpdateTask("4", status="completed")).unwrap()
    assert [task.id for task in plan] == ["1", "4", "2", "3"]
    assert write_document(after, nested) == plan_to_data(after)


def test_events_of_a_tree_are_carried_over():
    """A step that nests, approves and waits, beside one that makes a task of the same id."""
    value = settled(BASE)
    mine = step(value, CreateTask("mine"), "x")
    waits = CreateTask("other", parent="1", waiting=Waiting("Bob"))
    other = step(value, Batch((waits, ApprovePlan("ann"))), "y")
    done = plan_in_value(merge_plans(merge_plans(value, mine), other))
    assert [(task.id, task.subject, task.parent) for task in done] == [
        ("1", "base", None),
        ("3", "other", "1"),
        ("2", "mine", None),
    ]
    assert done["3"].waiting == Waiting("Bob")
    assert done.approved is not None
    assert done.approved.by == "ann"
