"""A plan in a store, for an adapter whose framework keeps the plan or what its model has seen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.strategies import full_plans

from todoplan import TASKS, Plan, Planner, Toolbox, plan_of
from todoplan.core import commands
from todoplan.core.decide import Rejected
from todoplan.core.plan.model import Task
from todoplan.stores.base import beginning
from todoplan.stores.memory import MemoryStore


@pytest.fixture
def planner(made):
    return made(toolbox=Toolbox(TASKS))


def test_a_look_says_what_came_since_a_revision_and_who_did_it(planner):
    """Its own entries since are no news; who never looked has no base."""
    planner.apply(commands.CreateTask("a"))
    planner.apply(commands.CreateTask("b"), actor="ann")
    planner.call("TaskCreate", {"subject": "c"})
    plan, base = planner.look(1)
    assert [(one.task.subject, one.actor) for one in base.unseen(plan)] == [
        ("b", "ann"),
        ("c", None),
    ]
    plan, base = planner.look(1, [3])
    assert [one.task.subject for one in base.unseen(plan)] == ["b"]
    assert planner.look(3)[1].unseen(plan) == ()
    assert planner.look(None) == (plan, None)


def test_a_revision_that_the_store_has_not_is_no_news(planner):
    """It was put back to an older copy: the plan as it is is all there is to see."""
    planner.apply(commands.CreateTask("a"))
    plan, base = planner.look(7)
    assert base.unseen(plan) == ()
    empty, base = Planner().look(7)
    assert base.plan == empty == Plan()


def test_a_plan_begins_with_what_a_framework_kept_once(planner):
    """One upon the other, as entries that nobody can undo; what is there already stays."""
    one, two = plan_of([Task("1", "a")]), plan_of([Task("1", "a"), Task("2", "b")], next_id=7)
    assert planner.begin(one, two)
    plan, base = planner.look(1)
    assert [one.task.subject for one in base.unseen(plan)] == ["b"]
    assert (plan.revision, plan.next_id) == (2, 7)
    assert isinstance(planner.undo(), Rejected)
    assert planner.begin(plan_of([Task("9", "z")]))
    assert planner.look(None)[0] == plan
    assert planner.apply(commands.CreateTask("c")).unwrap()["7"].subject == "c"


def test_a_plan_that_began_otherwise_is_left_alone(planner):
    """And the caller is told so."""
    planner.apply(commands.CreateTask("a"))
    assert not planner.begin(plan_of([Task("1", "b")]))
    assert [task.subject for task in planner.look(None)[0]] == ["a"]


@given(full_plans | st.just(plan_of((Task("1", "made by hand"),))))
def test_a_planner_goes_on_from_a_plan_as_it_is(plan):
    """Ids and revision go on, and undo takes back only what was done since."""
    store = MemoryStore()
    if plan != Plan():
        store.append("p", 0, (beginning(plan, "held"),), plan)
    planner = Planner(store, "p")
    assert planner.plan == plan
    planner.apply(commands.CreateTask("more"))
    assert planner.plan[str(plan.next_id)].subject == "more"
    assert planner.plan.revision == planner.history()[-1].revision > plan.revision
    planner.undo()
    assert isinstance(planner.undo(), Rejected)
    assert tuple(planner.plan) == tuple(plan)
