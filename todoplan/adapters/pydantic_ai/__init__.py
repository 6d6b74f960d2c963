"""
Plans in Pydantic AI: `pip install 'todoplan[pydantic-ai]'`.

`Planning` is a capability: tools, prompt and guidance together, for `Agent(capabilities=[...])`.
`make_tools` is the tools alone, for `Agent(toolsets=[...])`. The plan is kept in the message
history, beside what the model reads: `plan_of_state` reads it there, `seed_plan` and `edit_plan`
set and change it.
"""

from todoplan.errors import MissingExtraError

try:
    import pydantic_ai  # noqa: F401 - only asked for
except ModuleNotFoundError as error:
    raise MissingExtraError.of(error.name, "pydantic-ai") from error

from todoplan.adapters.pydantic_ai.capability import Planning
from todoplan.adapters.pydantic_ai.history import edit_plan, plan_of_state, seed_plan
from todoplan.adapters.pydantic_ai.tools import PlanToolset, make_tools

__all__ = [
    "PlanToolset",
    "Planning",
    "edit_plan",
    "make_tools",
    "plan_of_state",
    "seed_plan",
]
