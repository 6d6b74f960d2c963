"""
Plans in LlamaIndex: `pip install 'todoplan[llama-index]'`.

`PlanningAgent` is a `FunctionAgent` with the tools, the prompt and the guidance of a `Planning`.
`make_tools` returns the tools of a planning alone.

The plan is in the store of the workflow's `Context`, or in a store of todoplan. `plan_of_state` and
`history_of` read the context. `seed_plan`, `edit_plan` and `undo_plan` change it at any time.
"""

from todoplan.errors import MissingExtraError

try:
    import llama_index.core  # noqa: F401 - only asked for
except ModuleNotFoundError as error:
    raise MissingExtraError.of(error.name, "llama-index") from error

from todoplan.adapters.llama_index.planning import (
    Planning,
    PlanningAgent,
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
    "PlanningAgent",
    "edit_plan",
    "history_of",
    "make_tools",
    "plan_of_state",
    "seed_plan",
    "undo_plan",
]
__dir__ = listing(__all__)
