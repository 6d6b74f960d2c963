"""What tests of stores do by hand: tasks and appends in a store, and refusals."""

import pytest

from todoplan.core.commands import CreateTask
from todoplan.core.plan.plan import Plan
from todoplan.errors import StoreError
from todoplan.planner import Planner
from todoplan.testing.stores.appends import adding

DIG = adding(Plan(), ("Dig",))
LAY = adding(DIG.plan, ("Lay",))
FILL = adding(LAY.plan, ("Fill",))


def create(store, *subjects, plan_id="a"):
    """Add tasks, each by a call of its own, and return the planner."""
    planner = Planner(store, plan_id)
    for subject in subjects:
        planner.apply(CreateTask(subject))
    return planner


def append(held, made, **given):
    """Make an append to a plan that is held, and return the entries that this gives."""
    return held.append(made.expected, made.entries, made.plan, **given)


def write(store, *appends, plan_id="a"):
    """Make appends to a store. None of them may come too late."""
    for made in appends:
        assert store.append(plan_id, made.expected, made.entries, made.plan)


def refused(problem, use, words=None):
    """
    Return the message of a StoreError, in which a given pattern is found. Its problem must be the
    given one, or one of several, as in "busy or lost".
    """
    with pytest.raises(StoreError, match=words) as caught:
        use()
    assert caught.value.data["problem"] in problem.split(" or ")
    return str(caught.value)
