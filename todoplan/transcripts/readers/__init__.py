"""
From JSON to planning calls: a module for each dialect, and `shared` for what several of them need.

Read `shared.base` first: it says what a `DialectReader` is and how its signals become items. Then
any dialect: `entire` is the simplest, `claude_code` the one with the most history. `message_lists`
has the three dialects that are lists of chat messages. To add a dialect, write a module with a
`READER` and add a line to the table in `todoplan.transcripts.reading`.
"""
