"""
The entries: an implementation each, in a module of its own.

`ENTRIES` names the module and the class of each. Some need an environment of their own, as
their pins clash with the others'.
"""

__all__ = ["APART", "ENTRIES", "NEEDS"]

ENTRIES = {
    "todoplan-lean": "ours_lean:Lean",
    "todoplan-tasks": "ours_tasks:Tasks",
    "todoplan-todos": "ours_todos:Todos",
    "langchain": "langchain:LangChain",
    "agentscope": "agentscope:AgentScope",
}
NEEDS = {
    "langchain": ("langchain",),
    "agentscope": ("agentscope",),
}
"""The distributions of an entry that runs here."""
APART: dict[str, tuple[str, ...]] = {}
"""What an entry needs in an environment of its own."""
