"""
Rules: what a policy may refuse or warn about. Each rule is a check of one change.

Read `change` (the input of a rule) and `rule` (the definition of a rule) first, then the rules
themselves: `builtin` (status changes, whole-list writes, removed tasks), `builtin_tasks` (fields,
edges, sizes), `builtin_tree` (subtasks) and `builtin_trust` (evidence and approval). A rule is
declared in one place, above its check: what can break it, its severity in each preset, and the
limit that it uses. `policy` defines which rules are on and how severe they are, `presets` has
ready-made policies, `limits` the numbers, and `lifecycle` the table of status changes. `matching`
finds the task that a written line means.
"""
