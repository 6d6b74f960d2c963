"""Adapters, one for each framework. Code for several adapters is in `dialogue` or `planner`."""
