"""
From a command to events: one module for each family of commands.

Read `decide` first: it runs a command in a `transaction`, where each event happens at once, and
lets the policy judge what came of it. `tasks` changes one task at a time, `whole_list` takes a
list as it is to be, `assembly` checks tasks that were made elsewhere.
"""
