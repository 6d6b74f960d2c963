"""
From JSON to planning calls: the readers of the dialects, and `base` for their common parts.

Read `base` first, which defines `DialectReader` and the conversion of its signals to items.
`coding_agents` has products, `frameworks` programs that use a framework, `messages` lists of chat
messages, and `own` our journals. To add a dialect, add a section with a reader to one of them and
a line to the table in `todoplan.transcripts.reading`.
"""
