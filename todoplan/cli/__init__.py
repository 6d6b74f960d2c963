"""
The command line: recordings (`replay`, `stats`), plans in a store (`list`, `add`, `start`, `done`,
`edit`, `link`, `remove`, `undo`, `log`, `diff`, `check`, ...), `show`, `schema`, `guide`, `mcp` and
`board`.

Modules:

- `app`: the commands and their options.
- `plans`: the commands on a plan in a store.
- `demo`: `todoplan demo`.
- `plugin`, `hook`: plugins of coding agents, and what their hooks call.
- `new_adapter`: `todoplan new-adapter`.
- `recordings`: the commands on recordings.
- `output`: how recordings are printed.
- `screen`: the terminal, and how a command ends.
- `json_schemas`: the schemas of the JSON output.

Output for people is cleaned of control sequences. Output for programs is plain ASCII JSON.
"""

__all__ = ["CLOSED_PIPE", "INTERRUPTED", "REFUSED", "UNREADABLE"]

REFUSED = 1
"""Exit code: the rules refused the change (the plan is unchanged), or a finding is an error."""

UNREADABLE = 2
"""Exit code: an input cannot be read, or an argument is wrong. Typer uses 2 for wrong options."""

# Shells report a process that a signal has ended as 128 plus the signal's number: SIGINT is 2,
# SIGPIPE is 13.
INTERRUPTED = 130
CLOSED_PIPE = 141
