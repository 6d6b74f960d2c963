"""Events: any, and those that commands bring."""

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from todoplan.core.decide.decide import Accepted, decide
from todoplan.core.events.apply import replay
from todoplan.core.events.types import (
    EdgeAdded,
    EdgeRemoved,
    Event,
    PlanCleared,
    PlanRestored,
    StatusChanged,
    TaskCreated,
    TaskDeleted,
    TaskEdited,
    TasksReordered,
)
from todoplan.core.plan.frozen import FrozenDict
from todoplan.core.plan.model import EDITABLE
from todoplan.core.plan.plan import Plan
from todoplan.testing.strategies.script import scripts
from todoplan.testing.strategies.shapes import plans
from todoplan.testing.strategies.text import few, ids, titles
from todoplan.testing.strategies.values import (
    ACTIVE_FORMS,
    DESCRIPTIONS,
    ESTIMATES,
    OWNERS,
    PRIORITIES,
    STATUSES,
    metadata,
    tasks,
    times,
)

__all__ = ["EVENTS", "events", "histories"]

_FIELDS = {
    "subject": titles(),
    "description": DESCRIPTIONS,
    "active_form": ACTIVE_FORMS,
    "priority": PRIORITIES,
    "owner": OWNERS,
    "estimate": ESTIMATES,
    "metadata": metadata().map(FrozenDict),
}
_NAMED = st.sets(st.sampled_from(sorted(EDITABLE)), min_size=1, max_size=3)
_CHANGES = _NAMED.flatmap(lambda names: st.fixed_dictionaries({n: _FIELDS[n] for n in names}))

EVENTS: dict[type, SearchStrategy[Event]] = {
    TaskCreated: st.builds(TaskCreated, tasks()),
    StatusChanged: st.builds(StatusChanged, ids(), STATUSES, STATUSES, times()),
    TaskEdited: st.builds(TaskEdited, ids(), _CHANGES.map(FrozenDict), times()),
    EdgeAdded: st.builds(EdgeAdded, ids(), ids(), times()),
    EdgeRemoved: st.builds(EdgeRemoved, ids(), ids(), times()),
    TaskDeleted: st.builds(TaskDeleted, ids(), times()),
    TasksReordered: st.builds(TasksReordered, few(ids()), times()),
    PlanCleared: st.builds(PlanCleared, few(ids()), times()),
    PlanRestored: plans(max_size=3).map(lambda plan: PlanRestored(tuple(plan), plan.next_id)),
}
"""Each event by its type, of no plan in particular: `apply` is total, and takes it to any."""


def events() -> SearchStrategy[Event]:
    """
    Draw any event, also one that fits no plan.
    """
    return st.one_of(*EVENTS.values())


@st.composite
def histories(draw: DrawFn, max_size: int = 8) -> tuple[Event, ...]:
    """
    Draw the events of a plan's life: replaying them from an empty plan gives a plan.
    """
    plan = Plan()
    happened: list[Event] = []
    script = draw(scripts(max_size=max_size))
    for command in script:
        answer = decide(plan, command, at=draw(times()))
        brought = answer.events if isinstance(answer, Accepted) else ()
        plan = replay(plan, brought)
        happened += brought
    return tuple(happened)
