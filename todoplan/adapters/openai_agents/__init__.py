"""
Plans in the OpenAI Agents SDK: `pip install 'todoplan[openai-agents]'`.

`Planning` is the plan of one session, and what guidance remembers of it; `attach(agent, planning)`
gives an agent the tools, the prompt and guidance, however it is run. `make_tools` is the tools
alone, `guided_model` a model with guidance for `RunConfig(model=...)`. `seed_plan` and `edit_plan`
set and change the plan of a session, `plan_of_state` reads the plan in what `Planning.to_data`
saved.
"""

from todoplan.errors import MissingExtraError

try:
    import agents  # noqa: F401 - only asked for
except ModuleNotFoundError as error:
    raise MissingExtraError.of(error.name, "openai-agents") from error

from todoplan.adapters.openai_agents.attaching import attach
from todoplan.adapters.openai_agents.editing import edit_plan, seed_plan
from todoplan.adapters.openai_agents.model import guided_model
from todoplan.adapters.openai_agents.planning import Planning, plan_of_state
from todoplan.adapters.openai_agents.tools import make_tools

__all__ = [
    "Planning",
    "attach",
    "edit_plan",
    "guided_model",
    "make_tools",
    "plan_of_state",
    "seed_plan",
]
