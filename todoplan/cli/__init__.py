"""
The command line: recordings (`replay`, `stats`), plans in a store (`list`, `add`, `start`, `done`,
`edit`, `link`, `remove`, `undo`, `log`, `diff`, `check`, ...), `show`, `schema`, `guide`, `mcp` and
`board`.

`app` has the commands and their options, `plans` the commands on a plan in a store, `recordings`
those on recordings, `output` how recordings are printed, `screen` the terminal and how a command
ends. Output for people is cleaned of control sequences; output for programs is plain ASCII JSON,
described in `json_schemas`.
"""

__all__ = ["CLOSED_PIPE", "INTERRUPTED", "REFUSED", "UNREADABLE"]

REFUSED = 1
"""The rules refused a change and nothing was changed, or there are findings of severity error."""

UNREADABLE = 2
"""Something could not be read, or was asked for wrongly: the same code as for a wrong option."""

# As a shell reports a process that SIGINT (2) or SIGPIPE (13) ended: 128 and the signal's number.
INTERRUPTED = 130
CLOSED_PIPE = 141
