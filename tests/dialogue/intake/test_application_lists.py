"""Laws of repaired lists: always a plan or refused, nothing lost unsaid, sound ones untouched."""

from hypothesis import given
from hypothesis import strategies as st

from todoplan.core.decide import plan_of, plan_problems
from todoplan.core.plan.model import Task
from todoplan.dialogue.intake import repaired_list
from todoplan.dialogue.replies import repairs_text
from todoplan.errors import PlanError

IDS = st.sampled_from(["1", "2", "3", "x", "", "007", "9"])
ENDS = st.lists(IDS, max_size=3).map(tuple)
TASKS = st.lists(
    st.builds(Task, IDS, st.sampled_from(["a", " "]), blocks=ENDS, blocked_by=ENDS), max_size=5
)


@given(TASKS, st.integers(1, 12))
def test_a_repaired_list_has_no_fault_but_those_with_two_repairs(tasks, next_id):
    """What is left to refuse: a cycle, or an id that stands twice and is named by an edge."""
    done, _ = repaired_list(tasks, next_id)
    assert len(done) == len(tasks)
    assert {fault.code for fault in plan_problems(done)} <= {"cycle", "duplicate_id", "bad_id"} | (
        {"one_sided_edge"} if len({task.id for task in done}) < len(done) else set()
    )


@given(TASKS, st.integers(1, 12))
def test_repairing_twice_changes_nothing_more(tasks, next_id):
    """A list that is a plan comes back as it is, and nothing is reported."""
    done, _ = repaired_list(tasks, next_id)
    try:
        plan = plan_of(done)
    except PlanError:
        return
    assert repaired_list(tuple(plan), 1) == (done, ())


@given(TASKS)
def test_every_difference_is_reported(tasks):
    """No repair, no change, but for repeated ends of an edge."""
    done, repairs = repaired_list(tasks, 1)
    if not repairs:
        assert [(t.id, t.subject, set(t.blocks), set(t.blocked_by)) for t in done] == [
            (t.id, t.subject, set(t.blocks), set(t.blocked_by)) for t in tasks
        ]
    assert all(repairs_text((repair,)).startswith("note: ") for repair in repairs)


def test_new_ids_are_above_all_there_were():
    """Above the next id and every id in use; edges follow."""
    tasks = (Task("x", "a", blocks=("4",)), Task("4", "b"))
    done, _ = repaired_list(tasks, 9)
    assert [(task.id, task.blocks, task.blocked_by) for task in done] == [
        ("9", ("4",), ()),
        ("4", (), ("9",)),
    ]


def test_every_kind_of_repair_is_named_with_its_tasks():
    """Ids, titles, edges that led nowhere on either side, and the other ends of edges."""
    done, repairs = repaired_list(
        (
            Task("x", "a", blocks=("4", "x", "9")),
            Task("4", " ", description="say\nmore", blocked_by=("8", "x")),
            Task("1", "c"),
            Task("1", "d", blocks=("4",)),
        ),
        9,
    )
    assert done == (
        Task("9", "a", blocks=("4",)),
        Task("4", "say", description="say\nmore", blocked_by=("9", "10")),
        Task("1", "c"),
        Task("10", "d", blocks=("4",)),
    )
    assert {repair.code: repair.seen for repair in repairs} == {
        "list_ids": '"x" is now #9, "1" is now #10',
        "list_titles": "#4",
        "list_gone": "#9 -> #9, #8 -> #4",
        "list_mirrored": "#10 -> #4",
    }


def test_an_id_that_stands_twice_and_is_named_is_left_alone():
    """Which of the two was meant is not known; one that stands once is renamed, named or not."""
    done, repairs = repaired_list(
        (Task("2", "a"), Task("2", "b"), Task("x", "c"), Task("5", " ", blocked_by=("2", "x"))), 7
    )
    assert [task.id for task in done] == ["2", "2", "7", "5"]
    assert (done[3].subject, done[3].blocked_by) == ("Untitled", ("2", "7"))
    assert repairs[0].seen == '"x" is now #7'
