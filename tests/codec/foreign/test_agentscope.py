"""Laws of AgentScope's tasks: an exact round trip, its own plain lists, changes by others."""

import json
from datetime import UTC, datetime, timedelta, timezone
from types import SimpleNamespace

import pytest
from hypothesis import example, given
from support.documents import plans

from todoplan.codec import from_agentscope, to_agentscope
from todoplan.codec.engine import parse, to_text
from todoplan.codec.foreign.agentscope import Mirror, task_to_agentscope
from todoplan.core.decide import plan_of
from todoplan.core.plan.model import Approval, FrozenDict, Status, Task, Waiting
from todoplan.core.plan.plan import Plan
from todoplan.errors import CodecError

TINY = timezone(timedelta(microseconds=1))
TEXTS = ["id", "subject", "description", "state", "owner"]
FIELDS = [*TEXTS, "blocks", "blocked_by", "metadata", "created_at"]


def plain(task_id, **changes):
    """Return a task as AgentScope 2.0.10 saves it."""
    return {
        "subject": f"s{task_id}",
        "description": "",
        "metadata": {},
        "created_at": "2025-01-31T09:00:00.123456",
        "state": "pending",
        "id": task_id,
        "owner": None,
        "blocks": [],
        "blocked_by": [],
        **changes,
    }


def refused(*tasks):
    with pytest.raises(CodecError) as caught:
        from_agentscope({"tasks": [*tasks]})
    return caught.value


@given(plans())
@example(plan_of([Task("1", "a", created_at=datetime(2000, 1, 1, tzinfo=TINY))]))
def test_a_plan_survives_the_round_trip(plan):
    """All that AgentScope has no field for comes back from the metadata."""
    data = parse(to_text(to_agentscope(plan)))
    read = from_agentscope(data)
    assert (read, read.revision, read.next_id) == (plan, plan.revision, plan.next_id)
    if len(plan):
        assert from_agentscope({"tasks": data["tasks"]}) == plan


@given(plans())
def test_every_task_is_one_of_agentscope(plan):
    """The fields are those of its model, and the state is one of its three."""
    for task in to_agentscope(plan)["tasks"]:
        assert list(task) == FIELDS
        assert task["state"] in {"pending", "in_progress", "completed"}
        assert isinstance(task["created_at"], str)


@given(plans())
def test_one_task_is_written_as_in_the_list(plan):
    """Without next id, revision and approval, which then stand elsewhere."""
    for task, listed in zip(plan, to_agentscope(plan)["tasks"], strict=True):
        ours = listed["metadata"]["todoplan"]
        del ours["next_id"], ours["revision"]
        ours.pop("approved", None)
        if not ours:
            del listed["metadata"]["todoplan"]
        assert task_to_agentscope(task) == listed
    with pytest.raises(CodecError, match="estimate"):
        task_to_agentscope(Task("1", "a").but(estimate=float("nan")))


def test_an_empty_plan_keeps_its_counter_beside_the_tasks():
    """With tasks it stands in each, so any may be deleted; without them, at the top."""
    two = to_agentscope(plan_of((Task("1", "a"), Task("9", "b"))))["tasks"]
    assert from_agentscope({"tasks": two[:1]}).next_id == 10
    plan = plan_of((), next_id=7, revision=9)
    assert to_agentscope(plan) == {"tasks": [], "todoplan": {"next_id": 7, "revision": 9}}
    assert from_agentscope(to_agentscope(plan)) == plan
    assert from_agentscope({"tasks": []}) == Plan()


def test_a_list_that_agentscope_saved_is_read():
    """A plain list becomes a plan; times without a zone are not known."""
    plan = from_agentscope(
        {"tasks": [plain("1", state="completed", owner="ann", metadata={"k": 1}), plain("2")]}
    )
    assert [*plan] == [
        Task("1", "s1", status=Status.COMPLETED, owner="ann", metadata=FrozenDict({"k": 1})),
        Task("2", "s2"),
    ]
    assert plan.next_id == 3


def test_fields_that_have_a_default_there_may_be_missing():
    """Id and subject are enough; whatever wrote the list left the rest to AgentScope."""
    assert [*from_agentscope({"tasks": [{"id": "4", "subject": "a"}]})] == [Task("4", "a")]


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2025-01-31T09:00:00", datetime(2025, 1, 31, 9, tzinfo=UTC)),
        ("2025-01-31T09:00:00+01:00", datetime(2025, 1, 31, 8, tzinfo=UTC)),
        ("20250131T090000+0100", datetime(2025, 1, 31, 8, tzinfo=UTC)),
        ("1738314000", None),
        ("", None),
    ],
)
def test_a_zone_is_given_to_times_without_one(text, at):
    """Whoever knows the machine's zone says so; what is no time is not known."""
    plan = from_agentscope({"tasks": [plain("1", created_at=text)]}, zone=UTC)
    assert plan["1"].created_at == at


def test_edges_on_one_side_are_mirrored():
    """A seeded list, or one whose blocker was completed by AgentScope, gets both sides."""
    plan = from_agentscope(
        {"tasks": [plain("1", blocks=["2", "2"]), plain("2"), plain("3", blocked_by=["1", "2"])]}
    )
    assert [(task.blocks, task.blocked_by) for task in plan] == [
        (("2", "3"), ()),
        (("3",), ("1",)),
        ((), ("1", "2")),
    ]


def test_agentscopes_own_fields_hold():
    """A state that its tools changed wins over what our metadata said."""
    data = to_agentscope(plan_of((Task("1", "a", status=Status.CANCELLED), Task("2", "b"))))
    assert from_agentscope(data)["1"].status is Status.CANCELLED
    data["tasks"][0] |= {"state": "in_progress", "subject": "c", "owner": "bob"}
    assert from_agentscope(data)["1"] == Task("1", "c", status=Status.IN_PROGRESS, owner="bob")


def test_a_failed_task_is_pending_there():
    """Its dependents stay blocked there too; whoever starts or completes it takes it up again."""
    failed = Task("1", "a", status=Status.FAILED, blocks=("2",))
    data = to_agentscope(plan_of([failed, Task("2", "b", blocked_by=("1",))]))
    assert data["tasks"][0]["state"] == "pending"
    assert from_agentscope(data)["1"] == failed
    for state in (Status.IN_PROGRESS, Status.COMPLETED):
        data["tasks"][0]["state"] = state.value
        assert from_agentscope(data)["1"].status is state


def test_a_task_that_their_tools_started_waits_no_more():
    """Only a pending task waits; the rest of what it holds stays."""
    waiting = Task("1", "a", waiting=Waiting("Bob"), check="it runs")
    data = to_agentscope(plan_of([waiting]))
    assert from_agentscope(data)["1"] == waiting
    data["tasks"][0]["state"] = "in_progress"
    assert from_agentscope(data)["1"] == waiting.but(waiting=None, status=Status.IN_PROGRESS)


def test_what_was_below_a_task_that_they_deleted_is_at_the_top():
    """Their tools know nothing of subtasks."""
    plan = plan_of([Task("1", "a"), Task("2", "b", parent="1"), Task("3", "c", parent="2")])
    data = to_agentscope(plan)
    del data["tasks"][0], data["todoplan"]
    read = from_agentscope(data)
    assert [(task.id, task.parent) for task in read] == [("2", None), ("3", "2")]


def test_the_approval_is_that_of_the_latest_write():
    """It stands beside the tasks and with each; what an older write left says nothing."""
    plan = plan_of([Task("1", "a")], revision=5, approved=Approval(4, "ann"))
    data = to_agentscope(plan)
    assert from_agentscope(data).approved == Approval(4, "ann")
    del data["todoplan"]
    assert from_agentscope(data).approved == Approval(4, "ann")
    data["todoplan"] = {"next_id": 2, "revision": 9}
    assert from_agentscope(data).approved is None


def test_metadata_of_our_name_are_kept():
    """A user's own "todoplan" key survives beside ours."""
    plan = plan_of((Task("1", "a", metadata=FrozenDict({"todoplan": {"mine": 1}, "b": 2})),))
    assert from_agentscope(json.loads(json.dumps(to_agentscope(plan)))) == plan


@pytest.mark.parametrize(
    ("tasks", "codes"),
    [
        ([plain("1"), plain("1")], {"duplicate_id"}),
        ([plain("1", blocks=["7"])], {"unknown_task"}),
        ([plain("1", blocks=["1"])], {"self_edge"}),
        ([plain("1", blocks=["2"]), plain("2", blocks=["1"])], {"cycle"}),
        ([plain("9f3c"), plain("1")], {"bad_id"}),
    ],
)
def test_lists_that_are_no_plan_are_refused(tasks, codes):
    """Double or foreign ids, edges to nowhere and cycles are errors that name the tasks."""
    error = refused(*tasks)
    assert {problem.code for problem in error.data["problems"]} == codes
    assert error.data["problems"][0].task_ids[0] in str(error)


def test_all_faults_are_named_at_once():
    """Wrong types, unknown fields and a foreign "todoplan" are faults with their paths."""
    ours = {"next_id": 0, "priority": "urgent", "status": "pending"}
    error = refused(
        plain(1, state="cancelled", due="soon"),
        plain("2", metadata={"todoplan": ours}),
        plain("3", metadata=None, created_at=None),
        plain("4", metadata={"todoplan": []}),
        5,
    )
    assert {problem.path for problem in error.data["problems"]} == {
        "tasks[0].due",
        "tasks[0].id",
        "tasks[0].state",
        "tasks[1].metadata.todoplan.next_id",
        "tasks[1].metadata.todoplan.priority",
        "tasks[1].metadata.todoplan.status",
        "tasks[2].metadata",
        "tasks[2].created_at",
        "tasks[3].metadata.todoplan",
        "tasks[4]",
    }


@pytest.mark.parametrize("data", [None, [], {}, {"tasks": None}, {"tasks": [], "more": 1}])
def test_a_task_context_is_an_object_with_tasks(data):
    """What has no list of tasks is no empty plan."""
    with pytest.raises(CodecError, match="no task context of AgentScope"):
        from_agentscope(data)


def left(count):
    """Return a mirror, and the records that it has just written."""
    made = []
    mirror = Mirror(lambda item: SimpleNamespace(**item), "made_at")
    items = [{"id": str(n), "text": "t", "ends": [], "extra": {"k": [1]}} for n in range(count)]
    mirror.write(made, items, whole=True)
    return mirror, made


EDITS = {
    "a field": lambda made, at: setattr(made[at], "text", "other"),
    "a list": lambda made, at: made[at].ends.append("1"),
    "a depth": lambda made, at: made[at].extra["k"].append(2),
    "a new field": lambda made, at: setattr(made[at], "more", 1),
    "one less": lambda made, at: made.pop(at),
    "one more": lambda made, at: made.insert(at, made[at]),
    "another order": lambda made, _: made.reverse(),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
@pytest.mark.parametrize(("count", "at"), [(10, 0), (10, 9), (200, 150)])
def test_every_edit_is_seen_at_once(edit, count, at):
    """Wherever it is, and however deep."""
    mirror, made = left(count)
    assert mirror.is_current(made)
    edit(made, at)
    assert not mirror.is_current(made)


def test_of_some_records_only_their_edits_are_seen():
    """And whether there are as many as were written; a new id is not there yet."""
    mirror, made = left(10)
    made[3].text = "other"
    assert mirror.is_current(made, ["2", "4", "10"])
    assert not mirror.is_current(made, ["2", "3"])
    made.pop()
    assert not mirror.is_current(made, ["2"])


def test_what_is_written_is_no_edit():
    """One record, one more, or all of them; records and list stay the same objects."""
    mirror, made = left(3)
    first, kept = made[0], made
    mirror.write(made, [{"id": "0", "text": "x", "made_at": 1}, {"id": "3", "text": "new"}])
    assert mirror.is_current(made)
    assert [record.text for record in made] == ["x", "t", "t", "new"]
    assert not hasattr(first, "made_at")
    mirror.write(made, [{"id": "3", "text": "y"}, {"id": "0", "text": "x"}], whole=True)
    assert mirror.is_current(made)
    assert [record.id for record in made] == ["3", "0"]
    assert made is kept
    assert made[1] is first
