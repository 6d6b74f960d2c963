"""
From JSON to planning calls: a module for each dialect, and `base` for their common parts.

Read `base` first, which defines `DialectReader` and the conversion of its signals to items. Of the
dialects, `entire` is the simplest, and `claude_code` has the most history. `message_lists` has the
three dialects that are lists of chat messages. To add a dialect, write a module with a `READER`
and add a line to the table in `todoplan.transcripts.reading`.
"""
