"""
Where plans and their journals are kept.

Read `base` first, what a store is and owes. `memory` is the shortest one; `file` keeps plans in one
JSON file, and `locked_file` is how processes write that one after the other and lose nothing.
"""
