"""
The values: tasks, the plan that holds them, and questions about it.

Read `model` (a todo, a task and its fields, their statuses), `lifecycle` (the one transition
table), `plan` and `questions`. A plan changes as a `draft`, which stands on the persistent
container: `slots` (where each task stands), `vector`, and `chunk_text`, its text. `graph` walks
edges, `matching` finds the task that a written line means. `validation` and `frozen` take what
developers give; `fast_constructor` makes values of what was validated before.
"""
