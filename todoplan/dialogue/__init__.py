"""
Tool sets, argument intake, replies, reminders and the toolbox that combines them.

Read `toolbox` first: it turns a tool call into a reply. Then read the packages in the order in
which a call passes through them: `tools/` (the tools offered to the model), `intake/` (reading the
arguments that it sent), the core, and `replies/` (the text that it receives). `guidance/` decides
about reminders. All wording is in `todoplan.texts`. `parallel_calls` is for frameworks that pass
the calls of one turn one at a time.

The names exported here are for embedders and authors of adapters. Each is imported on first use.
"""

from typing import TYPE_CHECKING

from todoplan.lazy import listing, loader

if TYPE_CHECKING:
    from todoplan.dialogue.clock import Clock, utc_now
    from todoplan.dialogue.guidance.conversation import Message, ToolResult, text_of
    from todoplan.dialogue.guidance.guidance import Advice, Guidance, unfinished_error
    from todoplan.dialogue.guidance.memory import Memory
    from todoplan.dialogue.guidance.settings import Settings
    from todoplan.dialogue.held_claims import fences_after
    from todoplan.dialogue.intake.parsing import InputLimits
    from todoplan.dialogue.parallel_calls import answered_after, answered_beside
    from todoplan.dialogue.toolbox import Call, Reply, Toolbox, Turn
    from todoplan.dialogue.tools.lean import LEAN, lean
    from todoplan.dialogue.tools.tasks import TASKS, tasks
    from todoplan.dialogue.tools.todos import TODOS, WRITE_TODOS
    from todoplan.dialogue.tools.toolset import ToolSet

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
    "fences_after",
    "lean",
    "tasks",
    "text_of",
    "unfinished_error",
    "utc_now",
]
__dir__ = listing(__all__)

if not TYPE_CHECKING:  # a type checker that saw it would accept every misspelled name
    __getattr__ = loader(
        __name__,
        {
            "clock": ("Clock", "utc_now"),
            "guidance.conversation": ("Message", "ToolResult", "text_of"),
            "guidance.guidance": ("Advice", "Guidance", "unfinished_error"),
            "guidance.memory": ("Memory",),
            "guidance.settings": ("Settings",),
            "held_claims": ("fences_after",),
            "intake.parsing": ("InputLimits",),
            "parallel_calls": ("answered_after", "answered_beside"),
            "toolbox": ("Call", "Reply", "Toolbox", "Turn"),
            "tools.lean": ("LEAN", "lean"),
            "tools.tasks": ("TASKS", "tasks"),
            "tools.todos": ("TODOS", "WRITE_TODOS"),
            "tools.toolset": ("ToolSet",),
        },
    )
