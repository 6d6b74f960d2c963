"""
Tool sets, argument intake, replies, reminders and the toolbox that combines them.

Read `toolbox` first: it turns a tool call into a reply. Then read the modules in the order in
which a call passes through them: `tools` (the tools offered to the model), `intake` (reading the
arguments that the model sent), the core, and `replies` (the text that the model receives).
`guidance` decides when to remind the model. `calls` has the values that these modules exchange. All
wording is in `todoplan.texts`.

The names exported here are for embedders and authors of adapters.
"""

from todoplan.dialogue.calls import Call, Clock, Reply, Turn, utc_now
from todoplan.dialogue.closing import PlanClosed, plan_closed
from todoplan.dialogue.guidance import (
    Advice,
    Guidance,
    Memory,
    Message,
    Settings,
    ToolResult,
    text_of,
    unfinished_error,
)
from todoplan.dialogue.intake import InputLimits
from todoplan.dialogue.toolbox import Toolbox, answered_after, answered_beside, fences_after
from todoplan.dialogue.tools import LEAN, TASKS, TODOS, WRITE_TODOS, ToolSet, lean, tasks
from todoplan.lazy import listing

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
    "PlanClosed",
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
    "plan_closed",
    "tasks",
    "text_of",
    "unfinished_error",
    "utc_now",
]
__dir__ = listing(__all__)
