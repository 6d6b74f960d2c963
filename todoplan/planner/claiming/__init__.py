"""
Working on tasks under claims (leases), so that no two workers do the same task.

Read `claims` first: one claimed task, its heartbeat, and its release. `AsyncClaimed` is beside
`AsyncPlanner`. `workers` completes a plan with several workers, in threads or in asyncio tasks.
"""

from typing import TYPE_CHECKING

from todoplan.lazy import listing, loader

if TYPE_CHECKING:
    from todoplan.planner.async_planner import AsyncClaimed
    from todoplan.planner.claiming.claims import Claimed
    from todoplan.planner.claiming.workers import WorkDone, work, work_async

__all__ = ["AsyncClaimed", "Claimed", "WorkDone", "work", "work_async"]
__dir__ = listing(__all__)

if not TYPE_CHECKING:
    __getattr__ = loader(
        __name__,
        {
            "claims": ("Claimed",),
            # `AsyncClaimed` is from `planner.async_planner`, outside this package.
            "workers": ("AsyncClaimed", "WorkDone", "work", "work_async"),
        },
    )
