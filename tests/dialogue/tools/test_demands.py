"""What a policy demands, and a tool set has no argument for."""

import pytest

from todoplan import DEFAULT, STRICT, Policy, Rule
from todoplan.dialogue import LEAN, TASKS, TODOS
from todoplan.dialogue.tools.demands import refuse_unmet, unmet
from todoplan.errors import PlanError

FORMS = {"active_form_required": "active_form", "priority_required": "priority"}


@pytest.mark.parametrize(
    ("toolset", "found"), [(LEAN, FORMS), (TASKS, {}), (TODOS, {})], ids=["lean", "tasks", "todos"]
)
def test_a_demand_is_unmet_where_no_tool_takes_the_field(toolset, found):
    """Of rules at error; where they warn or are off nothing is in the way."""
    assert unmet(toolset, STRICT) == found
    assert unmet(toolset, DEFAULT) == {}


def test_every_tool_set_takes_a_title():
    """Whatever it is called there."""
    titled = Policy().adding(Rule("titled", lambda change: (), new_tasks_need="subject"))
    assert unmet(TODOS, titled) == {}


def test_a_policy_that_cannot_be_kept_is_refused_with_the_remedy():
    """The message says which rules, of which set, and what to write."""
    refuse_unmet(TASKS, STRICT)
    with pytest.raises(PlanError, match="the tool set lean takes no active_form, priority") as told:
        refuse_unmet(LEAN, STRICT)
    assert 'policy.but(active_form_required="off", priority_required="off")' in str(told.value)
    assert told.value.data["rules"] == tuple(FORMS)
