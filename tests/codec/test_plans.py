"""Laws of plan documents: exact round trips, and an error for everything else."""

import json
from datetime import UTC, datetime, tzinfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.documents import plans

from todoplan.codec import (
    VERSION,
    dump_plan,
    entry_to_data,
    load_plan,
    plan_from_data,
    plan_to_data,
    to_agentscope,
)
from todoplan.codec.documents import fragment, write_task
from todoplan.codec.engine import MisfitError
from todoplan.core.decide import plan_of
from todoplan.core.plan.model import TASK_FIELDS, FrozenDict, Priority, Task
from todoplan.core.plan.plan import Plan
from todoplan.errors import CodecError, PlanError

TWO = plan_of((Task("1", "a", blocks=("2",)), Task("2", "b", blocked_by=("1",))), revision=3)


def document(**changes):
    return {**plan_to_data(TWO), **changes}


def one(**changes):
    return document(tasks=[{"id": "1", "subject": "a", "status": "pending", **changes}])


def refused(data):
    with pytest.raises(CodecError) as caught:
        plan_from_data(data)
    return caught.value


def facts(plan):
    """Return all that a plan knows; a repr tells True from 1, and has the offsets of times."""
    rows = [[repr(getattr(task, name)) for name in TASK_FIELDS] for task in plan]
    return plan, plan.next_id, plan.revision, plan.counts, rows, [*plan.ready()]


@given(plans())
def test_a_dumped_plan_loads_as_the_same_plan(plan):
    """A plan, its order, next id, revision, texts, numbers and times survive exactly."""
    text = dump_plan(plan)
    assert facts(load_plan(text)) == facts(plan)
    assert facts(load_plan(text.encode())) == facts(plan)
    assert facts(plan_from_data(plan_to_data(plan))) == facts(plan)
    assert dump_plan(load_plan(text)) == text
    assert len(text.splitlines()) == 1


def test_a_plan_of_many_chunks_is_one_document():
    """The text does not tell in what portions it was written."""
    plan = plan_of(Task(str(number), "é" if number % 300 else "\ud800") for number in range(1, 701))
    assert load_plan(dump_plan(plan)) == plan
    assert json.loads(dump_plan(plan_of((Task("1", "a"),)))) == plan_to_data(
        plan_of((Task("1", "a"),))
    )


def test_only_what_differs_from_its_default_is_written():
    """The data of a bare task are its id, subject and status."""
    data = plan_to_data(plan_of((Task("1", "a", priority=Priority.LOW),)))
    assert data == {
        "format": "todoplan/plan",
        "version": VERSION,
        "revision": 0,
        "next_id": 2,
        "tasks": [{"id": "1", "subject": "a", "status": "pending", "priority": "low"}],
    }


def test_all_faults_are_named_at_once():
    """Every fault of a document is listed with its path, what was seen and what is legal."""
    task = {"id": 3, "subject": None, "status": "done", "blocks": "12", "prio": 1, "metadata": []}
    error = refused(document(revision=-1, next_id=True, tasks=[*document()["tasks"], task, 5]))
    assert error.data["problem"] == "wrong_shape"
    assert error.data["version"] == VERSION
    named = {problem.path: problem.note for problem in error.data["problems"]}
    assert named.pop("tasks[2].prio").startswith("no such field; there are id, subject, ")
    assert named == {
        "revision": "-1 is no whole number from 0 on",
        "next_id": "true is no whole number from 1 on",
        "tasks[2].id": "3 is no text",
        "tasks[2].subject": "null is no text",
        "tasks[2].status": '"done" is none of pending, in_progress, completed, cancelled, failed',
        "tasks[2].blocks": '"12" is no array of ids',
        "tasks[2].metadata": "an array is no object",
        "tasks[3]": "5 is no object",
    }
    assert 'tasks[2].status: "done" is none of pending, ' in str(error)


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("description", None, "null is no text"),
        ("active_form", 0, "0 is no text"),
        ("active_form", False, "false is no text"),
        ("owner", [], "an array is no text"),
        ("priority", "urgent", '"urgent" is none of high, medium, low'),
        ("priority", {}, "an object is none of high, medium, low"),
        ("status", ["pending"], "an array is none of pending, in_progress, completed, cancelled"),
        ("blocks", None, "null is no array of ids"),
        ("blocked_by", {"2": 1}, "an object is no array of ids"),
        ("estimate", True, "true is no finite number"),
        ("estimate", "2.9", '"2.9" is no finite number'),
        ("estimate", float("nan"), "NaN is no finite number"),
        ("estimate", float("-inf"), "-Infinity is no finite number"),
        pytest.param("estimate", 10**5000, "a number of more than 4300 digits is no", id="huge"),
        ("due", 20251231, "20251231 is no date; give a date such as"),
        ("due", "2025-01-31T09:00:00Z", "is no date; give a date such as 2025-01-31"),
        ("due", "2025-02-31", "is no date: day is out of range for month"),
        ("metadata", None, "null is no object"),
        ("created_at", 5, "5 is no time; give"),
        ("created_at", "2025-01-31T09:00:00", "is no time; give a time with its zone"),
        ("updated_at", "2025-01-31", "is no time; give"),
        ("updated_at", "2025-02-31T09:00:00Z", "is no time: day is out of range for month"),
        ("completed_at", "2025-01-31T09:00:00.1234567Z", "is no time; give"),
    ],
)
def test_nothing_is_coerced(field, value, sentence):
    """A value of another type, or of none, is a fault at its path."""
    error = refused(one(**{field: value}))
    assert error.data["path"] == f"tasks[0].{field}"
    assert sentence in str(error)


@pytest.mark.parametrize("key", ["revision", "next_id", "tasks", "id", "subject", "status"])
def test_what_must_be_there_is_missed(key):
    """No part of a plan document has a default: a lost list is no empty plan."""
    data = one()
    del (data if key in data else data["tasks"][0])[key]
    path = key if key in document() else f"tasks[0].{key}"
    assert f"{path}: missing" in str(refused(data))


@pytest.mark.parametrize("tasks", [None, {}, "[]", 5])
def test_tasks_are_an_array(tasks):
    """What is no array is no empty plan."""
    assert refused(document(tasks=tasks)).data["path"] == "tasks"


def test_a_long_list_of_faults_is_cut():
    """A document of faults is not read to its end; the message lists twenty."""
    error = refused(document(tasks=[5] * 5000))
    assert len(error.data["problems"]) == 1000
    assert "tasks[19]" in str(error)
    assert str(error).endswith("; and 980 more")


@pytest.mark.parametrize(
    ("tasks", "codes"),
    [
        ([{"id": "1", "blocks": ["2"]}, {"id": "2"}], ["one_sided_edge"]),
        ([{"id": "1", "blocks": ["7"]}], ["unknown_task"]),
        ([{"id": "1"}, {"id": "1"}], ["duplicate_id"]),
        ([{"id": "01"}, {"id": "x"}], ["bad_id", "bad_id"]),
        ([{"id": "1", "subject": " "}], ["empty_text"]),
        ([{"id": "1", "blocks": ["1"], "blocked_by": ["1"]}], ["self_edge", "self_edge"]),
        (
            [
                {"id": "1", "blocks": ["2"], "blocked_by": ["2"]},
                {"id": "2", "blocks": ["1"], "blocked_by": ["1"]},
            ],
            ["cycle"],
        ),
    ],
)
def test_tasks_that_are_no_plan_are_refused(tasks, codes):
    """Ids, edges and cycles are checked, and the core's problems are handed on."""
    full = [{"subject": "a", "status": "pending", **task} for task in tasks]
    error = refused(document(next_id=9, tasks=full))
    assert error.data["problem"] == "no_plan"
    assert [problem.code for problem in error.data["problems"]] == codes
    assert codes[0] in str(error)


def test_a_long_list_of_problems_is_cut():
    """The message names twenty problems, the data all."""
    error = refused(document(tasks=[{"id": "x", "subject": "a", "status": "pending"}] * 30))
    assert len(error.data["problems"]) == 59
    assert str(error).endswith("; and 39 more")


def test_a_next_id_that_is_in_use_is_refused():
    """A counter that would hand out an id again is a corrupt document."""
    error = refused(document(next_id=2))
    assert error.data["path"] == "next_id"
    assert "2 is used" in str(error)


class Nowhere(tzinfo):
    """A zone that knows no offset."""

    def utcoffset(self, dt):
        return None


@pytest.mark.parametrize(
    ("task", "path"),
    [
        (Task("1", "a").but(created_at=datetime(2025, 1, 1)), "created_at"),  # noqa: DTZ001 - the point
        (Task("1", "a").but(started_at=datetime(2025, 1, 1, tzinfo=Nowhere())), "started_at"),
        (Task("1", "a").but(created_at="today"), "created_at"),
        (Task("1", "a").but(estimate=float("nan")), "estimate"),
        (Task("1", "a").but(estimate=True), "estimate"),
        (Task("1", "a").but(due=datetime(2025, 1, 1, tzinfo=UTC)), "due"),
        (Task("1", "a").but(due="2025-01-01"), "due"),
        (Task("1", "a").but(description=None), "description"),
        (Task("1", "a").but(owner=5), "owner"),
        (Task("1", "a").but(blocks=(5,)), "blocks[0]"),
        (Task("1", "a").but(blocked_by=("2", None)), "blocked_by[1]"),
        (Task("1", "a").but(claims=1.5), "claims"),
        (Task("1", "a").but(failed_attempts="2"), "failed_attempts"),
        (Task("1", "a").but(subject=5), "subject"),
        (Task("1", "a").but(waiting="Bob"), "waiting"),
        (Task("1", "a", priority=None).but(priority="urgent"), "priority"),
        (Task("1", "a").but(status="done"), "status"),
        (Task("1", "a", metadata=FrozenDict({"a": {"b": {1}}})), "metadata.a.b"),
        (Task("1", "a", metadata=FrozenDict({"a b": [0, float("inf")]})), 'metadata["a b"][1]'),
        (Task("1", "a", metadata=FrozenDict({"a": {1: 2}})), "metadata.a"),
        (Task("1", "a", metadata=FrozenDict({"a": 10**4400})), "metadata.a"),
    ],
)
def test_what_could_not_be_read_is_not_written(task, path):
    """A task that JSON cannot hold is refused when it is written, with its path."""
    for write in (write_task, fragment):
        with pytest.raises(MisfitError) as caught:
            write(task)
        assert [found for found, _ in caught.value.found] == [f".{path}"]


def test_the_plan_that_cannot_be_written_names_the_task():
    """The path counts tasks through the whole plan."""
    made = [Task(str(number), "a") for number in range(1, 400)]
    made[300] = made[300].but(estimate=float("inf"))
    for write in (dump_plan, plan_to_data):
        with pytest.raises(CodecError) as caught:
            write(plan_of(made))
        assert caught.value.data["path"] == "tasks[300].estimate"


def nested(levels):
    value = 1
    for _ in range(levels):
        value = {"a": value}
    return value


def test_metadata_nest_64_levels_deep_and_no_more():
    """The limit is the same in both directions."""
    plan = plan_of((Task("1", "a", metadata=FrozenDict(nested(64))),))
    assert load_plan(dump_plan(plan)) == plan
    deeper = plan_of((Task("1", "a", metadata=FrozenDict(nested(65))),))
    with pytest.raises(CodecError, match="nested deeper than 64 levels"):
        dump_plan(deeper)
    assert "nested deeper than 64 levels" in str(refused(one(metadata=nested(65))))


json_like = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=10,
)


@given(json_like, st.sampled_from([*plan_to_data(TWO), "id", "status", "blocks", "created_at"]))
def test_whatever_data_is_given_a_plan_or_a_codec_error_comes_back(value, key):
    """No data makes reading fail in any other way."""
    data = document(**{key: value}) if key in document() else one(**{key: value})
    for given_data in (value, data):
        try:
            assert isinstance(plan_from_data(given_data), Plan)
        except CodecError as error:
            assert error.data["problem"]  # noqa: PT017 - either outcome is right


@pytest.mark.parametrize("write", [dump_plan, plan_to_data, to_agentscope, entry_to_data])
def test_what_is_no_plan_or_entry_is_not_written(write):
    """The error says what to give."""
    with pytest.raises(PlanError, match=r"5 \(int\) was given; give an? (Plan|Entry)"):
        write(5)
