"""
The values: tasks, the plan that contains them, and queries on it.

Read `model` first (a todo, a task and its fields, the statuses), then `plan` and `questions`. A
plan is changed through a `draft`, which is built on persistent containers: `slots` (the position of
each task), `vector`, and `chunk_text` (a vector's text). `graph` walks edges and the tree.
`validation` and `frozen` check and convert the arguments of public constructors; `fast_constructor`
builds values from data that was validated before.
"""
