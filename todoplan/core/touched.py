"""Which tasks events are about, for whoever keeps a plan elsewhere and brings that up to date."""

from collections.abc import Iterable

from todoplan.core.events import (
    EdgeAdded,
    EdgeRemoved,
    Event,
    StatusChanged,
    TaskCreated,
    TaskEdited,
)

__all__ = ["touched"]


def touched(events: Iterable[Event]) -> tuple[str, ...] | None:
    """
    Return the ids of the tasks that the events changed or added, in order.

    `None`: the tasks are others, or in another order; look at the whole plan.
    """
    ids: dict[str, None] = {}
    for event in events:
        if isinstance(event, StatusChanged | TaskEdited):
            ids[event.task_id] = None
        elif isinstance(event, TaskCreated):
            ids[event.task.id] = None
        elif isinstance(event, EdgeAdded | EdgeRemoved):
            ids |= {event.blocker: None, event.blocked: None}
        else:
            return None
    return tuple(ids)
