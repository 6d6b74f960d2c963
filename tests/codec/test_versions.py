"""Laws of versions: newer documents are refused, older ones are brought up step by step."""

import json
from types import MappingProxyType

import pytest

from todoplan.codec import (
    dump_journal,
    dump_plan,
    entry_from_data,
    entry_to_data,
    load_journal,
    load_plan,
    plan_from_data,
    plan_to_data,
)
from todoplan.codec.documents import UPCASTERS, VERSION
from todoplan.core.decide import plan_of
from todoplan.core.events.apply import Entry
from todoplan.core.events.types import TaskDeleted
from todoplan.core.plan.model import Task
from todoplan.errors import CodecError

PLAN = plan_of((Task("1", "a"),))
ENTRY = Entry(1, (TaskDeleted("1"),))


def refused(data, **options):
    with pytest.raises(CodecError) as caught:
        plan_from_data(data, **options)
    return caught.value


def old_plan(data):
    """Return a plan document of a version 0 that called tasks items, and a subject a title."""
    items = [{**task, "title": task["subject"]} for task in data["tasks"]]
    for item in items:
        del item["subject"]
    rest = {key: value for key, value in data.items() if key != "tasks"}
    return {**rest, "version": 0, "items": items}


def plan_from_0(data):
    tasks = [
        {"subject": item["title"], **{k: v for k, v in item.items() if k != "title"}}
        for item in data["items"]
    ]
    rest = {key: value for key, value in data.items() if key != "items"}
    return {**rest, "version": 1, "tasks": tasks}


def entry_from_0(data):
    return {**data, "revision": data["revision"] + 1}


PLANS, ENTRIES = {**UPCASTERS, 0: plan_from_0}, {**UPCASTERS, 0: entry_from_0}


def test_an_older_plan_is_brought_up_to_this_version():
    """A document of version 0 goes through the upcaster from 0."""
    old = old_plan(plan_to_data(PLAN))
    assert plan_from_data(old, upcasters=PLANS) == PLAN
    assert load_plan(json.dumps(old), upcasters=PLANS) == PLAN


def test_a_plan_of_this_version_passes_no_upcaster():
    """An upcaster from the current version is never asked."""
    assert load_plan(dump_plan(PLAN), upcasters={VERSION: plan_from_0}) == PLAN


def test_an_older_entry_is_brought_up_to_this_version():
    """In a journal, each entry goes through the upcaster."""
    data = {**entry_to_data(ENTRY), "revision": 0}
    text = dump_journal(()).replace(f'"version":{VERSION}', '"version":0') + json.dumps(data)
    assert load_journal(text, upcasters=ENTRIES) == (ENTRY,)
    assert entry_from_data(data, version=0, upcasters=ENTRIES) == ENTRY


WHOLE = plan_to_data(PLAN)
REFUSED = [
    ({**WHOLE, "version": 3}, "newer_version", "version",
     "written by a newer todoplan: version 3, this one reads up to 2; upgrade"),
    (old_plan(WHOLE), "older_version", "version", "no upcaster reads it; give one"),
    *(({**WHOLE, "version": version}, "wrong_version", "version", "this todoplan reads up to 2")
      for version in (None, "1", 1.0, True, -1)),
    *((data, "wrong_format", "", "is no todoplan/plan document")
      for data in (None, [], "plan", 5)),
    ({**WHOLE, "format": None}, "wrong_format", "format", 'null is not "todoplan/plan"'),
    ({**WHOLE, "format": {}}, "wrong_format", "format", 'an object is not "todoplan/plan"'),
    ({**WHOLE, "format": "todoplan/journal"}, "wrong_format", "format", "; load_journal reads it"),
    ({**WHOLE, "format": "todo"}, "wrong_format", "format", '"todo" is not "todoplan/plan"'),
]  # fmt: skip


@pytest.mark.parametrize(("data", "problem", "path", "said"), REFUSED)
def test_a_document_names_its_format_and_a_version_that_is_read(data, problem, path, said):
    """Nothing is taken for a format or a version that is none; our other format gets a hint."""
    error = refused(data)
    assert (error.data["problem"], error.data["path"]) == (problem, path)
    assert str(error).endswith(said)
    if path == "version":
        assert error.data["version"] == data["version"]


def test_an_upcaster_that_fails_on_a_document_is_a_codec_error():
    """A corrupt old document is an error like any other."""
    error = refused({"format": "todoplan/plan", "version": 0}, upcasters=PLANS)
    assert (error.data["problem"], error.data["version"]) == ("upcast_failed", 0)
    assert isinstance(error.__cause__, KeyError)


def test_a_newer_entry_is_refused():
    """A store that kept the version beside the entry hands it over."""
    with pytest.raises(CodecError, match="version 3"):
        entry_from_data(entry_to_data(ENTRY), version=3)


def test_the_upcasters_cannot_be_changed():
    """There is nothing to register in: no state leaks from one program part to another."""
    assert isinstance(UPCASTERS, MappingProxyType)
    assert repr(UPCASTERS) == "mappingproxy(UPCASTERS)"
