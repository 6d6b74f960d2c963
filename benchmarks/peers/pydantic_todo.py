"""pydantic-ai-todo: its toolset's own validator and `call_tool`, as pydantic-ai runs a tool."""

import asyncio
import json
from typing import Any

from pydantic import TypeAdapter
from pydantic_ai import RunContext
from pydantic_ai.models.test import TestModel
from pydantic_ai.usage import RunUsage
from pydantic_ai_todo import Todo, TodoStorage, create_todo_toolset

from benchmarks.floors import flipping
from benchmarks.measure import Call
from benchmarks.workload import edges, entries, listed, open_id, title

__all__ = ["PydanticTodo"]

_TODOS = TypeAdapter(list[Todo])
_FORM = "Writing a part of the work"


class PydanticTodo:
    """The tools with subtasks, which include dependencies, and storage in memory."""

    name = "pydantic-ai-todo"

    def __init__(self, size: int) -> None:
        self.size, self.storage = size, TodoStorage()
        self.storage.todos = [
            Todo(id=i, content=text, status=_any(status), active_form=_FORM)
            for i, text, status in entries(size)
        ]
        self.toolset = create_todo_toolset(storage=self.storage, enable_subtasks=True)
        self.context = RunContext(deps=None, model=TestModel(), usage=RunUsage())
        with asyncio.Runner() as runner:
            self.tools = runner.run(self.toolset.get_tools(self.context))

    async def ask(self, name: str, text: str) -> Any:
        """Answer one call."""
        tool = self.tools[name]
        given = tool.args_validator.validate_json(text)
        return await self.toolset.call_tool(name, given, self.context, tool)

    def _called(self, name: str, text: str, word: str, after: Any = None) -> Call:
        async def run() -> Any:
            said = await self.ask(name, text)
            if after is not None:
                after()
            return said

        return Call(run, lambda said: word in said, awaited=True)

    def _put_back(self) -> Any:
        todos = self.storage.todos
        return lambda: setattr(self.storage, "todos", todos)

    def status_change(self) -> Call:
        """Change the status of the middle task back and forth."""
        flip = flipping(self.size, "todo_id")
        return Call(
            lambda: self.ask("update_todo_status", flip()),
            lambda said: said.startswith("Updated"),
            awaited=True,
        )

    def create(self) -> Call:
        """Create a todo, and remove it again for the next call."""
        text = json.dumps({"content": title(self.size + 1), "active_form": _FORM})
        return self._called("add_todo", text, "Added todo", self._put_back())

    def list_cold(self) -> Call:
        """Show a line for each todo."""
        return self._called("read_todos", "{}", f"[{self.size}]")

    list_warm = list_cold

    def add_edge(self) -> Call:
        """Add a dependency, and remove it again for the next call."""
        todo = self.storage.todos[int(open_id(self.size)) - 1]

        def undo() -> None:
            todo.depends_on, todo.status = [], "pending"

        text = json.dumps({"todo_id": todo.id, "depends_on_id": str(self.size)})
        return self._called("set_dependency", text, "Added dependency", undo)

    def delete(self) -> Call:
        """Delete a todo, and restore it for the next call."""
        place = int(open_id(self.size)) - 1
        todo = self.storage.todos[place]
        text = json.dumps({"todo_id": todo.id})
        return self._called(
            "remove_todo", text, "Removed", lambda: self.storage.todos.insert(place, todo)
        )

    def _written(self, text: str) -> Call:
        return self._called("write_todos", text, f"Updated {self.size} todos", self._put_back())

    def write_first(self) -> Call:
        """Write a whole list."""
        return self._written(listed(self.size, active_form=_FORM))

    write_same = write_first

    def write_one(self) -> Call:
        """Write the list with one more todo completed."""
        return self._written(listed(self.size, moved=1, active_form=_FORM))

    def write_other(self) -> Call:
        """Write a list without any of the current entries."""
        return self._written(listed(self.size, verb="Check", active_form=_FORM))

    def dump_cold(self) -> Call:
        """Dump the list to JSON with pydantic."""
        todos = self.storage.todos
        return Call(lambda: _TODOS.dump_json(todos), lambda text: title(self.size).encode() in text)

    dump_warm = dump_cold

    def load(self) -> Call:
        """Load the list from JSON with pydantic."""
        text = _TODOS.dump_json(self.storage.todos)
        return Call(lambda: _TODOS.validate_json(text), lambda todos: len(todos) == self.size)

    def _linked(self, shape: str, begin: int = 1) -> "PydanticTodo":
        other = PydanticTodo(self.size)
        for number, todo in enumerate(other.storage.todos, 1):
            todo.status = "completed" if number < begin else "pending"
        for before, after in edges(self.size, shape):
            if before >= begin:
                other.storage.todos[after - 1].depends_on.append(str(before))
        return other

    def ready(self) -> Call:
        """Find the ready todos when the pending ones form a chain."""
        half = self.size // 2 + 1
        other = self._linked("chain", half)
        return other._called("get_available_tasks", "{}", f"[{half}]")  # noqa: SLF001 - a sibling

    def _cycle(self, shape: str) -> Call:
        text = json.dumps({"todo_id": "1", "depends_on_id": str(self.size)})
        other = self._linked(shape)
        return other._called("set_dependency", text, "cycle")  # noqa: SLF001 - a sibling

    def cycle_chain(self) -> Call:
        """Refuse a dependency from the end of a chain to its beginning."""
        return self._cycle("chain")

    def cycle_wide(self) -> Call:
        """Refuse a dependency from one of many todos to their common blocker."""
        return self._cycle("wide")

    def cycle_dense(self) -> Call:
        """Refuse a dependency from the last todo to the first, with ten for each."""
        return self._cycle("dense")


def _any(value: Any) -> Any:
    return value
