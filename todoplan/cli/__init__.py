"""
The command line: `todoplan replay` and `stats` for recordings; `list`, `add`, `start`, `done`,
`edit`, `link`, `remove`, `undo`, `log`, `diff` and `check` for a plan in a store; `show`, `schema`,
`guide` and `mcp`.

`app` has the commands and `options` their options; `plan_commands` and `plan_options` are those on
a plan, which share `option_groups`. What a command does stands in a module of its own in
`commands`, how it is printed in `output`. `recordings` finds and replays files one after the other,
`counts` is what `stats` counts, `stored_plans` opens stores, `policies` reads rules, `exit_codes`
is how a command ends.

Exit codes: 0 is fine, 1 says that there are findings of severity error or that the rules refuse a
change, 2 that something could not be read (or was asked for wrongly), with a one-line reason on
stderr. What it prints for people is cleaned of control sequences; what it prints for programs is
plain ASCII JSON.
"""
