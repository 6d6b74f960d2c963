"""A plan as ACP writes it: what the published schemas allow, and nothing of the plan made up."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from acp.schema import SessionNotification
from hypothesis import given
from jsonschema import Draft202012Validator

from todoplan import Status, Task, plan_of
from todoplan.adapters.acp import make_update
from todoplan.core.plan.model import Waiting
from todoplan.errors import PlanError
from todoplan.testing import strategies

PUBLISHED = json.loads((Path(__file__).parents[2] / "support" / "acp_schema.json").read_text())
FORMS = {
    "v1": {},
    "v1 with plan_update": {"plan_id": "garden"},
    "v2": {"version": 2},
}
SCHEMAS = {form: Draft202012Validator(PUBLISHED[form]) for form in FORMS}


@given(plan=strategies.plans())
def test_any_plan_is_what_the_published_schemas_allow(plan):
    """And goes through JSON as it is."""
    for form, options in FORMS.items():
        update = make_update(plan, **options)
        SCHEMAS[form].validate(json.loads(json.dumps(update)))


@given(plan=strategies.plans())
def test_the_official_package_reads_and_writes_it_unchanged(plan):
    """It leaves out entries that it cannot read: none is lost here, nor is a field."""
    for form in ("v1", "v1 with plan_update"):
        update = make_update(plan, **FORMS[form])
        read = SessionNotification.model_validate({"sessionId": "s1", "update": update})
        assert read.model_dump(mode="json", by_alias=True, exclude_none=True)["update"] == update


def entries_of(update):
    """The entries, in either envelope."""
    return update.get("entries") or update["plan"]["entries"]


@given(plan=strategies.plans())
def test_every_task_is_there_with_its_id_and_edges(plan):
    """In the plan's order; version 1 leaves cancelled ones out, and no failed one is done."""
    open_ones = [task for task in plan if task.status is not Status.CANCELLED]
    for version, tasks in ((1, open_ones), (2, list(plan))):
        entries = entries_of(make_update(plan, version=version)) if tasks else []
        metas = [entry["_meta"]["todoplan"] for entry in entries]
        assert [meta["id"] for meta in metas] == [task.id for task in tasks]
        assert [meta["status"] for meta in metas] == [task.status for task in tasks]
        assert [tuple(meta.get("blocked_by", ())) for meta in metas] == [
            task.blocked_by for task in tasks
        ]
        done = [entry["status"] == "completed" for entry in entries]
        assert done == [task.status is Status.COMPLETED for task in tasks]


def test_the_statuses_of_version_2_say_more():
    """Cancelled has a word there, and failed may have one of ours."""
    plan = plan_of([Task(str(n), "a", status=status) for n, status in enumerate(Status, 1)])
    shown = [entry["status"] for entry in entries_of(make_update(plan, version=2))]
    assert shown == ["pending", "in_progress", "completed", "cancelled", "_failed"]
    assert make_update(plan, version=2)["plan"]["planId"] == "plan"


def test_what_a_status_cannot_say_stands_behind_the_text():
    """Where a person reads it; and as data for who knows us."""
    until = datetime(2199, 1, 1, tzinfo=UTC)
    plan = plan_of(
        [
            Task("1", "Sow", status="failed", owner="bob", priority="high"),
            Task("2", "Rest", waiting=Waiting(until=until), parent="1"),
            Task("3", "Dig", waiting=Waiting("for ann", question="Where?")),
        ]
    )
    one, two, three = entries_of(make_update(plan))
    assert (one["content"], one["priority"]) == ("Sow (failed)", "high")
    assert one["_meta"]["todoplan"] == {"id": "1", "status": "failed", "owner": "bob"}
    assert (two["content"], two["priority"]) == ("Rest (waiting)", "medium")
    assert two["_meta"]["todoplan"]["waiting"] == {"until": until.isoformat()}
    assert two["_meta"]["todoplan"]["parent"] == "1"
    assert three["content"] == "Dig (waiting: for ann; asks: Where?)"
    assert three["_meta"]["todoplan"]["waiting"] == {"reason": "for ann", "question": "Where?"}
    assert entries_of(make_update(plan, version=2))[0]["content"] == "Sow"


def test_a_text_is_shown_on_one_line_without_controls():
    """A client draws what it is given."""
    hostile = "Sow\x1b]0;owned\x07 \x1b[2J\n\n# beans"
    (entry,) = make_update(plan_of([Task("1", hostile)]))["entries"]
    assert entry["content"] == "Sow # beans"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [((["Sow"], {}), "give a plan"), ((plan_of([]), {"version": 3}), "ACP has 1 and 2")],
)
def test_what_is_no_plan_or_version_is_refused(arguments, reason):
    """At once, with what to give."""
    plan, options = arguments
    with pytest.raises(PlanError, match=reason):
        make_update(plan, **options)
