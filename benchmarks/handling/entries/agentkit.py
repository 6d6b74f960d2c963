"""langchain-agentkit's tasks: its tools, state and reducer in a LangGraph graph."""

import json
from itertools import count
from typing import Annotated, Any

from langchain_agentkit.extensions.tasks import TasksExtension
from langchain_agentkit.extensions.tasks.state import TasksState
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph, add_messages
from langgraph.prebuilt import ToolNode

from benchmarks.handling.entry import Answer, Task, TaskTools, Wish


class State(TasksState):
    """The state of the graph."""

    messages: Annotated[list[Any], add_messages]


class AgentKit(TaskTools):
    """The graph runs the calls of a turn. Malformed JSON does not reach a tool."""

    name, packages = "langchain-agentkit", ("langchain-agentkit", "langgraph")
    id_key, wait_key = "task_id", "add_blocked_by"

    def __init__(self, saver: Any = None) -> None:
        self.saver, self.ids, self.extension = saver or InMemorySaver(), count(), TasksExtension()
        self.thread: Any = {"configurable": {"thread_id": "1"}}
        graph = StateGraph(State)
        graph.add_node("tools", ToolNode(self.extension.tools))
        graph.add_edge(START, "tools")
        self.graph: Any = graph.compile(checkpointer=self.saver)

    def turn(self, calls: list[tuple[str, str]]) -> list[Answer]:
        """Run the tools on one message."""
        said = []
        for name, text in calls:
            try:
                given = json.loads(text)
            except ValueError:
                given = None
            if isinstance(given, dict):
                said.append({"name": name, "args": given, "id": f"c{next(self.ids)}"})
        found = self.graph.invoke({"messages": [AIMessage("", tool_calls=said)]}, self.thread)
        told = {m.tool_call_id: m for m in found["messages"] if isinstance(m, ToolMessage)}
        return [Answer(str(told[s["id"]].content), told[s["id"]].status == "error") for s in said]

    def _held(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.graph.get_state(self.thread).values.get("tasks", [])
        return found

    def tasks(self) -> list[Task]:
        """Read the state; a task is blocked while one of its blockers is not completed."""
        held = self._held()
        done = {t["id"] for t in held if t["status"] == "completed"}
        return [
            Task(t["id"], t["subject"], t["status"], bool({*(t.get("blocked_by") or ())} - done))
            for t in held
        ]

    def person(self, wish: Wish) -> None:
        """Update the state through its reducer."""
        what, text, *more = wish
        if what == "add":
            new = [{"id": f"p{t}", "subject": t, "status": "pending"} for t in text]
            self.graph.update_state(self.thread, {"tasks": new})
            return
        status = {"status": "deleted" if what == "delete" else "completed"}
        change = {"subject": more[0]} if what == "rename" else status
        self.graph.update_state(self.thread, {"tasks": [{"id": self.id_of(text), **change}]})

    def resumed(self) -> "AgentKit":
        """Make a graph on the same checkpoints."""
        return type(self)(self.saver)

    def request(self) -> str:
        """Return the extension's part of the prompt."""
        return str(self.extension.prompt({"tasks": self._held()}))

    def tools(self) -> str:
        """Return the definitions in OpenAI's form."""
        return json.dumps([convert_to_openai_tool(tool) for tool in self.extension.tools])
