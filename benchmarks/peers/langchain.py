"""LangChain's `write_todos`, the only tool of its middleware: every change is a whole list."""

import json
from typing import Any

from langchain.agents.middleware import TodoListMiddleware
from langchain.tools import ToolRuntime
from langchain_core.messages import AIMessage

from benchmarks.measure import Call
from benchmarks.workload import listed

__all__ = ["LangChain", "invocation"]


def invocation(tool: Any, state: dict[str, Any], text: str, *, runtime: bool = True) -> Any:
    """
    Return a function that invokes a tool with JSON arguments, and with a runtime if it takes one.
    """
    said = {"name": tool.name, "args": json.loads(text), "id": "c", "type": "tool_call"}
    state = {**state, "messages": [AIMessage("", tool_calls=[said])]}
    made: ToolRuntime[Any, Any] = ToolRuntime(
        state=state, context=None, config={}, stream_writer=print, tool_call_id="c", store=None
    )
    injected = {"runtime": made} if runtime else {}

    def run() -> Any:
        given = {**json.loads(text), **injected}
        return tool.invoke({"name": tool.name, "args": given, "id": "c", "type": "tool_call"})

    return run


class LangChain:
    """`write_todos.invoke`, with arguments parsed from JSON first."""

    name = "LangChain invoke"

    def __init__(self, size: int) -> None:
        self.size = size
        self.tool = TodoListMiddleware().tools[0]
        self.state = json.loads(listed(size))

    def _written(self, **how: Any) -> Call:
        text = listed(self.size, **how)
        count = self.size
        run = invocation(self.tool, self.state, text)
        return Call(run, lambda command: len(command.update["todos"]) == count)

    def write_first(self) -> Call:
        """Write a whole list."""
        return self._written()

    write_same = write_first

    def write_one(self) -> Call:
        """Write the list with one more entry completed."""
        return self._written(moved=1)

    status_change = write_one

    def write_other(self) -> Call:
        """Write a list without any of the current entries."""
        return self._written(verb="Check")

    def create(self) -> Call:
        """Write the list with one more entry."""
        text = listed(self.size + 1)
        run = invocation(self.tool, self.state, text)
        return Call(run, lambda command: len(command.update["todos"]) == self.size + 1)

    def delete(self) -> Call:
        """Write the list with one entry less."""
        given = json.loads(listed(self.size))
        del given["todos"][self.size // 2 + 1]
        run = invocation(self.tool, self.state, json.dumps(given))
        return Call(run, lambda command: len(command.update["todos"]) == self.size - 1)
