"""The base of todoplan's entries: the loop for OpenAI's chat completions, as in its guide."""

import json
from itertools import count
from typing import Any, ClassVar, Self

from benchmarks.handling.entry import Answer, Entry, Task, Wish
from todoplan import Toolbox
from todoplan.adapters.functions.openai_chat import make_tools, start_run
from todoplan.core import commands
from todoplan.core.plan.questions import blocked
from todoplan.dialogue.tools import ToolSet


class Ours(Entry):
    """A tool set of todoplan with its default rules."""

    packages = ("todoplan",)
    toolset: ClassVar[ToolSet]

    def __init__(self, saved: Any = None) -> None:
        self.box, self.ids = Toolbox(self.toolset), count()
        self.run = start_run(self.box, saved=saved)
        self.messages: list[Any] = [{"role": "user", "content": "Go on."}]

    def turn(self, calls: list[tuple[str, str]]) -> list[Answer]:
        """Answer one response."""
        self.run.before_model(self.messages)
        said = [
            {
                "id": f"c{next(self.ids)}",
                "type": "function",
                "function": {"name": n, "arguments": a},
            }
            for n, a in calls
        ]
        message = {"role": "assistant", "content": None, "tool_calls": said}
        response = {"id": f"r{next(self.ids)}", "choices": [{"message": message}]}
        self.run.after_model(response)
        new = self.run.answer(response, lambda call: f"There is no tool {call.name}.")
        self.messages += new
        return [Answer(m["content"]) for m in new if m["role"] == "tool"]

    def tasks(self) -> list[Task]:
        """Read the plan."""
        plan = self.run.planner.plan
        held = blocked(plan)
        return [Task(t.id, t.subject, str(t.status), t.id in held) for t in plan]

    def person(self, wish: Wish) -> None:
        """Apply a command under another name."""
        what, text, *more = wish
        one = self.id_of(text) if isinstance(text, str) else ""
        made: dict[str, Any] = {
            "add": lambda: commands.CreateTasks(tuple(map(commands.CreateTask, text))),
            "rename": lambda: commands.UpdateTask(one, subject=more[0]),
            "delete": lambda: commands.DeleteTask(one),
            "complete": lambda: commands.UpdateTask(one, status="completed"),
        }
        self.run.planner.apply(made[what](), actor="ann")

    def resumed(self) -> Self:
        """Start a run with the data that this one saved, converted to JSON and back."""
        return type(self)(json.loads(json.dumps(self.run.to_data())))

    def request(self) -> str:
        """Return the prompt and the reminder."""
        extra = self.run.before_model(self.messages)[len(self.messages) :]
        return "\n".join([self.toolset.system_prompt(), *(str(m["content"]) for m in extra)])

    def tools(self) -> str:
        """Return the definitions."""
        return json.dumps(make_tools(self.box))
