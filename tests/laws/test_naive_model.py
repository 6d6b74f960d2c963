"""The naive model has an opinion on each rule, and shares no code with what it judges."""

import ast
from pathlib import Path

import pytest
from support.naive import rules as naive_rules
from support.naive.decision import NaiveDecision
from support.naive.machines import as_model, expected_of_command, given_plan, unlike_model
from support.naive.model import Model
from support.naive.rules import FIRES, LIMITS, NAIVE_RULES, QUIET

from todoplan.core.commands import CreateTask, DeleteTask
from todoplan.core.decide import decide
from todoplan.core.plan.plan import Plan
from todoplan.core.rules import RULES, Policy, Rule

EXAMPLES = [(*row[:3], row[0]) for row in FIRES] + [(*row, None) for row in QUIET]


@pytest.mark.parametrize(("name", "given", "command", "broken"), EXAMPLES)
def test_model_and_rule_say_the_same_of_an_example(name, given, command, broken):
    """Both refuse it by this rule alone or take it, and take it where the rule is off."""
    plan = given_plan(given)
    decision = NaiveDecision(as_model(plan), command)
    for severity, codes in (("error", {broken} - {None}), ("off", set())):
        policy = Policy(limits=LIMITS).but(**{name: severity})
        answer = decide(plan, command, policy)
        assert {problem.code for problem in getattr(answer, "problems", ())} == codes
        wanted = expected_of_command(plan, policy, decision)
        assert (wanted.refused, wanted.codes) == (bool(codes), codes)
        if not codes:
            assert [*unlike_model(answer.plan, wanted.model, times=True)] == []


def test_the_model_knows_every_rule():
    """
    No rule of ours is left to its own opinion, and each has its examples.

    But for `max_history`: how many events a command makes is what is judged, and no opinion on it.
    """
    assert RULES.keys() - {"max_history"} <= NAIVE_RULES.keys()
    assert {name for name, *_ in EXAMPLES} == RULES.keys()


def test_a_rule_is_not_asked_of_what_was_not_done():
    """Where `decide` refuses what the model takes a rule of one's own has nothing to look at."""
    own = Policy(((Rule("own", lambda _: 1 / 0), "error"),))
    model = NaiveDecision(Model(), CreateTask("a")).after
    assert not expected_of_command(Plan(), own, NaiveDecision(model, DeleteTask("1"))).refused


def test_a_command_that_the_model_does_not_know_is_an_error():
    """A new command is found missing; it is not taken for another one."""
    with pytest.raises(AssertionError, match="Expected code to be unreachable"):
        NaiveDecision(Model(), object())


MODEL = ("model", "steps", "claims", "whole_list", "decision", "rules")
SHARED = {
    "todoplan.core.commands",
    "todoplan.core.plan.model",
    "todoplan.core.rules",
}


def test_the_model_shares_values_alone():
    """The model imports none of the code that it judges: it would share that code's faults."""
    folder = Path(naive_rules.__file__).parent
    found = {
        node.module
        for name in MODEL
        for node in ast.walk(ast.parse((folder / f"{name}.py").read_text("utf-8")))
        if isinstance(node, ast.ImportFrom)
    }
    assert {name for name in found if name.startswith("todoplan.")} == SHARED
