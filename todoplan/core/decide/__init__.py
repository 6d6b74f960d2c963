"""
From a command to events: one module for each family of commands.

Read `decide` first: it runs a command in a `transaction`, where each event takes effect at once,
and then lets the policy judge the resulting change. `tasks` changes one task at a time,
`whole_list` applies a complete list, `assembly` checks tasks that were made elsewhere.
"""
