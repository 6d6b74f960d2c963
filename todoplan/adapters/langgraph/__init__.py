"""
Plans in LangChain, LangGraph and DeepAgents: `pip install 'todoplan[langgraph]'`.

`PlanMiddleware` takes the place of `TodoListMiddleware` in `create_agent`, beside it `PlanApproval`
stops a run until a person has agreed to the plan; `make_tools` and `PlanState` serve a `StateGraph`
written by hand; `plan_of_state`, `history_of`, `seed_plan`, `edit_plan` and `undo_plan` are how an
application reads, sets and changes the plan of a thread, `plan_update` and `command_update` how a
node or a tool of its own does.

Read `state` first: where the plan lives, who writes it when, and what is kept of the session (law
15). Then `plans`: a plan in the state, or in a store, and how its calls are answered; `tools` and
`middleware`, which the model's turns go through; and `threads`, by which the application changes
the plan between them, and in a store at any time. `approval` is a run that waits for a person.
"""

from todoplan.errors import MissingExtraError

try:
    import langchain  # noqa: F401 - only asked for
    import langgraph  # noqa: F401 - only asked for
except ModuleNotFoundError as error:
    raise MissingExtraError.of(error.name, "langgraph") from error

from todoplan.adapters.langgraph.approval import PlanApproval
from todoplan.adapters.langgraph.middleware import PlanMiddleware
from todoplan.adapters.langgraph.presets import (
    claude_like,
    deep_planning,
    deerflow_like,
    langchain_like,
)
from todoplan.adapters.langgraph.state import (
    PlanState,
    history_of,
    merge_plans,
    plan_of_state,
    plan_update,
    todos_of,
)
from todoplan.adapters.langgraph.threads import (
    aedit_plan,
    aseed_plan,
    aundo_plan,
    command_update,
    edit_plan,
    seed_plan,
    undo_plan,
)
from todoplan.adapters.langgraph.tools import make_tools
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
