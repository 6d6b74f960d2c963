"""Documents of every version of the format, written by the todoplan of that time, stay readable."""

import json
import shutil
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from todoplan.codec import (
    VERSION,
    dump_plan,
    from_agentscope,
    from_langchain,
    json_schema,
    load_journal,
    load_plan,
    plan_to_data,
)
from todoplan.codec.engine import parse
from todoplan.codec.foreign.langchain import plan_in_value, write_document
from todoplan.core.decide import plan_of
from todoplan.core.events.apply import Entry, replay
from todoplan.core.events.types import TaskCreated
from todoplan.core.plan.model import Approval, Evidence, Priority, Status, Task, Waiting
from todoplan.core.plan.plan import Plan
from todoplan.stores import FileStore

GOLDEN = Path(__file__).with_name("golden")
VERSIONS = range(1, VERSION + 1)


def clock(day):
    """Return what gives the time so many minutes after nine o'clock of a day."""
    return lambda minutes: datetime(2026, *day, 9, tzinfo=UTC) + timedelta(minutes=minutes)


def task(task_id, subject, *times, **fields):
    """Return a task: created, updated, started and completed at these times."""
    names = ("created_at", "updated_at", "started_at", "completed_at")
    return Task(task_id, subject, **dict(zip(names, times, strict=False)), **fields)


def plan_1():
    """Return what the documents of version 1 hold: a plan that lived through every event it had."""
    at = clock((1, 5))
    low, middle, high = Priority.LOW, Priority.MEDIUM, Priority.HIGH
    done = {"status": Status.COMPLETED, "active_form": "Writing the parser", "estimate": 90}
    begun = {"status": Status.IN_PROGRESS, "priority": low, "owner": "bob", "estimate": 12.5}
    kept = {"labels": ["core", None, 2.5], "nested": {"deep": True}, "pr": 7}
    return plan_of(
        [
            task("4", "Ship", at(0), at(7), blocked_by=("3",)),
            task("2", "Test it", at(0), at(6), at(3), blocked_by=("1",), **begun),
            task(
                *("1", "Write the parser", at(0), at(2), at(1), at(2)),
                description="Numbers first.\nThen texts.",
                **{"priority": high, "owner": "ann", "blocks": ("2",), "metadata": kept, **done},
            ),
            task("3", "Ask Bob", at(0), at(4), status=Status.CANCELLED, blocks=("4",)),
            task("6", "Tell everybody", at(8), at(8), priority=middle),
        ],
        next_id=7,
        revision=21,
    )


def plan_2():
    """Return what those of version 2 hold: everything that it has and version 1 has not."""
    at = clock((3, 2))
    rome = timezone(timedelta(hours=1))
    press = Waiting("the press", datetime(2026, 3, 9, 9, tzinfo=rome), "When?")
    passed = Evidence(passed=True, summary="40 passed \u2028 in 3 s", by="ci", at=at(3))
    done = {"status": Status.COMPLETED, "active_form": "Writing the parser", "estimate": 90}
    whole = {"description": "All of it.", "priority": Priority.HIGH, "owner": "ann"}
    return plan_of(
        [
            task("4", "Ship", at(0), at(0), blocked_by=("2",), check="the page shows 2.0"),
            task("1", "Release 2.0", at(0), at(0), metadata={"ticket": "AB-2"}, **whole),
            task(
                *("2", "Write the parser", at(0), at(15), at(2), at(4)),
                check="the tests of the parser pass",
                **{"blocks": ("4",), "parent": "1", "evidence": passed, **done},
            ),
            task("3", "Choose a name", at(0), at(8), parent="1", answer="two"),
            task("5", "Draw a logo", at(5), at(9), status="failed", blocks=("6",), parent="1"),
            task("6", "Tell everybody", at(9), at(15), blocked_by=("5",), waiting=press),
            task("8", "Never mind", at(12), at(12), status="cancelled"),
        ],
        next_id=9,
        revision=23,
        approved=Approval(6, "ann", at(1)),
    )


PLANS = {1: plan_1(), 2: plan_2()}
EVENTS_OF_1 = {
    *("edge_added", "edge_removed", "plan_cleared", "plan_restored", "status_changed"),
    *("task_created", "task_deleted", "task_edited", "tasks_reordered"),
}


def text(version, name):
    """Return a document of a version."""
    return (GOLDEN / f"v{version}" / name).read_text("utf-8")


def test_every_version_has_its_documents():
    """A new version of the format gets a folder, and the plan that its documents hold."""
    assert {path.name for path in GOLDEN.glob("v*")} == {f"v{number}" for number in VERSIONS}
    assert list(PLANS) == list(VERSIONS)


@pytest.mark.parametrize("name", ["plan.json", "plan-check.json"])
@pytest.mark.parametrize("version", VERSIONS)
def test_a_plan_document_is_read(version, name):
    """With and without a check; written anew it is of the current version and says the same."""
    document = text(version, name)
    assert json.loads(document)["version"] == version
    plan = load_plan(document)
    assert plan == PLANS[version]
    assert plan_to_data(plan)["version"] == VERSION
    assert load_plan(dump_plan(plan)) == plan


@pytest.mark.parametrize("version", VERSIONS)
def test_a_journal_is_read(version):
    """Line by line, checks included, and its events lead to the same plan."""
    document = text(version, "journal.jsonl")
    head, *lines = map(json.loads, document.splitlines())
    kinds = {event["type"] for line in lines for event in line["events"]}
    assert (head["version"], all("check" in line for line in lines)) == (version, True)
    assert kinds == EVENTS_OF_1 | ({"parent_changed", "plan_approved"} if version > 1 else set())
    plan = Plan()
    for entry in load_journal(document):
        plan = replay(plan, entry.events)
        assert plan.revision == entry.revision
    assert plan == PLANS[version]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_file_of_a_store_is_read_and_goes_on(version, tmp_path):
    """Each plan with its journal; after an append the file is of the current version."""
    path = tmp_path / "plans.json"
    shutil.copy(GOLDEN / f"v{version}" / "plans.json", path)
    store = FileStore(path)
    alone = TaskCreated(Task("1", "Alone"))
    assert store.plan_ids() == ("work", "other")
    assert store.load("work") == PLANS[version]
    assert store.entries("work") == load_journal(text(version, "journal.jsonl"))
    assert store.entries("other") == (Entry(1, (alone,)),)
    more = Entry(PLANS[version].revision + 1, (TaskCreated(Task("9", "More")),))
    plan = replay(PLANS[version], more.events)
    assert store.append("work", PLANS[version].revision, [more], plan)
    assert json.loads(path.read_bytes())["version"] == VERSION
    assert FileStore(path).load("work") == plan
    assert FileStore(path).entries("other") == (Entry(1, (alone,)),)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_state_of_langgraph_is_read(version):
    """It holds a plan document; the next step upon it is of the current version."""
    value = parse(text(version, "branch.json"))
    assert plan_in_value(value) == PLANS[version]
    assert write_document(plan_in_value(value), value["plan"]) == plan_to_data(PLANS[version])


@pytest.mark.parametrize("version", VERSIONS)
def test_a_state_of_agentscope_is_read(version):
    """What its tasks have no field for stands in their metadata, without a version."""
    assert from_agentscope(parse(text(version, "agentscope.json"))) == PLANS[version]


@pytest.mark.parametrize("version", VERSIONS)
def test_todos_of_langchain_are_read(version):
    """What such a list can hold, under ids of a new plan."""
    names = ["subject", "status", "active_form", "priority", "waiting"]
    read = from_langchain(parse(text(version, "langchain.json")))
    kept = [task for task in PLANS[version] if task.status is not Status.CANCELLED]
    for name in names:
        assert [getattr(t, name) for t in read] == [getattr(t, name) for t in kept]


@pytest.mark.parametrize("name", ["plan.json", "plan-check.json", "journal.jsonl"])
def test_documents_of_this_version_validate(name):
    """Under the schema that is published."""
    document = text(VERSION, name)
    lines = [json.loads(line) for line in document.splitlines()]
    whole = lines if name == "journal.jsonl" else lines[0]
    assert Draft202012Validator(json_schema()).is_valid(whole)
