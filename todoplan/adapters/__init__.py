"""
Adapters, one for each framework. Code that several adapters need is in `dialogue` or `planner`.
"""
