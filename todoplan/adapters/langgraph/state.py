"""
The plan in a graph's state: one private key with plain JSON in it, and the list that others read.

`todoplan.codec.branches` says what stands there. Where there is no plan yet, the list is the plan.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NotRequired
from uuid import uuid4

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langgraph.graph import MessagesState

from todoplan.adapters.langgraph.todos import TODOS, plan_of_todos, publishing, todos_of
from todoplan.codec.branches import Step, head_of, merge_plans, plan_in_value, whole
from todoplan.core.plan.plan import Plan

__all__ = [
    "PLAN",
    "PlanState",
    "answered_calls",
    "is_models_own",
    "messages_in",
    "own_name",
    "plan_in",
    "plan_of_state",
    "plan_update",
    "step_update",
    "todos_of",
    "value_in",
]

PLAN = "todoplan"


class PlanState(MessagesState):
    """
    State of a graph written by hand: `messages`, and the plan under `todoplan`.
    """

    todoplan: Annotated[NotRequired[dict[str, Any]], merge_plans]


def value_in(state: Any, key: str = PLAN) -> Any:
    """
    Return what stands under a key of a state, a mapping or an object with attributes, or `None`.
    """
    return state.get(key) if isinstance(state, Mapping) else getattr(state, key, None)


def plan_in(state: Any) -> Plan:
    """
    Return the plan that a state holds: the one written last, or while there is none, the list.

    Raises:
        CodecError: what stands there is no plan.
    """
    value, todos = value_in(state), value_in(state, TODOS)
    if not value and isinstance(todos, list | tuple):
        return plan_of_todos(todos)
    return plan_in_value(value)


def messages_in(state: Any) -> Sequence[BaseMessage]:
    """
    Return the messages of a state: a mapping, an object with attributes, or the list itself.
    """
    return state if isinstance(state, list) else value_in(state, "messages") or ()


def answered_calls(messages: Sequence[BaseMessage]) -> tuple[AIMessage | None, set[str]]:
    """
    Return the model's last message, and which calls have their answer behind it, by id.
    """
    answered: set[str] = set()
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            return message, answered
        if isinstance(message, ToolMessage):
            answered.add(message.tool_call_id)
    return None, answered


def is_models_own(state: Any, plan: Plan) -> bool:
    """
    Say whether a plan's last write is a call that the model's last message made.
    """
    revision, _, name = head_of(value_in(state)).partition(":")
    if revision != str(plan.revision):
        return False
    call_ids = {name, name.partition(":")[2]}
    return not call_ids.isdisjoint(answered_calls(messages_in(state))[1])


def plan_of_state(state: Any) -> Plan:
    """
    Return the plan of a state, or of what `get_state(config)` returned.

    While there is no plan yet, the list under `todos` is it; later that is only published.

    Raises:
        CodecError: what stands there is no plan.
    """
    return plan_in(state if isinstance(state, Mapping) else getattr(state, "values", state))


def plan_update(plan: Plan) -> dict[str, Any]:
    """
    Return the state update that makes this the plan, whatever was there: for a node, a `Command`.

    Steps that tools take beside it, in the same superstep, are applied to it and not lost.
    """
    return {PLAN: whole(plan, own_name()), **publishing(plan)}


def own_name() -> str:
    """
    Return a name for a write of the application's: one that no call and no other write has.
    """
    return uuid4().hex


def step_update(step: Step, state: Any) -> dict[str, Any]:
    """
    Return the update of the state upon which a step was decided.
    """
    value = step.value(value_in(state))
    return {PLAN: value, **publishing(value["plan"].order)}
