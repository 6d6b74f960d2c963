"""
Plans of other systems, and plans in a state that others write too.

`agentscope` and `langchain` read and write the format of one system each, with the readers of
`todoplan.codec`, and document what the format cannot represent. `agentscope` also detects changes
of records that other code may change. `langchain` merges the changes that branches of a graph made
to one plan.
`peers` imports the plans of other systems.
"""
