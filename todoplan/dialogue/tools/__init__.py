"""
Tool sets: what a model sees of the plan, independent of any framework and any policy.

Read `toolset` first, then the three sets: `todos` (the whole list in one call), `tasks` (one task
at a time), `lean` (our own, in the fewest tokens). `schema` makes JSON Schemas of their fields,
`demands` refuses a policy that no call of a set could keep.
"""
