"""Plans as documents in a state: what was written or read is not read twice, and always right."""

import copy
import json
import pickle
from dataclasses import asdict, dataclass

import pytest

from todoplan.codec import documents, plan_to_data
from todoplan.codec.documents import Document, document_of, write_document
from todoplan.core.commands import DeleteTask, UpdateTask, WriteTodos
from todoplan.core.decide.assembly import plan_of
from todoplan.core.decide.decide import decide
from todoplan.core.plan.frozen import FrozenDict
from todoplan.core.plan.model import Task, Todo
from todoplan.core.plan.plan import Plan
from todoplan.errors import CodecError

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
    after = decide(document_of(before).plan, command).plan
    document = write_document(after, before)
    assert document == plan_to_data(after) == write_document(after)
    assert document_of(document).plan is after
    assert document_of(json.loads(json.dumps(document))).plan == after
    kept = next(task for task in document["tasks"] if task["subject"] == "c")
    assert (kept is before["tasks"][2]) == (after["3"] is document_of(before).plan["3"])


def pickled(value):
    """
    Return the value after a trip through pickle.
    """
    return pickle.loads(pickle.dumps(value))  # noqa: S301 - our own bytes


@pytest.mark.parametrize("twin", [copy.copy, copy.deepcopy, pickled])
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
    assert len(documents._read) <= 64
    assert document_of(plain).plan == plan
    assert document_of(plain).plan is not plan


def test_an_id_that_was_used_before_is_no_identity():
    """What is remembered of one object is never taken for another's."""
    plain, other = plan_to_data(PLAN), plan_to_data(Plan())
    documents._read[id(plain)] = other, document_of(other)
    assert document_of(plain).plan == PLAN


def test_a_document_of_an_older_version_is_written_anew(monkeypatch):
    """Nothing of its tasks is taken over as it stands."""
    plain = plan_to_data(PLAN)
    monkeypatch.setattr(documents, "VERSION", plain["version"] + 1)
    document = document_of(plain)
    assert type(document) is Document
    assert document["tasks"][0] is not plain["tasks"][0]
    assert document.plan == PLAN


def test_a_corrupt_document_is_an_error():
    """Never an empty plan, neither read nor built upon."""
    for wrong in ({"format": "other"}, None, []):
        with pytest.raises(CodecError):
            document_of(wrong)
    with pytest.raises(CodecError):
        write_document(PLAN, {"format": "other"})


@pytest.mark.parametrize("before", [None, write_document(PLAN)])
def test_what_json_cannot_hold_is_named(before):
    """The path is that of the task in the whole plan."""
    bad = PLAN["2"].but(metadata=FrozenDict({"k": frozenset()}))
    with pytest.raises(CodecError, match=r"tasks\[1\].metadata"):
        write_document(plan_of([PLAN["1"], bad]), before)


def test_rebuilt_by_its_type_a_document_is_a_plain_dict():
    """`dataclasses.asdict`, as LangGraph uses it to show a command, gives plain data."""

    @dataclass
    class Holder:
        document: dict

    document = write_document(PLAN)
    copied = asdict(Holder(document))["document"]
    assert (type(copied), copied) == (dict, document)
    assert document_of(copied).plan == PLAN
