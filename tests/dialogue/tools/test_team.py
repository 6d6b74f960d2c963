"""Tool sets for a team: a task is claimed before it is worked on, and none is done by two."""

from datetime import UTC, datetime, timedelta

import pytest
from support.talk import planned

from todoplan import Toolbox
from todoplan.dialogue import Call, lean, tasks
from todoplan.dialogue.toolbox import fences_after
from todoplan.dialogue.tools import LEAN, TASKS

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SETS = [lean(team=True), tasks(team=True), tasks("snake", team=True)]
LATER = timedelta(hours=1)


def test_without_a_team_there_is_nothing_of_it():
    """The sets are the usual ones; what a team needs is not shown."""
    assert (lean(), tasks(), tasks("camel")) == (LEAN, TASKS, TASKS)
    assert TASKS.find("TaskClaim") is None
    assert "claim" not in str(LEAN.definitions()) + LEAN.system_prompt("guided")
    names = ["lean(team=True)", "tasks(team=True)", "tasks('snake', team=True)"]
    assert [repr(toolset) for toolset in SETS] == names


def test_a_claim_without_a_clock_does_not_end():
    """Nobody knows the time: nothing runs out, and nothing is extended."""
    box, held = Toolbox(SETS[0]), {"fences": {"1": 1}, "actor": "ann"}
    plan = box.call(planned("Dig"), "plan", {"next": True}, **held).plan
    assert plan["1"].claim.until is None
    assert box.call(plan, "plan", {}, **held).plan is plan
    assert box.call(plan, "plan", {}, at=NOW, **held).plan is plan


@pytest.mark.parametrize("toolset", SETS, ids=repr)
def test_calls_of_one_turn_build_on_each_other(toolset):
    """A task is claimed and completed in one turn: the fence of the first call serves the next."""
    if toolset.name == "lean":
        calls = [Call("plan", {"next": True}), Call("plan", {"done": [1], "next": True})]
    else:
        update = {"taskId": 1, "status": "completed"}
        calls = [Call("TaskClaim", {}), Call("TaskUpdate", update), Call("TaskClaim", {})]
    turn = Toolbox(toolset).turn(planned("Dig", "Lay"), calls, at=NOW, actor="ann")
    assert not any(reply.is_error for reply in turn.replies)
    assert [task.status.value for task in turn.plan] == ["completed", "in_progress"]
    assert fences_after({}, turn.events) == {"2": 1}


def test_the_lease_is_the_toolboxs():
    """So many seconds after each call."""
    box = Toolbox(lean(team=True), lease=60)
    reply = box.call(planned("Dig"), "plan", {"next": True}, at=NOW)
    assert reply.plan["1"].claim.until == NOW + timedelta(seconds=60)
    assert repr(box).endswith("lease=60)")
