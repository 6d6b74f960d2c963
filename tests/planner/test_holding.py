"""A plan that somebody else keeps, in a planner."""

from hypothesis import given
from hypothesis import strategies as st
from support.strategies import full_plans

from todoplan import Plan, Planner, Rejected, Task, plan_of
from todoplan.core import commands
from todoplan.stores.base import beginning
from todoplan.stores.memory import MemoryStore


def holding(plan_id, plan):
    """Return a store that holds one plan as it is, revision and all."""
    store = MemoryStore()
    if plan != Plan():
        store.append(plan_id, 0, (beginning(plan, "held"),), plan)
    return store


@given(full_plans)
def test_a_planner_goes_on_from_a_plan_as_it_is(plan):
    """Ids and revision go on."""
    planner = Planner(holding("p", plan), "p")
    assert planner.plan == plan
    planner.apply(commands.CreateTask("more"))
    assert planner.plan[str(plan.next_id)].subject == "more"
    assert planner.plan.revision == planner.history()[-1].revision > plan.revision


SEEDED = plan_of((Task("1", "made by hand"),))


@given(full_plans | st.just(SEEDED))
def test_undo_never_goes_behind_the_plan_that_was_handed_over(plan):
    """What was done here is taken back; what came before stands."""
    planner = Planner(holding("p", plan), "p")
    planner.apply(commands.CreateTask("more"))
    planner.undo()
    assert tuple(planner.plan) == tuple(plan)
    assert isinstance(planner.undo(), Rejected)
    assert tuple(planner.plan) == tuple(plan)


def test_a_plan_in_which_nothing_happened_has_no_history():
    """There is nothing to hand over."""
    assert Planner(holding("p", Plan()), "p").history() == ()
