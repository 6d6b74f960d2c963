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


def test_without_an_upcaster_an_older_plan_is_refused():
    """The error names the version that nobody reads."""
    error = refused(old_plan(plan_to_data(PLAN)))
    assert (error.data["problem"], error.data["version"]) == ("older_version", 0)


def test_an_upcaster_that_fails_on_a_document_is_a_codec_error():
    """A corrupt old document is an error like any other."""
    error = refused({"format": "todoplan/plan", "version": 0}, upcasters=PLANS)
    assert (error.data["problem"], error.data["version"]) == ("upcast_failed", 0)
    assert isinstance(error.__cause__, KeyError)


def test_a_newer_document_asks_for_an_upgrade():
    """The message says which version wrote it and which this one reads."""
    error = refused({**plan_to_data(PLAN), "version": 3})
    assert str(error) == ("written by a newer todoplan: version 3, this one reads up to 2; upgrade")
    assert (error.data["problem"], error.data["version"]) == ("newer_version", 3)


def test_a_newer_entry_is_refused():
    """A store that kept the version beside the entry hands it over."""
    with pytest.raises(CodecError, match="version 3"):
        entry_from_data(entry_to_data(ENTRY), version=3)


@pytest.mark.parametrize("version", [None, "1", 1.0, True, -1])
def test_a_version_is_a_whole_number(version):
    """Nothing is taken for a version that is none."""
    error = refused({**plan_to_data(PLAN), "version": version})
    assert (error.data["problem"], error.data["path"]) == ("wrong_version", "version")


@pytest.mark.parametrize("data", [None, [], "plan", 5])
def test_a_document_is_an_object(data):
    """Anything else has no format."""
    error = refused(data)
    assert error.data["problem"] == "wrong_format"
    assert str(error).endswith("is no todoplan/plan document")


@pytest.mark.parametrize(
    ("form", "said"),
    [
        (None, 'format: null is not "todoplan/plan"'),
        ({}, 'format: an object is not "todoplan/plan"'),
        ("todoplan/journal", "; load_journal reads it"),
        ("todo", 'format: "todo" is not "todoplan/plan"'),
    ],
)
def test_a_document_names_its_format(form, said):
    """Another format, or none, is refused; our own other one with a hint."""
    error = refused({**plan_to_data(PLAN), "format": form})
    assert (error.data["problem"], error.data["path"]) == ("wrong_format", "format")
    assert str(error).endswith(said)


def test_the_upcasters_cannot_be_changed():
    """There is nothing to register in: no state leaks from one program part to another."""
    assert isinstance(UPCASTERS, MappingProxyType)
    assert repr(UPCASTERS) == "mappingproxy(UPCASTERS)"
