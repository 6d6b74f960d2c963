"""A developer's mistake: the exception says what was seen and what to write, and carries it."""

from datetime import UTC, datetime

import attrs
import pytest

from todoplan.core.commands import (
    Batch,
    CreateTask,
    DeleteTask,
    RestorePlan,
    UpdateTask,
    WriteTodos,
)
from todoplan.core.decide import decide, plan_of
from todoplan.core.events.apply import apply, replay
from todoplan.core.events.types import TasksReordered
from todoplan.core.plan.model import (
    Status,
    Task,
    Todo,
    as_member,
    as_number_or_none,
    as_text,
    as_whole_number,
    freeze,
)
from todoplan.core.plan.plan import Plan
from todoplan.core.problems import Problem
from todoplan.core.rules import DEFAULT, RULES, Change, Limits, Policy, Rule, judge
from todoplan.errors import PlanError

CREATE = CreateTask("a")
NOTHING = Change(Plan(), Plan(), None, (), Limits())
NOW_HERE = datetime(2026, 1, 2)  # noqa: DTZ001 - without a zone
STATUSES, NAMES = ", ".join(Status), ", ".join(sorted(RULES))
LIMITS = ", ".join(f"{field.name}=..." for field in attrs.fields(Limits))
ZONE = "2026-01-02T00:00:00 has no time zone; give an aware time such as datetime.now(UTC)"
CHECK = "a check yields problems, or returns a tuple of them, () if nothing is wrong"
UNKNOWN = Problem("unknown_task", ("3",), seen="3", path="task_id")
TWICE = Problem("duplicate_id", ("1",), seen="the id stands twice")
NO_TASK = Problem("unknown_task", ("2", "7"), seen="blocked_by names no task")


def nested(levels):
    """Return a list in a list in a list."""
    value = []
    for _ in range(levels):
        value = [value]
    return value


def batches(levels):
    """Make a batch in a batch in a batch."""
    commands = (CREATE,)
    for _ in range(levels):
        commands = (Batch(commands),)


def judged(check):
    """Judge a change that changed nothing by a check of one's own."""
    judge(DEFAULT.adding(Rule("mine", check)), NOTHING)


MISTAKES = [
    (lambda: decide([], CREATE, DEFAULT),
     "[] (list) was given; give a plan: decide(plan, command, policy)", {"seen": []}),
    (lambda: decide(Plan(), CREATE, "claude_strict"),
     "'claude_strict' (str) is no policy; give one, such as todoplan.CLAUDE_STRICT",
     {"seen": "claude_strict"}),
    (lambda: decide(Plan(), CREATE, 3), "3 (int) is no policy; give one, such as todoplan.DEFAULT",
     {"seen": 3}),
    (lambda: decide(Plan(), "a", DEFAULT),
     "'a' (str) is no command; give one, such as commands.CreateTask('a')", {"seen": "a"}),
    (lambda: decide(Plan(), CREATE, DEFAULT, at=NOW_HERE), ZONE, {"at": NOW_HERE}),
    (lambda: decide(Plan(), UpdateTask("3", status="completed"), DEFAULT).unwrap(),
     "task_id: There is no task 3; the ids are: nothing yet.", {"problems": (UNKNOWN,)}),
    (lambda: replay([], ()), "[] (list) was given; give a plan: replay(plan, events)",
     {"seen": []}),
    (lambda: replay(Plan(), 3), "3 (int) are no events; write replay(plan, accepted.events)",
     {"seen": 3}),
    (lambda: apply(Plan(), "a"), ("'a' (str) is no event; give events, such as those of a decision:"
     " replay(plan, accepted.events)"), {"seen": "a"}),
    (lambda: plan_of([Task("1", "a"), Task("1", "b"), Task("2", "c", blocked_by=("7",))]),
     ("these tasks are not a valid plan: duplicate_id 1 (the id stands twice);"
     " unknown_task 2, 7 (blocked_by names no task). Repair them, or create them by commands"),
     {"problems": (TWICE, NO_TASK)}),
    (lambda: plan_of(["a"]), "'a' (str) was given; give tasks, such as [Task('1', 'Write it')]",
     {"seen": "a"}),
    (lambda: plan_of([], next_id="3"), "'3' (str) was given; give a whole number", {"seen": "3"}),
    (lambda: plan_of([], revision=-1), "-1 (int) was given; give a whole number from 0 on",
     {"seen": -1}),
    (lambda: RestorePlan((), "3"), "'3' (str) was given; give a whole number from 0 on",
     {"seen": "3"}),
    (lambda: WriteTodos((), clear="no"), "'no' (str) was given; give True or False",
     {"seen": "no"}),
    (lambda: batches(65),
     "batches are nested more than 64 levels deep; put their commands into one", {"limit": 64}),
    (lambda: Batch(["a"]),
     "'a' (str) was given; give a tuple of commands, such as (CreateTask('a'), StartNext())",
     {"seen": "a"}),
    (lambda: freeze(nested(64)),
     "objects and arrays are nested more than 64 levels deep; give a flatter value", {"limit": 64}),
    (lambda: Task("1", "a", blocked_by="23"),
     '\'23\' (str) was given; give a tuple of ids, which are texts, such as ("3", "12")',
     {"seen": "23"}),
    (lambda: Plan().get(3), '3 (int) was given; give an id, which is a text such as "3": str(id)',
     {"seen": 3}),
    (lambda: as_text(3), "3 (int) was given; give a text", {"seen": 3}),
    (lambda: Task("1", "a", owner=3), "3 (int) was given; give a text or None", {"seen": 3}),
    (lambda: as_member("complete", Status),
     f"'complete' (str) is no status; write one of {STATUSES}; did you mean completed?",
     {"seen": "complete"}),
    (lambda: as_member("x", Status), f"'x' (str) is no status; write one of {STATUSES}",
     {"seen": "x"}),
    (lambda: as_number_or_none("3"), "'3' (str) was given; give a finite number or None",
     {"seen": "3"}),
    (lambda: as_number_or_none(float("inf")), "inf (float) was given; give a finite number or None",
     {"seen": float("inf")}),
    (lambda: as_number_or_none(10**400),
     f"1{'0' * 17}...{'0' * 19} (int) was given; give a finite number or None", {"seen": 10**400}),
    (lambda: as_whole_number(1.5), "1.5 (float) was given; give a whole number", {"seen": 1.5}),
    (lambda: as_whole_number(True, 0),  # noqa: FBT003
     "True (bool) was given; give a whole number from 0 on", {"seen": True}),
    (lambda: as_whole_number(0, 1), "0 (int) was given; give a whole number from 1 on",
     {"seen": 0}),
    (lambda: Task("1", "a", created_at="now"),
     "'now' (str) was given; give an aware time such as datetime.now(UTC), or None",
     {"seen": "now"}),
    (lambda: Task("1", "a", created_at=NOW_HERE), ZONE, {"at": NOW_HERE}),
    (lambda: Task("1", "a", metadata=[1]),
     '[1] (list) was given; give a mapping such as {"key": "value"}', {"seen": [1]}),
    (lambda: Limits(items=-1), "-1 (int) is no limit; write a number from 0 on, such as items=50",
     {"seen": -1}),
    (lambda: Limits(edges=True),
     "True (bool) is no limit; write a number from 0 on, such as edges=50", {"seen": True}),
    (lambda: Rule("mine", lambda _: (), on="x"),
     "'x' (str) was given as on; give several triggers, such as (TaskCreated,)", {"seen": "x"}),
    (lambda: DEFAULT.but(max_items="loud"),
     "'loud' (str) is no severity; write one of off, warn, error", {"seen": "loud"}),
    (lambda: DEFAULT.but(max_items=True),
     "True (bool) is no severity; write one of off, warn, error", {"seen": True}),
    (lambda: DEFAULT.but(limits=3), "3 (int) was given; give limits, such as Limits(items=50)",
     {"seen": 3}),
    (lambda: DEFAULT.but(max_item=1, max_textt=1),
     ("no rule is called max_item, max_textt; did you mean max_items, max_text?"
     f" the rules are {NAMES}"), {"unknown": ["max_item", "max_textt"]}),
    (lambda: Policy().but(zzzzzz="warn"), f"no rule is called zzzzzz; the rules are {NAMES}",
     {"unknown": ["zzzzzz"]}),
    (lambda: DEFAULT.but(batch_completion=3),
     ("3 is no severity, and batch_completion has no single limit; write off, warn or error."
     f" Limits are set by but(limits=Limits({LIMITS}))"), {"seen": 3}),
    (lambda: DEFAULT.adding("x"),
     "'x' (str) was given; give a rule, such as Rule(\"my_rule\", check)", {"seen": "x"}),
    (lambda: Policy.preset("nope"), ("there is no preset 'nope' (str); the presets are langchain,"
     " agentscope, default, claude, claude-strict, strict"), {"seen": "nope"}),
    (lambda: Rule("x", 3), "3 (int) was given as a check; give a function of a Change",
     {"seen": 3}),
    (lambda: Rule(3, print), "3 (int) was given; give a text", {"seen": 3}),
    (lambda: judged(lambda _: 3), f"the rule mine gave 3 (int); {CHECK}",
     {"rule": "mine", "seen": 3}),
    (lambda: judged(lambda _: ("x",)), f"the rule mine gave 'x' (str); {CHECK}",
     {"rule": "mine", "seen": "x"}),
]  # fmt: skip


@pytest.mark.parametrize(("mistake", "text", "data"), MISTAKES)
def test_a_mistake_is_named_with_what_was_seen_and_its_remedy(mistake, text, data):
    """Word for word: a developer reads nothing else before the code is changed."""
    with pytest.raises(PlanError) as raised:
        mistake()
    assert str(raised.value) == text
    assert raised.value.data == data


LATER = datetime(2026, 1, 3, tzinfo=UTC)


def test_a_task_that_loses_an_edge_to_a_deletion_is_updated_then():
    """Both ends of the edge have the time of the deletion, the others theirs."""
    plan = plan_of(
        [
            Task("1", "a", blocks=("2",)),
            Task("2", "b", blocks=("3",), blocked_by=("1",)),
            Task("3", "c", blocked_by=("2",)),
            Task("4", "d"),
        ]
    )
    after = decide(plan, DeleteTask("2"), at=LATER).unwrap()
    assert [task.updated_at for task in after] == [LATER, LATER, None]


def test_a_list_in_another_order_says_when_it_was_written():
    """The event that orders the tasks has the time of the command."""
    plan = plan_of([Task("1", "a"), Task("2", "b")])
    done = decide(plan, WriteTodos((Todo("b"), Todo("a"))), at=LATER)
    assert done.events == (TasksReordered(("2", "1"), LATER),)


def test_an_id_that_stands_twice_in_a_list_is_named():
    """As the task's id, as what was seen, and by its place."""
    todos = (Todo("a", id="7"), Todo("b", id="7"))
    (problem,) = decide(Plan(), WriteTodos(todos)).problems
    assert problem == Problem("duplicate_id", ("7",), "7", "", "todos[1].id")
