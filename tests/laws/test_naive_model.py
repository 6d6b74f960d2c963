"""The naive model has an opinion on each rule, and shares no code with what it judges."""

import ast
from pathlib import Path

import pytest
from support.naive import rules as naive_rules
from support.naive.decision import NaiveDecision
from support.naive.machines import expected_of_command, unlike_model
from support.naive.model import Model
from support.naive.rules import NAIVE_RULES

from todoplan.core.commands import (
    ApprovePlan,
    Batch,
    CreateTask,
    CreateTasks,
    DeleteTask,
    RecordEvidence,
    RestorePlan,
    StartNext,
    UpdateTask,
    WriteTodos,
)
from todoplan.core.decide import decide
from todoplan.core.plan.model import Task, Todo, Waiting
from todoplan.core.plan.plan import Plan
from todoplan.core.rules import RULES, Limits, Policy, Rule

TIGHT = Limits(items=2, subject=8, text=8, edges=1, metadata=12, metadata_levels=2, depth=1)
ONE = CreateTask("a")
TWO = CreateTasks((ONE, CreateTask("b")))
LINKED = CreateTasks((ONE, CreateTask("b", blocked_by=("#0",))))
DONE = CreateTask("a", status="completed")
DOING = CreateTask("a", status="in_progress")
NESTED = CreateTasks((ONE, CreateTask("b", parent="#0")))
CHECKED = CreateTask("a", check="it runs")


def codes(script, policy):
    """Return why plan and model refuse the last command of a script, which both say alike."""
    plan, model, found = Plan(), Model(), None
    for command in script:
        last = command is script[-1]
        decision = NaiveDecision(model, command)
        wanted = expected_of_command(plan, policy if last else Policy(), decision)
        answer = decide(plan, command, policy if last else Policy())
        found = {problem.code for problem in getattr(answer, "problems", ())}
        assert (wanted.refused, wanted.codes) == (bool(found), found)
        if not found:
            plan, model = answer.plan, decision.after
            assert [*unlike_model(plan, model, times=True)] == []
    return found


BROKEN = {
    **{rule.name: [(ONE,)] for rule in RULES.values() if rule.new_tasks_need},
    "single_in_progress": [(DOING, DOING)],
    "some_in_progress": [(DOING, Batch((UpdateTask("1", status="pending"),)))],
    "first_in_progress": [(TWO,), (WriteTodos((Todo("a"),)),)],
    "completed_is_final": [
        (DONE, UpdateTask("1", status="pending")),
        (DONE, UpdateTask("1", subject="b")),
        (DONE, ONE, DeleteTask("1")),
    ],
    "linear_status": [(ONE, UpdateTask("1", status="completed"))],
    "blocked_start": [(LINKED, UpdateTask("2", status="in_progress"))],
    "blocked_complete": [(LINKED, UpdateTask("2", status="completed"))],
    "dropped_open_items": [(TWO, WriteTodos((Todo("b"),)))],
    "empty_write": [(ONE, WriteTodos(()))],
    "duplicate_content": [(ONE, CreateTask(" A! ")), (TWO, UpdateTask("2", subject="A"))],
    "active_form_required": [(CreateTasks((CreateTask("a", active_form="x"), ONE)),)],
    "max_items": [(ONE, ONE, ONE)],
    "max_text": [
        (CreateTask("a" * 9),),
        (ONE, UpdateTask("1", description="a" * 9)),
        (CreateTask("a", waiting=Waiting("a" * 9)),),
        (CreateTask("a", waiting=Waiting("ann", question="a" * 9)),),
        (CHECKED, RecordEvidence("1", passed=True, summary="a" * 9)),
    ],
    "max_edges": [(TWO, CreateTask("c", blocked_by=("1", "2")))],
    "max_metadata": [
        (CreateTask("a", metadata={"a": "b" * 9}),),
        (CreateTask("a", metadata={"a": 1, "b": [{}]}),),
    ],
    "owner_taken": [(CreateTask("a", owner="ann"), UpdateTask("1", owner="bob"))],
    "batch_completion": [
        (TWO, Batch((UpdateTask("1", status="completed"), UpdateTask("2", status="completed"))))
    ],
    "no_op_write": [(ONE, WriteTodos((Todo("a"),)))],
    "max_depth": [
        (NESTED,),
        (TWO, UpdateTask("2", parent="1")),
        (WriteTodos((Todo("a", level=0), Todo("b", level=1))),),
        (RestorePlan((Task("1", "a"), Task("2", "b", parent="1"))),),
    ],
    "parent_complete": [
        (NESTED, UpdateTask("1", status="completed")),
        (NESTED, CreateTask("c", parent="2"), UpdateTask("1", status="completed")),
    ],
    "child_of_closed": [
        (DONE, CreateTask("b", parent="1")),
        (DONE, ONE, UpdateTask("2", parent="1")),
        (DONE, CreateTask("b", status="failed", parent="1"), UpdateTask("2", status="pending")),
    ],
    "evidence_required": [
        (CHECKED, UpdateTask("1", status="completed")),
        (CHECKED, UpdateTask("1", status="completed", check=None)),
        (CHECKED, RecordEvidence("1", passed=False), UpdateTask("1", status="completed")),
        (CreateTask("a", status="completed", check="it runs"),),
        (
            CHECKED,
            RecordEvidence("1", passed=True),
            UpdateTask("1", status="in_progress"),
            UpdateTask("1", status="completed"),
        ),
    ],
    "approval_required": [(ONE, StartNext()), (DONE,)],
    "approved_changed": [(ONE, ApprovePlan("ann"), ONE), (ONE, ApprovePlan(), DeleteTask("1"))],
}
EXAMPLES = [(name, script) for name, scripts in BROKEN.items() for script in scripts]


@pytest.mark.parametrize(("name", "script"), EXAMPLES, ids=[name for name, _ in EXAMPLES])
def test_a_rule_is_broken_by_an_example(name, script):
    """Model and `decide` refuse it by this rule alone, and take it where the rule is off."""
    assert codes(script, Policy(((RULES[name], "error"),), TIGHT)) == {name}
    assert codes(script, Policy()) == set()


def test_the_model_knows_every_rule():
    """
    No rule of ours is left to its own opinion, and each has its example.

    But for `max_history`: how many events a command makes is what is judged, and no opinion on it.
    """
    assert RULES.keys() - {"max_history"} == BROKEN.keys() <= NAIVE_RULES.keys()


def test_a_rule_is_not_asked_of_what_was_not_done():
    """Where `decide` refuses what the model takes a rule of one's own has nothing to look at."""
    own = Policy(((Rule("own", lambda _: 1 / 0), "error"),))
    model = NaiveDecision(Model(), ONE).after
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
