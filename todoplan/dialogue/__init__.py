"""
What is said between plan and model: intake, tool sets, phrasing, reminders, the toolbox.

The names here are what embedders and writers of adapters use; each is loaded when it is first asked
for.
"""

from typing import TYPE_CHECKING

from todoplan.lazy import loader

if TYPE_CHECKING:
    from todoplan.dialogue.clock import Clock, utc_now
    from todoplan.dialogue.conversation import Message, ToolResult, text_of
    from todoplan.dialogue.guidance import Advice, Guidance, Memory, Settings
    from todoplan.dialogue.jsonish import InputLimits
    from todoplan.dialogue.siblings import answered_after, answered_beside
    from todoplan.dialogue.toolbox import Call, Reply, Toolbox, Turn
    from todoplan.dialogue.tools_lean import LEAN
    from todoplan.dialogue.tools_tasks import TASKS, tasks
    from todoplan.dialogue.tools_todos import TODOS, WRITE_TODOS
    from todoplan.dialogue.toolsets import ToolSet

__all__ = [
    "LEAN",
    "TASKS",
    "TODOS",
    "WRITE_TODOS",
    "Advice",
    "Call",
    "Clock",
    "Guidance",
    "InputLimits",
    "Memory",
    "Message",
    "Reply",
    "Settings",
    "ToolResult",
    "ToolSet",
    "Toolbox",
    "Turn",
    "answered_after",
    "answered_beside",
    "tasks",
    "text_of",
    "utc_now",
]

__getattr__ = loader(
    __name__,
    {
        "clock": ("Clock", "utc_now"),
        "conversation": ("Message", "ToolResult", "text_of"),
        "guidance": ("Advice", "Guidance", "Memory", "Settings"),
        "jsonish": ("InputLimits",),
        "siblings": ("answered_after", "answered_beside"),
        "toolbox": ("Call", "Reply", "Toolbox", "Turn"),
        "tools_lean": ("LEAN",),
        "tools_tasks": ("TASKS", "tasks"),
        "tools_todos": ("TODOS", "WRITE_TODOS"),
        "toolsets": ("ToolSet",),
    },
)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
