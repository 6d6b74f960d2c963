"""
Plans in the Claude Agent SDK: `pip install 'todoplan[claude-agent-sdk]'`.

`attach(options, planning)` returns options with the tools and the guidance of a `Planning`, for
`query` and `ClaudeSDKClient`. `make_tools` returns the tools alone, for
`ClaudeAgentOptions(mcp_servers={"plan": make_tools(planning)})`.

Plans are kept in a store, each under the id of its SDK session. `plan_of_state` and `history_of`
read a plan; `seed_plan`, `edit_plan` and `undo_plan` change it, also while an agent works.
"""

from todoplan.errors import MissingExtraError

try:
    import claude_agent_sdk  # noqa: F401 - only asked for
except ModuleNotFoundError as error:
    raise MissingExtraError.of(error.name, "claude-agent-sdk") from error

from todoplan.adapters.claude_agent_sdk.planning import (
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
