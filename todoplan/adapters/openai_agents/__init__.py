"""
Plans in the OpenAI Agents SDK: `pip install 'todoplan[openai-agents]'`.

`Planning` is the plan of one session. `attach(agent, planning)` gives an agent the tools, the
prompt and guidance, however it is run. `make_tools` returns only the tools, and `guided_model`
returns a model with guidance for `RunConfig(model=...)`. `seed_plan`, `edit_plan` and `undo_plan`
set and change a session's plan. `plan_of_state` and `history_of` read the data of
`Planning.to_data`.

The module `planning` has all the code, and explains where the plan is stored and who writes it.
"""

from todoplan.errors import MissingExtraError

try:
    import agents  # noqa: F401 - only asked for
except ModuleNotFoundError as error:
    raise MissingExtraError.of(error.name, "openai-agents") from error

from todoplan.adapters.openai_agents.planning import (
    Planning,
    attach,
    edit_plan,
    guided_model,
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
    "guided_model",
    "history_of",
    "make_tools",
    "plan_of_state",
    "seed_plan",
    "undo_plan",
]
__dir__ = listing(__all__)
