"""
What a policy may refuse or warn of: rules, each a check of one change.

Read `change` (what a rule looks at) and `rule` (what a rule is), then the rules themselves:
`builtin` has those about what is done (moves of a status, lists that are written), and
`builtin_tasks` those about what tasks hold (fields, edges, sizes). A rule is declared in one place,
above its check: what can break it, how strictly each preset takes it, and the limit that it counts
by. `policy` says which rules hold and how strictly, `presets` has policies ready-made, and `limits`
the numbers.
"""
