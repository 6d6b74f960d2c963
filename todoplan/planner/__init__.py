"""
One plan in a store, for any agent loop: commands, tool calls, events, history, undo.

Read `planner` first: each operation is a generator of steps, and is committed even if others write
to the store at the same time. `Planner` executes the steps, with functions of `steps`;
`async_planner` awaits the steps, with functions of `loops`. `session` is one conversation with one
plan. `watching` calls subscribers, and waits for entries that others write. `parallel_calls` is for
frameworks that start each call of a turn separately. `claiming` lets workers share one plan. With
`verifying`, the program checks whether a task is done before a model's call completes it.
"""

from typing import TYPE_CHECKING

from todoplan.lazy import listing, loader

if TYPE_CHECKING:
    from todoplan.planner.async_planner import AsyncPlanner
    from todoplan.planner.planner import Planner
    from todoplan.planner.verifying import Verifier
    from todoplan.planner.watching import Subscriber
    from todoplan.stores.base import AnyStore

__all__ = ["AnyStore", "AsyncPlanner", "Planner", "Subscriber", "Verifier"]
__dir__ = listing(__all__)

if not TYPE_CHECKING:
    __getattr__ = loader(
        __name__,
        {
            "async_planner": ("AsyncPlanner",),
            "planner": ("Planner",),
            "verifying": ("Verifier",),
            "watching": ("Subscriber",),
        },
    )
    from todoplan.stores.base import AnyStore
