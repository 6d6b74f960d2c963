"""
Working on tasks under claims, so that no two workers do the same one.

Read `claims` first: one claimed task, its heartbeat, and how it is given up, at once or awaited.
`workers` drains a plan with several of them, in threads or in tasks of asyncio.
"""

from typing import TYPE_CHECKING

from todoplan.lazy import listing, loader

if TYPE_CHECKING:
    from todoplan.planner.claiming.claims import AsyncClaimed, Claimed
    from todoplan.planner.claiming.workers import WorkDone, work, work_async

__all__ = ["AsyncClaimed", "Claimed", "WorkDone", "work", "work_async"]
__dir__ = listing(__all__)

if not TYPE_CHECKING:
    __getattr__ = loader(
        __name__,
        {
            "claims": ("AsyncClaimed", "Claimed"),
            "workers": ("WorkDone", "work", "work_async"),
        },
    )
