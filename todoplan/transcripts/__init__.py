"""
Recordings of agents at work: readers of their dialects, and the replay by todoplan's core.

A *dialect* is the format in which one product records its conversations and tool calls.

Modules, in reading order:

- `dialects`: the names of the dialects.
- `calls`: the items that a reader yields, and the names of the known planning tools.
- `files`: from bytes to JSON, for each form that a file may have.
- `readers`: from JSON to planning calls, with a section for each dialect.
- `reading`: detects the dialect of a file and chooses its reader.
- `replay`: from planning calls to plans and findings.
- `commands`: `todoplan replay` and `todoplan stats`; `output` and `spans`: their output formats.

A *lane* is one plan of a recording, as in a swimlane diagram. The session's own lane is `main`; a
subagent with its own list has another lane. The content of a recording never raises an exception:
a part that cannot be read is a `BadLine`, and a questionable call is a `Finding`.
"""

from todoplan.transcripts.dialects import DIALECT_NAMES

__all__ = ["DIALECT_NAMES"]
