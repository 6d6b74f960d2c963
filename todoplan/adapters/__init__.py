"""Adapters, one for each framework. Code that several need is in `dialogue` or `planner`."""
