"""
The planning core for LLM agents: plan state that can be trusted and checked.

The names here are the stable surface; commands and events are namespaces. Each is loaded when it is
first asked for, so that importing the package costs nothing and brings nothing along.
"""

from typing import TYPE_CHECKING

from todoplan.lazy import loader

if TYPE_CHECKING:
    from todoplan.core import commands, events
    from todoplan.core.apply import apply, replay
    from todoplan.core.assembly import plan_of
    from todoplan.core.decide import Accepted, Rejected, decide
    from todoplan.core.model import Priority, Status, Task, Todo
    from todoplan.core.plan import Plan
    from todoplan.core.policy import Policy
    from todoplan.core.presets import (
        AGENTSCOPE,
        CLAUDE,
        CLAUDE_STRICT,
        DEFAULT,
        LANGCHAIN,
        STRICT,
    )
    from todoplan.core.problems import Problem
    from todoplan.core.rules import Rule
    from todoplan.errors import TodoplanError
    from todoplan.planner import Planner

__all__ = [
    "AGENTSCOPE",
    "CLAUDE",
    "CLAUDE_STRICT",
    "DEFAULT",
    "LANGCHAIN",
    "STRICT",
    "Accepted",
    "Plan",
    "Planner",
    "Policy",
    "Priority",
    "Problem",
    "Rejected",
    "Rule",
    "Status",
    "Task",
    "Todo",
    "TodoplanError",
    "apply",
    "commands",
    "decide",
    "events",
    "plan_of",
    "replay",
]

__getattr__ = loader(
    __name__,
    {
        "core": ("commands", "events"),
        "core.apply": ("apply", "replay"),
        "core.assembly": ("plan_of",),
        "core.decide": ("Accepted", "Rejected", "decide"),
        "core.model": ("Priority", "Status", "Task", "Todo"),
        "core.plan": ("Plan",),
        "core.policy": ("Policy",),
        "core.presets": ("AGENTSCOPE", "CLAUDE", "CLAUDE_STRICT", "DEFAULT", "LANGCHAIN", "STRICT"),
        "core.problems": ("Problem",),
        "core.rules": ("Rule",),
        "errors": ("TodoplanError",),
        "planner": ("Planner",),
    },
)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
