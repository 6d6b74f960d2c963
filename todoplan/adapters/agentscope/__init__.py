"""
Plans in AgentScope 2: `pip install 'todoplan[agentscope]'`.

`TaskCreate`, `TaskGet`, `TaskList` and `TaskUpdate` replace AgentScope's own tools; only the import
line changes. `make_tools` returns the tools of any tool set with any policy. `attach` returns the
arguments of `Agent` for both tools and guidance. The plan is kept in the agent's state as
AgentScope's own tasks: `plan_of_state` and `history_of` read it, `seed_plan`, `edit_plan` and
`undo_plan` set and change it, and `repair` checks and corrects a list that was written by hand.

`planning` has, in this order: the storage of the plan and the session, the tools, the middleware of
an agent, and the functions with which applications read and edit the plan.
"""

from todoplan.errors import MissingExtraError

try:
    import agentscope  # noqa: F401 - only asked for
except ModuleNotFoundError as error:
    raise MissingExtraError.of(error.name, "agentscope") from error

from todoplan.adapters.agentscope.planning import (
    PlanMiddleware,
    PlanTool,
    TaskCreate,
    TaskGet,
    TaskList,
    TaskUpdate,
    attach,
    edit_plan,
    history_of,
    make_tools,
    plan_of_state,
    repair,
    seed_plan,
    undo_plan,
)
from todoplan.lazy import listing

__all__ = [
    "PlanMiddleware",
    "PlanTool",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskUpdate",
    "attach",
    "edit_plan",
    "history_of",
    "make_tools",
    "plan_of_state",
    "repair",
    "seed_plan",
    "undo_plan",
]
__dir__ = listing(__all__)
