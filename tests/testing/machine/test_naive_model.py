"""The naive model by examples: what each rule and each fault is, as `decide` has them too."""

import pytest
from support.architecture import modules

from todoplan.core.commands import (
    Batch,
    ClearPlan,
    CreateTask,
    CreateTasks,
    DeleteTask,
    RestorePlan,
    StartNext,
    UpdateTask,
    WriteTodos,
)
from todoplan.core.decide.decide import Accepted, decide
from todoplan.core.plan.model import Task, Todo
from todoplan.core.plan.plan import Plan
from todoplan.core.rules.builtin import RULES, Rule
from todoplan.core.rules.limits import Limits
from todoplan.core.rules.policy import Policy
from todoplan.core.rules.presets import DEFAULT
from todoplan.dialogue.toolbox import Call
from todoplan.dialogue.tools.tasks import tasks
from todoplan.testing.machine.comparison import differences
from todoplan.testing.machine.decision import NaiveDecision
from todoplan.testing.machine.model import Model
from todoplan.testing.machine.rules import NAIVE_RULES, problems
from todoplan.testing.machine.verdict import expected_of_call, expected_of_command

TIGHT = Limits(items=2, subject=8, text=8, edges=1, metadata=12, metadata_levels=2)
ONE = CreateTask("a")
TWO = CreateTasks((ONE, CreateTask("b")))
LINKED = CreateTasks((ONE, CreateTask("b", blocked_by=("#0",))))
DONE = CreateTask("a", status="completed")
DOING = CreateTask("a", status="in_progress")


def taken(script, policy=None):
    """
    Return plan and model behind a script that both take, and that leaves them alike.
    """
    plan, model = Plan(), Model()
    for command in script:
        decision = NaiveDecision(model, command)
        assert not problems(decision, {}, Limits())
        answer = decide(plan, command, policy or Policy())
        assert isinstance(answer, Accepted)
        assert bool(answer.events) == decision.changed
        plan, model = answer.plan, decision.after
        assert [*differences(plan, model, times=False)] == []
    return plan, model


def refusal(script, policy):
    """
    Return why plan and model refuse the last command of a script, which both say alike.
    """
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
    "max_text": [(CreateTask("a" * 9),), (ONE, UpdateTask("1", description="a" * 9))],
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
}
SPOILT = [(name, script) for name, scripts in FAULTS.items() for script in scripts]


@pytest.mark.parametrize(("name", "script"), SPOILT, ids=[name for name, _ in SPOILT])
def test_a_fault_is_refused_by_any_policy(name, script):
    """What is no plan, or speaks of what is not there, is refused without any rule."""
    assert name in refusal(script, Policy())


NO_PLANS = {
    "one end": (Task("1", "a", blocks=("2",)), Task("2", "b")),
    "no end": (Task("1", "a", blocks=("2",)),),
    "an edge twice": (
        Task("1", "a", blocks=("2", "2")),
        Task("2", "b", blocked_by=("1", "1")),
    ),
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
    "the highest id is brought back, and counted on from": (
        RestorePlan((Task(str(10**15), "a"),), 10**15),
        ONE,
    ),
}


@pytest.mark.parametrize("script", LEGAL.values(), ids=LEGAL)
def test_model_and_plan_stay_alike(script):
    """Whatever is legal leaves both the same."""
    assert taken(script)


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


MODEL = ("testing.machine.model", "testing.machine.decision", "testing.machine.rules")
SHARED = {
    "core.commands",
    "core.plan.frozen",
    "core.plan.model",
    "core.plan.plan",
    "core.rules.limits",
}


def test_the_model_shares_values_alone():
    """Of the code that it judges the model imports nothing: a shared fault would not be seen."""
    ours = {module.name: {name for name, _ in module.ours()} for module in modules()}
    assert set().union(*(ours[name] for name in MODEL)) - set(MODEL) == SHARED


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
