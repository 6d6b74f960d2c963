"""
One plan in a store, for any agent loop: commands, tool calls, events, history, undo.

Read `transactions` first: what is attempted upon a plan, and `restoring`, which has undo; then
`commits`, how that comes into a store, whoever else writes there. Both ask for `steps`: `planner`
carries them out at once, `async_planner` awaits them, with `threads` for stores that stand still.
`telling` is how subscribers come to hear of what was accepted, `receipts` how a call that is made
twice happens once. `hands` is what each actor last saw of the plan, so that none undoes what it has
never seen. `watching` is how entries of others are waited for, `parallel_calls` puts the calls of
one turn in order where a framework starts each by itself. `claiming` is how workers share one plan,
`verifying` how the program looks whether a task is done before a model's word for it is taken.
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
