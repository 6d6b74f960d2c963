"""
What a model sent, made into values: repaired where the meaning is clear, else refused with every
fault.

Read `read` first: the theory, and how a call's arguments are read against the `fields` of a tool.
`parsing` makes text to plain data; `values` has a reader for each kind of field, by the words in
`vocabulary` and with texts cleaned in `cleaning`, and what comes up meanwhile; `repairs` says what
a guess may not do. `application_lists` repairs a list that a program wrote, not a model.
"""
