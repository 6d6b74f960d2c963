"""
Tool sets: the tools offered to a model, independent of any framework and policy.

Read `toolset` first, then the three sets: `todos` (the whole list in one call), `tasks` (one task
at a time), and `lean` (our own, with the fewest tokens). `schema` builds the JSON Schemas of their
fields. `toolset.require_met` refuses a policy that no call of a set could satisfy.
"""
