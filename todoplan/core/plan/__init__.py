"""
The values: tasks, the plan that contains them, and queries on it.

Read `model` first (a todo, a task and its fields, the statuses, and the checks of arguments), then
`plan` (the plan, the persistent containers below it, the draft through which it is changed, and
walks of edges and the tree), then `questions`.
"""
