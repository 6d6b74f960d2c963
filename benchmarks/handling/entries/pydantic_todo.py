"""pydantic-ai-todo's `TodoCapability` with subtasks, which include dependencies."""

from typing import Any, ClassVar

from pydantic_ai_todo import Todo, TodoCapability, TodoStorage

from benchmarks.handling.entries.pydantic_calls import PydanticCalls
from benchmarks.handling.entry import Task, Wish


class PydanticTodo(PydanticCalls):
    """The todos are stored in memory. A program saves them as JSON."""

    name, read = "pydantic-ai-todo", "read_todos"
    packages = ("pydantic-ai-todo", "pydantic-ai-slim")
    words: ClassVar = {
        "write": "write_todos",
        "items": "todos",
        "add": "add_todo",
        "status": "update_todo_status",
        "statuses": "update_todo_statuses",
        "remove": "remove_todo",
        "id": "todo_id",
    }

    def __init__(self, todos: list[Todo] | None = None) -> None:
        self.storage = TodoStorage()
        self.storage.todos = todos or []
        self.begin(TodoCapability(storage=self.storage, enable_subtasks=True))

    def items(self) -> list[dict[str, Any]]:
        """Return the todos."""
        return [todo.model_dump() for todo in self.storage.todos]

    def tasks(self) -> list[Task]:
        """Return the todos; `blocked` is a status."""
        todos = self.storage.todos
        return [Task(t.id, t.content, t.status, t.status == "blocked") for t in todos]

    def person(self, wish: Wish) -> None:
        """Change the storage."""
        what, text, *more = wish
        todos = self.storage.todos
        if what == "add":
            new = [Todo(content=t, status="pending", active_form=t) for t in text]
            self.storage.todos = [*todos, *new]
            return
        place = [todo.content for todo in todos].index(text)
        if what == "delete":
            self.storage.todos = [*todos[:place], *todos[place + 1 :]]
        elif what == "rename":
            todos[place].content = more[0]
        else:
            todos[place].status = "completed"

    def resumed(self) -> "PydanticTodo":
        """Load the todos from their JSON."""
        saved = [todo.model_dump_json() for todo in self.storage.todos]
        return type(self)([Todo.model_validate_json(text) for text in saved])
