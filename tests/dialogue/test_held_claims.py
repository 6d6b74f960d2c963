"""The fences of a hand: what its own calls got, until they end it."""

from hypothesis import given
from hypothesis import strategies as st

from todoplan.core.events.types import (
    PlanCleared,
    PlanRestored,
    StatusChanged,
    TaskClaimed,
    TaskDeleted,
    TaskEdited,
)
from todoplan.core.plan.model import EMPTY, Claim, Status
from todoplan.dialogue.toolbox import fences_after

ids = st.sampled_from("123")


def test_each_event_that_ends_a_claim_ends_its_fence():
    """Closed, given back, deleted, or the plan is another one; an edit ends nothing."""
    held = {"1": 4, "2": 1}
    assert fences_after(held, [TaskEdited("1", EMPTY)]) == held
    for new in set(Status) - {Status.IN_PROGRESS}:
        moved = StatusChanged("1", Status.IN_PROGRESS, new)
        assert fences_after(held, [moved]) == {"2": 1}
    assert fences_after(held, [TaskDeleted("1"), TaskDeleted("9")]) == {"2": 1}
    for event in (PlanCleared(("1", "2")), PlanRestored(())):
        assert fences_after(held, [event]) == {}


@given(
    st.dictionaries(ids, st.integers(1, 9)),
    st.lists(
        st.builds(TaskClaimed, ids, st.builds(Claim, st.just("a"), st.integers(1, 9)))
        | st.builds(TaskDeleted, ids)
    ),
    st.integers(0, 9),
)
def test_events_may_come_in_parts(held, events, cut):
    """What a hand holds after all of its calls is what it holds after each; nothing is changed."""
    before = dict(held)
    in_parts = fences_after(fences_after(held, events[:cut]), events[cut:])
    assert in_parts == fences_after(held, events)
    assert held == before
