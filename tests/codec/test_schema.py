"""Laws of the schema: every dumped document validates, and the reader is no laxer."""

import json

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from support.documents import entries, plans

from todoplan.codec import dump_journal, dump_plan, json_schema, plan_from_data, plan_to_data
from todoplan.core.decide import plan_of
from todoplan.core.plan.model import Task
from todoplan.errors import CodecError

BOTH = Draft202012Validator(json_schema())


def part(name):
    return Draft202012Validator({**json_schema(), "anyOf": [{"$ref": f"#/$defs/{name}"}]})


def test_the_schema_is_one():
    """It is valid under its own draft, and fresh each time."""
    Draft202012Validator.check_schema(json_schema())
    json_schema()["$defs"].clear()
    assert json_schema()["$defs"]


@given(plans())
def test_every_dumped_plan_validates(plan):
    """The schema allows whatever is written."""
    assert BOTH.is_valid(json.loads(dump_plan(plan)))
    assert part("plan").is_valid(plan_to_data(plan))


@given(st.lists(entries, max_size=3))
def test_every_dumped_journal_validates(journal):
    """The array of a journal's lines validates."""
    lines = [json.loads(line) for line in dump_journal(journal).split("\n")[:-1]]
    assert BOTH.is_valid(lines)
    assert all(map(part("entry").is_valid, lines[1:]))


WRONG = [None, True, -1, 1.5, "", "x", [], ["x"], {}, {"a": 1}]
REQUIRED = ["version", "format", "tasks", "next_id", "revision"]
NAMES = [*REQUIRED, "approved", "more"]


@pytest.mark.parametrize("value", WRONG, ids=repr)
@pytest.mark.parametrize("name", [*NAMES, *(field.name for field in attrs.fields(Task)), "prio"])
def test_the_schema_allows_what_the_reader_reads(name, value):
    """The one exception: the schema cannot say that a parent is a task of the plan."""
    data = plan_to_data(plan_of((Task("1", "a"),)))
    where = data if name in NAMES else data["tasks"][0]
    where[name] = value
    try:
        plan_from_data(data)
    except CodecError:
        assert not BOTH.is_valid(data) or name == "parent"
    else:
        assert BOTH.is_valid(data)


@pytest.mark.parametrize("name", REQUIRED)
def test_the_schema_refuses_a_plan_that_lacks_something(name):
    """Every key of the head is required."""
    data = plan_to_data(plan_of((Task("1", "a"),)))
    del data[name]
    assert not BOTH.is_valid(data)
