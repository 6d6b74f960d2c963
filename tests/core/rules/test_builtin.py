import pytest

from todoplan.core.commands import (
    ApprovePlan,
    Batch,
    ClearPlan,
    CreateTask,
    CreateTasks,
    DeleteTask,
    RecordEvidence,
    RestorePlan,
    UpdateTask,
    WriteTodos,
)
from todoplan.core.decide import Accepted, Rejected, decide, plan_of
from todoplan.core.plan.model import Approval, Claim, Evidence, Task, Todo
from todoplan.core.plan.plan import Plan
from todoplan.core.rules import DEFAULT, RULES, Limits, Policy, inspect

SIZES = {"subject": 5, "text": 6, "active_form": 7, "owner": 3, "edges": 1, "history": 9}
METADATA = {"metadata": 20, "metadata_keys": 2, "metadata_levels": 2}
LIMITS = Limits(items=4, open_items=3, depth=2, **SIZES, **METADATA)
EMPTY = Plan()
BUSY = plan_of([Task("1", "a", status="in_progress"), Task("2", "b")])
IDLE = plan_of([Task("1", "a"), Task("2", "b")])
MIXED = plan_of([Task("1", "a", status="completed"), Task("2", "b")])
DONE = plan_of([Task("1", "a", status="completed")])
LINKED = plan_of([Task("1", "a", blocks=("2",)), Task("2", "b", blocked_by=("1",)), Task("3", "c")])
FORMED = plan_of([Task("1", "a", active_form="doing a", priority="low")])
TWINS = plan_of([Task("1", "a"), Task("2", "A!")])
OWNED = plan_of([Task("1", "a", owner="ann"), Task("2", "b")])
LONG = plan_of([Task("1", "longer", "longer still")])
HEAVY = plan_of([Task("1", "a", metadata={"key": "x" * 20})])
OLD = plan_of([Task("1", "a")], revision=8)
FULL = plan_of([Task("1", "a")], revision=9)
BROKEN = plan_of([Task("1", "a")], revision=12)
FIVE = plan_of([Task(i, "x") for i in "12345"])
TWO_ON = plan_of([Task(i, i, status="in_progress") for i in "12"])
CLAIMED = Task("1", "a", status="in_progress", claim=Claim("bot", 1), claims=1)
TEAM = plan_of([CLAIMED, Task("2", "b")])
TWO_AND_ONE = plan_of([*TWO_ON, Task("3", "c")])
# 1 {2 {}, 3 {}}, 4: the third level is one too many.
NESTED = plan_of([Task("1", "a"), *(Task(i, i, parent="1") for i in "23"), Task("4", "d")])
DEEP_DOWN = plan_of([Task("1", "a"), Task("2", "b", parent="1"), Task("3", "c", parent="2")])
FAILED = Task("2", "b", parent="1", status="failed")
ENDED = plan_of([Task("1", "a", status="completed"), FAILED, Task("3", "c")])
CHECKED = plan_of(
    [
        Task("1", "a", check="it runs"),
        Task("2", "b", check="it runs", evidence=Evidence(passed=False)),
        Task("3", "c", check="it runs", evidence=Evidence(passed=True)),
        Task("4", "d", check="it runs", status="completed"),
    ]
)
AGREED = plan_of([Task("1", "a"), Task("2", "b")], approved=Approval(0, "ann"))
UNKNOWN = plan_of([Task("1", "a"), Task("2", "b")], approved=Approval(0))
TIED = plan_of([*(Task(i, i, blocks=("3",)) for i in "12"), Task("3", "y", blocked_by=("1", "2"))])


def write(*todos, clear=False):
    """Return a write of these lines: texts, or text and status."""
    lines = (Todo(t) if isinstance(t, str) else Todo(*t) for t in todos)
    return WriteTodos(tuple(lines), clear)


def to(task_id, status):
    """Return the command that sets a status."""
    return UpdateTask(task_id, status=status)


def back(plan):
    """Return the command that brings back the tasks of a plan."""
    return RestorePlan(tuple(plan), plan.next_id)


ON, WAIT = "in_progress", "pending"
DEEP, MANY = {"a": [{}]}, {"a": 1, "b": {"c": 2}}
# Where it is given, the last entry is what the problem has: task ids, seen, legal.
FIRES = [
    ("single_in_progress", BUSY, to("2", ON), (("1", "2"), "2", "1")),
    ("single_in_progress", EMPTY, write(("a", ON), ("b", ON))),
    ("single_in_progress", BUSY, back(TWO_ON)),
    ("single_in_progress", TWO_AND_ONE, Batch((to("1", "completed"), to("3", ON)))),
    ("some_in_progress", BUSY, Batch((to("1", "completed"),))),
    ("some_in_progress", EMPTY, write("a"), (("1",), "0", "1")),
    ("some_in_progress", BUSY, write(("a", "completed"), "b")),
    ("first_in_progress", EMPTY, write("a", "b"), (("1", "2"), "0", "1")),
    ("first_in_progress", DONE, CreateTasks((CreateTask("b"),))),
    ("first_in_progress", EMPTY, Batch((write("a"),))),
    ("completed_is_final", MIXED, to("1", WAIT), (("1",), "set to pending", "")),
    ("completed_is_final", MIXED, UpdateTask("1", subject="x"), (("1",), "reworded", "")),
    ("completed_is_final", MIXED, DeleteTask("1"), (("1",), "removed", "")),
    ("completed_is_final", MIXED, ClearPlan(), (("1",), "removed", "")),
    ("completed_is_final", MIXED, write("b"), (("1",), "removed", "")),
    ("linear_status", IDLE, to("1", "completed"), (("1",), "pending to completed", "")),
    ("linear_status", IDLE, Batch((to("1", ON), to("2", "completed")))),
    ("blocked_start", LINKED, to("2", ON), (("2",), "#1", "")),
    ("blocked_start", LINKED, CreateTask("x", status=ON, blocked_by=("1",))),
    ("blocked_complete", LINKED, to("2", "completed"), (("2",), "#1", "")),
    ("dropped_open_items", IDLE, write("a"), (("2",), "1", '"b"')),
    ("dropped_open_items", IDLE, write("x"), (("1", "2"), "2", '"a", "b"')),
    ("dropped_open_items", IDLE, Batch((to("1", ON), write("a")))),
    ("empty_write", IDLE, write(), ((), "2", "")),
    ("empty_write", IDLE, Batch((write(),))),
    ("duplicate_content", IDLE, CreateTask(" A!")),
    ("duplicate_content", IDLE, UpdateTask("2", subject="a")),
    ("duplicate_content", IDLE, back(TWINS)),
    ("duplicate_content", IDLE, CreateTask("A"), (("1", "3"), "2", "")),
    ("active_form_required", EMPTY, CreateTask("a"), (("1",), "active_form", "")),
    ("active_form_required", FORMED, UpdateTask("1", active_form=None)),
    ("active_form_required", FORMED, back(IDLE)),
    ("priority_required", EMPTY, write("a")),
    ("priority_required", FORMED, UpdateTask("1", priority=None)),
    ("priority_required", EMPTY, back(IDLE)),
    ("priority_required", EMPTY, CreateTask("a"), (("1",), "priority", "")),
    ("max_items", EMPTY, write(*(("x", "completed"),) * 5), ((), "5", "4")),
    ("max_items", EMPTY, write("a", "b", "c", "d"), ((), "4 open", "3")),
    ("max_items", EMPTY, back(FIVE)),
    ("max_text", EMPTY, CreateTask("longer"), (("1",), "subject of 6 characters", "5")),
    ("max_text", IDLE, UpdateTask("1", description="longest")),
    ("max_text", IDLE, back(LONG)),
    ("max_text", EMPTY, CreateTask("short", "seven!!")),
    ("max_text", EMPTY, CreateTask("short", active_form="8 is one")),
    ("max_text", EMPTY, CreateTask("short", owner="anna")),
    ("max_text", EMPTY, Batch((CreateTask("short"), CreateTask("longer")))),
    ("max_text", IDLE, UpdateTask("1", owner="anna")),
    ("max_text", EMPTY, CreateTask("a", "longest"), (("1",), "description of 7 characters", "6")),
    ("max_text", EMPTY, CreateTask("a", owner="anna"), (("1",), "owner of 4 characters", "3")),
    ("max_metadata", EMPTY, CreateTask("a", metadata={"key": "x" * 10})),
    ("max_metadata", EMPTY, CreateTask("a", metadata={"key": "\u00e9" * 6})),
    ("max_metadata", EMPTY, CreateTask("a", metadata={"a": 1, "b": {"c": 2}})),
    ("max_metadata", EMPTY, CreateTask("a", metadata={"a": [{}]})),
    ("max_metadata", IDLE, UpdateTask("1", metadata={"key": "x" * 11}),
     (("1",), "22 bytes as JSON", "20")),
    ("max_metadata", IDLE, back(HEAVY)),
    ("max_metadata", EMPTY, CreateTask("a", metadata=MANY), (("1",), "23 bytes as JSON", "20")),
    ("max_metadata", EMPTY, CreateTask("a", metadata=DEEP), (("1",), "3 levels", "2")),
    ("max_history", FULL, to("1", ON), ((), "10", "9")),
    ("max_history", BROKEN, to("1", ON)),
    ("max_history", OLD, Batch((to("1", ON), UpdateTask("1", owner="ann")))),
    ("max_history", FULL, DeleteTask("1")),
    ("max_history", FULL, back(IDLE)),
    ("max_edges", LINKED, UpdateTask("2", add_blocked_by=("3",)), (("2",), "2", "1")),
    ("max_edges", LINKED, UpdateTask("1", add_blocked_by=("2", "3"), remove_blocks=("2",)),
     (("1",), "2", "1")),
    ("max_edges", LINKED, back(TIED)),
    ("max_edges", EMPTY, back(TIED)),
    ("owner_taken", OWNED, UpdateTask("1", owner="bob"), (("1",), "ann", "")),
    ("batch_completion", IDLE, Batch((to("1", "completed"), to("2", "completed"))),
     (("1", "2"), "2", "")),
    ("no_op_write", IDLE, write("a", "b"), ((), "", "")),
    ("no_op_write", EMPTY, Batch((write(),))),
    ("max_depth", NESTED, CreateTask("x", parent="2")),
    ("max_depth", NESTED, UpdateTask("2", parent="3")),
    ("max_depth", NESTED, UpdateTask("1", parent="4"), (("2",), "3", "2")),
    ("max_depth", NESTED, Batch((UpdateTask("4", parent="3"), CreateTask("x", parent="4")))),
    ("max_depth", EMPTY, back(DEEP_DOWN)),
    ("parent_complete", NESTED, to("1", "completed"), (("1",), "2, 3", "")),
    ("parent_complete", DEEP_DOWN, Batch((to("2", "completed"), to("1", "completed")))),
    ("child_of_closed", ENDED, CreateTask("x", parent="1")),
    ("child_of_closed", ENDED, UpdateTask("3", parent="2"), (("3",), "2", "")),
    ("child_of_closed", ENDED, to("2", WAIT), (("2",), "1", "")),
    ("evidence_required", CHECKED, to("1", "completed"), (("1",), "it runs", "")),
    ("evidence_required", CHECKED, to("2", "completed")),
    ("evidence_required", CHECKED, Batch((to("3", ON), to("3", "completed")))),
    ("evidence_required", CHECKED, Batch((to("4", WAIT), to("4", "completed")))),
    ("evidence_required", CHECKED, UpdateTask("1", status="completed", check=None)),
    ("evidence_required", IDLE, UpdateTask("1", status="completed", check="it runs")),
    ("evidence_required", EMPTY, CreateTask("a", status="completed", check="it runs")),
    ("approval_required", IDLE, to("1", ON), (("1",), "", "")),
    ("approval_required", IDLE, to("1", "completed")),
    ("approval_required", EMPTY, write(("a", ON))),
    ("approval_required", AGREED, Batch((back(IDLE), to("1", ON)))),
    ("approved_changed", AGREED, CreateTask("x"), (("3",), "added since", "ann")),
    ("approved_changed", AGREED, DeleteTask("1")),
    ("approved_changed", AGREED, write("a", "x")),
    ("approved_changed", AGREED, ClearPlan()),
    ("approved_changed", AGREED, back(DONE)),
    ("approved_changed", UNKNOWN, CreateTask("x")),
    ("approved_changed", UNKNOWN, DeleteTask("1"), (("1",), "removed since", "somebody else")),
]  # fmt: skip
QUIET = [
    ("single_in_progress", TEAM, to("2", ON)),
    ("single_in_progress", TWO_ON, back(TWO_ON)),
    ("single_in_progress", TWO_ON, UpdateTask("1", subject="x")),
    ("completed_is_final", MIXED, back(IDLE)),
    ("completed_is_final", MIXED, Batch((to("2", ON), back(LONG)))),
    ("owner_taken", OWNED, back(plan_of([Task("1", "a", owner="bob")]))),
    ("active_form_required", IDLE, back(IDLE)),
    ("priority_required", IDLE, back(FORMED)),
    ("duplicate_content", TWINS, back(TWINS)),
    ("max_items", FIVE, back(FIVE)),
    ("max_text", LONG, back(LONG)),
    ("max_edges", TIED, back(TIED)),
    ("max_metadata", HEAVY, back(HEAVY)),
    ("max_metadata", HEAVY, UpdateTask("1", owner="ann")),
    ("max_metadata", EMPTY, CreateTask("a", metadata={"key": "x" * 9})),
    ("max_metadata", EMPTY, CreateTask("a", metadata={"a": 1, "b": [2]})),
    ("max_metadata", EMPTY, CreateTask("a", metadata={"a": "{:{:{:"})),
    ("max_metadata", HEAVY, UpdateTask("1", metadata={"key": None})),
    ("max_history", OLD, to("1", ON)),
    ("max_history", BROKEN, to("1", WAIT)),
    ("max_text", EMPTY, CreateTask("short", active_form="7 is ok", owner="ann")),
    ("owner_taken", OWNED, UpdateTask("1", owner="ann", subject="x")),
    ("owner_taken", OWNED, UpdateTask("1", owner=None)),
    ("owner_taken", OWNED, UpdateTask("2", owner="bob")),
    ("owner_taken", OWNED, CreateTask("c", owner="bob")),
    ("single_in_progress", BUSY, Batch((to("1", "completed"), to("2", ON)))),
    ("some_in_progress", BUSY, Batch((to("1", "completed"), to("2", ON)))),
    ("some_in_progress", BUSY, to("1", "completed")),
    ("some_in_progress", EMPTY, CreateTask("a")),
    ("some_in_progress", EMPTY, CreateTasks((CreateTask("a"),))),
    ("some_in_progress", IDLE, Batch((to("1", "completed"),))),
    ("some_in_progress", DONE, ClearPlan()),
    ("first_in_progress", EMPTY, write(("a", ON), "b")),
    ("first_in_progress", IDLE, write("c")),
    ("first_in_progress", EMPTY, CreateTask("a")),
    ("first_in_progress", EMPTY, write(("a", "completed"))),
    ("completed_is_final", MIXED, Batch((to("2", ON), UpdateTask("1", owner="x")))),
    ("completed_is_final", MIXED, UpdateTask("2", subject="x")),
    ("completed_is_final", MIXED, DeleteTask("2")),
    ("completed_is_final", DONE, write("next list")),
    ("linear_status", BUSY, to("1", "completed")),
    ("linear_status", IDLE, to("1", "cancelled")),
    ("blocked_start", LINKED, Batch((to("2", ON), to("1", "completed")))),
    ("blocked_start", LINKED, Batch((to("2", ON), to("2", WAIT)))),
    ("blocked_start", LINKED, Batch((to("2", ON), DeleteTask("2")))),
    ("blocked_start", LINKED, to("1", ON)),
    ("blocked_complete", LINKED, to("1", "completed")),
    ("dropped_open_items", IDLE, write("a", clear=True)),
    ("dropped_open_items", MIXED, write("b")),
    ("dropped_open_items", IDLE, Batch((write("x"), back(IDLE)))),
    ("dropped_open_items", IDLE, DeleteTask("1")),
    ("empty_write", IDLE, write(clear=True)),
    ("empty_write", DONE, write()),
    ("empty_write", IDLE, ClearPlan()),
    ("duplicate_content", IDLE, CreateTask("c")),
    ("duplicate_content", TWINS, UpdateTask("1", owner="x")),
    ("active_form_required", EMPTY, CreateTask("a", active_form="doing a")),
    ("active_form_required", IDLE, UpdateTask("1", owner="x")),
    ("priority_required", EMPTY, CreateTask("a", priority="low")),
    ("priority_required", IDLE, UpdateTask("1", subject="x")),
    ("max_items", EMPTY, write("a", "b", "c", ("d", "completed"))),
    ("max_text", EMPTY, CreateTask("short", "short.")),
    ("max_text", LONG, UpdateTask("1", owner="x")),
    ("max_edges", LINKED, UpdateTask("3", add_blocked_by=("1",))),
    ("max_edges", LINKED, Batch((UpdateTask("3", add_blocked_by=("1",)), DeleteTask("3")))),
    ("batch_completion", IDLE, Batch((to("1", "completed"), to("2", ON)))),
    ("no_op_write", IDLE, write("b", "a")),
    ("no_op_write", IDLE, UpdateTask("1")),
    ("max_depth", NESTED, CreateTask("x", parent="1")),
    ("max_depth", NESTED, Batch((CreateTask("x", parent="2"), DeleteTask("5")))),
    ("max_depth", DEEP_DOWN, back(DEEP_DOWN)),
    ("max_depth", DEEP_DOWN, CreateTask("x", parent="1")),
    ("max_depth", DEEP_DOWN, UpdateTask("3", parent="1")),
    ("max_depth", DEEP_DOWN, DeleteTask("1", children="lift")),
    ("parent_complete", NESTED, to("2", "completed")),
    ("parent_complete", NESTED, to("1", "cancelled")),
    ("parent_complete", ENDED, Batch((to("1", ON), to("1", "completed")))),
    ("parent_complete", NESTED, Batch((to("1", "completed"), to("1", ON)))),
    ("parent_complete", NESTED, Batch(tuple(to(i, "completed") for i in "123"))),
    ("parent_complete", DEEP_DOWN, Batch(tuple(to(i, "completed") for i in "321"))),
    ("parent_complete", NESTED, Batch((to("1", "completed"), DeleteTask("1", "remove")))),
    ("parent_complete", IDLE, to("1", "completed")),
    ("child_of_closed", ENDED, CreateTask("x", status="failed", parent="1")),
    ("child_of_closed", ENDED, CreateTask("x", parent="3")),
    ("child_of_closed", ENDED, Batch((to("1", ON), to("2", ON)))),
    ("child_of_closed", ENDED, Batch((to("2", ON), DeleteTask("2")))),
    ("child_of_closed", IDLE, Batch((to("1", "completed"), to("1", WAIT)))),
    ("child_of_closed", NESTED, Batch((to("2", ON), to("1", "completed"), CreateTask("x")))),
    ("evidence_required", CHECKED, to("3", "completed")),
    ("evidence_required", CHECKED, Batch((RecordEvidence("1", passed=True), to("1", "completed")))),
    ("evidence_required", CHECKED, Batch((to("1", "completed"), to("1", WAIT)))),
    ("evidence_required", CHECKED, Batch((to("1", "completed"), DeleteTask("1")))),
    ("evidence_required", CHECKED, to("1", "failed")),
    ("evidence_required", CHECKED, UpdateTask("4", owner="x")),
    ("evidence_required", IDLE, to("1", "completed")),
    ("approval_required", AGREED, to("1", ON)),
    ("approval_required", IDLE, Batch((ApprovePlan("ann"), to("1", ON)))),
    ("approval_required", IDLE, to("1", "cancelled")),
    ("approval_required", IDLE, CreateTask("x")),
    ("approved_changed", IDLE, CreateTask("x")),
    ("approved_changed", AGREED, UpdateTask("1", subject="x")),
    ("approved_changed", AGREED, back(BUSY)),
    ("approved_changed", AGREED, Batch((CreateTask("x"), DeleteTask("3")))),
    ("approved_changed", IDLE, Batch((ApprovePlan("ann"), CreateTask("x")))),
]


def policy(name, severity):
    """Return the policy with this rule alone."""
    return Policy(limits=LIMITS).but(**{name: severity})


@pytest.mark.parametrize("row", FIRES, ids=lambda row: row[0])
def test_rule_fires(row):
    """
    At `error` the rule refuses, at `warn` it tells, at `off` it is not heard; in the same words:
    which tasks, what was seen, what would be legal.
    """
    name, plan, command, *said = row
    refused = decide(plan, command, policy(name, "error"))
    warned = decide(plan, command, policy(name, "warn"))
    assert isinstance(refused, Rejected)
    assert {problem.code for problem in refused.problems} == {name}
    problem = refused.problems[0]
    assert said in ([], [(problem.task_ids, problem.seen, problem.legal)])
    assert warned.warnings == refused.problems
    assert decide(plan, command, policy(name, "off")) == Accepted(warned.plan, warned.events)


@pytest.mark.parametrize(("name", "plan", "command"), QUIET)
def test_rule_is_quiet(name, plan, command):
    """What the rule does not mean passes without a word."""
    answer = decide(plan, command, policy(name, "error"))
    assert isinstance(answer, Accepted)
    assert answer.warnings == ()


def test_every_rule_is_shown_to_fire_and_to_be_quiet():
    """The tables above cover all rules, and each is found under its own name."""
    assert {row[0] for row in FIRES} == {name for name, _, _ in QUIET} == set(RULES)
    assert all(rule.name == name for name, rule in RULES.items())


@pytest.mark.parametrize(
    ("name", "plan"),
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
def test_old_faults_are_told_on_inspection_and_lock_nothing_up(name, plan):
    """A plan that breaks a rule says so when asked, yet a command that adds nothing passes."""
    strict = policy(name, "error")
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
    assert inspect(FULL, strict) == ()
    assert [(p.code, p.seen, p.legal) for p in inspect(BROKEN, strict)] == [
        ("max_history", "12", "9")
    ]
    refused = decide(FULL, DeleteTask("1"), DEFAULT.but(max_history=9))
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
        (AGREED, "ann", True),
        (AGREED, "bob", False),
        (AGREED, None, False),
        (UNKNOWN, "ann", False),
        (UNKNOWN, None, False),
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
