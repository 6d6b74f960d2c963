"""
Plans in Microsoft's Agent Framework: `pip install 'todoplan[agent-framework]'`.

`Planning` is a context provider that gives the agents of a session the tools, the prompt and the
guidance, and `make_tools` returns the tools of a planning alone.

The plan is in the state of the `AgentSession`, or in a store. `plan_of_state` and `history_of` read
the state; `seed_plan`, `edit_plan` and `undo_plan` change it between runs.
"""

from todoplan.errors import MissingExtraError

try:
    import agent_framework  # noqa: F401 - only asked for
except ModuleNotFoundError as error:
    raise MissingExtraError.of(error.name, "agent-framework") from error

from todoplan.adapters.agent_framework.planning import (
    Planning,
    edit_plan,
    history_of,
    make_tools,
    plan_of_state,
    seed_plan,
    undo_plan,
)
from todoplan.lazy import listing

__all__ = [
    "Planning",
    "edit_plan",
    "history_of",
    "make_tools",
    "plan_of_state",
    "seed_plan",
    "undo_plan",
]
__dir__ = listing(__all__)
