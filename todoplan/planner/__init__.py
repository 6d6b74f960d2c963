"""One plan in a store, for any agent loop: commands, tool calls, events, history, undo."""

from todoplan.planner.handles import AsyncPlanner, Planner
from todoplan.planner.logic import Subscriber
from todoplan.stores.base import AnyStore

__all__ = ["AnyStore", "AsyncPlanner", "Planner", "Subscriber"]
