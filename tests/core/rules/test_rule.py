from types import NoneType

import pytest

from todoplan.core.commands import CreateTask
from todoplan.core.events.types import PlanCleared, StatusChanged, TaskCreated
from todoplan.core.plan.model import Status
from todoplan.core.rules import STEPS, Policy, Rule, moves
from todoplan.errors import PlanError

START = (Status.PENDING, Status.IN_PROGRESS)


def nothing(change):
    """Find nothing wrong."""
    return ()


CLEARED, STARTED = PlanCleared(("1",)), StatusChanged("1", *START)


@pytest.mark.parametrize(
    ("on", "happened", "heeds"),
    [
        ((), (), True),
        ((), (CLEARED, STARTED), True),
        ((NoneType,), (), True),
        ((NoneType,), (CLEARED,), False),
        ((PlanCleared,), (CLEARED, STARTED), True),
        ((PlanCleared,), (STARTED,), False),
        ((START,), (STARTED,), True),
        ((START[::-1],), (STARTED,), False),
        ((StatusChanged,), (STARTED,), True),
        ((StatusChanged,), (CLEARED,), False),
        ((StatusChanged,), (), False),
    ],
)
def test_a_rule_is_asked_after_its_triggers(on, happened, heeds):
    """A rule without triggers is asked after every change, also after one without events."""
    rule = Rule("own", nothing, on=frozenset(on))
    policy = Policy(rules=((rule, "warn"), (Rule("off", nothing), "off")))
    assert [each.name for each, _ in policy.heeding(happened)] == ["own"] * heeds


def test_moves_are_all_that_lead_somewhere():
    """From every other status to those named, or of those named to every other."""
    assert moves([Status.COMPLETED]) == {(s, "completed") for s in Status if s != "completed"}
    assert moves(of=[Status.PENDING]) == {("pending", s) for s in Status if s != "pending"}
    assert len(moves()) == 20


def test_a_rule_that_asks_for_somebody_is_in_no_preset():
    """Whoever looks or agrees has to be there: it is switched on by name, or not at all."""
    asks = Rule("asks", nothing, presets=(("langchain", "error"),), opt_in=True)
    assert {asks.severity_in(preset) for preset in (*STEPS, "strict", "")} == {"off"}


@pytest.mark.parametrize("on", [[TaskCreated], (TaskCreated,), {TaskCreated}])
def test_what_a_rule_is_on_may_be_any_several(on):
    """It is kept as a frozenset, so that a policy has a hash."""
    rule = Rule("x", lambda change: (), on=on)
    assert rule.on == frozenset({TaskCreated})
    assert hash(Policy().adding(rule))


@pytest.mark.parametrize(
    "trigger", [Status.COMPLETED, "StatusChanged", CreateTask, 3, START[:1], ("pending", "failed")]
)
def test_what_never_happens_is_no_trigger(trigger):
    """A rule on it would never be asked, and so be off without a word."""
    with pytest.raises(PlanError, match=r"give types of events .* or status changes"):
        Rule("x", nothing, on=(TaskCreated, trigger))
