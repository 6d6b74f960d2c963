"""
Decisions when to remind a model of its plan, and when to accept its final answer. All are pure.

Read `conversation` first (the messages as guidance sees them), then `settings` (the developer's
options) and `memory` (the state between decisions), then `guidance` (the decisions, by one table of
reminders) and `reminders` (the wording).
"""
