"""Every kind of hand drains and edits one plan; `benchmarks.many_hands` does it with 200 tasks."""

import pytest
from support.many_hands import drain, faults_of, seed

from todoplan import Planner, Toolbox
from todoplan.core import commands
from todoplan.core.rules import Policy
from todoplan.stores import open_store

TASKS = 40


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request, tmp_path):
    """The address of a store where nothing is yet."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/plans.db"
    return request.getfixturevalue("postgres").fresh()


@pytest.mark.slow
def test_nothing_is_lost_and_nothing_is_done_twice(address):
    """MCP clients, a LangGraph agent, a loop, and a person at the command line, all at once."""
    seed(address, TASKS)
    wanted = drain(address, 1)
    assert len(wanted) == 3
    assert list(faults_of(address, wanted, TASKS)) == []


def test_what_is_wrong_is_seen(tmp_path):
    """A task that is open, one that was done by two, one that is missing, a text that is lost."""
    address = f"sqlite:///{tmp_path}/plans.db"
    seed(address, 3)
    planner = Planner(open_store(address), "plan", toolbox=Toolbox(policy=Policy()))
    for actor, task_id, status in (
        ("ann", "1", "in_progress"),
        ("ann", "1", "completed"),
        ("one", "2", "in_progress"),
        ("two", "2", "completed"),
    ):
        planner.apply(commands.UpdateTask(task_id, status=status), actor=actor).unwrap()
    assert list(faults_of(address, {"2": "edited 0"}, 4)) == [
        "there are 3 tasks",
        f"{planner.plan['3']} is open",
        "task 2 is 'task 2', not 'edited 0'",
        "task 2 was started by ['one'] and completed by ['two']",
        "task 3 was started by [] and completed by []",
    ]
