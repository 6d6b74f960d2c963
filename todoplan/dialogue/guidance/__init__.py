"""
When to remind a model of its plan, and when its final answer may stand: pure decisions.

Read `conversation` (what a decision needs of the messages), then `guidance`, which decides, and
`reminders`, which words it. `reading` and `partial` are for frameworks that show messages one by
one, or only some of them.
"""
