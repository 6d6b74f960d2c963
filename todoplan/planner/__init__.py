"""One plan in a store, for any agent loop: commands, tool calls, events, history, undo."""

from todoplan.planner.handles import AsyncPlanner, Planner
from todoplan.planner.logic import Subscriber

__all__ = ["AsyncPlanner", "Planner", "Subscriber"]
