"""
Plans in Pydantic AI: `pip install 'todoplan[pydantic-ai]'`.

`Planning` is a capability with the tools, the prompt and the guidance, for
`Agent(capabilities=[...])`. `make_tools` returns the tools alone, for `Agent(toolsets=[...])`.

The plan is kept in the metadata of the message history, which the model does not see.
`plan_of_state` and `history_of` read it; `seed_plan`, `edit_plan` and `undo_plan` change it.

The module `planning` has all the code: reading and writing the plan and the session in messages,
the tools, the capability, and the application's edits.
"""

from todoplan.errors import MissingExtraError

try:
    import pydantic_ai  # noqa: F401 - only asked for
except ModuleNotFoundError as error:
    raise MissingExtraError.of(error.name, "pydantic-ai") from error

from todoplan.adapters.pydantic_ai.planning import (
    Planning,
    PlanToolset,
    edit_plan,
    history_of,
    make_tools,
    plan_of_state,
    seed_plan,
    undo_plan,
)
from todoplan.lazy import listing

__all__ = [
    "PlanToolset",
    "Planning",
    "edit_plan",
    "history_of",
    "make_tools",
    "plan_of_state",
    "seed_plan",
    "undo_plan",
]
__dir__ = listing(__all__)
