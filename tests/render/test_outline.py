import attrs
import pytest
from hypothesis import given
from support.documents import around, full_task
from support.hostile import plan_with, plans

from todoplan.core.decide.assembly import plan_of
from todoplan.core.events.apply import apply
from todoplan.core.events.types import PlanRestored
from todoplan.core.plan.model import TASK_FIELDS, Status, Task
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.questions import blocked
from todoplan.render.outline import LEFT_OUT, arrows, aside, lines, summary


@given(plans())
def test_the_outline_agrees_with_the_plan(plan):
    """
    One line a task, in order; status, blockers and edges are those that the core knows.
    """
    rows = lines(plan)
    assert [row.id for row in rows] == [task.id for task in plan]
    assert [row.status for row in rows] == [task.status for task in plan]
    assert {row.id: row.waits_for for row in rows if row.waits_for} == blocked(plan)
    assert [row.blocked_by for row in rows] == [task.blocked_by for task in plan]


@given(plans())
def test_arrows_are_the_edges(plan):
    """
    Every edge of the plan is one arrow between two nodes that exist.
    """
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
    ],
)
def test_each_status_has_its_mark(status, mark, words):
    """
    The marks stand here and nowhere else.
    """
    (row,) = lines(plan_with("a", status=status))
    assert (row.mark, row.words) == (mark, words)
    assert row.caption == "1 a"


def test_notes_name_the_owner_and_the_blockers():
    """
    An open task says what it waits for; a completed one waits for nothing.
    """
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


def test_a_text_that_cannot_be_seen_says_so():
    """
    A subject of hidden characters alone leaves no empty line.
    """
    (row,) = lines(plan_with("\u202e\u200b", owner="\u200b"))
    assert (row.text, row.owner) == ("(no visible text)", None)


def test_aside_puts_notes_in_brackets():
    """
    No notes, no brackets.
    """
    assert aside(()) == ""
    assert aside(("ann", "waits for 1")) == " (ann; waits for 1)"


def test_summary_counts():
    """
    What is completed is always told, what is in progress or cancelled if there is any.
    """
    words = ("completed", "in_progress", "cancelled", "pending", "completed")
    tasks = [Task(str(n), "a", status=word) for n, word in enumerate(words, 1)]
    assert summary(plan_of(tasks)) == "2/5 completed, 1 in progress, 1 cancelled"
    assert summary(plan_with("a")) == "0/1 completed"
    assert summary(Plan()) == "no tasks"


def test_a_restored_plan_with_loose_ends_is_shown():
    """
    A journal replays unchecked: an edge to no task is left out, an id that is none stays harmless.
    """
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
    """
    Nothing in an outline can be changed.
    """
    (row,) = lines(plan_with("a"))
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        row.text = "b"


@pytest.mark.parametrize("name", TASK_FIELDS)
def test_every_field_is_shown_or_left_out_on_purpose(name):
    """
    A field that changes its task's line stands not among those left out, any other does.
    """
    full, default = full_task(), TASK_FIELDS[name].default
    other = full.but(**{name: "6" if default is attrs.NOTHING else default})
    rows = [next(row for row in lines(around(t)) if row.id == t.id) for t in (full, other)]
    assert (rows[0] == rows[1]) == (name in LEFT_OUT)
