"""
The plan in a graph's state: where it lives, who writes it when, and how it is read from outside.

One key, `todoplan`, holds plain JSON: the plan's document, which write was the last (`head`), the
latest entries of its journal (`journal`, see `todoplan.codec.states`), and while others have
changed it, what the model last saw (`base`, see `seen`). The tools write it, in the update that
carries their answer; so do `edit_plan` and `seed_plan`, between runs. Calls of one turn all see the
state before the turn and write at once: LangGraph has `merge_plans` make one plan of their writes.
A second key, `todos`, is what interfaces of LangChain's planner read. It is published with each
write; only where there is no plan yet it is the plan. Where a store keeps the plan, a mark stands
in its place (see `stored_plans`), and `todos` is published all the same.

Checkpointers save both keys; what guidance remembers is in keys of the middleware's own. Reminders
are in no key: they are put into one request and forgotten.

An agent that runs inside another graph has a plan of its own. What it hands back must not become
its caller's plan: its values say that they come from within (`inner`), and `merge_plans` passes
them by. The key cannot be private instead, as it once was: then nothing that `invoke` and `stream`
return has the plan, and a list of texts would have to be taken for it.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, NotRequired
from uuid import uuid4

import attrs
from langgraph.graph import MessagesState
from langgraph.types import StateSnapshot

from todoplan.adapters.langgraph.runs import INNER, is_inner
from todoplan.adapters.langgraph.seen import BASE, SEEN, SHOWN, UPON, base_after, looked_at
from todoplan.adapters.langgraph.stored_plans.mark import is_stored, merge_marks, refuse_stored
from todoplan.adapters.langgraph.todos import list_of
from todoplan.codec import entry_from_data
from todoplan.codec.foreign import branches
from todoplan.codec.foreign.branches import Step, plan_in_value, whole, write_document
from todoplan.codec.states import entry_line, read_recent, with_lines
from todoplan.core.commands import WriteTodos
from todoplan.core.decide.decide import decide_with_change
from todoplan.core.events.journal import Entry
from todoplan.core.plan.model import Task, Todo
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.validation import short_repr
from todoplan.core.rules.policy import Policy
from todoplan.dialogue.application import require, whole_entry
from todoplan.dialogue.clock import utc_now
from todoplan.dialogue.intake.cleaning import clean
from todoplan.dialogue.intake.read import read
from todoplan.dialogue.tools.todos import write_tool
from todoplan.errors import PlanError

__all__ = [
    "PLAN",
    "TODOS",
    "PlanState",
    "history_of",
    "merge_agent_plans",
    "merge_plans",
    "own_name",
    "plan_in",
    "plan_of_state",
    "plan_of_todos",
    "plan_update",
    "publishing",
    "step_update",
    "todos_of",
    "value_in",
]

PLAN = "todoplan"
TODOS = "todos"  # the key of LangChain's planner: deep-agents-ui and its like read it
_JOURNAL = "journal"
_LINE = "line"
_FIELDS = write_tool(TODOS).fields


def merge_plans(current: Mapping[str, Any], update: Mapping[str, Any]) -> Mapping[str, Any]:
    """
    Reduce two writes of the plan to one: for a key of your own, `Annotated[dict, merge_plans]`.

    A step that follows from what is there is taken as it is. One decided upon another version, by a
    branch of the same superstep, is applied to what is there now; its new tasks get new ids where
    theirs are taken. A whole value, from a subgraph, is joined the same way, unless it replaces
    what there is, or is that of an agent, whose plan is its own.
    """
    if is_stored(current) or is_stored(update):
        return merge_marks(current, update, within=bool(update.get(INNER)))
    # A step or a whole plan that was written here has its line; what a graph returns has none.
    if update.get(INNER) and _LINE not in update:
        return current
    # A look is no write of the plan: `branches` would join it as if it were one.
    is_look = update.keys() in ({SEEN}, {SHOWN})
    merged = current if is_look or not update else branches.merge_plans(current, update)
    if merged is current:
        return looked_at(current, update) if update else current
    line = _as_merged(update, merged) if _LINE in update else None
    lines = update.get(_JOURNAL, ()) if line is None else [line]
    kept = {
        _JOURNAL: with_lines(current.get(_JOURNAL), lines),
        BASE: base_after(current, update, merged, line),
    }
    return {**merged, **{key: value for key, value in kept.items() if value}}


def merge_agent_plans(current: Mapping[str, Any], update: Mapping[str, Any]) -> Mapping[str, Any]:
    """
    Reduce as `merge_plans`, and keep in mind that a write came from an agent within a graph.
    """
    merged = merge_plans(current, update)
    within = merged is not current and (update.get(INNER) or current.get(INNER))
    return {**merged, INNER: True} if within else merged


def _as_merged(update: Mapping[str, Any], merged: Mapping[str, Any]) -> str:
    """
    Return the journal's line of a step as it was carried out: tasks may have got other ids.
    """
    line: str = update[_LINE]
    ids = merged.get("moved", {}).get(update.get("turn"))
    if ids is None:  # it followed from what was there, and no id was taken
        return line
    entry, events = entry_from_data(json.loads(line)), []
    for event in entry.events:
        changes: dict[str, Any] = {}
        # By names of fields, not kinds of events: a new kind of event needs no line here.
        for name in {field.name for field in attrs.fields(type(event))}:
            value = getattr(event, name)
            if name in {"task_id", "blocker", "blocked", "parent"}:
                changes[name] = ids.get(value, value)
            elif name == "task_ids":
                changes[name] = tuple(ids.get(one, one) for one in value)
            elif name == "task":
                parent = ids.get(value.parent, value.parent)
                changes[name] = value.but(id=ids.get(value.id, value.id), parent=parent)
        events.append(attrs.evolve(event, **changes))
    revision = plan_in_value(merged).revision
    return entry_line(attrs.evolve(entry, revision=revision, events=tuple(events)))


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
        PlanError: a store keeps the plan.
    """
    value, todos = value_in(state), value_in(state, TODOS)
    refuse_stored(value)
    # A channel with a reducer begins as an empty dict: not None, and not absent.
    if not value and isinstance(todos, list | tuple):
        return plan_of_todos(todos)
    return plan_in_value(value)


def plan_of_state(state: Any) -> Plan:
    """
    Return the plan of what `invoke`, `get_state` or `stream` (stream_mode="values") returned, or of
    the state that a node is handed.

    While there is no plan yet, the list under `todos` is it; later that is only published.

    Raises:
        CodecError: what stands there is no plan.
        PlanError: this is no state, or that of a graph which keeps no plan; or a store keeps it.
    """
    return plan_in(_values(state))


def history_of(state: Any) -> tuple[Entry, ...]:
    """
    Return what happened to the plan, oldest first: when, by whom (`actor`; `None`: no name)
    and by which tool or command (`cause`). The state keeps the latest 50 entries, fewer if long.

    Raises:
        CodecError, PlanError: as of `plan_of_state`.
    """
    value = value_in(_values(state))
    refuse_stored(value)
    return read_recent(value.get(_JOURNAL)) if value else ()


def _values(state: Any) -> Any:
    values = state.values if isinstance(state, StateSnapshot) else state
    # A thread that nothing was written to has no values; later the key is in every state of its
    # graph, empty at first, since its channel has a reducer.
    if isinstance(state, StateSnapshot) and not values:
        return values
    if value_in(values) is None and not isinstance(value_in(values, TODOS), list | tuple):
        msg = (
            f"{short_repr(state)} holds no plan: give what invoke returned, or"
            " agent.get_state(config), of an agent with PlanMiddleware or a graph over PlanState;"
            ' of stream, a chunk of stream_mode="values"'
        )
        raise PlanError(msg, seen=state)
    return values


def plan_update(plan: Plan, *, actor: str | None = None) -> dict[str, Any]:
    """
    Return the state update that makes this the plan, whatever was there: for a node, a `Command`.

    Steps that tools take beside it, in the same superstep, are applied to it and not lost.

    Raises:
        PlanError: this is no plan.
    """
    entry = whole_entry(require(plan, Plan), "plan_update", at=utc_now(), actor=actor)
    value = {**whole(plan, own_name()), _LINE: entry_line(entry), INNER: is_inner()}
    return {PLAN: value, **publishing(plan)}


def own_name() -> str:
    """
    Return a name for a write of the application's: one that no call and no other write has.
    """
    # Not from the plan: branches of one superstep hold the same plan, and would choose one name.
    return uuid4().hex


def step_update(step: Step, state: Any, entry: Entry, *, by_model: bool = False) -> dict[str, Any]:
    """
    Return the update of the state upon which a step was decided, with its entry of the journal.

    What the model did itself it has seen, and with the answer all that it is told there.
    """
    value = step.value(value_in(state))
    line = entry_line(entry, value["entry"]["events"])
    value |= {_LINE: line, INNER: is_inner()}
    if by_model:
        value[SEEN] = step.parent
    elif not value_in(state):
        value[UPON] = {"plan": write_document(plan_in(state))}
    return {PLAN: value, **publishing(value["plan"].order)}


def todos_of(plan: Plan) -> list[dict[str, Any]]:
    """
    Return the plan as user interfaces read it: `content` and `status`, cancelled tasks left out;
    owner, edges, parent and wait beside them where there are any.
    """
    return list_of(require(plan, Plan))


def publishing(tasks: Iterable[Task]) -> dict[str, Any]:
    """
    Return the update that publishes these tasks.
    """
    return {TODOS: list_of(tasks)}


def plan_of_todos(todos: Sequence[Any]) -> Plan:
    """
    Return the plan that a list is which others wrote, judged by no rule.

    An entry that cannot be read becomes a task whose text is the entry, as JSON; empty ones are
    left out.
    """
    return decide_with_change(Plan(), WriteTodos(tuple(_todos(todos))), Policy(), None)[1].after


def _todos(todos: Sequence[Any]) -> Iterator[Todo]:
    for entry in todos:
        # Ids in that list are its writer's own: ours come from the plan's counter (law 6).
        own = isinstance(entry, dict) and "parent" in entry
        alone = {key: entry[key] for key in entry if key != "parent"} if own else entry
        intake = read({TODOS: [alone]}, _FIELDS)
        if not intake.problems:
            yield from (attrs.evolve(todo, id=None) for todo in intake.values[TODOS])
        elif entry:
            text = json.dumps(entry, default=str, skipkeys=True, ensure_ascii=False)
            yield Todo(clean(text, TODOS)[0])
