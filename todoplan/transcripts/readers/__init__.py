"""
From JSON to planning calls: the readers of the dialects, and `base` for their common parts.

Read `base` first, which defines `DialectReader` and the conversion of its signals to items.
`coding_agents` reads the sessions of coding agents, and `frameworks` the recordings of programs:
events, traces, chat messages and our own journals. To add a dialect, add a section with a reader to
one of these modules, and its name to `todoplan.transcripts.dialects`.
"""
