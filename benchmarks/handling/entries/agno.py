"""The task list of Agno's teams in tasks mode, in a team with one member and a scripted model."""

import json
from typing import Any

from agno.agent import Agent
from agno.team import Team
from agno.team.mode import TeamMode
from agno.team.task import TaskList, TaskStatus, load_task_list, save_task_list

from benchmarks.handling.entries.scripted_agno import Scripted
from benchmarks.handling.entry import Answer, Call, Entry, Task, Wish, doing


class Agno(Entry):
    """A task has a status; it cannot be deleted, renamed or released from what it waits for."""

    name, packages, read = "agno", ("agno",), "list_tasks"

    def __init__(self, state: dict[str, Any] | None = None) -> None:
        self.model, self.state = Scripted(), state or {}

    def calls(self, wish: Wish) -> list[Call]:
        """Render a wish. A dependency can only be set when the task is created."""
        what, *given = wish
        if what in {"parallel", "batch"}:
            return [call for each in given for call in self.calls(each)]
        if what in {"create", "add"}:
            return [("create_task", {"title": text}) for text in given[0]]
        if what in {"read", "omit"}:
            return [(self.read if what == "read" else "update_task_status", {})]
        if what in {"delete", "rename", "wait", "unwait", "rewrite"}:
            raise KeyError(what)
        return [("update_task_status", {"task_id": self.id_of(given[0]), "status": doing(wish)})]

    def turn(self, calls: list[tuple[str, str]]) -> list[Answer]:
        """Run the team on one message."""
        self.model.calls = calls
        member = Agent(name="Member", id="member", model=Scripted(), telemetry=False)
        made: dict[str, Any] = {"mode": TeamMode.tasks, "max_iterations": 1, "telemetry": False}
        team = Team(members=[member], model=self.model, **made)
        found = team.run("Go on.", session_state=self.state)
        self.state = found.session_state or self.state
        told = [m for m in found.messages or () if m.role == "tool"]
        return [Answer(str(m.content), bool(m.tool_call_error)) for m in told]

    def _list(self) -> TaskList:
        return load_task_list(self.state)

    def tasks(self) -> list[Task]:
        """Read the list in the session's state."""
        words = [(t, t.status.value) for t in self._list().tasks]
        return [Task(t.id, t.title, word, word == "blocked") for t, word in words]

    def person(self, wish: Wish) -> None:
        """Change the list in the session's state."""
        what, text, *more = wish
        held = self._list()
        for each in text if what == "add" else ():
            held.create_task(each)
        if what == "delete":
            held.tasks = [task for task in held.tasks if task.title != text]
        elif what != "add":
            change = {"title": more[0]} if what == "rename" else {"status": TaskStatus.completed}
            held.update_task(self.id_of(text), **change)
        save_task_list(self.state, held)

    def resumed(self) -> "Agno":
        """Load the state from its JSON."""
        return type(self)(json.loads(json.dumps(self.state)))

    def request(self) -> str:
        """Return the system message."""
        self.turn([])
        return "\n".join(str(m.content) for m in self.model.asked[0] if m.role == "system")

    def tools(self) -> str:
        """Return the definitions."""
        self.turn([])
        return json.dumps(self.model.asked[1])
