"""
The planning core: pure values and functions. It needs only the standard library and attrs.

Read `plan/` first: the values, and the queries on them. Then read `commands` (requests for a
change) and `events/` (changes that happened), then `rules` (what a policy refuses or warns about)
and `problems` (how it says so). Read `decide` last: it turns a command into events. Each of these
imports only those named before it. The guide `architecture` lists the laws.
"""
