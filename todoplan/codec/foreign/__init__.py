"""
Plans as other systems keep them, and plans in a state that others write to as well.

`agentscope` and `langchain` read and write one system's form each, with the readers of
`todoplan.codec`, and say what the form has no room for. `beads`, `peers` and `taskmaster` read the
plans of other systems, by the `rows` that they share. `branches` merges what the branches of a
graph made of one plan; `mirror` follows records that anyone may change.
"""
