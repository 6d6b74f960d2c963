"""
Plans in Google's Agent Development Kit: `pip install 'todoplan[google-adk]'`.

`attach(agent, planning)` returns a copy of an agent with the tools, the prompt and the guidance of
a `Planning`. `make_tools` returns the tools alone. One planning serves all sessions of a runner.

The plan is in the state of the ADK session, or in a store. `plan_of_state` and `history_of` read
the state; `seed_plan`, `edit_plan` and `undo_plan` change it between runs.
"""

from todoplan.errors import MissingExtraError

try:
    import google.adk  # noqa: F401 - only asked for
except ModuleNotFoundError as error:
    raise MissingExtraError.of(error.name, "google-adk") from error

from todoplan.adapters.google_adk.planning import (
    Planning,
    attach,
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
    "attach",
    "edit_plan",
    "history_of",
    "make_tools",
    "plan_of_state",
    "seed_plan",
    "undo_plan",
]
__dir__ = listing(__all__)
