"""Four hosts, of which one is cut off from the server in the middle of a claim, and of a commit."""

import pytest
from support.cut_hosts import cannot, commit_whose_answer_is_cut_off, held_and_cut_off, hosts
from support.postgres_writers import faults_of

from todoplan import Planner
from todoplan.core import commands
from todoplan.core.plan.model import Status
from todoplan.stores.postgres import PostgresStore

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def net():
    """Hosts in namespaces of the test's own."""
    if why := cannot():
        pytest.skip(why)
    with hosts() as net:
        yield net


def test_a_holder_that_was_cut_off_is_refused_when_he_is_back(net):
    """His lease has run out by the server's clock, another has the task, and it is done once."""
    with PostgresStore(net.server.address) as store:
        planner = Planner(store, "claims")
        planner.apply(commands.CreateTask("Dig"))
        late, other, has_grown = held_and_cut_off(net, "claims")
        assert (late, other, has_grown) == ("Rejected", "Accepted", True)
        assert planner.plan["1"].status is Status.COMPLETED
        made = [entry.cause for entry in planner.history()]
        assert made == ["CreateTask", "ClaimTask", "ClaimTask", "UpdateTask"]


@pytest.mark.parametrize("both_ways", [True, False], ids=["before it", "behind it"])
def test_a_commit_that_was_cut_off_is_settled_by_its_key(net, both_ways):
    """Whether it had arrived or not: made again it is there once, and who waited has gone on."""
    plan_id = f"commits {both_ways}"
    told, other, again = commit_whose_answer_is_cut_off(net, plan_id, both_ways=both_ways)
    assert told in {"lost", "unreachable", "unknown", "kept"}
    assert (other, again) == ("kept", "kept")
    with PostgresStore(net.server.address) as store:
        entries = store.entries(plan_id)
    assert list(faults_of(entries, ["cut off", "other"])) == []
    assert len(entries) == 4
