"""
The command line: `todoplan replay`, `stats`, `show`, `schema`, `guide` and `mcp`.

`app` has the commands and `options` their options; what a command does stands in a module of its
own in `commands`, how it is printed in `output`. `recordings` finds and replays files one after
the other, `counts` is what `stats` counts, `exit_codes` is how a command ends.

Exit codes: 0 is fine, 1 says that there are findings of severity error, 2 that something could not
be read (or was asked for wrongly), with a one-line reason on stderr. What it prints for people is
cleaned of control sequences; what it prints for programs is plain ASCII JSON.
"""
