"""The naive model by examples: what each rule and each fault is, as `decide` has them too."""

import ast
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from support.naive import rules as naive_rules
from support.naive.comparison import differences
from support.naive.decision import NaiveDecision
from support.naive.machines import expected_of_call, expected_of_command
from support.naive.model import Model
from support.naive.rules import NAIVE_RULES, problems

from todoplan.core.commands import (
    AnswerTask,
    ApprovePlan,
    Batch,
    ClaimTask,
    ClearPlan,
    CreateTask,
    CreateTasks,
    DeleteTask,
    MoveTask,
    RecordEvidence,
    ReleaseClaim,
    RenewClaim,
    RestorePlan,
    StartNext,
    UpdateTask,
    WriteTodos,
)
from todoplan.core.decide import Accepted, decide
from todoplan.core.plan.model import Approval, Claim, Task, Todo, Waiting
from todoplan.core.plan.plan import Plan
from todoplan.core.rules import DEFAULT, RULES, Limits, Policy, Rule
from todoplan.dialogue.calls import Call
from todoplan.dialogue.tools import tasks

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
TIGHT = Limits(items=2, subject=8, text=8, edges=1, metadata=12, metadata_levels=2, depth=1)
ONE = CreateTask("a")
TWO = CreateTasks((ONE, CreateTask("b")))
LINKED = CreateTasks((ONE, CreateTask("b", blocked_by=("#0",))))
DONE = CreateTask("a", status="completed")
DOING = CreateTask("a", status="in_progress")
NESTED = CreateTasks((ONE, CreateTask("b", parent="#0")))
CHECKED = CreateTask("a", check="it runs")
CLAIMED = (ONE, ClaimTask("w1"))
ASKED = CreateTask("a", waiting=Waiting("ann", question="which?"))


def taken(script, policy=None, begin=None):
    """
    Return plan and model behind a script that both take, and that leaves them alike; with a time
    to begin at, a command a minute.
    """
    plan, model = Plan(), Model()
    for minute, command in enumerate(script):
        at = begin and begin + timedelta(minutes=minute)
        decision = NaiveDecision(model, command, at)
        assert not problems(decision, {}, Limits())
        answer = decide(plan, command, policy or Policy(), at=at)
        assert isinstance(answer, Accepted)
        assert bool(answer.events) == decision.changed
        plan, model = answer.plan, decision.after
        assert [*differences(plan, model, times=True)] == []
    return plan, model


def refusal(script, policy):
    """Return why plan and model refuse the last command of a script, which both say alike."""
    *before, last = script
    plan, model = taken(before)
    wanted = expected_of_command(plan, policy, NaiveDecision(model, last))
    answer = decide(plan, last, policy)
    assert wanted.refused
    assert wanted.codes in (None, {problem.code for problem in answer.problems})
    return {problem.code for problem in answer.problems}


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
    assert refusal(script, Policy(((RULES[name], "error"),), TIGHT)) == {name}
    assert taken(script)


def test_the_model_knows_every_rule():
    """
    No rule of ours is left to its own opinion, and each has its example.

    But for `max_history`: how many events a command makes is what is judged, and no opinion on it.
    """
    assert RULES.keys() - {"max_history"} == BROKEN.keys() <= NAIVE_RULES.keys()


FAULTS = {
    "unknown_task": [(DeleteTask("1"),), (UpdateTask("7"),), (ONE, CreateTask("b", blocks=("9",)))],
    "empty_text": [
        (CreateTask(" "),),
        (ONE, UpdateTask("1", subject="")),
        (WriteTodos((Todo(" "),)),),
    ],
    "unknown_reference": [(CreateTasks((CreateTask("a", blocks=("#4",)),)),)],
    "self_edge": [(ONE, UpdateTask("1", add_blocks=("1",)))],
    "cycle": [(LINKED, UpdateTask("1", add_blocked_by=("2",)))],
    "duplicate_id": [(WriteTodos((Todo("a", id="1"), Todo("b", id="1"))),)],
    "edge_within": [
        (NESTED, UpdateTask("1", add_blocks=("2",))),
        (LINKED, UpdateTask("2", parent="1")),
        (CreateTasks((ONE, CreateTask("b", parent="#0", blocked_by=("#0",)))),),
    ],
    "has_children": [(NESTED, DeleteTask("1"))],
    "cannot_wait": [
        (DONE, UpdateTask("1", waiting=Waiting("ann"))),
        (CreateTask("a", status="in_progress", waiting=Waiting("ann")),),
        (WriteTodos((Todo("a", "completed", waiting=Waiting("ann")),)),),
    ],
    "not_waiting": [(ONE, AnswerTask("1", "yes"))],
}
FAULTS["unknown_task"] += [
    (CreateTask("a", parent="9"),),
    (ONE, UpdateTask("1", parent="9")),
    (ONE, MoveTask("1", after="9")),
    (MoveTask("8", before="9"),),
    (AnswerTask("1", "yes"),),
    (RecordEvidence("1", passed=True),),
]
FAULTS["unknown_reference"] += [
    (CreateTask("a", parent="#0"),),
    (CreateTasks((CreateTask("a", parent="#1"), ONE)),),
]
FAULTS["self_edge"] += [(ONE, UpdateTask("1", parent="1")), (NESTED, MoveTask("1", after="2"))]
FAULTS["cycle"] += [
    (NESTED, CreateTask("c", parent="2"), UpdateTask("1", parent="3")),
    (NESTED, UpdateTask("2", add_blocks=("1",))),
    (TWO, CreateTask("c", parent="1", blocks=("2",)), UpdateTask("1", parent="2")),
    # Which of several is named, and as what, is left open.
    (TWO, UpdateTask("1", parent="2", add_blocks=("2",), add_blocked_by=("2",))),
]
FAULTS |= {
    "claimed": [
        (*CLAIMED, ClaimTask("w2", task_id="1")),
        (*CLAIMED, UpdateTask("1", status="completed")),
        (*CLAIMED, UpdateTask("1", waiting=Waiting("ann"))),
        (*CLAIMED, DeleteTask("1")),
        (*CLAIMED, ClearPlan()),
        (*CLAIMED, ONE, WriteTodos(())),
        (*CLAIMED, ONE, WriteTodos((Todo("a", id="2"), Todo("b")))),
        (*CLAIMED, WriteTodos((Todo("a", "completed"),))),
    ],
    "stale_fence": [
        (ONE, UpdateTask("1", subject="b", fence=1)),
        (*CLAIMED, UpdateTask("1", status="completed", fence=2)),
        (*CLAIMED, RenewClaim("1", 2)),
        (ONE, ReleaseClaim("1", 1)),
        (*CLAIMED, Batch((UpdateTask("1", status="pending", fence=1), ReleaseClaim("1", 1)))),
    ],
    "not_claimable": [
        (DONE, ClaimTask("w1", task_id="1")),
        (ASKED, ClaimTask("w1", task_id="1")),
        (LINKED, ClaimTask("w1", task_id="2")),
        (NESTED, ClaimTask("w1", task_id="1")),
        (ASKED, CreateTask("b", parent="1"), ClaimTask("w1", task_id="2")),
    ],
}
FAULTS["unknown_task"] += [
    (ClaimTask("w1", task_id="1"),),
    (RenewClaim("1", 1),),
    (ReleaseClaim("1", 1),),
]
SPOILT = [(name, script) for name, scripts in FAULTS.items() for script in scripts]


@pytest.mark.parametrize(("name", "script"), SPOILT, ids=[name for name, _ in SPOILT])
def test_a_fault_is_refused_by_any_policy(name, script):
    """What is no plan, or speaks of what is not there, is refused without any rule."""
    assert name in refusal(script, Policy())


NO_PLANS = {
    "one end": (Task("1", "a", blocks=("2",)), Task("2", "b")),
    "no end": (Task("1", "a", blocks=("2",)),),
    "an edge twice": (Task("1", "a", blocks=("2", "2")), Task("2", "b", blocked_by=("1", "1"))),
    "an id twice": (Task("1", "a"), Task("1", "b")),
    "no id": (Task("x", "a"),),
    "an id too high": (Task(str(10**15 + 1), "a"),),
    "an id of 5,000 digits": (Task("9" * 5_000, "a"),),
    "no text": (Task("1", " "),),
    "itself": (Task("1", "a", blocks=("1",), blocked_by=("1",)),),
    "a cycle": (
        Task("1", "a", blocks=("2",), blocked_by=("2",)),
        Task("2", "b", blocks=("1",), blocked_by=("1",)),
    ),
    "no parent": (Task("1", "a", parent="2"),),
    "its own parent": (Task("1", "a", parent="1"),),
    "a circle of parents": (Task("1", "a", parent="2"), Task("2", "b", parent="1")),
    "an edge within": (
        Task("1", "a", blocks=("2",)),
        Task("2", "b", parent="1", blocked_by=("1",)),
    ),
    "claimed though nobody has begun": (Task("1", "a", claim=Claim("w1", 1), claims=1),),
    "a fence over the count": (
        Task("1", "a", status="in_progress", claim=Claim("w1", 2), claims=1),
    ),
    "waiting though it is done": (Task("1", "a", status="completed", waiting=Waiting("ann")),),
}


@pytest.mark.parametrize("broken", NO_PLANS.values(), ids=NO_PLANS)
def test_what_is_no_plan_is_not_brought_back(broken):
    """The model refuses it as `decide` does, whatever that one calls it."""
    assert refusal((ONE, RestorePlan(broken)), Policy())


LEGAL = {
    "edges come and go": (
        TWO,
        UpdateTask("1", add_blocks=("2",)),
        UpdateTask("1", add_blocks=("2",)),
        UpdateTask("2", remove_blocked_by=("1",)),
        UpdateTask("2", remove_blocked_by=("1",)),
        UpdateTask("2", add_blocked_by=("1",)),
        UpdateTask("1", remove_blocks=("2",)),
        CreateTasks((CreateTask("c", blocks=("#1",)), CreateTask("d", blocked_by=("1",)))),
    ),
    "statuses come and go": (
        LINKED,
        StartNext(),
        StartNext(),
        UpdateTask("1", status="in_progress"),
        UpdateTask("1", status="completed"),
        UpdateTask("1", status="in_progress"),
    ),
    "metadata is merged, and None takes away": (
        CreateTask("a", metadata={"k": 1, "l": 2}),
        UpdateTask("1", metadata={"k": None, "m": [3]}),
    ),
    "what is deleted leaves no edge": (LINKED, DeleteTask("1"), ONE, ClearPlan(), ONE),
    "a list is rewritten": (
        LINKED,
        WriteTodos((Todo("b!", "completed", "doing b", "high"), Todo("c", id="3"), Todo("d"))),
        WriteTodos((Todo("x", id="9"), Todo("d"), Todo("c")), clear=True),
        WriteTodos((Todo("y", id="6"), Todo("z", id="8"), Todo("new"), Todo("newer"))),
        WriteTodos((), clear=True),
    ),
    "a number that a line has is given to none": (
        WriteTodos((Todo("a", id="3"), Todo("b", id="4"), Todo("c"))),
    ),
    "what is deleted leaves the edges of others": (
        CreateTasks((ONE, CreateTask("b", blocked_by=("#0",)), CreateTask("c", blocks=("#1",)))),
        DeleteTask("1"),
    ),
    "a plan is brought back": (
        ONE,
        RestorePlan((Task("4", "a", blocks=("5",)), Task("5", "b", blocked_by=("4",))), 3),
        Batch((Batch((ONE,)), DeleteTask("4"))),
    ),
    "a tree grows, is moved and taken down": (
        CreateTasks((ONE, CreateTask("b", parent="#0"), CreateTask("c", parent="#1"), ONE)),
        CreateTask("d", parent="1"),
        UpdateTask("4", parent="1"),
        MoveTask("4", before="2"),
        MoveTask("4", before="2"),
        MoveTask("3", after="1"),
        MoveTask("1", after="1"),
        UpdateTask("3", parent="2"),
        UpdateTask("3", parent="2"),
        UpdateTask("2", parent=None),
        DeleteTask("2", children="lift"),
        DeleteTask("1", children="remove"),
    ),
    "a list is indented": (
        WriteTodos((Todo("a", level=0), Todo("b", level=2), Todo("c", level=2), Todo("d"))),
        WriteTodos((Todo("c", level=1), Todo("a", level=2), Todo("b", level=1), Todo("d"))),
        WriteTodos((Todo("d"), Todo("b"), Todo("c"), Todo("a"))),
        WriteTodos((Todo("b"), Todo("a"))),
    ),
    "what holds a task up holds up what is in it": (
        CreateTasks((ONE, CreateTask("b", blocked_by=("#0",)), CreateTask("c", parent="#1"))),
        CreateTask("d", parent="3", waiting=Waiting("ann")),
        StartNext(),
        UpdateTask("1", status="failed"),
        UpdateTask("1", status="cancelled"),
        AnswerTask("4", "yes"),
        StartNext(),
    ),
    "tasks wait": (
        ASKED,
        UpdateTask("1", waiting=Waiting("bob")),
        UpdateTask("1", status="in_progress"),
        UpdateTask("1", waiting=Waiting("bob")),
        UpdateTask("1", waiting=None),
        UpdateTask("1", waiting=None),
        WriteTodos((Todo("a", waiting=Waiting("ann")), Todo("b", waiting=Waiting("ann")))),
        WriteTodos((Todo("a", waiting=Waiting("cleo")), Todo("b", "completed"))),
    ),
    "evidence comes and goes": (
        CHECKED,
        RecordEvidence("1", passed=True, summary="40 passed", by="ci"),
        RecordEvidence("1", passed=True, summary="40 passed", by="ci"),
        UpdateTask("1", status="completed"),
        UpdateTask("1", status="pending"),
    ),
    "approval comes and goes": (
        ApprovePlan("ann"),
        ApprovePlan(),
        RestorePlan((), approved=Approval(3, "bob")),
        RestorePlan(()),
    ),
    "tasks are claimed and given back": (
        TWO,
        ClaimTask("w1"),
        ClaimTask("w2", lease=9.0),
        ClaimTask("w3"),
        RenewClaim("1", 1),
        UpdateTask("1", subject="c"),
        UpdateTask("1", status="completed", fence=1),
        ReleaseClaim("2", 1),
        ClaimTask("w1", task_id="2"),
        Batch((UpdateTask("2", owner="w2", fence=2), UpdateTask("2", status="failed"))),
    ),
    "what is claimed is what was wanted": (
        CreateTask("a", owner="ann"),
        CreateTask("b", priority="low"),
        CreateTask("c", priority="high", metadata={"tags": ["slow"]}),
        CreateTask("d", priority="high", metadata={"tags": "fast"}),
        CreateTask("e", priority="high", metadata={"tags": ["fast"]}),
        ClaimTask("w1", priority="high", tag="fast"),
        ClaimTask("w1", tag="fast"),
        ClaimTask("w1"),
        ClaimTask("ann"),
        ClaimTask("w1", task_id="3"),
    ),
    "what was claimed too often is given up": (
        TWO,
        ClaimTask("w1", task_id="1", attempts=1),
        ReleaseClaim("1", 1),
        ClaimTask("w1", attempts=1),
        ReleaseClaim("2", 1),
        ClaimTask("w1", attempts=1, give_to="ann"),
        ClaimTask("ann", attempts=1, give_to="ann"),
        ClaimTask("ann"),
    ),
    "no claim comes back that has ended": (
        *CLAIMED,
        RestorePlan((Task("1", "b", status="in_progress", claim=Claim("w1", 1), claims=1),)),
        ReleaseClaim("1", 1),
        RestorePlan((Task("1", "b", status="in_progress", claim=Claim("w1", 1), claims=1),)),
        RestorePlan((Task("1", "b"),)),
        ClaimTask("w1"),
    ),
    "the highest id is brought back, and counted on from": (
        RestorePlan((Task(str(10**15), "a"),), 10**15),
        ONE,
    ),
}


@pytest.mark.parametrize("script", LEGAL.values(), ids=LEGAL)
def test_model_and_plan_stay_alike(script):
    """Whatever is legal leaves both the same."""
    assert taken(script)


def test_time_comes_with_commands_in_both():
    """A wait ends with the next command, whatever it is; a lease is put off, never shortened."""
    plan, _ = taken(
        (
            CreateTask("a", waiting=Waiting("ann", BEGIN + timedelta(minutes=1))),
            CreateTask("b", waiting=Waiting("ann", BEGIN + timedelta(days=1))),
            ClaimTask("w1", lease=600.0),
            RenewClaim("1", 1, 60.0),
            RenewClaim("1", 1, 600.0),
        ),
        begin=BEGIN,
    )
    assert [task.waiting is None for task in plan] == [True, False]
    assert plan["1"].claim.until == BEGIN + timedelta(minutes=14)


def test_of_equal_lines_the_first_means_what_will_stand_first():
    """Law 8 in a tree: plan and model agree on it, and the same list again changes nothing."""
    items = ONE, CreateTask("n", parent="#0"), CreateTask("n")
    rewritten = WriteTodos((Todo("n", "completed"), Todo("n"), Todo("x"), Todo("x"), Todo("a")))
    plan, _ = taken((CreateTasks(items), rewritten, rewritten))
    assert [(task.id, task.status) for task in plan if task.subject == "n"] == [
        ("3", "completed"),
        ("2", "pending"),
    ]


PROVEN = (CHECKED, RecordEvidence("1", passed=True), UpdateTask("1", status="completed"))


@pytest.mark.parametrize("script", [PROVEN, (DONE,)], ids=["passed", "nothing to check"])
def test_the_rule_on_evidence_lets_pass_what_keeps_it(script):
    """Law 20: what was seen to be done, or has nothing to be seen, may be completed."""
    *before, last = script
    policy = Policy(((RULES["evidence_required"], "error"),))
    plan, model = taken(before)
    assert not expected_of_command(plan, policy, NaiveDecision(model, last)).refused
    assert taken(script, policy)


@pytest.mark.parametrize("name", ["max_text", "duplicate_content", "priority_required"])
def test_a_rule_is_not_asked_of_what_is_gone(name):
    """What one part of a batch made and a later one deleted breaks no rule, in either."""
    policy = Policy(((RULES[name], "error"),), TIGHT)
    plan, model = taken((CreateTask("a" * 9),))
    command = Batch((CreateTask("a" * 9), DeleteTask("2")))
    assert not expected_of_command(plan, policy, NaiveDecision(model, command)).refused
    assert isinstance(decide(plan, command, policy), Accepted)


def test_a_rule_about_lists_lets_single_tasks_be():
    """A task may be made while none is in progress; only a list has to say what is worked on."""
    policy = Policy(((RULES["some_in_progress"], "error"),), TIGHT)
    assert not expected_of_command(Plan(), policy, NaiveDecision(Model(), ONE)).refused
    assert isinstance(decide(Plan(), ONE, policy), Accepted)


def test_a_rule_is_not_asked_of_what_was_not_done():
    """Where `decide` refuses what the model takes a rule of one's own has nothing to look at."""
    own = Policy(((Rule("own", lambda _: 1 / 0), "error"),))
    _, model = taken((ONE,))
    assert not expected_of_command(Plan(), own, NaiveDecision(model, DeleteTask("1"))).refused


def test_a_command_that_the_model_does_not_know_is_an_error():
    """A new command is found missing; it is not taken for another one."""
    with pytest.raises(AssertionError, match="Expected code to be unreachable"):
        NaiveDecision(Model(), object())


MODEL = ("model", "steps", "claims", "whole_list", "decision", "rules")
SHARED = {
    "todoplan.core.commands",
    "todoplan.core.plan.model",
    "todoplan.core.plan.plan",
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


CALLS = [
    (Call("TaskCreate", {"subject": "c"}), False, True),
    (Call("TaskList", {}), False, False),
    (Call("TaskGet", {"task_id": "1"}), False, False),
    (Call("TaskGet", {"task_id": "7"}), True, False),
    (Call("TaskUpdate", {"task_id": "7", "status": "completed"}), True, False),
    (Call("TaskUpdate", None), True, False),
]


@pytest.mark.parametrize(("call", "refused", "changed"), CALLS)
def test_a_call_is_expected_to_do_what_its_command_does(call, refused, changed):
    """A query changes nothing, an unknown id and what is not well-formed are refused."""
    plan, model = taken((TWO,))
    tool, arguments = tasks("snake").find(call.name), call.arguments
    wanted = expected_of_call(plan, model, DEFAULT, tool, arguments, sent=arguments)
    assert (wanted.refused, wanted.changed) == (refused, changed)
