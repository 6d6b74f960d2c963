import copy
import pickle

import attrs
import pytest
from hypothesis import given
from support import strategies as some

from todoplan.core.commands import CreateTask, DeleteTask
from todoplan.core.decide import decide, plan_of
from todoplan.core.plan.model import Status, Task
from todoplan.core.plan.plan import COLUMN, Counts, Plan
from todoplan.errors import PlanError

THREE = plan_of([Task("2", "a"), Task("1", "b", status="in_progress"), Task("7", "c")])


def test_plan_reads_like_a_mapping_by_id_that_iterates_over_tasks():
    """Tasks come in the plan's order, not by number or by text: 10 does not come before 2."""
    assert [task.id for task in THREE] == ["2", "1", "7"]
    assert THREE["7"].subject == "c"
    assert len(THREE) == 3
    ten = plan_of([Task(str(n), "x") for n in range(1, 13)])
    assert [task.id for task in ten] == [str(n) for n in range(1, 13)]


@pytest.mark.parametrize("task_id", [*some.NO_IDS, "3", "8"])
def test_unknown_ids(task_id):
    """Gaps, numbers to come, and what is no id ("007", "x") name no task."""
    assert THREE.get(task_id) is None
    assert task_id not in THREE
    assert THREE.waits_for(task_id) == 0
    with pytest.raises(KeyError):
        THREE[task_id]


def test_only_text_is_an_id():
    """The number 1 is not the id "1": it is in no plan, and asking for it is a mistake."""
    assert "1" in THREE
    assert 1 not in THREE
    for ask in (THREE.get, THREE.__getitem__, THREE.waits_for):
        with pytest.raises(PlanError, match=r"1 \(int\) was given; give an id, .*: str\(id\)"):
            ask(1)


@pytest.mark.parametrize("plan", [Plan(), THREE, plan_of([Task("1", "a")])])
def test_a_plan_is_not_made_from_its_parts(plan):
    """Tasks neither pass for a revision nor slip in by the name of a part: `plan_of` takes them."""
    tasks = tuple(plan)
    with pytest.raises(TypeError):
        Plan(tasks)
    for name in ("tasks", "counts", "waiting", "layout", "active", "ready"):
        with pytest.raises(TypeError, match=name):
            Plan(**{name: tasks})
    assert Plan(revision=3, next_id=7) == plan_of([], revision=3, next_id=7)


def test_another_revision_of_a_plan():
    """`attrs.evolve` and `copy.copy` keep what a plan is made of."""
    later = attrs.evolve(THREE, revision=9)
    assert later == plan_of(THREE, revision=9, next_id=THREE.next_id)
    assert [task.id for task in later.ready()] == ["2", "7"]
    assert copy.copy(THREE) == THREE


def test_a_deleted_task_waits_for_nothing():
    """What was counted for a task goes with it."""
    plan = plan_of([Task("1", "a", blocks=("2",)), Task("2", "b", blocked_by=("1",))])
    after = decide(plan, DeleteTask("2")).plan
    assert (plan.waits_for("2"), after.waits_for("2")) == (1, 0)
    assert [list(chunk) for chunk in plan.waits()] == [[0, 1]]


@given(some.plans)
def test_plan_is_a_value(plan):
    """Equal tasks, order, revision and next id make equal plans, whatever came before."""
    head = {"next_id": plan.next_id, "revision": plan.revision, "approved": plan.approved}
    rebuilt = plan_of(plan, **head)
    for twin in (rebuilt, pickle.loads(pickle.dumps(plan)), copy.deepcopy(plan)):  # noqa: S301 - our own bytes
        assert twin == plan
        assert hash(twin) == hash(plan)
        assert [task.id for task in twin.ready()] == [task.id for task in plan.ready()]
        assert decide(twin, CreateTask("x")).plan == decide(plan, CreateTask("x")).plan


def test_plans_differ_by_each_part():
    """Another order, text, revision or next id is another plan; another type is none."""
    tasks = [Task("1", "a"), Task("2", "b")]
    plan = plan_of(tasks)
    assert plan != plan_of(reversed(tasks))
    assert plan != plan_of([tasks[0], Task("2", "c")])
    assert plan != plan_of(tasks, revision=1)
    assert plan != plan_of(tasks, next_id=9)
    assert plan != plan_of(tasks[:1])
    assert plan != tasks
    assert plan == plan  # noqa: PLR0124 - the short cut for the same object


def test_repr_is_short():
    """A plan of any size prints as one line."""
    plan = plan_of([Task("1", "a", status=Status.CANCELLED), Task("2", "b")], revision=4)
    assert repr(plan) == "<Plan tasks=2 resolved=1 revision=4 next_id=3>"


def test_columns_are_those_of_the_counts():
    """A status is counted under its own name."""
    assert [status.value for status in COLUMN] == list(Counts._fields)
    assert list(COLUMN.values()) == list(range(len(Status)))
