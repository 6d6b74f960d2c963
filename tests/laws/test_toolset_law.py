"""Law 3 has a way: a policy that a tool set is put under can be satisfied by calls of that set."""

import pytest

from todoplan.core.events.types import TaskCreated
from todoplan.core.plan.plan import Plan
from todoplan.core.problems import Problem
from todoplan.core.rules import CLAUDE, CLAUDE_STRICT, DEFAULT, PRESETS, RULES, STRICT, Policy, Rule
from todoplan.dialogue.toolbox import Toolbox
from todoplan.dialogue.tools import LEAN, TODOS, TOOLSETS, WRITE_TODOS, tasks, unmet_rules
from todoplan.errors import PlanError


def write(first, second):
    """Return a call that writes a list of two."""
    titles = ("Write it", "Writing it", first), ("Test it", "Testing it", second)
    todos = [
        {"content": content, "activeForm": form, "priority": "high", "status": status}
        for content, form, status in titles
    ]
    return "write_todos", {"todos": todos}


def create(title, form, key):
    """Return a call that creates a task."""
    return "TaskCreate", {"subject": title, key: form, "priority": "low"}


def one_by_one(form, task_id):
    """Return calls that create two tasks, and start and complete one after the other."""
    moves = [(n, status) for n in "12" for status in ("in_progress", "completed")]
    return [
        create("Write it", "Writing it", form),
        create("Test it", "Testing it", form),
        *(("TaskUpdate", {task_id: number, "status": status}) for number, status in moves),
    ]


WRITES = [
    write("in_progress", "pending"),
    write("completed", "in_progress"),
    write("completed", "completed"),
]
SCRIPTS = {
    "todos": (TODOS, WRITES),
    "write_todos": (WRITE_TODOS, WRITES),
    "tasks": (tasks(), one_by_one("activeForm", "taskId")),
    "tasks-snake": (tasks("snake"), one_by_one("active_form", "task_id")),
    "lean": (
        LEAN,
        [
            ("plan", {"write": ["Write it", "Test it"]}),
            ("plan", {"done": [1]}),
            ("plan", {"done": [2]}),
        ],
    ),
}
SOLO = [name for name, toolset in TOOLSETS.items() if not toolset.team]
NEEDY = tuple(rule.name for rule in RULES.values() if rule.new_tasks_need)


@pytest.mark.parametrize("policy", PRESETS)
@pytest.mark.parametrize("name", [*SOLO, "write_todos"])
def test_two_tasks_are_created_started_and_completed(name, policy):
    """Every tool set under every preset: no call that a model would send ends in a deadlock."""
    toolset, script = SCRIPTS[name]
    chosen = PRESETS[policy]
    chosen = chosen.but(**dict.fromkeys(unmet_rules(toolset, chosen), "off"))
    box, plan, started = Toolbox(toolset, chosen), Plan(), set()
    for call in script:
        reply = box.call(plan, *call)
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
    """What only warns, or is off, can be lived with."""
    assert Toolbox(LEAN, CLAUDE_STRICT.but(active_form_required="warn", priority_required="off"))


def test_what_a_rule_of_your_own_demands_is_looked_for_as_well():
    """An argument of any tool of the set will do, also one of an entry."""

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
