"""
What a model reads after a call: what changed, what is wrong, the list.

Read `views` first (tasks as lines, one task in full), then `phrasing`, which words an accepted
change, and `error_texts`, which words problems, warnings and repairs. All words stand in
`todoplan.texts`. No reply holds what a person could not see; a list and a task have the lengths
that `views` states, everything else is under 12,000 characters.
"""
