"""DeepAgents with LangChain's `TodoListMiddleware`, which its agents do not have by default."""

from typing import Any

from deepagents import create_deep_agent
from langchain.agents.middleware import TodoListMiddleware

from benchmarks.handling.entries.langchain import LangChain


class DeepAgents(LangChain):
    """The same tool in another agent. The agent's own prompt is counted too."""

    name, packages = "deepagents", ("deepagents", "langchain")

    def made(self) -> Any:
        """Return the agent."""
        middleware: Any = [TodoListMiddleware()]
        return create_deep_agent(self.model, middleware=middleware, checkpointer=self.saver)
