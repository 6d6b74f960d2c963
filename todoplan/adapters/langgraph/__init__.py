"""
Plans in LangChain, LangGraph and DeepAgents: `pip install 'todoplan[langgraph]'`.

`PlanMiddleware` takes the place of `TodoListMiddleware` in `create_agent`, beside it `PlanApproval`
stops a run until a person has agreed to the plan; `make_tools` and `PlanState` serve a `StateGraph`
written by hand; `plan_of_state`, `history_of`, `seed_plan`, `edit_plan` and `undo_plan` are how an
application reads, sets and changes the plan of a thread, `plan_update` and `command_update` how a
node or a tool of its own does.

The module `plans` says where the plan is, who writes it when, what is kept of the session (law 15),
how calls are answered, and how the application changes the plan; then come the middleware, which
requests to the model go through, the approval by a person, and the presets.
"""

from todoplan.errors import MissingExtraError

try:
    import langchain  # noqa: F401 - only asked for
    import langgraph  # noqa: F401 - only asked for
except ModuleNotFoundError as error:
    raise MissingExtraError.of(error.name, "langgraph") from error

from todoplan.adapters.langgraph.plans import (
    PlanApproval,
    PlanMiddleware,
    PlanState,
    aedit_plan,
    aseed_plan,
    aundo_plan,
    claude_like,
    command_update,
    deep_planning,
    deerflow_like,
    edit_plan,
    history_of,
    langchain_like,
    make_tools,
    merge_plans,
    plan_of_state,
    plan_update,
    seed_plan,
    todos_of,
    undo_plan,
)
from todoplan.lazy import listing

__all__ = [
    "PlanApproval",
    "PlanMiddleware",
    "PlanState",
    "aedit_plan",
    "aseed_plan",
    "aundo_plan",
    "claude_like",
    "command_update",
    "deep_planning",
    "deerflow_like",
    "edit_plan",
    "history_of",
    "langchain_like",
    "make_tools",
    "merge_plans",
    "plan_of_state",
    "plan_update",
    "seed_plan",
    "todos_of",
    "undo_plan",
]
__dir__ = listing(__all__)
