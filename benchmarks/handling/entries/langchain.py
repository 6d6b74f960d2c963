"""LangChain's `TodoListMiddleware` in an agent of `create_agent`, with a checkpointer."""

import json
from itertools import count
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import TodoListMiddleware
from langchain_core.exceptions import OutputParserException
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.output_parsers.openai_tools import make_invalid_tool_call, parse_tool_call
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver

from benchmarks.handling.entries.scripted_langchain import Scripted
from benchmarks.handling.entry import Answer, Task, WholeList, Wish, applied


class LangChain(WholeList):
    """Arguments that are not a JSON object make a call invalid; the agent does not answer it."""

    name, packages, tool = "langchain", ("langchain", "langgraph"), "write_todos"

    def __init__(self, saver: Any = None) -> None:
        self.saver, self.model, self.ids = saver or InMemorySaver(), Scripted(), count()
        self.thread: Any = {"configurable": {"thread_id": "1"}}
        self.agent = self.made()

    def made(self) -> Any:
        """Return the agent."""
        middleware: Any = [TodoListMiddleware()]
        return create_agent(self.model, middleware=middleware, checkpointer=self.saver)

    def turn(self, calls: list[tuple[str, str]]) -> list[Answer]:
        """Run the agent on one message."""
        good, bad = [], []
        for name, text in calls:
            raw = {"id": f"c{next(self.ids)}", "function": {"name": name, "arguments": text}}
            try:
                call = parse_tool_call(raw, return_id=True)
            except OutputParserException:
                call = None
            if call and isinstance(call["args"], dict):
                good.append(call)
            else:
                bad.append(make_invalid_tool_call(raw, "no object"))
        self.model.says = [AIMessage("", tool_calls=good, invalid_tool_calls=bad)]
        found = self.agent.invoke({"messages": [HumanMessage("Go on.")]}, self.thread)
        told = {m.tool_call_id: m for m in found["messages"] if isinstance(m, ToolMessage)}
        answers = [told[call["id"]] for call in good if call["id"] in told]
        return [Answer(str(m.content), m.status == "error") for m in answers]

    def _held(self) -> list[dict[str, str]]:
        found: list[dict[str, str]] = self.agent.get_state(self.thread).values.get("todos", [])
        return found

    def tasks(self) -> list[Task]:
        """Read the channel `todos`; its entries have no ids."""
        return [Task("", each["content"], each["status"]) for each in self._held()]

    def person(self, wish: Wish) -> None:
        """Update the state, which is how a program changes the list."""
        items = applied([(each["content"], each["status"]) for each in self._held()], wish)
        todos = [{"content": text, "status": word} for text, word in items]
        self.agent.update_state(self.thread, {"todos": todos})

    def resumed(self) -> "LangChain":
        """Make an agent on the same checkpoints."""
        return type(self)(self.saver)

    def request(self) -> str:
        """Ask the agent again, and return the text of the system message."""
        self.agent.invoke({"messages": [HumanMessage("Go on.")]}, self.thread)
        return "\n".join(m.text for m in self.model.asked if isinstance(m, SystemMessage))

    def tools(self) -> str:
        """Return the definition in OpenAI's form."""
        return json.dumps([convert_to_openai_tool(each) for each in TodoListMiddleware().tools])
