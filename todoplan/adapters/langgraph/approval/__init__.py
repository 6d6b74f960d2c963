"""
A person agrees to the plan before the agent goes on: `answers` is what the person is shown and may
answer, `middleware` is where the run stops for it.
"""
