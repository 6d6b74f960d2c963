"""`find_counterexample` finds planted faults of rules, passes right rules, and reports plainly."""

from collections import Counter
from functools import partial

import hypothesis
import pytest
from hypothesis import Phase
from hypothesis.stateful import run_state_machine_as_test

from todoplan import Status
from todoplan.core.commands import (
    ApprovePlan,
    ClaimTask,
    CreateTask,
    CreateTasks,
    RecordEvidence,
)
from todoplan.core.decide import decide
from todoplan.core.plan.plan import Plan, ancestors
from todoplan.core.plan.questions import unresolved_blockers
from todoplan.core.problems import Problem
from todoplan.core.rules import DEFAULT, Rule
from todoplan.errors import PlanError
from todoplan.testing import PlanMachine, RuleNeverFiredWarning, find_counterexample, strategies
from todoplan.testing.strategies.near import focus_of

FEW = hypothesis.settings(max_examples=60, deadline=None, derandomize=True)


# Rules of seven kinds, as users write them: the law of each kind, and faulty checks. A faulty check
# looks at one way to reach a state and forgets the others, as the checks of users did.

DONE, BEGUN = Status.COMPLETED, Status.IN_PROGRESS


def newly(change, status):
    """Return the tasks that have a status, and had another one or were not there."""
    before = {task.id for task in change.before if task.status is status}
    return [task for task in change.after if task.status is status and task.id not in before]


def moved(change, status):
    """Return the tasks that were moved to a status."""
    return [*filter(None, (change.after.get(move.task_id) for move in change.moves(status)))]


def problems(tasks):
    """Return a problem with each of the tasks."""
    return [Problem("own", (task.id,), note=f"#{task.id} must not.") for task in tasks]


def agreeing(law):
    """Return the check that is right: it refuses what the law refuses."""

    def check(change):
        try:
            return [] if law(change) else [Problem("own")]
        except AssertionError as error:
            return [Problem("own", note=str(error))]

    return check


# A limit per owner: two tasks in progress for each.
MOST = 2


def loads(plan):
    return Counter(task.owner for task in plan.active() if task.owner)


def at_most_two_each(change):
    return all(many <= MOST for many in loads(change.after).values())


def limit_of_moves(change):
    after = loads(change.after)
    return problems(task for task in moved(change, BEGUN) if after[task.owner] > MOST)


def limit_one_by_one(change):
    before = loads(change.before)
    known = {(task.id, task.owner) for task in change.before.active()}
    new = [task for task in change.after.active() if (task.id, task.owner) not in known]
    return problems(task for task in new if before[task.owner] + 1 > MOST)


# A required field: what is completed says in its description what was done.
def described(change):
    return all(task.description for task in change.after if task.status is DONE)


def field_at_moves(change):
    return problems(task for task in moved(change, DONE) if not task.description)


def field_of_new(change):
    return problems(task for task in newly(change, DONE) if not task.description)


# An order: a task is completed after all tasks that stand before it.
def in_order(change):
    done = {task.id for task in newly(change, DONE)}
    closed = True
    for task in change.after:
        if task.id in done and not closed:
            return False
        closed = closed and task.status.closed
    return True


def open_before(plan, task):
    return any(int(each.id) < int(task.id) and not each.status.closed for each in plan)


def order_before(change):
    return problems(task for task in newly(change, DONE) if open_before(change.before, task))


def order_by_id(change):
    return problems(task for task in newly(change, DONE) if open_before(change.after, task))


# Metadata: what has a high risk is reviewed before it begins.
def unreviewed(task):
    return task.metadata.get("risk") == "high" and not task.metadata.get("reviewed")


def risky_is_reviewed(change):
    return not any(map(unreviewed, change.after.active()))


def metadata_at_start(change):
    return problems(filter(unreviewed, newly(change, BEGUN)))


def metadata_by_key(change):
    risky = (task for task in change.after.active() if task.metadata.get("risk") == "high")
    return problems(task for task in risky if "reviewed" not in task.metadata)


# An actor: only who owns a task completes it.
def owner_completes(change):
    for task in newly(change, DONE):
        owner = change.before[task.id].owner if task.id in change.before else task.owner
        assert owner is None or change.actor == owner, f"{change.actor} completed #{task.id}"
    return True


def actor_unknown(change):
    was = [change.before.get(task.id) or task for task in newly(change, DONE)]
    return problems(t for t in was if change.actor and t.owner and change.actor != t.owner)


def actor_after(change):
    done = newly(change, DONE)
    return problems(t for t in done if t.owner is not None and change.actor != t.owner)


# Blockers and parents: what is begun has no open blocker, and no closed task has an open one in it.
def begun_is_free(change):
    return not any(unresolved_blockers(change.after, task) for task in change.after.active())


def blockers_at_start(change):
    begun = newly(change, BEGUN)
    return problems(task for task in begun if unresolved_blockers(change.after, task))


def nothing_open_in_closed(change):
    plan = change.after
    left = [task for task in plan if not task.status.closed]
    return not any(plan[each].status.closed for task in left for each in ancestors(plan, task.id))


def parents_of_children(change):
    plan = change.after
    closed = [task for task in plan if task.status.closed and task.id in change.before]
    return problems(
        task
        for task in closed
        if any(not plan[child].status.closed for child in plan.children(task.id))
    )


CASES = {
    at_most_two_each: {"created or given": limit_of_moves, "several at once": limit_one_by_one},
    described: {"created": field_at_moves, "emptied later": field_of_new},
    in_order: {"reopened at once": order_before, "moved": order_by_id},
    risky_is_reviewed: {"edited later": metadata_at_start, "false": metadata_by_key},
    owner_completes: {"unknown": actor_unknown, "takes it": actor_after},
    begun_is_free: {"linked later": blockers_at_start},
    nothing_open_in_closed: {"new parent": parents_of_children},
}
"""The faulty checks by what they forget, of each law."""


FAULTS = {
    f"{law.__name__} {forgets}": (law, check)
    for law, faulty in CASES.items()
    for forgets, check in faulty.items()
}


@pytest.mark.slow
@pytest.mark.parametrize(("law", "check"), FAULTS.values(), ids=FAULTS)
def test_a_planted_fault_is_found(law, check):
    """Each of twelve faults in rules of seven kinds is found with the default settings."""
    found = find_counterexample(Rule("own", check), law)
    assert found is not None
    assert found.found.startswith(f"the rule own accepts what the law {law.__name__} does not")
    assert len(found.history) <= 4
    assert "the command:\n    " in str(found)


@pytest.mark.slow
@pytest.mark.parametrize("law", CASES, ids=lambda law: law.__name__)
def test_the_right_rule_is_found_clean(law):
    """If rule and law agree, there is no counterexample, also with `exact`."""
    # With fewer examples than the default, some of the rules may never object.
    assert find_counterexample(Rule("own", agreeing(law)), law, exact=True) is None


def nothing_done(change):
    return all(not task.status.closed for task in change.after)


def no_done(change):
    for task in change.after:
        if task.status.closed:
            yield Problem("no_done", (task.id,))


def test_a_report_shows_plan_command_and_what_was_seen():
    """The report shows the disagreement, earlier commands, the command, and the plans around it."""

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
    """A law that returns neither True nor False raises a PlanError."""
    with pytest.raises(PlanError, match=r"the law <lambda> returned None .*; return True if"):
        find_counterexample(Rule("no_done", no_done), lambda _: None, settings=FEW)


def test_a_rule_that_never_fires_is_warned_of():
    """A search in which the rule objected to nothing gives a warning."""
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
    """The test case of a machine warns of the user's rules that objected to nothing."""
    assert Guarded.TestCase is Guarded.TestCase
    assert Guarded.TestCase is not Silent.TestCase
    Guarded.TestCase.settings = Silent.TestCase.settings = QUICK
    Guarded.TestCase("runTest").runTest()
    with pytest.warns(RuleNeverFiredWarning, match="silent objected to nothing in the whole run"):
        Silent.TestCase("runTest").runTest()
    run_state_machine_as_test(Silent, settings=QUICK)  # without the test case it is not counted


def test_a_rule_that_gives_nonsense_is_refused_by_the_machine():
    """If a check returns an invalid value, the error is the same as without the machine."""

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
    """The focus has fields, texts and numbers, also those of called functions and closures."""
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
