"""
The events of a plan, and how to build a plan from them.

Read `types` first (one class for each kind of event), then `apply`, which accepts every event and
checks no rules. `apply` also has the entry of a journal, and finds the tasks that events affect.
`merge` combines two histories that began with the same plan. `base` computes the changes by others
since a session last saw the plan. `drift` computes the changes since a person approved the plan.
"""
