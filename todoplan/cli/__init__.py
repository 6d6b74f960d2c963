"""
The command line.

Modules:

- `app`: the table of the commands; `options`: the table of their options.
- `plans`: the edits, and the views that status lines and hooks call often.
- `views`: history, differences, checks and a live plan; `store copy`.
- `documents`: guides, tool definitions, and a plan as a page or a picture.
- `servers`: `mcp`, `board` and the command `hook`.
- `plugin`, `hook`, `new_adapter`: what coding agents and authors of adapters need.
- `markdown`: `import` and `sync`.
- `recordings`: `replay` and `stats`; `output` and `spans`: their output formats.
- `demo`: `todoplan demo`.
- `screen`: the terminal, and the exit codes of commands.

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
