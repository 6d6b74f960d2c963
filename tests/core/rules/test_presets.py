import pytest

from todoplan.core.commands import CreateTask, UpdateTask, WriteTodos
from todoplan.core.decide import Accepted, Rejected, decide, plan_of
from todoplan.core.plan.model import Task, Todo
from todoplan.core.rules import (
    AGENTSCOPE,
    CLAUDE,
    CLAUDE_STRICT,
    DEFAULT,
    LANGCHAIN,
    PRESETS,
    RULES,
    STEPS,
    STRICT,
    Severity,
)

PLAN = plan_of(
    [
        Task("1", "a", status="in_progress", blocks=("2",)),
        Task("2", "b", blocked_by=("1",)),
        Task("3", "c", status="completed"),
    ]
)


def said(policy, command):
    """Return whether the policy accepts, and the codes it names."""
    answer = decide(PLAN, command, policy)
    problems = answer.warnings if isinstance(answer, Accepted) else answer.problems
    return isinstance(answer, Accepted), {problem.code for problem in problems}


@pytest.mark.parametrize("policy", PRESETS.values())
def test_every_preset_has_every_rule(policy):
    """A preset can be changed by any rule's name, and bounds what a plan holds."""
    assert {rule.name for rule, _ in policy.rules} == set(RULES)
    for name in ("max_items", "max_text", "max_edges"):
        assert policy.severity(name) is Severity.ERROR
    assert decide(PLAN, UpdateTask("1", subject="x" * 501), policy) != Accepted(PLAN, ())


def test_langchain_lets_anything_go():
    """As its users know it: several in progress, empty lists, reopened items."""
    assert said(LANGCHAIN, UpdateTask("2", status="in_progress")) == (True, set())
    assert said(LANGCHAIN, UpdateTask("3", status="pending")) == (True, set())
    assert said(LANGCHAIN, WriteTodos(())) == (True, set())


def test_agentscope_warns_about_edges():
    """Statuses are free, and edges a coordination signal."""
    assert said(AGENTSCOPE, UpdateTask("2", status="in_progress")) == (True, {"blocked_start"})
    assert said(AGENTSCOPE, UpdateTask("2", status="completed")) == (True, {"blocked_complete"})
    assert said(AGENTSCOPE, UpdateTask("3", status="pending")) == (True, set())


def test_default_warns_and_refuses_only_the_loss_of_data():
    """Several in progress is a warning; an empty list over open work is refused."""
    both = {"blocked_start", "single_in_progress"}
    assert said(DEFAULT, UpdateTask("2", status="in_progress")) == (True, both)
    assert said(DEFAULT, UpdateTask("3", status="pending")) == (True, {"completed_is_final"})
    assert said(DEFAULT, WriteTodos((Todo("a", "in_progress"), Todo("c", "completed")))) == (
        True,
        {"dropped_open_items"},
    )
    assert said(DEFAULT, WriteTodos(())) == (False, {"empty_write"})
    assert said(DEFAULT, WriteTodos((), clear=True))[0]


def test_claude_wants_one_in_progress_and_active_forms():
    """Priority is optional, unless the policy is strict."""
    plain, formed = CreateTask("d"), CreateTask("d", active_form="doing d")
    assert said(CLAUDE, UpdateTask("2", status="in_progress")) == (False, {"single_in_progress"})
    assert said(CLAUDE, plain) == (False, {"active_form_required"})
    assert said(CLAUDE, formed) == (True, set())
    assert said(CLAUDE_STRICT, plain) == (False, {"active_form_required", "priority_required"})
    assert said(CLAUDE_STRICT, formed) == (False, {"priority_required"})
    assert said(CLAUDE_STRICT, CreateTask("d", active_form="x", priority="low")) == (True, set())


def test_strict_has_every_rule_at_error():
    """Nothing is only a warning; but for rules that ask for somebody who looks or agrees."""
    asked = {rule.name for rule, level in STRICT.rules if level is Severity.OFF}
    assert asked == {"approval_required", "evidence_required"}
    assert {level for rule, level in STRICT.rules if rule.name not in asked} == {Severity.ERROR}
    assert isinstance(decide(PLAN, UpdateTask("2", status="completed"), STRICT), Rejected)


def test_presets_by_name():
    """The command line's names."""
    assert " ".join(PRESETS) == "default langchain claude claude-strict agentscope strict"
    assert len(set(PRESETS.values())) == len(PRESETS)


def test_what_each_rule_declares_is_what_the_presets_hold():
    """A table drawn from the rules: it changes only on purpose, and each step is declared."""
    errors = {
        name: sorted(rule.name for rule, level in policy.rules if level is Severity.ERROR)
        for name, policy in PRESETS.items()
    }
    sizes = ["max_depth", "max_edges", "max_history", "max_items", "max_metadata", "max_text"]
    assert errors["langchain"] == errors["agentscope"] == sizes
    assert errors["default"] == ["empty_write", *sizes]
    assert errors["claude"] == ["active_form_required", "empty_write", *sizes, "single_in_progress"]
    assert set(errors["claude-strict"]) == {*errors["claude"], "priority_required"}
    assert {step for rule in RULES.values() for step, _ in rule.presets} <= set(STEPS)
    warned = {rule.name for rule, level in DEFAULT.rules if level is Severity.WARN}
    assert " ".join(sorted(warned)) == (
        "approved_changed blocked_complete blocked_start child_of_closed completed_is_final"
        " dropped_open_items no_op_write owner_taken parent_complete single_in_progress"
    )
