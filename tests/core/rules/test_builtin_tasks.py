import pytest

from todoplan.core.commands import CreateTask, RestorePlan, UpdateTask
from todoplan.core.decide import decide, plan_of
from todoplan.core.plan.model import TASK_FIELDS, FieldKind, Task
from todoplan.core.plan.plan import Plan
from todoplan.core.rules import RULES, Limits, Policy

PLAN = plan_of([Task("1", "a", blocks=("2",)), Task("2", "b", blocked_by=("1",)), Task("3", "c")])


def only(name):
    """Return the policy that has this rule alone, with narrow limits."""
    limits = Limits(items=4, open_items=3, subject=5, text=6, edges=1, metadata_keys=0, history=1)
    return Policy(limits=limits).but(**{name: "error"})


def test_what_a_rule_demands_is_a_field_of_a_task():
    """Those that ask for a field name it; no other rule does."""
    demands = {name: rule.new_tasks_need for name, rule in RULES.items() if rule.new_tasks_need}
    assert demands
    for name, field in demands.items():
        filled = {FieldKind.PRIORITY: "low"}.get(TASK_FIELDS[field].kind, "doing x")
        assert decide(Plan(), CreateTask("x"), only(name)).problems
        assert decide(Plan(), CreateTask("x", **{field: filled}), only(name)).events


def test_one_problem_for_a_task_with_several_new_edges():
    """A task over the limit is named once, however many edges were added."""
    add = UpdateTask("3", add_blocked_by=("1", "2"))
    answer = decide(PLAN, add, only("max_edges"))
    assert [(p.task_ids, p.seen, p.legal) for p in answer.problems] == [(("3",), "2", "1")]


def test_every_text_that_is_too_long_is_named():
    """Subject and description each, with how long they are."""
    problems = decide(Plan(), CreateTask("x" * 7, "y" * 8), only("max_text")).problems
    assert [(p.seen, p.legal) for p in problems] == [
        ("subject of 7 characters", "5"),
        ("description of 8 characters", "6"),
    ]


ABOUT_A_TASK = {"active_form_required", "duplicate_content", "max_edges", "max_history"}
ABOUT_A_TASK |= {"max_items", "max_metadata", "max_text", "priority_required"}


@pytest.mark.parametrize("name", sorted(ABOUT_A_TASK))
def test_what_is_brought_back_is_judged_like_what_is_new(name):
    """The same tasks break the same rule, whether a plan is restored or inspected."""
    assert RULES[name].about_plan
    tasks = [Task(str(n), "longer", "longer still", metadata={"k": 1}) for n in range(1, 6)]
    tasks[0], tasks[1] = tasks[0].but(blocks=("3",)), tasks[1].but(blocks=("3",))
    tasks[2] = tasks[2].but(blocked_by=("1", "2"))
    before = plan_of(tuple(PLAN), revision=1)
    refused = decide(before, RestorePlan(tuple(tasks)), only(name))
    assert {problem.code for problem in refused.problems} == {name}
