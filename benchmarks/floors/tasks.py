"""The floor's task: frozen attrs, created in the fastest way that Python has."""

import attrs

__all__ = ["FloorTask", "make", "with_status"]


@attrs.frozen(weakref_slot=False)
class FloorTask:
    """A frozen task."""

    id: str
    subject: str
    status: str
    blocks: tuple[str, ...] = ()
    blocked_by: tuple[str, ...] = ()
    description: str = ""
    owner: str | None = None
    priority: str | None = None


@attrs.define(weakref_slot=False, eq=False)
class _Draft:
    id: str
    subject: str
    status: str
    blocks: tuple[str, ...] = ()
    blocked_by: tuple[str, ...] = ()
    description: str = ""
    owner: str | None = None
    priority: str | None = None


def make(
    task_id: str,
    subject: str,
    status: str,
    blocks: tuple[str, ...] = (),
    blocked_by: tuple[str, ...] = (),
) -> FloorTask:
    """Return a task, created mutable and then frozen by changing its class."""
    made = _Draft(task_id, subject, status, blocks, blocked_by)
    made.__class__ = FloorTask  # type: ignore[assignment]  # equal slots make it legal
    return made  # type: ignore[return-value]  # it is one now


def with_status(task: FloorTask, status: str) -> FloorTask:
    """Return the task with another status."""
    made = _Draft(
        task.id,
        task.subject,
        status,
        task.blocks,
        task.blocked_by,
        task.description,
        task.owner,
        task.priority,
    )
    made.__class__ = FloorTask  # type: ignore[assignment]  # equal slots make it legal
    return made  # type: ignore[return-value]  # it is one now
