"""
What a policy may refuse or warn of: rules, each a check of one change.

Read `change` (what a rule looks at) and `rule` (what a rule is), then the rules themselves in
`builtin` and `builtin_tasks`; `policy` says which of them hold and how strictly, `presets` has
policies ready-made, and `limits` the numbers that some rules go by.
"""
