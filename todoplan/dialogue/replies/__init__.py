"""
The text of a tool reply: what changed, what is wrong, or the list.

Read `views` first (tasks as lines, one task in full), then `phrasing` (the text of an accepted
change) and `error_texts` (the text of problems, warnings and repairs). All wording is in
`todoplan.texts`. A reply contains no characters that a person could not see. `views` states the
maximum length of a list and of a task; every other reply is shorter than 12,000 characters.
"""
