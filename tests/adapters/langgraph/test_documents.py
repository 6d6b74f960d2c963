"""Plans as documents: what was written or read is not read twice, and is always the right one."""

import json
from copy import deepcopy

import pytest
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from todoplan import Plan, commands, decide, plan_of
from todoplan.adapters.langgraph import documents, todos_of
from todoplan.adapters.langgraph.documents import read_document, write_document
from todoplan.codec import plan_to_data
from todoplan.core.model import Task
from todoplan.errors import CodecError

PLAN = plan_of([Task("1", "a"), Task("2", "b")])


def test_a_document_is_that_of_the_codec():
    """
    Written with or without what was there before, and read from any copy.
    """
    before = write_document(PLAN)
    after = decide(PLAN, commands.UpdateTask("2", status="completed")).plan
    document = write_document(after, before)
    assert document == plan_to_data(after) == write_document(after)
    assert read_document(document) is after
    assert read_document(json.loads(json.dumps(document))) == after
    assert document["tasks"][0] is before["tasks"][0]


def test_deep_copies_are_cheap_and_true():
    """
    A document is nobody's to change, and its copy is itself; a published list is copied for good.
    """
    document = write_document(PLAN)
    assert deepcopy({"plan": document})["plan"] is document
    todos = todos_of(PLAN)
    copied = deepcopy(todos)
    copied[0]["content"] = "changed"
    assert copied != todos == [{"content": c, "status": "pending"} for c in "ab"]
    kept = JsonPlusSerializer().dumps_typed({"plan": document, "todos": todos})
    assert JsonPlusSerializer().loads_typed(kept) == {"plan": plan_to_data(PLAN), "todos": todos}


def test_what_is_remembered_is_bounded():
    """
    A few of the latest documents are known; others are read again.
    """
    first = write_document(PLAN)
    kept = [write_document(Plan()) for _ in range(100)]
    assert len(documents._known) <= 64 < len(kept)
    assert read_document(first) == PLAN


def test_a_corrupt_document_is_an_error():
    """
    Never an empty plan.
    """
    with pytest.raises(CodecError):
        read_document({"format": "other"})
