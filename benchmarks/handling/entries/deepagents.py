"""DeepAgents with LangChain's `TodoListMiddleware`, which its agents do not bring by themselves."""

from typing import Any

from deepagents import create_deep_agent
from langchain.agents.middleware import TodoListMiddleware

from benchmarks.handling.entries.langchain import LangChain


class DeepAgents(LangChain):
    """The same tool in another agent, whose own prompt is counted with it."""

    name, packages = "deepagents", ("deepagents", "langchain")

    def made(self) -> Any:
        """Return the agent."""
        middleware: Any = [TodoListMiddleware()]
        return create_deep_agent(self.model, middleware=middleware, checkpointer=self.saver)
