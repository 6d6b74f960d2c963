"""A rule with a planted fault is found out, the right one is found clean, and a report is read."""

from functools import partial

import hypothesis
import pytest
from hypothesis import Phase
from hypothesis.stateful import run_state_machine_as_test
from support.faults_of_rules import CASES, agreeing

from todoplan.core.commands import (
    ApprovePlan,
    ClaimTask,
    CreateTask,
    CreateTasks,
    RecordEvidence,
)
from todoplan.core.decide import decide
from todoplan.core.plan.plan import Plan
from todoplan.core.problems import Problem
from todoplan.core.rules import DEFAULT, Rule
from todoplan.errors import PlanError
from todoplan.testing import PlanMachine, RuleNeverFiredWarning, find_counterexample, strategies
from todoplan.testing.strategies.near import focus_of

FEW = hypothesis.settings(max_examples=60, deadline=None, derandomize=True)
FAULTS = {
    f"{law.__name__} {forgets}": (law, check)
    for law, faulty in CASES.items()
    for forgets, check in faulty.items()
}


@pytest.mark.slow
@pytest.mark.parametrize(("law", "check"), FAULTS.values(), ids=FAULTS)
def test_a_planted_fault_is_found(law, check):
    """Twelve faults in rules of seven kinds, each found with the defaults and shown as steps."""
    found = find_counterexample(Rule("own", check), law)
    assert found is not None
    assert found.found.startswith(f"the rule own accepts what the law {law.__name__} does not")
    assert len(found.history) <= 4
    assert "the command:\n    " in str(found)


@pytest.mark.slow
@pytest.mark.parametrize("law", CASES, ids=lambda law: law.__name__)
def test_the_right_rule_is_found_clean(law):
    """Where rule and law agree there is no counterexample, in either direction."""
    # With fewer examples than the default, some of the rules may never object.
    assert find_counterexample(Rule("own", agreeing(law)), law, exact=True) is None


def nothing_done(change):
    return all(not task.status.closed for task in change.after)


def no_done(change):
    for task in change.after:
        if task.status.closed:
            yield Problem("no_done", (task.id,))


def test_a_report_shows_plan_command_and_what_was_seen():
    """The smallest change is told: the commands before, the plan around, and the disagreement."""

    def nobody_else(change):
        if change.actor in {None, "lead"}:
            return True
        told = f"{change.actor} may not"
        raise AssertionError(told)

    found = find_counterexample(Rule("no_done", no_done), nobody_else, settings=FEW)
    assert str(found) == (
        "the rule no_done accepts what the law nobody_else does not: ann may not\n"
        "the commands before it:\n    none\n"
        "the plan before it:\n    no tasks\n"
        "the command:\n    CreateTask('a')  by ann\n"
        "the plan after it:\n    #1 [pending] a"
    )
    assert found.after["1"].subject == "a"


def test_exact_finds_what_is_refused_without_need():
    """A rule that refuses more than the law is a fault only with `exact`."""
    eager = Rule("eager", lambda change: [Problem("eager", note="No.")] if change.events else ())
    assert find_counterexample(eager, lambda _: True, settings=FEW) is None
    found = find_counterexample(eager, nothing_done, exact=True, settings=FEW)
    assert found.found == "the rule eager refuses what the law nothing_done accepts: No."
    assert find_counterexample(
        Rule("no_done", no_done), nothing_done, exact=True, policy=DEFAULT, settings=FEW
    ) is None  # fmt: skip


def test_an_error_is_a_counterexample():
    """A rule or a law that raises an error is shown with the change at which it does."""

    def careless(change):
        for task in change.written():
            assert change.before[task.id]
            yield Problem("careless")

    found = find_counterexample(Rule("careless", careless), nothing_done, settings=FEW)
    assert found.found.startswith("the rule careless raises ")
    assert found.after == Plan()
    found = find_counterexample(Rule("no_done", no_done), lambda _: 1 / 0, settings=FEW)
    assert found.found == ("the law <lambda> raises ZeroDivisionError('division by zero')")


def test_a_law_says_yes_or_no():
    """A law that forgets to return is the developer's mistake."""
    with pytest.raises(PlanError, match=r"the law <lambda> returned None .*; return True if"):
        find_counterexample(Rule("no_done", no_done), lambda _: None, settings=FEW)


def test_a_rule_that_never_fires_is_warned_of():
    """A search in which the rule objected to nothing says so, as it may be off."""
    silent = Rule("silent", lambda _: ())
    with pytest.warns(RuleNeverFiredWarning, match="silent objected to nothing in .* commands"):
        assert find_counterexample(silent, lambda _: True, settings=FEW) is None


class Guarded(PlanMachine):
    policy = DEFAULT.adding(Rule("no_done", no_done), "warn")


class Silent(PlanMachine):
    policy = DEFAULT.adding(Rule("silent", lambda _: ()))


QUICK = hypothesis.settings(
    max_examples=4, stateful_step_count=6, database=None, derandomize=True, deadline=None
)


def test_a_machine_warns_of_a_rule_that_never_fires():
    """The test case of a machine tells which rules of the user's own objected to nothing."""
    assert Guarded.TestCase is Guarded.TestCase
    assert Guarded.TestCase is not Silent.TestCase
    Guarded.TestCase.settings = Silent.TestCase.settings = QUICK
    Guarded.TestCase("runTest").runTest()
    with pytest.warns(RuleNeverFiredWarning, match="silent objected to nothing in the whole run"):
        Silent.TestCase("runTest").runTest()
    run_state_machine_as_test(Silent, settings=QUICK)  # without the test case it is not counted


def test_a_rule_that_gives_nonsense_is_refused_by_the_machine():
    """What is no answer of a check is told as it is without the machine."""

    class Wrong(PlanMachine):
        policy = DEFAULT.adding(Rule("wrong", lambda _: 7))

    with pytest.raises(PlanError, match="the rule wrong gave 7"):
        Wrong()._decided(CreateTask("a"))


LIMIT = 3
WORDS = ["urgent"]


class Levels:
    def __init__(self):
        self.worst = "worst"

    def is_bad(self, task, *, least="bad"):
        return task.metadata.get("level") in {self.worst, least} and task.estimate > LIMIT


def test_what_a_rule_reads_is_taken_from_its_code():
    """Fields, statuses, texts and numbers, also of what it calls, closes over or has by default."""
    inner = "inner"
    levels = Levels()

    def check(change, judge, names):
        for task in change.after.active():
            if judge(task) or task.owner in [inner, *names, *WORDS]:
                yield Problem("own", note=f"#{task.id} is wrong, as everybody can see.")

    given = partial(check, judge=levels.is_bad, names={"ann": 4})
    focus = focus_of(Rule("own", given), levels.is_bad)
    assert {"owner", "metadata", "estimate", "active"} <= focus.names
    assert set(focus.texts) == {"inner", "worst", "bad", "level", "ann", "urgent"}
    assert set(focus.numbers) == {3, 4}
    assert focus.most == 6


def reads_all(change):
    for task in change.after:
        if task.claim or task.evidence or change.after.approved or task.estimate == 30:
            yield Problem("own", (task.id, task.description, task.owner, task.priority))
        if task.metadata.get("risk") == "high":
            yield Problem("own", (task.id,))


TWO = decide(Plan(), CreateTasks((CreateTask("a"), CreateTask("b")))).unwrap()
NEAR = {
    "a claim": lambda command: isinstance(command, ClaimTask),
    "evidence": lambda command: isinstance(command, RecordEvidence),
    "an approval": lambda command: isinstance(command, ApprovePlan),
    "a key with its value": lambda command: "high" in getattr(command, "metadata", {}).values(),
    "a number beside it": lambda command: getattr(command, "estimate", None) == 31,
    "an owner": lambda command: getattr(command, "owner", None) == "ann",
    "a text": lambda command: getattr(command, "description", None) == "high",
}


@pytest.mark.parametrize("what", NEAR)
def test_commands_near_a_rule_vary_what_it_reads(what):
    """Claims, evidence, approvals and field values are drawn where the rule reads them."""
    drawn = strategies.commands_near(TWO, Rule("own", reads_all))
    quick = hypothesis.settings(FEW, max_examples=3_000, phases=[Phase.generate])
    assert hypothesis.find(drawn, NEAR[what], settings=quick)
