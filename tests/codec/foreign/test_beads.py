"""Issues of Beads as a plan: an export line by line, edges, ranks, what is deleted."""

import json
from datetime import UTC, datetime

import pytest

from todoplan.codec import from_beads
from todoplan.core.commands import ClaimTask
from todoplan.core.decide import decide
from todoplan.core.plan.model import Waiting, thaw
from todoplan.errors import CodecError


def edge(kind, name):
    """
    Return a dependency as Beads writes it, on the issue that has it.
    """
    return {"issue_id": "x", "depends_on_id": name, "type": kind, "created_by": "ann"}


ISSUES = [
    {"id": "bd-1", "title": "Epic", "status": "open", "priority": 1, "issue_type": "epic"},
    {
        "id": "bd-2",
        "title": "Walls",
        "description": "Four",
        "acceptance_criteria": "They stand",
        "status": "closed",
        "priority": 2,
        "assignee": "ann",
        "labels": ["house"],
        "dependencies": [edge("parent-child", "bd-1"), edge("related", "bd-9")],
        "created_at": "2026-01-19T22:12:48Z",
        "closed_at": "2026-01-20T00:00:00Z",
    },
    {
        "id": "bd-3",
        "title": "Roof",
        "status": "blocked",
        "priority": 4,
        "labels": ["house"],
        "dependencies": [edge("blocks", "bd-2"), edge("parent-child", "bd-1")],
    },
    {"id": "bd-4", "title": "Gone", "status": "tombstone"},
    {"id": "bd-5", "title": "Later", "status": "deferred", "defer_until": "2027-01-01T00:00:00Z"},
    {"id": "bd-6", "title": "Stuck", "status": "blocked", "dependencies": None},
]
TEXT = "\n".join(map(json.dumps, ISSUES)) + "\n\n"


@pytest.mark.parametrize("given", [ISSUES, TEXT], ids=["objects", "text"])
def test_issues(given):
    """Parents are no blockers; what is deleted there is left out; nothing else is lost."""
    plan = from_beads(given)
    assert [(t.subject, t.status.value, t.parent, t.blocked_by) for t in plan] == [
        ("Epic", "pending", None, ()),
        ("Walls", "completed", "1", ()),
        ("Roof", "pending", "1", ("2",)),
        ("Later", "pending", None, ()),
        ("Stuck", "pending", None, ()),
    ]
    walls = plan["2"]
    assert thaw(walls.metadata) == {
        "original_id": "bd-2",
        "priority": 2,
        "tags": ["house"],
        "dependencies": [{"type": "related", "id": "bd-9"}],
    }
    assert (walls.owner, walls.check, walls.description) == ("ann", "They stand", "Four")
    assert walls.completed_at == datetime(2026, 1, 20, tzinfo=UTC)
    ranks = [task.priority and task.priority.value for task in plan]
    assert ranks == ["high", "medium", "low", None, None]
    later = Waiting("deferred", datetime(2027, 1, 1, tzinfo=UTC))
    assert [task.waiting for task in plan][2:] == [None, later, Waiting("blocked")]


def test_labels_are_tags_to_claim_by():
    """So that a worker drains what has one."""
    decision = decide(from_beads(ISSUES), ClaimTask("ann", tag="house"))
    assert decision.unwrap()["3"].claim.owner == "ann"


def test_a_second_parent_stays_in_the_metadata():
    """A task lies in one other at most."""
    two = {**ISSUES[0], "id": "bd-7", "dependencies": [edge("parent-child", n) for n in "ab"]}
    plan = from_beads([{"id": "a", "title": "A"}, {"id": "b", "title": "B"}, two])
    assert plan["3"].parent == "1"
    assert thaw(plan["3"].metadata)["dependencies"] == [{"type": "parent-child", "id": "b"}]


@pytest.mark.parametrize("given", ["{", "[1\n", "[" * 100_000, None, {"id": "bd-1"}, [5]])
def test_what_is_no_export_is_no_empty_plan(given):
    """With what was seen."""
    with pytest.raises(CodecError):
        from_beads(given)


def test_all_faults_are_named_at_once():
    """Ranks, edges and statuses that are none."""
    wrong = [{"id": "a", "title": "a", "status": "pinned", "dependencies": [{"type": "blocks"}]}]
    with pytest.raises(CodecError) as caught:
        from_beads([*wrong, {"title": "b"}, {"id": "c", "title": "c", "dependencies": "x"}])
    assert [problem.path for problem in caught.value.data["problems"]] == [
        "issues[0].status",
        "issues[0].dependencies[0].depends_on_id",
        "issues[1].id",
        "issues[2].dependencies",
    ]
    for rank in (5, -1, True, "1"):
        with pytest.raises(CodecError, match="no priority from 0 to 4"):
            from_beads([{"id": "a", "title": "a", "priority": rank}])
