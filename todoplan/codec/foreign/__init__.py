"""
Plans of other systems, and plans in a state that others write too.

`agentscope` and `langchain` read and write the format of one system each, with the readers of
`todoplan.codec`, and document what the format cannot represent. `beads`, `peers` and `taskmaster`
import the plans of other systems, with the shared `rows`. `branches` merges the changes that
branches of a graph made to one plan. `mirror` tracks records that anyone may change.
"""
