"""
The planning core for LLM agents: plan state that can be trusted and checked.

This package exports the names that users need first; `commands` and `events` are namespaces. Each
name is imported on first access, so importing the package is cheap.

The public, stable names are those that `dir()` lists for `todoplan`, `todoplan.commands`,
`todoplan.events`, `todoplan.errors`, `todoplan.core.plan.questions`, `todoplan.core.events.drift`,
`todoplan.dialogue`, `todoplan.planner`, `todoplan.stores`, `todoplan.codec`, `todoplan.render` and
`todoplan.testing` (`.strategies`, `.adapters`, `.stores`). The names of `todoplan.adapters.*` are
public but provisional. Everything else is internal, whatever its name, and may change in any
version.
"""

from typing import TYPE_CHECKING

from todoplan.lazy import listing, loader

if TYPE_CHECKING:
    from todoplan.core import commands
    from todoplan.core.decide import Accepted, Rejected, decide, plan_of
    from todoplan.core.events import types as events
    from todoplan.core.events.apply import apply, replay
    from todoplan.core.plan.model import Priority, Status, Task, Todo
    from todoplan.core.plan.plan import Plan
    from todoplan.core.problems import Problem, explain
    from todoplan.core.rules import (
        AGENTSCOPE,
        CLAUDE,
        CLAUDE_STRICT,
        DEFAULT,
        LANGCHAIN,
        STRICT,
        Change,
        Limits,
        Policy,
        Rule,
    )
    from todoplan.dialogue.toolbox import Toolbox
    from todoplan.dialogue.tools import LEAN, TASKS, TODOS
    from todoplan.errors import TodoplanError
    from todoplan.planner import AsyncPlanner, Planner
    from todoplan.stores.file import FileStore
    from todoplan.stores.memory import MemoryStore

__version__ = "0.2.0"

__all__ = [
    "AGENTSCOPE",
    "CLAUDE",
    "CLAUDE_STRICT",
    "DEFAULT",
    "LANGCHAIN",
    "LEAN",
    "STRICT",
    "TASKS",
    "TODOS",
    "Accepted",
    "AsyncPlanner",
    "Change",
    "FileStore",
    "Limits",
    "MemoryStore",
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
    "Toolbox",
    "__version__",
    "apply",
    "commands",
    "decide",
    "events",
    "explain",
    "plan_of",
    "replay",
]
__dir__ = listing(__all__)

if not TYPE_CHECKING:  # with a `__getattr__`, type checkers would accept every misspelled name
    __getattr__ = loader(
        __name__,
        {
            "core.commands": "commands",
            "core.decide": (
                "Accepted",
                "Rejected",
                "decide",
                "plan_of",
            ),
            "core.events.apply": (
                "apply",
                "replay",
            ),
            "core.events.types": "events",
            "core.plan.model": (
                "Priority",
                "Status",
                "Task",
                "Todo",
            ),
            "core.plan.plan": ("Plan",),
            "core.problems": (
                "Problem",
                "explain",
            ),
            "core.rules": (
                "AGENTSCOPE",
                "CLAUDE",
                "CLAUDE_STRICT",
                "Change",
                "DEFAULT",
                "LANGCHAIN",
                "Limits",
                "Policy",
                "Rule",
                "STRICT",
            ),
            "dialogue.toolbox": ("Toolbox",),
            "dialogue.tools": (
                "LEAN",
                "TASKS",
                "TODOS",
            ),
            "errors": ("TodoplanError",),
            "planner.async_planner": ("AsyncPlanner",),
            "planner.planner": ("Planner",),
            "stores.file": ("FileStore",),
            "stores.memory": ("MemoryStore",),
        },
    )
