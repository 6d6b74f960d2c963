"""
Plans in Strands Agents: `pip install 'todoplan[strands]'`.

`Planning` is a plugin that gives one agent the tools, the prompt and the guidance, and `make_tools`
returns the tools of a planning alone.

The plan is in the agent's state, which session managers keep, or in a store. `plan_of_state` and
`history_of` read the state; `seed_plan`, `edit_plan` and `undo_plan` change it between runs.
"""

from todoplan.errors import MissingExtraError

try:
    import strands  # noqa: F401 - only asked for
except ModuleNotFoundError as error:
    raise MissingExtraError.of(error.name, "strands") from error

from todoplan.adapters.strands.planning import (
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
