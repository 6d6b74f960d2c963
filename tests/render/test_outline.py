from datetime import UTC, datetime

import attrs
import pytest
from hypothesis import given
from support.documents import around, full_tasks
from support.hostile import plan_with, plans, texts

from todoplan.core.decide import plan_of
from todoplan.core.events.apply import apply
from todoplan.core.events.types import PlanRestored
from todoplan.core.plan.model import (
    TASK_FIELDS,
    Approval,
    Evidence,
    Priority,
    Status,
    Task,
    Waiting,
)
from todoplan.core.plan.plan import Plan, ancestors
from todoplan.core.plan.questions import blocked
from todoplan.render.outline import (
    DEEPEST,
    arrows,
    aside,
    lines,
    nesting,
    quoted,
    summary,
)
from todoplan.texts import one_line

AT = datetime(2026, 1, 5, 9, tzinfo=UTC)


@given(plans())
def test_the_outline_agrees_with_the_plan(plan):
    """One line a task, in order; status, blockers and edges are those that the core knows."""
    rows = lines(plan)
    assert [row.id for row in rows] == [task.id for task in plan]
    assert [row.status for row in rows] == [task.status for task in plan]
    assert {row.id: row.waits_for for row in rows if row.waits_for} == blocked(plan)
    assert [row.blocked_by for row in rows] == [task.blocked_by for task in plan]
    assert [row.level for row in rows] == [
        sum(1 for _ in ancestors(plan, task.id)) for task in plan
    ]
    assert [row.is_waiting for row in rows] == [task.waiting is not None for task in plan]
    assert [row.behind is None for row in rows if row.status == "pending"] == [
        not is_behind(plan, task.id) for task in plan if task.status == "pending"
    ]


def is_behind(plan, task_id):
    """Whether a failed task blocks a task, or a task that contains it."""
    return any(
        plan[end].status == "failed" or (plan[end].status == "pending" and is_behind(plan, end))
        for each in (task_id, *ancestors(plan, task_id))
        for end in plan[each].blocked_by
    )


@given(plans())
def test_arrows_are_the_edges(plan):
    """Every edge of the plan is one arrow between two nodes that exist."""
    rows = lines(plan)
    edges = [(f"t{b}", f"t{task.id}") for task in plan for b in task.blocked_by]
    assert list(arrows(rows)) == edges
    assert {end for arrow in edges for end in arrow} <= {row.node for row in rows}


@pytest.mark.parametrize(
    ("status", "mark", "words"),
    [
        ("pending", "[ ]", "pending"),
        ("in_progress", "[~]", "in progress"),
        ("completed", "[x]", "completed"),
        ("cancelled", "[-]", "cancelled"),
        ("failed", "[!]", "failed"),
    ],
)
def test_each_status_has_its_mark(status, mark, words):
    """The marks stand here and nowhere else."""
    (row,) = lines(plan_with("a", status=status))
    assert (row.mark, row.words) == (mark, words)
    assert row.caption == "1 a"


def test_notes_name_the_owner_and_the_blockers():
    """An open task says what it waits for; a completed one waits for nothing."""
    first, second = lines(plan_with("a", "b", owner=" ann\n"))
    assert first.notes == ("ann",)
    assert second.notes == ("ann", "waits for 1")
    done = plan_of(
        (
            Task("1", "a", blocks=("2",)),
            Task("2", "b", status=Status.COMPLETED, blocked_by=("1",)),
        )
    )
    assert lines(done)[1].notes == ()
    assert lines(done)[1].blocked_by == ("1",)


def notes(**fields):
    """Return what is said of a task that has these fields."""
    return lines(plan_of([Task("1", "a", **fields)]))[0].notes


def test_notes_tell_what_a_task_waits_for_outside():
    """Who or what, how long, and what is asked; the answer stays told."""
    assert notes(waiting=Waiting()) == ("waiting",)
    assert notes(waiting=Waiting("Bob", AT, "Red or\nblue?")) == (
        'waiting: "Bob"',
        "until 2026-01-05 09:00+00:00",
        'asks: "Red or blue?"',
    )
    assert notes(answer="red") == ('answered: "red"',)


@pytest.mark.parametrize(
    ("fields", "verified", "mark", "said"),
    [
        ({"status": "pending", "check": "c"}, None, "[ ]", ('check: "c"',)),
        ({"status": "completed"}, None, "[x]", ()),
        ({"status": "completed", "check": "c"}, False, "[x]", ("unverified", 'check: "c"')),
        (
            {"status": "completed", "check": "c", "evidence": Evidence(passed=False)},
            False,
            "[x]",
            ("unverified", 'check: "c"', "check failed"),
        ),
        (
            {"status": "completed", "check": "c", "evidence": Evidence(passed=True, by="ci")},
            True,
            "[v]",
            ('check: "c"', 'verified by "ci"'),
        ),
        (
            {"status": "completed", "evidence": Evidence(passed=True, summary="s")},
            True,
            "[v]",
            ('verified: "s"',),
        ),
        (
            {"status": "in_progress", "evidence": Evidence(passed=True, summary="s", by="ci")},
            None,
            "[~]",
            ('check passed by "ci": "s"',),
        ),
    ],
)
def test_unverified_and_verified_are_told_apart(fields, verified, mark, said):
    """Only completed tasks are either; a check needs evidence that passed."""
    (row,) = lines(plan_of([Task("1", "a", **fields)]))
    assert (row.verified, row.mark, row.notes) == (verified, mark, said)


@given(texts)
def test_no_text_leaves_its_quotes(text):
    """What a model wrote cannot pass for a word of ours."""
    shown = quoted(text)
    assert (shown[0], shown[-1], shown[1:-1].count('"')) == ('"', '"', 0)
    assert shown[1:-1] == one_line(text).replace('"', "'")


def test_what_is_behind_a_failed_task_can_never_start():
    """Whatever waits for it, for that, or lies in what does; one that was started goes on."""
    plan = plan_of(
        [
            Task("1", "failed", status="failed", blocks=("2", "5", "8")),
            Task("2", "behind", blocked_by=("1",), blocks=("4",)),
            Task("3", "in it", parent="2"),
            Task("4", "behind that", blocked_by=("2",)),
            Task("5", "started", status="in_progress", blocked_by=("1",), blocks=("7",)),
            Task("6", "in the started one", parent="5"),
            Task("7", "only waits", blocked_by=("5",)),
            Task("8", "done all the same", status="completed", blocked_by=("1",), blocks=("9",)),
            Task("9", "free", blocked_by=("8",)),
        ]
    )
    assert [row.id for row in lines(plan) if "can never start: 1 failed" in row.notes] == [
        *("2", "3", "4", "6")
    ]
    assert [row.behind for row in lines(plan_with("a", "b"))] == [None, None]


def test_one_failed_task_is_named_of_several():
    """The first of the plan; what waits for an unknown task waits for nothing."""
    tasks = (
        Task("1", "a", status="failed", blocks=("3", "7")),
        Task("2", "b", status="failed", blocks=("3",)),
        Task("3", "c", blocked_by=("1", "2")),
    )
    plan = apply(Plan(), PlanRestored(tasks))
    assert [row.behind for row in lines(plan)] == [None, None, "1"]
    assert lines(plan)[2].facts == ("waits for 1, 2", "can never start: 1 failed")


def test_a_deep_tree_is_shown_at_one_level_from_some_depth_on():
    """A thousand levels are no thousand columns of blanks, and take no time that grows."""
    tasks = [Task("1", "a"), *(Task(str(n), "a", parent=str(n - 1)) for n in range(2, 1001))]
    rows = lines(plan_of(tasks))
    assert [row.level for row in rows[:18]] == [*range(DEEPEST + 1), DEEPEST]
    assert {row.level for row in rows[17:]} == {DEEPEST}
    opened = [row.id for row, opens, _ in nesting(rows) if opens]
    assert opened == [str(n) for n in range(1, DEEPEST + 1)]
    assert [ends for *_, ends in nesting(rows)][-1] == DEEPEST


def test_a_text_that_cannot_be_seen_says_so():
    """A subject of hidden characters alone leaves no empty line."""
    (row,) = lines(plan_with("\u202e\u200b", owner="\u200b"))
    assert (row.text, row.owner) == ("(no visible text)", None)


def test_aside_puts_notes_in_brackets():
    """No notes, no brackets."""
    assert aside(()) == ""
    assert aside(("ann", "waits for 1")) == " (ann; waits for 1)"


def test_summary_counts():
    """What is completed is always told, everything else if there is any, and what was approved."""
    words = ("completed", "in_progress", "cancelled", "pending", "completed", "failed")
    tasks = [Task(str(n), "a", status=word) for n, word in enumerate(words, 1)]
    tasks[3] = tasks[3].but(waiting=Waiting("Bob"))
    told = "2/6 completed, 1 in progress, 1 waiting, 1 failed, 1 cancelled"
    assert summary(plan_of(tasks)) == told
    approved = [Approval(3, 'ann"'), Approval(3)]
    assert [summary(plan_of(tasks, approved=each)) for each in approved] == [
        f'{told}, approved by "ann\'" at revision 3',
        f"{told}, approved at revision 3",
    ]
    assert summary(plan_with("a")) == "0/1 completed"
    assert summary(Plan()) == "no tasks"


def test_a_restored_plan_with_loose_ends_is_shown():
    """A journal replays unchecked: an edge to no task is left out, a bad id stays harmless."""
    tasks = (
        Task("1", "a", blocked_by=("9",)),
        Task('x\x1b[2J"]', "b", blocked_by=("1",)),
        Task("3", "c", blocked_by=('x\x1b[2J"]',)),
    )
    plan = apply(Plan(), PlanRestored(tasks))
    first, second, third = lines(plan)
    assert (first.blocked_by, first.waits_for) == ((), ())
    assert second.node == "t_120__34__93_"
    assert (third.waits_for, third.blocked_by) == (('x"]',), ('x"]',))
    assert list(arrows(lines(plan))) == [("t1", second.node), (second.node, "t3")]


def test_a_line_is_a_value():
    """Nothing in an outline can be changed."""
    (row,) = lines(plan_with("a"))
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        row.text = "b"


SHOWN = {"id", "subject", "status", "priority", "owner", "parent", "blocked_by", "due"}
SHOWN |= {"waiting", "answer", "claim", "check", "evidence"}


@pytest.mark.parametrize("name", TASK_FIELDS)
def test_a_line_shows_these_fields_and_no_other(name):
    """A new field is left out until somebody shows it."""
    default = TASK_FIELDS[name].default
    value = "6" if default is attrs.NOTHING else default
    # A claim goes with the status and the count that it has.
    unclaimed = {"claim": None} if name in {"status", "claims"} else {}
    fulls = [full.but(**unclaimed) for full in full_tasks().values()]
    changed = [row_of(full) != row_of(full.but(**{name: value})) for full in fulls]
    assert any(changed) == (name in SHOWN)


def row_of(task):
    """Return the line of a task in a plan of it and of those that it names."""
    return next(row for row in lines(around(task)) if row.id == task.id)


def test_a_high_or_low_priority_is_shown_and_a_medium_one_is_not():
    """Medium is the usual priority: a line says nothing of it."""
    plan = plan_of(Task(f"{place}", "Plant", priority=each) for place, each in PRIORITIES)
    assert [row.facts for row in lines(plan)] == [("high priority",), (), ("low priority",), ()]


PRIORITIES = tuple(enumerate((Priority.HIGH, Priority.MEDIUM, Priority.LOW, None), start=1))
