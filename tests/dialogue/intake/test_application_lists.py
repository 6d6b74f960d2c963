"""Laws of mended lists: always a plan or refused, nothing lost unsaid, fine lists untouched."""

from hypothesis import given
from hypothesis import strategies as st

from todoplan.core.decide.assembly import plan_of, plan_problems
from todoplan.core.plan.model import Task
from todoplan.dialogue.intake.application_lists import repaired_list
from todoplan.dialogue.replies.error_texts import repairs_text
from todoplan.errors import PlanError

IDS = st.sampled_from(["1", "2", "3", "x", "", "007", "9"])
ENDS = st.lists(IDS, max_size=3).map(tuple)
TASKS = st.lists(
    st.builds(Task, IDS, st.sampled_from(["a", " "]), blocks=ENDS, blocked_by=ENDS), max_size=5
)


@given(TASKS, st.integers(1, 12))
def test_a_mended_list_has_no_fault_but_those_with_two_mends(tasks, next_id):
    """What is left to refuse: a cycle, or an id that stands twice and is named by an edge."""
    done, _ = repaired_list(tasks, next_id)
    assert len(done) == len(tasks)
    assert {fault.code for fault in plan_problems(done)} <= {"cycle", "duplicate_id", "bad_id"} | (
        {"one_sided_edge"} if len({task.id for task in done}) < len(done) else set()
    )


@given(TASKS, st.integers(1, 12))
def test_mending_twice_mends_nothing_more(tasks, next_id):
    """A list that is a plan comes back as it is, and nothing is told."""
    done, _ = repaired_list(tasks, next_id)
    try:
        plan = plan_of(done)
    except PlanError:
        return
    assert repaired_list(tuple(plan), 1) == (done, ())


@given(TASKS)
def test_every_difference_is_told(tasks):
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
