"""
Plans in the formats of other systems, and plans in a state that others write too.

- `agentscope` reads and writes AgentScope's tasks, and detects changes by other code.
- `langchain` reads and writes LangChain's todos, and merges changes by branches of a graph.
- `markdown` reads and writes Markdown files that people edit.
- `backlog` reads and writes the files of Backlog.md.
- `peers` imports the plans of other systems.
"""
