"""
When to remind a model of its plan, and when its final answer may stand: pure decisions.

Read `conversation` (what a decision needs of the messages), `settings` and `memory` (what the
developer switched on, and what is kept between decisions), then `guidance`, which decides by one
table of reminders, and `reminders`, which words them.
"""
