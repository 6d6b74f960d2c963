"""
Plans in Haystack: `pip install 'todoplan[haystack]'`.

`Planning` has the settings, `attach` gives an agent the tools, the prompt and the guidance, and
`make_tools` returns the tools of a planning alone.

The plan is in the agent's state, which a run returns and takes again, or in a store.
`plan_of_state` and `history_of` read the state; `seed_plan`, `edit_plan` and `undo_plan` change it
between runs.
"""

from todoplan.errors import MissingExtraError

try:
    import haystack  # noqa: F401 - only asked for
except ModuleNotFoundError as error:
    raise MissingExtraError.of(error.name, "haystack") from error

from todoplan.adapters.haystack.planning import (
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
