from hypothesis import given
from hypothesis import strategies as st
from support import strategies as some

from todoplan.core.plan.draft import Draft
from todoplan.core.plan.frontier import COLUMN, bits
from todoplan.core.plan.model import Status
from todoplan.core.plan.plan import Counts
from todoplan.core.plan.slots import positions


@given(st.lists(some.statuses), some.statuses)
def test_bits_are_the_places_of_a_status(statuses, wanted):
    """Each place where it stands is a bit that is set."""
    places = [place for place, status in enumerate(statuses) if status is wanted]
    assert list(positions(bits(statuses, wanted))) == places


def test_columns_are_those_of_the_counts():
    """A status is counted under its own name."""
    assert [status.value for status in COLUMN] == list(Counts._fields)
    assert list(COLUMN.values()) == list(range(len(Status)))


@given(some.full_plans)
def test_what_is_kept_beside_the_tasks_agrees_with_them(plan):
    """Counts, waiting and the first ready task are what counting anew gives."""
    draft = Draft(plan)
    assert list(draft) == list(plan)
    assert len(draft) == sum(draft.counts) == len(plan)
    for task in plan:
        waiting = [end for end in task.blocked_by if not draft.get(end).status.resolved]
        assert draft.waits_for(task.id) == len(waiting)
    ready = [t for t in plan if t.status is Status.PENDING and not draft.waits_for(t.id)]
    assert draft.first_ready() == (ready[0] if ready else None)
