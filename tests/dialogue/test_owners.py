"""Laws of the rule about owners: only a change from one owner to another counts."""

import pickle

import pytest

from todoplan.core.assembly import plan_of
from todoplan.core.commands import CreateTask, UpdateTask
from todoplan.core.decide import decide
from todoplan.core.model import Task
from todoplan.core.policy import Policy
from todoplan.dialogue.complaints import sentence
from todoplan.dialogue.owners import OWNER_TAKEN

PLAN = plan_of([Task("1", "a", owner="ann"), Task("2", "b")])
POLICY = Policy().adding(OWNER_TAKEN, "warn")


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (UpdateTask("1", owner="bob"), [("1", "ann")]),
        (UpdateTask("1", owner="ann", subject="c"), []),
        (UpdateTask("1", owner=None), []),
        (UpdateTask("1", subject="c"), []),
        (UpdateTask("2", owner="bob"), []),
        (CreateTask("c", owner="bob"), []),
    ],
)
def test_taking_over_is_told(command, told):
    """Claiming a free task, giving one up and editing one's own are fine."""
    warnings = decide(PLAN, command, POLICY).warnings
    assert [(*problem.task_ids, problem.seen) for problem in warnings] == told
    assert all("belonged to ann" in sentence(problem) for problem in warnings)


def test_the_rule_can_be_pickled():
    """So that a policy with it can."""
    assert pickle.loads(pickle.dumps(POLICY)) == POLICY  # noqa: S301 - our own bytes
