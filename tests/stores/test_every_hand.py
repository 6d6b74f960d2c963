"""Every kind of hand drains and edits one plan; `benchmarks.many_hands` does it with 200 tasks."""

import pytest
from support.many_hands import drain, faults_of, seed
from support.postgres import binaries, running

TASKS = 40


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request, tmp_path):
    """The address of a store where nothing is yet."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/plans.db"
        return
    if binaries() is None:
        pytest.skip("no PostgreSQL binaries; install the package postgresql")
    with running() as server:
        yield server.fresh()


def test_nothing_is_lost_and_nothing_is_done_twice(address):
    """MCP clients, a LangGraph agent, a loop, and a person at the command line, all at once."""
    seed(address, TASKS)
    wanted = drain(address, 1)
    assert len(wanted) == 3
    assert list(faults_of(address, wanted, TASKS)) == []
