"""
How a program looks whether a task is done, before a model's word for it is taken.

Read `verifier` first: what a verifier is, and how it is asked within its time; then `looking`: how
the calls of a turn are answered, and looked at in between. What the findings come to is decided in
`todoplan.dialogue.verifying`.
"""
