"""A plan that somebody else keeps, in a planner."""

from hypothesis import given
from support.strategies import full_plans

from todoplan import Planner, commands
from todoplan.planner.holding import holding


@given(full_plans)
def test_a_planner_goes_on_from_a_plan_as_it_is(plan):
    """Ids and revision go on; the journal begins here."""
    planner = Planner(holding("p", plan), "p")
    assert planner.plan == plan
    assert planner.history() == ()
    planner.apply(commands.CreateTask("more"))
    assert planner.plan[str(plan.next_id)].subject == "more"
    assert [entry.revision for entry in planner.history()] == [planner.plan.revision]
