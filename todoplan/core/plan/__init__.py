"""
The values: tasks, the plan that holds them, and questions about it.

Read `model` (a todo, a task, their statuses), `lifecycle` (the one transition table), `plan` and
`questions`; `draft` is the plan while it changes, on `vector` and `slots`, the persistent
container. `graph` walks edges, `matching` finds the task that a written line means. The rest
serves these: `frozen`, `times`, `validation`, `fast_constructor`, `chunk_text`.
"""
