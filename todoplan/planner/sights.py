"""Moved to `actors`; this name stays until the adapters have taken it over."""

from todoplan.planner.actors import caught_up, plan_at

__all__ = ["caught_up", "plan_at"]
