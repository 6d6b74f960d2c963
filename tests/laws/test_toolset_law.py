"""Law 3 can be kept: calls of a tool set can satisfy every policy that the set may have."""

import pytest
from support.samples import published

from todoplan.core.events.types import TaskCreated
from todoplan.core.plan.plan import Plan
from todoplan.core.problems import Problem
from todoplan.core.rules import CLAUDE, CLAUDE_STRICT, DEFAULT, PRESETS, RULES, STRICT, Policy, Rule
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import LEAN, TODOS, TOOLSETS, WRITE_TODOS, tasks, unmet_rules
from todoplan.errors import PlanError
from todoplan.testing.adapters.host import SAMPLES

SOLO = [*(toolset for toolset in TOOLSETS.values() if not toolset.team), WRITE_TODOS]
NEEDY = tuple(rule.name for rule in RULES.values() if rule.new_tasks_need)


@pytest.mark.parametrize("policy", PRESETS)
@pytest.mark.parametrize("toolset", SOLO, ids=repr)
def test_two_tasks_are_created_started_and_completed(toolset, policy):
    """With every tool set and every preset, a model can finish a plan."""
    chosen = PRESETS[policy]
    chosen = chosen.but(**dict.fromkeys(unmet_rules(toolset, chosen), "off"))
    box, plan, started = Toolbox(toolset, chosen), Plan(), set()
    for sample in SAMPLES[toolset.name].completing:
        call = published(toolset, sample)
        reply = box.call(plan, call.name, call.arguments)
        assert (reply.is_error, reply.problems, reply.repairs) == (False, (), ())
        plan = reply.plan
        started |= {task.id for task in plan.active()}
    assert [(task.id, task.status) for task in plan] == [("1", "completed"), ("2", "completed")]
    assert started == {"1", "2"}


@pytest.mark.parametrize(
    ("policy", "vain"),
    [
        (CLAUDE, ("active_form_required",)),
        (CLAUDE_STRICT, ("active_form_required", "priority_required")),
        (STRICT, NEEDY),
    ],
)
def test_a_policy_that_no_call_can_satisfy_is_refused(policy, vain):
    """The error names the tool set, the rules, and the remedy, which then works."""
    with pytest.raises(PlanError) as caught:
        Toolbox(LEAN, policy)
    off = dict.fromkeys(vain, "off")
    remedy = ", ".join(f'{name}="off"' for name in vain)
    assert f"Give policy.but({remedy}), or a tool set" in str(caught.value)
    assert caught.value.data == {"toolset": "lean", "rules": vain}
    assert Toolbox(LEAN, policy.but(**off)).policy.severity(vain[0]) == "off"


def test_a_demand_below_an_error_is_no_obstacle():
    """A rule that only warns, or is off, may ask for a field that no tool takes."""
    assert Toolbox(LEAN, CLAUDE_STRICT.but(active_form_required="warn", priority_required="off"))


def test_the_field_that_a_rule_of_your_own_demands_is_looked_for_too():
    """The field may be an argument of any tool of the set, or of an entry of a list."""

    def estimated(change):
        return [Problem("unestimated", (t.id,)) for t in change.written() if t.estimate is None]

    policy = DEFAULT.adding(Rule("estimated", estimated, new_tasks_need="estimate"))
    box = Toolbox(tasks(), policy)
    assert box.call(Plan(), "TaskCreate", {"subject": "a"}).is_error
    reply = box.call(Plan(), "TaskCreate", {"tasks": [{"subject": "a", "estimate": 5}]})
    assert [type(event) for event in reply.events] == [TaskCreated]
    for toolset in (TODOS, LEAN):
        with pytest.raises(PlanError, match=f"{toolset.name} takes no estimate, which the policy"):
            Toolbox(toolset, policy)
    for toolset in (TODOS, LEAN, tasks()):
        assert Toolbox(
            toolset, Policy().adding(Rule("titled", estimated, new_tasks_need="subject"))
        )
