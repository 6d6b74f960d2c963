"""
One plan in a store, for any agent loop: commands, tool calls, events, history, undo.

Read `transactions` first: each operation is a generator of steps, and is committed whoever else
writes to the store. `planner` executes the steps or awaits them, with the driver in `steps`.
`session` is one conversation with one plan, with its record. `watching` informs subscribers and
waits for entries of others. `parallel_calls` puts the calls of one turn in order where a framework
starts each by itself. `claiming` lets workers share one plan, and `verifying` lets the program
check whether a task is done before it accepts a model's word for it.
"""

from typing import TYPE_CHECKING

from todoplan.lazy import listing, loader

if TYPE_CHECKING:
    from todoplan.planner.planner import AsyncPlanner, Planner
    from todoplan.planner.verifying import Verifier
    from todoplan.planner.watching import Subscriber
    from todoplan.stores.base import AnyStore

__all__ = ["AnyStore", "AsyncPlanner", "Planner", "Subscriber", "Verifier"]
__dir__ = listing(__all__)

if not TYPE_CHECKING:  # asyncio takes longer to import than all the rest
    __getattr__ = loader(
        __name__,
        {
            "planner": (
                "AsyncPlanner",
                "Planner",
            ),
            "verifying": ("Verifier",),
            "watching": ("Subscriber",),
        },
    )
    from todoplan.stores.base import AnyStore
