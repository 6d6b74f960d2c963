"""
The planning core for LLM agents: plan state that can be trusted and checked.

The names here are the stable surface; commands and events are namespaces. Importing it loads the
core alone: `Planner` comes, with the dialogue, when it is first asked for.
"""

from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
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


def __getattr__(name: str) -> Any:
    if name == "Planner":
        from todoplan.planner import Planner  # noqa: PLC0415 - late, so that the core comes alone

        return Planner
    msg = f"module 'todoplan' has no attribute {name!r}"
    raise AttributeError(msg)
