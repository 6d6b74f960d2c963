"""AgentScope's four planning tools, called directly and through a `Toolkit`, as its agent does."""

import json
from typing import Any

from agentscope.message import ToolCallBlock
from agentscope.state import AgentState, Task
from agentscope.tool import TaskCreate, TaskGet, TaskList, TaskUpdate, ToolBase, Toolkit

from benchmarks.floors import flipping
from benchmarks.measure import Call
from benchmarks.workload import active_id, entries, open_id, title

__all__ = ["AgentScope", "AgentScopeToolkit", "state_of"]


def state_of(size: int) -> AgentState:
    """Return an agent's state with the plan that every contender gets."""
    state = AgentState()
    for task_id, text, status in entries(size):
        word: Any = status
        state.tasks_context.tasks.append(
            Task(id=task_id, subject=text, description="", metadata={}, state=word)
        )
    return state


class AgentScope:
    """The tools' `call`, with arguments parsed from JSON first."""

    name = "AgentScope call"

    def __init__(self, size: int) -> None:
        self.size, self.state = size, state_of(size)
        tools: list[ToolBase] = [TaskCreate(), TaskGet(), TaskList(), TaskUpdate()]
        self.tools = {tool.name: tool for tool in tools}
        self.tasks = self.state.tasks_context.tasks

    async def ask(self, name: str, text: str) -> Any:
        """Answer one call."""
        return await self.tools[name].call(_agent_state=self.state, **json.loads(text))

    def _called(self, name: str, text: str, word: str, after: Any = None) -> Call:
        async def run() -> Any:
            said = await self.ask(name, text)
            if after is not None:
                after()
            return said

        return Call(run, _says(word), awaited=True)

    def status_change(self) -> Call:
        """Change the status of the middle task back and forth."""
        flip = flipping(self.size)
        return Call(lambda: self.ask("TaskUpdate", flip()), _says("Update task"), awaited=True)

    def create(self) -> Call:
        """Create a task, and remove it again for the next call."""
        text = json.dumps({"subject": title(self.size + 1), "description": "As agreed"})
        return self._called("TaskCreate", text, "created successfully", self.tasks.pop)

    def get(self) -> Call:
        """Read one task in full."""
        return self._called("TaskGet", json.dumps({"task_id": active_id(self.size)}), "Status: ")

    def list_cold(self) -> Call:
        """Show a line for each task."""
        return self._called("TaskList", "{}", f"{self.size} [")

    list_warm = list_cold

    def add_edge(self) -> Call:
        """Add an edge, and remove it again for the next call."""
        task_id = open_id(self.size)
        text = json.dumps({"task_id": task_id, "add_blocked_by": [str(self.size)]})
        waits, blocks = self.tasks[int(task_id) - 1].blocked_by, self.tasks[-1].blocks

        def undo() -> None:
            waits.clear()
            blocks.clear()

        return self._called("TaskUpdate", text, "add_blocked_by", undo)

    def delete(self) -> Call:
        """Delete a task, and restore it for the next call."""
        task_id = open_id(self.size)
        place = int(task_id) - 1
        task = self.tasks[place]
        text = json.dumps({"task_id": task_id, "status": "deleted"})
        return self._called(
            "TaskUpdate", text, "has been deleted", lambda: self.tasks.insert(place, task)
        )

    def dump_cold(self) -> Call:
        """Return the agent's state as JSON."""
        dump = self.state.model_dump_json
        return Call(dump, lambda text: title(self.size) in text)

    dump_warm = dump_cold

    def load(self) -> Call:
        """Read the agent's state from JSON."""
        text = self.state.model_dump_json()
        return Call(
            lambda: AgentState.model_validate_json(text),
            lambda state: len(state.tasks_context.tasks) == self.size,
        )


class AgentScopeToolkit(AgentScope):
    """The same through `Toolkit.call_tool`, which every call of an agent uses."""

    name = "AgentScope Toolkit"
    dump_cold = dump_warm = load = None  # type: ignore[assignment]  # no tools

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.toolkit = Toolkit(tools=list(self.tools.values()))

    async def ask(self, name: str, text: str) -> Any:
        """Answer one call."""
        call = ToolCallBlock(id="call", name=name, input=text)
        said: Any = None
        async for part in self.toolkit.call_tool(call, self.state):
            said = part
        return said


def _says(word: str) -> Any:
    return lambda said: word in said.content[0].text
