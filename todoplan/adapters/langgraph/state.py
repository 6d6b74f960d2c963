"""
The plan in a graph's state: one private key with plain JSON in it, and the list that others read.

`todoplan.adapters.langgraph.merging` says what stands there.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NotRequired
from uuid import uuid4

import attrs
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langgraph.graph import MessagesState

from todoplan.adapters.langgraph.documents import Flat, Frozen, read_document, write_document
from todoplan.adapters.langgraph.merging import merge_plans
from todoplan.codec import entry_to_data, to_langchain
from todoplan.core.events import Event
from todoplan.core.journal import Entry
from todoplan.core.plan import Plan

__all__ = [
    "PLAN",
    "TODOS",
    "PlanState",
    "Step",
    "answered_calls",
    "application_head",
    "document_in",
    "head_in",
    "is_models_own",
    "messages_in",
    "plan_in",
    "plan_of_state",
    "plan_update",
    "todos_of",
]

PLAN = "todoplan"
TODOS = "todos"


class PlanState(MessagesState):
    """
    State of a graph written by hand: `messages`, and the plan under `todoplan`.
    """

    todoplan: Annotated[NotRequired[dict[str, Any]], merge_plans]


def plan_in(state: Any) -> Plan:
    """
    Return the plan that a state holds; the empty plan if none was written yet.

    Raises:
        CodecError: what stands there is no plan.
    """
    value = _entry(state, PLAN)
    return read_document(value.get("plan")) if value else Plan()


def _entry(state: Any, key: str) -> Any:
    return state.get(key) if isinstance(state, Mapping) else getattr(state, key, None)


def document_in(state: Any) -> dict[str, Any] | None:
    """
    Return the plan's document in a state; `None` if none was written yet.
    """
    value = _entry(state, PLAN)
    return value.get("plan") if value else None


def head_in(state: Any) -> str:
    """
    Return which write the plan in a state comes from: "revision:call id", "" for none.
    """
    value = _entry(state, PLAN)
    return value.get("head", "") if value else ""


def is_models_own(state: Any) -> bool:
    """
    Say whether the plan's last write is a call that the model's last message made.
    """
    call_id = head_in(state).partition(":")[2]
    return bool(call_id) and call_id in answered_calls(messages_in(state))


def messages_in(state: Any) -> Sequence[BaseMessage]:
    """
    Return the messages of a state: a mapping, an object with attributes, or the list itself.
    """
    return state if isinstance(state, list) else _entry(state, "messages") or ()


def answered_calls(messages: Sequence[BaseMessage]) -> set[str]:
    """
    Return the ids of the calls of the last turn that have their answer.
    """
    answered = set()
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            break
        if isinstance(message, ToolMessage):
            answered.add(message.tool_call_id)
    return answered


def plan_of_state(state: Any) -> Plan:
    """
    Return the plan of a state, or of what `get_state(config)` returned.

    Raises:
        CodecError: what stands there is no plan.
    """
    return plan_in(getattr(state, "values", state) if not isinstance(state, Mapping) else state)


def plan_update(plan: Plan) -> dict[str, Any]:
    """
    Return the state update that makes this the plan, whatever was there: for a node, a `Command`.

    Steps that tools take beside it, in the same superstep, are applied to it and not lost.
    """
    value = {"head": application_head(plan), "plan": write_document(plan), "replace": True}
    return {PLAN: value, TODOS: todos_of(plan)}


def application_head(plan: Plan) -> str:
    """
    Return a name for a write of the application's: one that no call and no other write has.
    """
    return f"{plan.revision}:{uuid4().hex}"


@attrs.frozen
class Step:
    """
    What one call or command did: its plan and events, its name `head`, the write that it follows
    from, and the `turn` whose steps know each other's new ids.
    """

    plan: Plan
    events: tuple[Event, ...]
    head: str
    parent: str
    turn: str

    def entry(self) -> dict[str, Any]:
        """
        Return the step as the journal has it.
        """
        return entry_to_data(Entry(self.plan.revision, self.events))

    def update(self, state: Any) -> dict[str, Any]:
        """
        Return the update of the state upon which it was decided.
        """
        value = Frozen(
            head=self.head,
            parent=self.parent,
            turn=self.turn,
            plan=write_document(self.plan, document_in(state)),
            entry=self.entry(),
        )
        return {PLAN: value, TODOS: todos_of(self.plan)}


def todos_of(plan: Plan) -> list[dict[str, str]]:
    """
    Return the plan as user interfaces read it: `content` and `status`, cancelled tasks left out.
    """
    return Flat(to_langchain(plan))
