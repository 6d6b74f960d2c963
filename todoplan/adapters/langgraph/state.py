"""
The plan in a graph's state: where it lives, who writes it when, and how it is read from outside.

One key, `todoplan`, holds plain JSON: the plan's document, which write was the last (`head`), the
latest entries of its journal (`journal`, see `todoplan.codec.documents`), and what the session
knows of the plan (`session`, law 15), unless it has listed all of it as it is. The tools write it,
in the update that carries their answer; so do `edit_plan` and `seed_plan`, between runs. A second
key, `todos`, is what interfaces of LangChain's planner read. It is published with each write; only
where there is no plan yet it is the plan. Checkpointers save both keys, so a fork or an old
checkpoint has the session of its own time.

Calls of one turn all see the state before the turn and write at once: LangGraph has `merge_plans`
make one plan of their writes. So what a call says of its session travels with its step, as a
`note`, and the reducer advances the session: by the whole note if the step follows from what is
there, otherwise only by what the call itself did.

Where a store keeps the plan, the key holds {"stored": the plan's id, "session": the record}:
nothing of the plan can be old here. The record is the thread's, since other threads, agents and
programs may work on the same plan.

An agent that runs inside another graph has a plan of its own. What it returns must not become its
caller's plan: its values say that they come from within (`inner`), and the reducer passes them by.
The key cannot be private instead: then nothing that `invoke` and `stream` return has the plan, and
a list of texts would have to be taken for it.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, NotRequired
from uuid import uuid4

import attrs
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import RunnableConfig
from langgraph.config import get_config
from langgraph.graph import MessagesState
from langgraph.types import StateSnapshot

from todoplan.codec import entry_from_data, to_langchain
from todoplan.codec.documents import base_of_0_2, entry_line, read_recent, with_lines
from todoplan.codec.foreign import langchain as branches
from todoplan.codec.foreign.langchain import Step, head_of, plan_in_value, whole, write_document
from todoplan.core.commands import WriteTodos
from todoplan.core.decide import decide_with_change
from todoplan.core.events.apply import Entry
from todoplan.core.events.base import Base, Note
from todoplan.core.events.merge import renumbered
from todoplan.core.plan.model import Status, Task, Todo, short_repr
from todoplan.core.plan.plan import Plan
from todoplan.core.rules import Policy
from todoplan.dialogue.calls import utc_now
from todoplan.dialogue.guidance import Memory
from todoplan.dialogue.intake import clean, read
from todoplan.dialogue.toolbox import require, unseen_by_model, whole_entry
from todoplan.dialogue.tools import write_tool
from todoplan.errors import PlanError
from todoplan.planner.session import (
    SIGHT,
    Record,
    note_from_data,
    note_to_data,
    record_from_data,
    record_to_data,
)

PLAN = "todoplan"
MEMORY = "todoplan_memory"
RUN = "todoplan_run"
TODOS = "todos"  # the key of LangChain's planner: deep-agents-ui and its like read it
SESSION = "session"
STORED = "stored"
INNER = "inner"
# Of updates alone:
_LINE = "line"  # the journal's entry, as it is kept
_NOTE = "note"  # of the model's own step: what its session knows by it
_SEEN = "seen"  # of an answer that changed nothing: the version that it was upon
_UPON = "upon"  # the value that a first step is upon, where it is a list that no plan was made of
_ACTOR = "actor"  # of a whole plan
_FENCES = "fences"
_JOURNAL = "journal"
# 0.2.0 kept these in place of a record; updates of a step that it left half done may have them too,
# and `seen` in a step of the model's, beside its line.
_OF_0_2 = {"base": None, "shown": None}
_LOOKS = {_SEEN, "shown"}
_FIELDS = write_tool(TODOS).fields
# Of a record: its name is of no use beside a thread's, what guidance remembers has another key, and
# the messages say which calls are answered.
_KEPT = {"version", "revision", *SIGHT, "fences", "behind"}

_Value = Mapping[str, Any]


def run_config() -> RunnableConfig:
    """Return the config of the run that this code is part of; empty outside of one."""
    try:
        return get_config()
    except RuntimeError:
        return {}


def is_inner() -> bool:
    """Say whether this code is part of a graph that runs inside another one."""
    # "node:id" in a graph of its own, "node:id|node:id" in one that runs inside another.
    return "|" in run_config().get("configurable", {}).get("checkpoint_ns", "")


def merge_plans(current: Mapping[str, Any], update: Mapping[str, Any]) -> Mapping[str, Any]:
    """
    Reduce two writes of the plan to one: for a key of your own, `Annotated[dict, merge_plans]`.

    A step that follows from what is there is taken as it is. One decided upon another version, by a
    branch of the same superstep, is applied to what is there now; its new tasks get new ids where
    theirs are taken. A whole value, from a subgraph, is joined the same way, unless it replaces
    what there is, or is that of an agent, whose plan is its own.
    """
    if STORED in current or STORED in update:
        return _merged_stored(current, update)
    # A step or a whole plan that was written here has its line; what a graph returns has none.
    if not update or (update.get(INNER) and _LINE not in update):
        return current
    if _LINE not in update and not update.keys().isdisjoint(_LOOKS):
        if _SEEN not in update:  # a reminder, which moves no base
            return current
        looked = {_NOTE: {"read": ""}, "parent": update[_SEEN], **update}
        return _with(current, {**_OF_0_2, SESSION: _session_after(current, looked, current)})
    merged = branches.merge_plans(current, update)
    if merged is current:  # a graph within returns the plan that it was given
        same = current.get(SESSION) in (None, update.get(SESSION))
        return current if same else _with(current, {SESSION: update.get(SESSION)})
    if _LINE in update:
        session = _session_after(current, update, merged)
        is_moved = _new_ids(update, merged) is not None
        lines = [entry_line(_entry_in(update, merged)) if is_moved else update[_LINE]]
    else:
        session, lines = _joined_session(current, update, merged), update.get(_JOURNAL, ())
    return _with(merged, {_JOURNAL: with_lines(current.get(_JOURNAL), lines), SESSION: session})


def merge_agent_plans(current: Mapping[str, Any], update: Mapping[str, Any]) -> Mapping[str, Any]:
    """Reduce as `merge_plans`, and keep in mind that a write came from an agent within a graph."""
    merged = merge_plans(current, update)
    within = merged is not current and (update.get(INNER) or current.get(INNER))
    return {**merged, INNER: True} if within else merged


def _with(value: _Value, kept: dict[str, Any]) -> dict[str, Any]:
    return {key: each for key, each in {**value, **kept}.items() if each or key not in kept}


def _entry_in(update: _Value, merged: _Value) -> Entry:
    """Return the journal's entry of a step as it was carried out: tasks may have got other ids."""
    entry = entry_from_data(json.loads(update[_LINE]))
    ids = _new_ids(update, merged)
    if ids is None:  # it followed from what was there, or no id was taken
        return entry
    events = tuple(renumbered(event, ids) for event in entry.events)
    return attrs.evolve(entry, revision=plan_in_value(merged).revision, events=events)


def _new_ids(update: _Value, merged: _Value) -> Mapping[str, str] | None:
    ids: Mapping[str, str] | None = merged.get("moved", {}).get(update.get("turn"))
    return ids


def base_of(value: _Value | None) -> Base | None:
    """
    Return what the session knows of the plan in a value; `None` if it has listed all of it as it
    is.

    Raises:
        CodecError: what stands there is damaged.
    """
    if not value:
        return None
    if (data := value.get(SESSION)) is None:
        # 0.2.0 kept the whole plan as the model saw it last; all of that counts as listed.
        old = value.get("base")
        return None if old is None else base_of_0_2(old)
    plan = plan_in_value(value)
    record = _record(data, plan)
    if record.behind is None:
        return record.base(plan)
    return attrs.evolve(record.base(record.behind.plan), actors=record.behind.actors)


def session_data(base: Base | None, plan: Plan) -> dict[str, Any] | None:
    """Return what a value keeps of the session beside a plan; `None` for nothing."""
    if base is None:
        return None
    if base.is_alone and base.plan == plan:
        return None
    return _record_data(
        attrs.evolve(Record("").after_turn(base, Memory(), 0, None), behind=base), plan
    )


def _record(data: Any, plan: Plan | None = None) -> Record:
    return record_from_data({"id": uuid4().hex, **data} if isinstance(data, dict) else data, plan)


def _record_data(record: Record, plan: Plan | None = None) -> dict[str, Any]:
    data = record_to_data(record, plan)
    return {key: each for key, each in data.items() if key in _KEPT}


def _session_after(current: _Value, update: _Value, merged: _Value) -> dict[str, Any] | None:
    """
    Return what `merged` keeps of the session, once a step or a plan that was written here has made
    it of the other two, or a call that changed nothing was answered.

    Raises:
        CodecError: what stands there is damaged.
    """
    if SESSION in update:  # a list is taken over as a plan
        given: dict[str, Any] | None = update[SESSION]
        return given
    before = current or update.get(_UPON)
    base, was, after = base_of(before), plan_in_value(before), plan_in_value(merged)
    if update.get("replace"):
        actor, base = update.get(_ACTOR), base or Base(was)
        actors = dict(base.actors) | {task.id: actor for task in after if actor}
        return session_data(attrs.evolve(base, actors=actors), after)
    said = update.get(_NOTE)
    if _NOTE not in update and _SEEN not in update:  # the application's
        return session_data(unseen_by_model(base, was, _entry_in(update, merged)), after)
    if base is None and said is None:
        return None
    # Another call of the turn may have read all that there was to know.
    base = base or Base(was)
    note = Note() if said is None else note_from_data(said, _new_ids(update, merged) or {})
    if said is not None and update["parent"] == head_of(current):
        return session_data(base.advanced(was, after, [note]), after)
    # Decided beside a write by another branch, or refused by what a verifier has found: its own
    # work is no news, that of others still is.
    if _LINE in update:
        base = base.with_own(_entry_in(update, merged).events)
    if base.listed is not None:
        lines = {task_id for task_id, _ in note.lines or ()}
        base = attrs.evolve(base, listed=base.listed | lines | {*note.named})
    return session_data(base, after)


def _joined_session(current: _Value, update: _Value, merged: _Value) -> dict[str, Any] | None:
    """Return what `merged` keeps of the session where a graph within returned a whole value."""
    mine, theirs, plan = base_of(current), base_of(update), plan_in_value(merged)
    # It goes on from what is here if it is taken as it is; what was seen within was seen.
    if mine is None or merged["head"] == head_of(update):
        return session_data(theirs, plan)
    # Its ids stand, and new tasks of ours got others: a task is known by its text and its time.
    there = {(task.subject, task.created_at): task.id for task in plan}
    here = plan_in_value(current)
    ids = {task.id: there.get((task.subject, task.created_at), task.id) for task in here}
    listed, also_by = mine.listed, theirs.actors if theirs else {}
    if listed is not None:
        also = (theirs and theirs.listed) or ()
        listed = frozenset({*(ids.get(task_id, task_id) for task_id in listed), *also})
    words = {key: task for key, task in mine.mine.items() if ids.get(key, key) == key}
    by = {ids.get(task_id, task_id): actor for task_id, actor in mine.actors.items()}
    base = attrs.evolve(mine, listed=listed, mine=words, actors={**by, **also_by})
    return session_data(base, plan)


def refuse_stored(value: _Value | None) -> None:
    """
    Raise if a store keeps the plan.

    Raises:
        PlanError: it does; says where the plan is.
    """
    if value and STORED in value:
        plan_id = value[STORED]
        msg = (
            f"a store keeps the plan of this thread: read and change it by Planner(store,"
            f" {plan_id!r}), or by edit_plan(agent, config, command); an agent or tools that go on"
            " with this thread need store="
        )
        raise PlanError(msg, plan_id=plan_id)


def stored_update(plan_id: str, was: Record, record: Record) -> dict[str, Any]:
    """
    Return the update of a state whose plan is in a store: the record of the thread's session, if it
    is not as it `was`.
    """
    data, held, now = _record_data(record), was.fences, record.fences
    if data == _record_data(was):
        return {}
    # What an agent within a graph returns has no line, and is not its caller's.
    update: dict[str, Any] = {STORED: plan_id, SESSION: data, _LINE: "", INNER: is_inner()}
    # Only what has changed: calls beside each other all begin with the same state.
    ended: dict[str, int | None] = {task_id: None for task_id in held if task_id not in now}
    if changed := ended | {key: fence for key, fence in now.items() if held.get(key) != fence}:
        update[_FENCES] = changed
    return {PLAN: update}


def stored_record(value: _Value | None, plan_id: str) -> Record:
    """
    Return the record of a thread's session with a plan in a store; a new one if there is none.

    Raises:
        CodecError: what stands there is damaged.
    """
    if value is None or value.get(STORED) != plan_id:
        return Record()
    if SESSION in value:
        return _record(value[SESSION])
    # 0.2.0 kept a revision: all that the plan held then counts as listed.
    fences = {task_id: fence for task_id, fence in value.get(_FENCES, {}).items() if fence}
    return _record({"version": 1, "revision": value.get(_SEEN), "fences": fences})


def _merged_stored(current: _Value, update: _Value) -> _Value:
    """
    Reduce two writes to one, where a store keeps the plan: the record of the later revision counts.

    Raises:
        PlanError: a plan was written into the state of a thread whose plan is in a store.
    """
    if not update or (update.get(INNER) and _LINE not in update):
        return current
    if STORED not in update:
        refuse_stored(current)
    plan_id, old = update[STORED], stored_record(current, update[STORED])
    new = stored_record(update, plan_id)
    # Whole from the one that saw more: two records cannot be merged field by field. But each
    # call's claims are its own.
    later = new if (new.revision or 0) >= (old.revision or 0) else old
    changed = update.get(_FENCES, {})
    fences = {task_id: fence for task_id, fence in {**old.fences, **changed}.items() if fence}
    return {STORED: plan_id, SESSION: _record_data(attrs.evolve(later, fences=fences))}


class PlanState(MessagesState):
    """State of a graph written by hand: `messages`, and the plan under `todoplan`."""

    todoplan: Annotated[NotRequired[dict[str, Any]], merge_plans]


def value_in(state: Any, key: str = PLAN) -> Any:
    """
    Return what stands under a key of a state, a mapping or an object with attributes, or `None`.
    """
    return state.get(key) if isinstance(state, Mapping) else getattr(state, key, None)


def messages_in(state: Any) -> Sequence[BaseMessage]:
    """Return the messages of a state: a mapping, an object with attributes, or the list itself."""
    return state if isinstance(state, list) else value_in(state, "messages") or ()


def value_of(state: Any) -> _Value:
    """
    Return the value of a state whose plan is there: the one written last, or while there is none,
    what the list of todos comes to.

    Raises:
        CodecError: what stands there is no plan.
        PlanError: a store keeps the plan.
    """
    value, todos = value_in(state), value_in(state, TODOS)
    refuse_stored(value)
    # A channel with a reducer begins as an empty dict: not None, and not absent.
    if value or not isinstance(todos, list | tuple):
        return value or {}
    plan = plan_of_todos(todos)
    if not plan.revision:
        return {}
    # Which lines this conversation wrote itself, by LangChain's own planner or another one, its
    # messages say. What a program put there it has not listed.
    said = [each for each in messages_in(state) if isinstance(each, AIMessage)]
    lists = (call["args"].get(TODOS) for message in said for call in message.tool_calls)
    written = {todo.content for each in lists if isinstance(each, list) for todo in _todos(each)}
    listed = frozenset(task.id for task in plan if task.subject in written)
    base = Base(plan, listed=None if len(listed) == len(plan) else listed)
    session = session_data(base, plan)
    return {"plan": write_document(plan), **({SESSION: session} if session else {})}


def plan_in(state: Any) -> Plan:
    """
    Return the plan that a state holds: the one written last, or while there is none, the list.

    Raises:
        CodecError: what stands there is no plan.
        PlanError: a store keeps the plan.
    """
    return plan_in_value(value_of(state))


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
    values = _values(state)
    refuse_stored(value_in(values))
    return journal_in(values)


def journal_in(state: Any) -> tuple[Entry, ...]:
    """Return the latest entries of the journal in a state."""
    return read_recent((value_in(state) or {}).get(_JOURNAL))


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
    # Its name is not of the plan: branches of one superstep hold the same plan.
    made = {_LINE: entry_line(entry), INNER: is_inner(), _ACTOR: actor}
    return {PLAN: {**whole(plan, uuid4().hex), **made}, **publishing(plan)}


def step_update(
    step: Step, before: _Value, entry: Entry, note: Note | None = None, *, by_model: bool = False
) -> dict[str, Any]:
    """
    Return the update for a step upon the value `before`, with its entry of the journal; `note` is
    what the session knows by an answer to the model.
    """
    value = step.value(before)
    value |= {_LINE: entry_line(entry, value["entry"]["events"]), INNER: is_inner()}
    if by_model:
        value[_NOTE] = None if note is None else note_to_data(note)
    if before and "head" not in before:
        value[_UPON] = {**before}
    return {PLAN: value, **publishing(value["plan"].order)}


def look_update(parent: str, note: Note) -> dict[str, Any]:
    """Return the update for an answer to the model that has changed nothing."""
    return {PLAN: {_SEEN: parent, _NOTE: note_to_data(note)}}


def todos_of(plan: Plan) -> list[dict[str, Any]]:
    """
    Return the plan as user interfaces read it: LangChain's `content` and `status`, cancelled tasks
    left out. Beside these, where there is something to say: `activeForm`, `priority`, `failed` and
    `waiting` as `to_langchain` has them; `owner`; and of tasks that an edge or a parent joins to
    others their `id`, `blockedBy` and `parent`.

    Raises:
        CodecError: what a task waits for holds what JSON cannot.
    """
    return _listed(require(plan, Plan))


def _listed(tasks: Iterable[Task]) -> list[dict[str, Any]]:
    # An interface draws the keys that it knows: deep-agents-ui and whatever reads `useStream` know
    # `content` and `status`. So a plan that uses nothing else is published as LangChain would.
    shown = [task for task in tasks if task.status is not Status.CANCELLED]
    todos = to_langchain(shown)
    ids = {task.id for task in shown}
    parents = {task.parent for task in shown}
    for todo, task in zip(todos, shown, strict=True):
        if task.owner is not None:
            todo["owner"] = task.owner
        if task.blocked_by or task.blocks or task.parent is not None or task.id in parents:
            todo["id"] = task.id
            # A cancelled blocker is not in the list, and blocks nobody.
            if before := [blocker for blocker in task.blocked_by if blocker in ids]:
                todo["blockedBy"] = before
            if task.parent in ids:
                todo["parent"] = task.parent
    return todos


def publishing(tasks: Iterable[Task]) -> dict[str, Any]:
    """Return the update that publishes these tasks."""
    return {TODOS: _listed(tasks)}


def published(state: Any, plan: Plan) -> dict[str, Any]:
    """Return the update that publishes a plan, if the list in the state is another one."""
    # Another middleware may have written the list, or answered in a tool's place.
    todos = todos_of(plan)
    return {} if (state.get(TODOS) or []) == todos else {TODOS: todos}


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
