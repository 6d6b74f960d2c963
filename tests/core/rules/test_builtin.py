import pytest
from support.naive.machines import given_plan
from support.naive.rules import (
    AGREED,
    BROKEN,
    DEEP_DOWN,
    FIRES,
    FIVE,
    FULL,
    HEAVY,
    IDLE,
    LIMITS,
    LONG,
    ON,
    QUIET,
    TIED,
    TWINS,
    TWO_ON,
    UNKNOWN,
    back,
    to,
)

from todoplan.core.commands import (
    CreateTask,
    CreateTasks,
    DeleteTask,
    UpdateTask,
)
from todoplan.core.decide import Accepted, Rejected, decide, plan_of
from todoplan.core.plan.model import Task
from todoplan.core.plan.plan import Plan
from todoplan.core.rules import DEFAULT, RULES, Limits, Policy, inspect

EMPTY = Plan()


def policy(name, severity):
    """Return the policy with this rule alone."""
    return Policy(limits=LIMITS).but(**{name: severity})


@pytest.mark.parametrize("row", FIRES, ids=lambda row: row[0])
def test_rule_fires(row):
    """
    At `error` the rule refuses, at `warn` it tells, at `off` it is not heard; in the same words:
    which tasks, what was seen, what would be legal.
    """
    name, given, command, *said = row
    plan = given_plan(given)
    refused = decide(plan, command, policy(name, "error"))
    warned = decide(plan, command, policy(name, "warn"))
    assert isinstance(refused, Rejected)
    assert {problem.code for problem in refused.problems} == {name}
    problem = refused.problems[0]
    assert said in ([], [(problem.task_ids, problem.seen, problem.legal)])
    assert warned.warnings == refused.problems
    assert decide(plan, command, policy(name, "off")) == Accepted(warned.plan, warned.events)


@pytest.mark.parametrize(("name", "given", "command"), QUIET)
def test_rule_is_quiet(name, given, command):
    """What the rule does not mean passes without a word."""
    answer = decide(given_plan(given), command, policy(name, "error"))
    assert isinstance(answer, Accepted)
    assert answer.warnings == ()


def test_every_rule_is_shown_to_fire_and_to_be_quiet():
    """The tables above cover all rules, and each is found under its own name."""
    assert {row[0] for row in FIRES} == {name for name, _, _ in QUIET} == set(RULES)
    assert all(rule.name == name for name, rule in RULES.items())


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("single_in_progress", TWO_ON),
        ("duplicate_content", TWINS),
        ("active_form_required", IDLE),
        ("priority_required", IDLE),
        ("max_items", FIVE),
        ("max_text", LONG),
        ("max_edges", TIED),
        ("max_metadata", HEAVY),
        ("max_depth", DEEP_DOWN),
    ],
)
def test_old_faults_are_told_on_inspection_and_lock_nothing_up(name, given):
    """A plan that breaks a rule says so when asked, yet a command that adds nothing passes."""
    strict, plan = policy(name, "error"), given_plan(given)
    assert {problem.code for problem in inspect(plan, strict)} == {name}
    assert isinstance(decide(plan, UpdateTask("1", owner="ann"), strict), Accepted)
    assert isinstance(decide(plan, DeleteTask("1", "lift"), strict), Accepted)


def test_what_a_rule_demands_is_a_field_of_a_task():
    """Those that ask for a field name it; no other rule does."""
    needs = {name: rule.new_tasks_need for name, rule in RULES.items() if rule.new_tasks_need}
    assert needs == {"active_form_required": "active_form", "priority_required": "priority"}
    for name, field in needs.items():
        assert isinstance(
            decide(EMPTY, CreateTask("x", **{field: "low"}), policy(name, "error")), Accepted
        )


def test_every_text_that_is_too_long_is_named():
    """Subject and description each, with how long they are."""
    problems = decide(EMPTY, CreateTask("x" * 7, "y" * 8), policy("max_text", "error")).problems
    assert [(p.seen, p.legal) for p in problems] == [
        ("subject of 7 characters", "5"),
        ("description of 8 characters", "6"),
    ]


def test_rules_about_plans_are_the_inspected_ones():
    """Rules about moves say nothing of a plan that stands still, not even of a blocked start."""
    asked = {rule.name for rule in RULES.values() if rule.about_plan}
    everything = Policy(limits=LIMITS).but(**dict.fromkeys(RULES, "error"))
    heavy = {"key": "x" * 20}
    tasks = [Task(i, "longer", status=ON, blocks=("5",), metadata=heavy) for i in "1234"]
    blocked = Task("5", "longer", status=ON, blocked_by=tuple("1234"))
    inside = Task("6", "longer", parent="5"), Task("7", "longer", parent="6")
    plan = plan_of([*tasks, blocked, *inside], revision=12)
    assert {problem.code for problem in inspect(plan, everything)} == asked


def test_problems_name_few_of_many():
    """However many tasks there are, a problem names at most 20 of them."""
    items = tuple(CreateTask("x", status=ON) for _ in range(50))
    single = decide(EMPTY, CreateTasks(items), Policy().but(single_in_progress="error"))
    assert (single.problems[0].seen, len(single.problems[0].task_ids)) == ("50", 20)
    plan = decide(EMPTY, CreateTasks(items), Policy()).plan
    blocked = CreateTask("y", status=ON, blocked_by=tuple(task.id for task in plan))
    told = decide(plan, blocked, Policy().but(blocked_start="error")).problems[0]
    assert len(told.seen.split(", ")) == 20


def test_a_full_history_is_told_on_inspection_and_stops_every_change():
    """Unlike the other rules: this one stops a runaway model, and says what has to be done."""
    strict = policy("max_history", "error")
    assert inspect(given_plan(FULL), strict) == ()
    assert [(p.code, p.seen, p.legal) for p in inspect(given_plan(BROKEN), strict)] == [
        ("max_history", "12", "9")
    ]
    refused = decide(given_plan(FULL), DeleteTask("1"), DEFAULT.but(max_history=9))
    assert "The plan has had 10 changes, and may have 9. Stop changing it" in refused.text


@pytest.mark.parametrize("number", [100, 101])
def test_a_task_has_100_blockers_by_default_and_no_more(number):
    """The limit stands in the presets as a number, not only as a rule."""
    items = tuple(CreateTask("x") for _ in range(number))
    plan = decide(EMPTY, CreateTasks(items), Policy()).plan
    answer = decide(plan, CreateTask("y", blocked_by=tuple(task.id for task in plan)), DEFAULT)
    refused = [(p.code, p.seen, p.legal) for p in getattr(answer, "problems", ())]
    assert refused == ([("max_edges", "101", "100")] if number > 100 else [])


def test_who_has_agreed_may_change_the_plan():
    """And nobody else; where no name is known on either side nobody passes for the other."""
    strict = policy("approved_changed", "error")
    for plan, actor, taken in (
        (given_plan(AGREED), "ann", True),
        (given_plan(AGREED), "bob", False),
        (given_plan(AGREED), None, False),
        (given_plan(UNKNOWN), "ann", False),
        (given_plan(UNKNOWN), None, False),
    ):
        answer = decide(plan, CreateTask("x"), strict, actor=actor)
        assert isinstance(answer, Accepted) is taken


def test_what_is_open_in_a_parent_is_named_up_to_a_limit():
    """However many subtasks there are."""
    many = [Task(str(number), "x", parent="1") for number in range(2, 50)]
    plan = plan_of([Task("1", "a"), *many])
    (problem,) = decide(plan, to("1", "completed"), policy("parent_complete", "error")).problems
    assert len(problem.seen.split(", ")) == 20


def test_a_task_without_metadata_fits_any_limit():
    """Beside one that has too much, and in an earlier plan that comes back."""
    tight = Policy(limits=Limits(metadata=1)).but(max_metadata="error")
    both = CreateTask("a"), CreateTask("b", metadata={"k": 1})
    refused = decide(EMPTY, CreateTasks(both), tight)
    assert [problem.task_ids for problem in refused.problems] == [("2",)]
    assert isinstance(decide(EMPTY, back(IDLE), tight), Accepted)


def test_metadata_that_no_document_could_hold_is_measured_all_the_same():
    """Keys that are no texts and values that are no JSON neither raise nor pass for nothing."""
    odd = CreateTask("a", metadata={("a", 1): 1, "k": object(), "n": [[], [{}]]})
    problems = decide(EMPTY, odd, policy("max_metadata", "error")).problems
    assert ["bytes" in p.seen or p.seen for p in problems] == [True, "3 keys", "4 levels"]
    flat = CreateTask("a", metadata={"a": 1, "b": 2, "c": 3})
    problems = decide(EMPTY, flat, policy("max_metadata", "error")).problems
    assert [p.seen for p in problems] == ["24 bytes as JSON", "3 keys"]
