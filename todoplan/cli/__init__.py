"""
The command line.

Modules:

- `app`: the table of the commands; `options`: the table of their options.
- `plans`: the edits, and the views that status lines and hooks call often.
- `views`: history, differences, checks and a live plan; `store copy`.
- `documents`: guides, tool definitions, and a plan as a page or a picture.
- `servers`: `mcp`, `board` and the command `hook`.
- `plugin`, `hook`: files for a coding agent, and the answers to its hooks.
- `new_adapter`: the first files of an adapter for another framework.
- `markdown`: `import` and `sync`.
- `demo`: `todoplan demo`.
- `exits`: exit codes.

The commands on recordings are in `todoplan.transcripts.commands`.

Output for people is cleaned of control sequences. Output for programs is plain ASCII JSON.
"""
