"""AgentScope's four task tools, through a `Toolkit`, which every call of its agent uses."""

import asyncio
import json
from itertools import count
from typing import Any

from agentscope.message import ToolCallBlock
from agentscope.state import AgentState
from agentscope.tool import TaskCreate, TaskGet, TaskList, TaskUpdate, Toolkit

from benchmarks.handling.entry import Answer, Task, TaskTools, Wish


class AgentScope(TaskTools):
    """The calls of one turn run one after the other."""

    name, packages, id_key, wait_key = "agentscope", ("agentscope",), "task_id", "add_blocked_by"

    def __init__(self, state: AgentState | None = None) -> None:
        self.state, self.ids = state or AgentState(), count()
        self.toolkit = Toolkit(tools=[TaskCreate(), TaskGet(), TaskList(), TaskUpdate()])

    def turn(self, calls: list[tuple[str, str]]) -> list[Answer]:
        """Call the tools."""

        async def one(name: str, text: str) -> Answer:
            block, said = ToolCallBlock(id=f"c{next(self.ids)}", name=name, input=text), None
            async for part in self.toolkit.call_tool(block, self.state):
                said = part
            made: Any = said
            return Answer("".join(b.text for b in made.content), str(made.state) == "error")

        async def every() -> list[Answer]:
            return [await one(*call) for call in calls]

        return asyncio.run(every())

    def tasks(self) -> list[Task]:
        """Read the state; TaskList marks a task as blocked while it has `blocked_by`."""
        found = self.state.tasks_context.tasks
        return [Task(t.id, t.subject, str(t.state), bool(t.blocked_by)) for t in found]

    def person(self, wish: Wish) -> None:
        """Change the tasks of the state."""
        what, text, *more = wish
        held = self.state.tasks_context.tasks
        if what == "add":
            self.turn([(name, json.dumps(given)) for name, given in self.calls(wish)])
            return
        place = [task.subject for task in held].index(text)
        if what == "delete":
            del held[place]
        elif what == "rename":
            held[place].subject = more[0]
        else:
            held[place].state = "completed"

    def resumed(self) -> "AgentScope":
        """Load the state from its JSON."""
        return type(self)(AgentState.model_validate_json(self.state.model_dump_json()))

    def tools(self) -> str:
        """Return the definitions."""
        return json.dumps(asyncio.run(self.toolkit.get_tool_schemas()))
