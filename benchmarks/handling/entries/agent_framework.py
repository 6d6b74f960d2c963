"""The `TodoProvider` of Microsoft's Agent Framework, in an agent with a session."""

import asyncio
import json
from typing import Any

from agent_framework import Agent, AgentSession, TodoProvider

from benchmarks.handling.entries.scripted_agent_framework import Scripted
from benchmarks.handling.entry import Answer, Call, Entry, Task, Wish


class AgentFramework(Entry):
    """An item is open or complete; it cannot be opened again, renamed or made to wait."""

    name, packages, read = "agent-framework", ("agent-framework-core",), "todos_get_all"

    def __init__(self, session: AgentSession | None = None) -> None:
        self.client, self.session = Scripted(), session or AgentSession(session_id="s")
        self.agent: Any = Agent(self.client, "Work.", context_providers=[TodoProvider()])

    def calls(self, wish: Wish) -> list[Call]:
        """Render a wish."""
        what, *given = wish
        if what in {"parallel", "batch"}:
            said = [each for each in given if each[0] != "start"]
            if what == "batch" and {each[0] for each in said} == {"complete"}:
                return [("todos_complete", {"items": [self._done(each[1]) for each in said]})]
            return [call for each in said for call in self.calls(each)]
        if what == "start":
            return []  # an item is open or complete
        if what in {"read", "omit"}:
            return [(self.read if what == "read" else "todos_complete", {})]
        if what in {"create", "add"}:
            return [("todos_add", {"todos": [{"title": text} for text in given[0]]})]
        if what == "complete":
            return [("todos_complete", {"items": [self._done(given[0])]})]
        if what == "delete":
            return [("todos_remove", {"ids": [int(self.id_of(given[0]))]})]
        raise KeyError(what)

    def _done(self, text: str) -> dict[str, Any]:
        return {"id": int(self.id_of(text)), "reason": "It is done."}

    def turn(self, calls: list[tuple[str, str]]) -> list[Answer]:
        """Run the agent on one message."""
        self.client.calls = calls
        found = asyncio.run(self.agent.run("Go on.", session=self.session))
        told = [c for m in found.messages for c in m.contents if c.type == "function_result"]
        return [Answer(str(c.result), bool(c.exception)) for c in told]

    def tasks(self) -> list[Task]:
        """Read the session's state."""
        items = self.session.state.get("todo", {}).get("items", [])
        words = ("pending", "completed")
        return [Task(str(i["id"]), i["title"], words[i["is_complete"]]) for i in items]

    def person(self, wish: Wish) -> None:
        """Change the session's state."""
        what, text, *more = wish
        held = self.session.state["todo"]
        for item in [i for i in held["items"] if i["title"] == text]:
            if what == "delete":
                held["items"].remove(item)
            item.update({"title": more[0]} if what == "rename" else {"is_complete": True})
        for each in text if what == "add" else ():
            item = {"id": held["next_id"], "title": each, "description": None, "is_complete": False}
            held.update(items=[*held["items"], item], next_id=held["next_id"] + 1)

    def resumed(self) -> "AgentFramework":
        """Load the session from its JSON."""
        return type(self)(AgentSession.from_dict(json.loads(json.dumps(self.session.to_dict()))))

    def request(self) -> str:
        """Return the instructions and the message with the list."""
        asyncio.run(self.agent.run("Go on.", session=self.session))
        messages, options = self.client.asked
        listed = [m.text for m in messages if "### Current todo list" in m.text][-1:]
        return "\n".join([str(options.get("instructions") or ""), *listed])

    def tools(self) -> str:
        """Return the definitions in OpenAI's form."""
        asyncio.run(self.agent.run("Go on.", session=self.session))
        return json.dumps([each.to_json_schema_spec() for each in self.client.asked[1]["tools"]])
