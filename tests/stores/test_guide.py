"""The guides' examples about stores do what they say."""

from support.docs import defined

from todoplan.core.commands import CreateTask
from todoplan.stores import open_store
from todoplan.stores.copying import copy_plan


def test_plans_are_spread_by_their_ids(tmp_path):
    """Each is in one of the databases, found there again, and can be moved with its journal."""
    addresses = [f"sqlite:///{tmp_path}/{number}.db" for number in range(3)]
    names = defined("several-agents", "shards", ADDRESSES=addresses)
    plan_ids = [f"thread-{number}" for number in range(20)]
    for plan_id in plan_ids:
        names["planner_of"](plan_id).apply(CreateTask(plan_id))
    stores = [open_store(address) for address in addresses]
    assert sorted(each for store in stores for each in store.plan_ids()) == sorted(plan_ids)
    assert all(store.plan_ids() for store in stores)
    assert all(names["planner_of"](each).plan["1"].subject == each for each in plan_ids)
    moved = stores[0].plan_ids()[0]
    assert copy_plan(stores[0], stores[1], moved)
    assert stores[1].entries(moved) == stores[0].entries(moved)
