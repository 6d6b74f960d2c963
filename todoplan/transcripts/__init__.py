"""
Recordings of real agents: read in any of a dozen dialects, replayed through the core.

Read in this order: `calls`, what a reader yields; `tools`, which tools are planning tools; `files`,
from bytes to JSON, whatever the file looks like; `readers`, from JSON to planning calls, a module
for each dialect; `reading`, which reader a file gets; `replay`, from planning calls to plans and
findings. A *lane* is one plan of a recording, as in a swimlane diagram: the session's own is
`main`, a subagent with a list of its own has one beside it. Nothing here raises for what a
recording holds: what cannot be read is a `BadLine`, what looks wrong is a `Finding`.
"""
