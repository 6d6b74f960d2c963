import inspect as inspect_module
import pickle
from typing import get_args, get_type_hints

import pytest

from todoplan.core.commands import CreateTask, UpdateTask
from todoplan.core.decide import Accepted, Rejected, decide, plan_of
from todoplan.core.events.types import TaskCreated, TaskDeleted
from todoplan.core.plan.model import Task
from todoplan.core.plan.plan import Plan
from todoplan.core.problems import Problem
from todoplan.core.rules import (
    DEFAULT,
    PRESETS,
    RULES,
    STRICT,
    Limits,
    Policy,
    Rule,
    RuleSettings,
    Severity,
    inspect,
)
from todoplan.errors import PlanError


def test_a_rule_of_your_own():
    """A rule is a function of a change; added to a policy it refuses like the others."""

    def owned(change):
        for task in change.written():
            if not task.owner:
                yield Problem("owner_required", (task.id,), note="Say who does it.")

    policy = DEFAULT.adding(Rule("owner_required", owned, about_plan=True))
    refused = decide(Plan(), CreateTask("a"), policy)
    assert isinstance(refused, Rejected)
    assert refused.problems[0].note == "Say who does it."
    assert isinstance(decide(Plan(), CreateTask("a", owner="ann"), policy), Accepted)
    assert inspect(plan_of([Task("1", "a")]), policy) == refused.problems
    assert decide(Plan(), CreateTask("a"), policy.but(owner_required="warn")).warnings


def test_a_rule_of_the_same_name_is_replaced():
    """The newer one holds; the others stay as they were."""
    never = Rule("max_text", lambda change: ())
    policy = STRICT.adding(never, "warn")
    assert [rule for rule, _ in policy.rules if rule.name == "max_text"] == [never]
    assert len(policy.rules) == len(RULES)
    assert policy.severity("max_text") is Severity.WARN


def test_but_changes_the_named_rules_only():
    """The rest of the policy, its limits too, stays."""
    policy = Policy(limits=Limits(items=3)).but(max_items="warn", empty_write="error")
    levels = {rule.name: level for rule, level in policy.rules if level is not Severity.OFF}
    assert levels == {"max_items": Severity.WARN, "empty_write": Severity.ERROR}
    assert policy.limits.items == 3
    assert policy.but() == policy


@pytest.mark.parametrize("word", ["fatal", "", "Error"])
def test_an_unknown_severity_is_an_error(word):
    """Wherever it is given: a severity that is none must not weaken a policy in silence."""
    rule = RULES["max_items"]
    for make in (
        lambda: Policy().but(max_items=word),
        lambda: Policy().adding(rule, word),
        lambda: Policy(((rule, word),)),
    ):
        with pytest.raises(
            PlanError, match="is no severity; write one of off, warn, error"
        ) as caught:
            make()
        assert caught.value.data == {"seen": word}


def test_a_rule_that_is_not_there_is_off():
    """A policy can be asked about any name."""
    assert Policy().severity("max_items") is Severity.OFF
    assert Policy(()).severity("max_items") is Severity.OFF
    assert DEFAULT.severity("empty_write") is Severity.ERROR


@pytest.mark.parametrize("policy", PRESETS.values())
def test_policy_is_a_value(policy):
    """A policy is hashable, and survives pickling with its rules."""
    twin = pickle.loads(pickle.dumps(policy))  # noqa: S301 - our own bytes
    assert twin == policy
    assert hash(twin) == hash(policy)
    command = UpdateTask("1", subject="x" * 501)
    plan = plan_of([Task("1", "a")])
    assert decide(plan, command, twin) == decide(plan, command, policy)


def test_errors_before_warnings_all_at_once():
    """A refusal holds every error; an acceptance every warning."""
    policy = Policy().but(active_form_required="error", priority_required="error", max_text="warn")
    refused = decide(Plan(), CreateTask("x" * 501), policy)
    assert [p.code for p in refused.problems] == ["active_form_required", "priority_required"]
    warned = decide(Plan(), CreateTask("x" * 501, active_form="x", priority="low"), policy)
    assert [p.code for p in warned.warnings] == ["max_text"]


def test_what_was_worked_out_is_kept_up_to_a_limit(monkeypatch):
    """Beyond it the rules that heed what happened are worked out each time, and are the same."""
    monkeypatch.setattr("todoplan.core.rules._MOST_KEPT", 1)
    policy, fresh = DEFAULT.but(max_items="error"), DEFAULT.but(max_items="error")
    deleted, created = (TaskDeleted("1"),), (TaskCreated(Task("1", "a")),)
    assert policy.heeding(deleted) == policy.heeding(deleted)
    assert policy.heeding(created) == fresh.heeding(created)
    assert policy.heeding((*deleted, *created)) == tuple(
        entry
        for entry in policy.rules
        if entry in {*policy.heeding(deleted), *policy.heeding(created)}
    )


@pytest.mark.parametrize("level", ["error", "warn"])
@pytest.mark.parametrize(
    ("check", "seen"),
    [
        (lambda change: None, None),
        (lambda change: True, True),
        (lambda change: Problem("x"), Problem("x")),
        (lambda change: "bad", "b"),
        (lambda change: iter([Problem("x"), "bad"]), "bad"),
        (lambda change: [None], None),
    ],
)
def test_a_check_that_yields_no_problems_is_named(check, seen, level):
    """What a rule of your own gives is problems or nothing; else the error names the rule."""
    policy = DEFAULT.adding(Rule("mine", check, about_plan=True), level)
    for ask in (
        lambda: decide(Plan(), CreateTask("a"), policy),
        lambda: inspect(Plan(), policy.but(mine="error")),
    ):
        with pytest.raises(PlanError, match="the rule mine gave ") as caught:
            ask()
        assert caught.value.data == {"rule": "mine", "seen": seen}


def test_the_type_of_but_names_every_rule():
    """A type checker knows the rules, and which of them take a number."""
    kinds = get_type_hints(RuleSettings)
    assert set(kinds) - {"limits"} == set(RULES)
    assert {name for name, kind in kinds.items() if int in get_args(kind)} == {
        rule.name for rule in RULES.values() if rule.limit
    }


def test_a_number_sets_the_limit_of_its_rule():
    """As a user would try it: the severity stays, and is error where the rule was off."""
    fifty = DEFAULT.but(max_items=50)
    assert (fifty.limits, fifty.severity("max_items")) == (Limits(items=50), Severity.ERROR)
    warned = DEFAULT.but(max_items="warn").but(max_items=50)
    assert warned.severity("max_items") is Severity.WARN
    assert Policy().but(max_items=3).severity("max_items") is Severity.ERROR
    both = DEFAULT.but(max_items=50, max_edges=2, limits=Limits(open_items=9))
    assert both.limits == Limits(items=50, open_items=9, edges=2)
    assert isinstance(decide(Plan(), CreateTask("a"), DEFAULT.but(max_items=0)), Rejected)


def test_a_policy_shows_what_it_began_as_and_what_differs():
    """A preset by its name; changes as they would be written; rules of your own behind them."""
    shown = " ".join(map(repr, PRESETS.values()))
    assert shown == "DEFAULT LANGCHAIN CLAUDE CLAUDE_STRICT AGENTSCOPE STRICT"
    assert (
        repr(DEFAULT.but(single_in_progress="error")) == "DEFAULT.but(single_in_progress='error')"
    )
    assert repr(DEFAULT.but(max_items=50)) == "DEFAULT.but(limits=Limits(items=50))"
    assert repr(DEFAULT.but(max_items="error")) == "DEFAULT"
    assert repr(Policy()) == "Policy()"
    assert repr(Policy().but(max_items="warn")) == "Policy().but(max_items='warn')"
    mine = DEFAULT.adding(Rule("mine", lambda change: ()), "warn")
    assert repr(mine) == "DEFAULT.adding(<Rule mine>, 'warn')"
    for shown in (Policy, DEFAULT.but, DEFAULT.adding):
        assert len(str(inspect_module.signature(shown))) <= 250 + 100 * (shown is Policy)


def late(change):
    """Raise only when the problems are asked for."""
    yield {}["7"]


@pytest.mark.parametrize("broken", [lambda change: {}["7"], late])
def test_what_a_rule_raises_names_the_rule(broken):
    """A mistake in a check is not taken for a wrong answer; its author sees which rule it was."""
    with pytest.raises(KeyError) as caught:
        decide(Plan(), CreateTask("a"), Policy().adding(Rule("broken", broken)))
    assert caught.value.__notes__ == ["raised by the rule broken"]
