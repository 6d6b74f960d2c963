"""
What the middleware keeps in an agent's state, and what it writes there after each request.
"""

import logging
from typing import Annotated, Any, NotRequired, cast

from langchain.agents.middleware import AgentState
from langchain.agents.middleware.types import OmitFromInput, PrivateStateAttr
from langgraph.channels import UntrackedValue

from todoplan.adapters.langgraph.seen import SEEN, SHOWN
from todoplan.adapters.langgraph.state import (
    PLAN,
    TODOS,
    merge_agent_plans,
    plan_update,
    publishing,
    todos_of,
    value_in,
)
from todoplan.adapters.langgraph.stored_plans.look import Look
from todoplan.adapters.langgraph.stored_plans.mark import mark, seen_in, shown_in
from todoplan.codec.foreign.branches import head_of
from todoplan.core.plan.plan import Plan
from todoplan.dialogue.guidance.guidance import Memory

__all__ = ["MEMORY", "RUN", "PlanAgentState", "say_what_is_ignored", "update_after"]

MEMORY = "todoplan_memory"
RUN = "todoplan_run"
logger = logging.getLogger("todoplan")


def later(_: Any, update: Any) -> Any:
    """
    Reduce two writes to the later one.
    """
    return update


class PlanAgentState(AgentState[Any]):
    """
    What the middleware adds to the agent's state: the plan, the list that others read, and what
    guidance remembers of the thread. Caps belong to a run, and `todoplan_run` marks its requests.
    """

    # The reducer must come last: LangGraph does not look for it elsewhere, and says nothing.
    # Not in the input, since deepagents hands a subagent its caller's state, plan and all.
    todoplan: Annotated[NotRequired[dict[str, Any]], OmitFromInput, merge_agent_plans]
    # LangChain's own has no reducer, and two branches that write in one step end its run
    # (InvalidUpdateError). Nor is this left out of the input: a list from outside is taken over.
    todos: Annotated[NotRequired[list[dict[str, Any]] | None], later]
    # In the thread, not in the process: DeerFlow's counters there have a default key, by which one
    # user's reminders use up another's. Private keys never cross deepagents' `task`.
    todoplan_memory: Annotated[NotRequired[dict[str, int]], PrivateStateAttr]
    # Never saved, and so absent when a run begins: no hook is needed to know a new run.
    todoplan_run: Annotated[NotRequired[bool], UntrackedValue, PrivateStateAttr]


def update_after(
    state: Any, look: Look, now: Plan, memory: Memory, *, shown: bool
) -> dict[str, Any]:
    """
    Return the update after a request, which began with a `look` at the plan, and has `shown` it to
    the model or not; `now` is the plan as it is.
    """
    if look.plan_id is not None:
        return _update_beside(state, look, now, memory, shown=shown)
    update = _update(state, now, memory)
    value = value_in(state)
    head = head_of(value) if look.base is not None and shown else ""
    if value and head != value.get(SHOWN, ""):
        update[PLAN] = {SHOWN: head}
    return update


def say_what_is_ignored(state: Any, plan: Plan) -> None:
    """
    Log a warning if the list in a state is not that of its plan.
    """
    # Interfaces and other planners write this list too, and a thread must not end for it; but who
    # passes `todos` to invoke and is not heard should be able to learn why.
    todos = state.get(TODOS)
    if value_in(state) and todos and todos != todos_of(plan):
        logger.warning(
            "todos differ from the plan that this thread has, and are written over: change the plan"
            " by edit_plan(agent, config, command), or set it by seed_plan(agent, config, plan)"
        )


def _update(state: Any, plan: Plan, memory: Memory) -> dict[str, Any]:
    update: dict[str, Any] = {MEMORY: memory.to_data(), RUN: True}
    if not value_in(state):  # what plan there is was taken over from the list
        if plan.revision:
            update |= plan_update(plan)
            # What the model has seen of a list by others is unknown: the base is the plan as it is.
            update[PLAN][SEEN] = ""
        return update
    # Another middleware may have written the list, or answered in a tool's place.
    same = (state.get(TODOS) or []) == todos_of(plan)
    return update if same else {**update, **publishing(plan)}


def _update_beside(
    state: Any, look: Look, now: Plan, memory: Memory, *, shown: bool
) -> dict[str, Any]:
    """
    Return the update of a state whose plan is in a store: what was looked at, and the list as of
    `now`.
    """
    update: dict[str, Any] = {MEMORY: memory.to_data(), RUN: True}
    plan_id = cast("str", look.plan_id)
    # The first request counts as a look: what comes while the model answers it has not seen.
    seen = look.plan.revision if look.known is None else look.known
    told = look.plan.revision if shown else None
    value = value_in(state)
    if (seen, told) != (seen_in(value, plan_id), shown_in(value, plan_id)):
        update[PLAN] = mark(plan_id, seen, shown=told)
    same = (state.get(TODOS) or []) == todos_of(now)
    return update if same else {**update, **publishing(now)}
