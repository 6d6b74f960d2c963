"""
The planning core: pure values and functions on the standard library and attrs alone.

Read `plan/` first, the values and what can be asked of them; then `commands`, what someone wants,
and `events/`, what happened; then `rules/`, what a policy refuses or warns of, and `problems`, what
it says; last `decide/`, which makes events of a command. Each imports only what stands before it.
"""
