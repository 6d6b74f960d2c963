"""
Plans as other systems keep them: AgentScope's tasks, LangChain's list of todos.

Each module reads and writes one form, with the readers of `todoplan.codec`, and says what the form
has no room for. None knows another.
"""
