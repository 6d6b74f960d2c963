"""pydantic-ai-harness' `Planning` with subtasks, on its SQLite store."""

import asyncio
import tempfile
from typing import Any, ClassVar

from pydantic_ai_harness.planning import PlanItem, Planning, SqlitePlanStore, TaskStatus

from benchmarks.handling.entries.pydantic_calls import PydanticCalls
from benchmarks.handling.entry import Task, Wish


class PydanticHarness(PydanticCalls):
    """A store of its own in a temporary folder."""

    name, read = "pydantic-ai-harness", "read_plan"
    packages = ("pydantic-ai-harness", "pydantic-ai-slim")
    words: ClassVar = {
        "write": "write_plan",
        "items": "items",
        "add": "add_task",
        "status": "update_task_status",
        "statuses": "update_task_statuses",
        "remove": "remove_task",
        "id": "task_id",
    }

    def __init__(self, place: str = "") -> None:
        self.place = place or f"{tempfile.mkdtemp()}/plan.db"
        self.store = SqlitePlanStore(self.place)
        self.begin(Planning(store=self.store, enable_subtasks=True))

    def _held(self) -> list[PlanItem]:
        return asyncio.run(self.store.get_items())

    def items(self) -> list[dict[str, Any]]:
        """Return the steps."""
        return [item.model_dump(mode="json") for item in self._held()]

    def tasks(self) -> list[Task]:
        """Return the steps; `blocked` is a status."""
        items = self._held()
        return [Task(i.id, i.content, i.status.value, i.status.value == "blocked") for i in items]

    def person(self, wish: Wish) -> None:
        """Change the store."""
        what, text, *more = wish
        one, store = "" if what == "add" else self.id_of(text), self.store
        if what == "add":
            for each in text:
                asyncio.run(store.add_item(PlanItem(content=each)))
        elif what == "delete":
            asyncio.run(store.remove_item(one))
        elif what == "rename":
            asyncio.run(store.update_item(one, content=more[0]))
        else:
            asyncio.run(store.update_item(one, status=TaskStatus.completed))

    def resumed(self) -> "PydanticHarness":
        """Open the file again."""
        return type(self)(self.place)
