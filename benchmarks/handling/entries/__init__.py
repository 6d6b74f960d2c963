"""
The entries. Each is one implementation, in its own module.

`ENTRIES` names the module and the class of each entry. Some need a separate environment, because
their pinned versions conflict with those of other entries.
"""

__all__ = ["APART", "ENTRIES", "NEEDS"]

ENTRIES = {
    "todoplan-lean": "ours_lean:Lean",
    "todoplan-tasks": "ours_tasks:Tasks",
    "todoplan-todos": "ours_todos:Todos",
    "langchain": "langchain:LangChain",
    "deepagents": "deepagents:DeepAgents",
    "agentscope": "agentscope:AgentScope",
    "pydantic-ai-todo": "pydantic_todo:PydanticTodo",
    "pydantic-ai-harness": "pydantic_harness:PydanticHarness",
    "agent-framework": "agent_framework:AgentFramework",
    "agno": "agno:Agno",
    "langchain-agentkit": "agentkit:AgentKit",
}
NEEDS = {
    "langchain": ("langchain",),
    "deepagents": ("deepagents",),
    "agentscope": ("agentscope",),
    "pydantic-ai-todo": ("pydantic-ai-todo",),
    "agent-framework": ("agent-framework-core",),
    "agno": ("agno",),
}
"""The distributions of an entry that runs here."""
APART = {
    "pydantic-ai-harness": ("pydantic-ai-harness==0.62.0", "pydantic-ai-slim==2.62.0"),
    "langchain-agentkit": ("langchain-agentkit==0.27.0", "langgraph==1.2.22"),
}
"""The distributions that an entry needs in a separate environment."""
