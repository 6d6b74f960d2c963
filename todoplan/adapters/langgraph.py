"""
Plans in LangChain, LangGraph and DeepAgents: `pip install 'todoplan[langgraph]'`.

`PlanMiddleware` replaces `TodoListMiddleware` in `create_agent`; `PlanApproval`, added beside it,
stops a run until a person has agreed to the plan. `make_tools` and `PlanState` serve a `StateGraph`
written by hand. An application reads a thread's plan with `plan_of_state` and `history_of`, and
sets or changes it with `seed_plan`, `edit_plan` and `undo_plan`. A node or a tool of your own uses
`plan_update` and `command_update`.

The state's key `todoplan` has plain JSON: the plan's document, the id of the last write (`head`),
the latest entries of the journal (`journal`, see `todoplan.codec.documents`), and the session's
data (`session`: which tasks the session has listed, and what it has last seen of the plan). By law
15 of the guide `architecture`, a list that the model writes drops only tasks that its session has
listed. `session` is left out if the session has listed the whole current plan.

The tools write the key `todoplan` in the update that contains their reply; `edit_plan` and
`seed_plan` write it between runs. User interfaces for LangChain's planner read the key `todos`.
Todoplan writes `todos` with each change, and reads it only while there is no plan yet.
Checkpointers save both keys. So a fork from an old checkpoint continues with the session's data of
that checkpoint.

All calls of a turn see the state before the turn, and LangGraph merges their writes with
the reducer `merge_plans`. So each write has a `note` of the tasks that its call listed or read. If
the write was computed from the current value, `merge_plans` applies the whole note to the session's
data. Otherwise it only adds the changes that the call itself made and the tasks that it listed.

If a store keeps the plan, the key has {"stored": the plan's id, "session": the session's data} and
no copy of the plan. Each thread has its own session, since other threads, agents and programs may
work on the same plan.

An agent inside another graph has its own plan, which must not replace the caller's plan. So the
agent's values have the flag `inner`, and the caller's reducer ignores values with this flag. With a
private key instead of the flag, the results of `invoke` and `stream` would lack the plan.
"""

from __future__ import annotations

import json
import logging
import zlib
from collections.abc import (
    Awaitable,
    Callable,
    Coroutine,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from functools import partial
from inspect import iscoroutinefunction
from itertools import takewhile
from typing import Annotated, Any, Concatenate, Literal, NotRequired, ParamSpec, TypeVar, cast
from uuid import uuid4

import attrs

from todoplan.errors import CodecError, MissingExtraError, PlanError

try:
    from langchain.agents.middleware import (
        AgentMiddleware,
        AgentState,
        ExtendedModelResponse,
        ModelRequest,
        ModelResponse,
    )
    from langchain.agents.middleware.types import OmitFromInput, PrivateStateAttr
    from langchain_core.callbacks import BaseCallbackManager, CallbackManager
    from langchain_core.messages import (
        AIMessage,
        AnyMessage,
        BaseMessage,
        HumanMessage,
        SystemMessage,
        ToolMessage,
    )
    from langchain_core.runnables import RunnableConfig
    from langchain_core.tools import BaseTool, StructuredTool
    from langgraph.channels import BinaryOperatorAggregate, UntrackedValue
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
    from langgraph.config import get_config
    from langgraph.graph import MessagesState
    from langgraph.graph.state import CompiledStateGraph
    from langgraph.prebuilt import ToolNode, ToolRuntime
    from langgraph.pregel import Pregel
    from langgraph.types import Command as GraphCommand
    from langgraph.types import StateSnapshot, interrupt
except ModuleNotFoundError as error:
    raise MissingExtraError.of(error.name, "langgraph") from error

from todoplan.codec import entry_to_data, to_langchain
from todoplan.codec.documents import base_of_0_2, entry_line, read_recent, with_lines
from todoplan.codec.foreign import langchain as branches
from todoplan.codec.foreign.langchain import Step, head_of, plan_in_value, whole, write_document
from todoplan.core.commands import ApprovePlan, Command, WriteTodos
from todoplan.core.decide import Decision, decide_with_change
from todoplan.core.events.apply import Entry
from todoplan.core.events.base import Base, Note
from todoplan.core.plan.model import Status, Task, Todo, in_utc, short_repr
from todoplan.core.plan.plan import Plan
from todoplan.core.rules import CLAUDE, DEFAULT, LANGCHAIN, Policy
from todoplan.dialogue.calls import Call, Clock, Reply, utc_now
from todoplan.dialogue.guidance import (
    Conversation,
    Memory,
    Message,
    Settings,
    ToolResult,
    is_final_answer,
    text_of,
)
from todoplan.dialogue.intake import clean, read
from todoplan.dialogue.replies import list_text
from todoplan.dialogue.toolbox import (
    Start,
    Toolbox,
    answered_after,
    answered_beside,
    edited,
    last_change,
    plan_before,
    require,
    start,
    starts,
    tell_called,
    undone,
    unseen_by_model,
    whole_entry,
)
from todoplan.dialogue.tools import WRITE_TODOS, Definition, write_tool
from todoplan.lazy import listing
from todoplan.planner import AnyStore, AsyncPlanner, Planner
from todoplan.planner.parallel_calls import ParallelCalls
from todoplan.planner.session import (
    SESSION,
    SIGHT,
    AsyncSession,
    BasePlanning,
    Record,
    Request,
    Session,
    note_from_data,
    note_to_data,
    record_from_data,
    record_to_data,
)
from todoplan.planner.steps import described, done_at_once, done_awaited
from todoplan.planner.verifying import Verifier, Verify, Verifying
from todoplan.texts import say

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

PLAN = "todoplan"
MEMORY = "todoplan_memory"
RUN = "todoplan_run"
TODOS = "todos"  # the key of LangChain's planner, which deep-agents-ui and other interfaces read
STORED = "stored"
INNER = "inner"
# Keys of updates only:
_LINE = "line"  # the journal entry as it is saved
_NOTE = "note"  # what the session has listed or read by a call of the model
_SEEN = "seen"  # if a call changed nothing: the id of the write that it saw
_UPON = "upon"  # in a first step: the value made from a list under `todos`
_FENCES = "fences"
_JOURNAL = "journal"
# 0.2.0 saved these keys instead of a record. Updates from a step that 0.2.0 left unfinished may
# have these keys too; the step of a model's call then has both `seen` and `line`.
_OF_0_2 = {"base": None, "shown": None}
_LOOKS = {_SEEN, "shown"}
_FIELDS = write_tool(TODOS).fields
# The saved fields of a session's record. The other fields are not needed: the thread has its own
# id, the memory of guidance has its own key, and the messages show which calls are answered.
_KEPT = {"version", "revision", *SIGHT, "fences", "behind"}

_Value = Mapping[str, Any]


def run_config() -> RunnableConfig:
    """Return the config of the run that this code is part of; outside a run, an empty one."""
    try:
        return get_config()
    except RuntimeError:
        return {}


def is_inner() -> bool:
    """Return whether this code is part of a graph that runs inside another one."""
    # The namespace is "node:id" in an outermost graph, and "node:id|node:id" in a graph inside it.
    return "|" in run_config().get("configurable", {}).get("checkpoint_ns", "")


def merge_plans(current: Mapping[str, Any], update: Mapping[str, Any]) -> Mapping[str, Any]:
    """
    Reducer: merge a write of the plan into the current value.

    In a state class of your own, write `todoplan: Annotated[dict, merge_plans]`.

    A step (the result of one call or command) is stored unchanged if it follows the current value.
    If a parallel branch computed the step from another version, the step is applied to the current
    plan. Its new tasks then get other ids if their ids are taken. A whole plan from a subgraph is
    merged in the same way, and a plan from `plan_update` or `seed_plan` replaces the current one. A
    value from an agent in a subgraph is ignored, since that agent has its own plan.
    """
    current = _unpacked(current)
    # A step or a whole plan written by this module has `line`; a value that a subgraph returns does
    # not.
    if not update or (update.get(INNER) and _LINE not in update):
        return current
    if STORED in current or STORED in update:
        return _merged_stored(current, update)
    if _LINE not in update and not update.keys().isdisjoint(_LOOKS):
        if _SEEN not in update:  # a reminder, which does not change the session
            return current
        looked = {_NOTE: {"read": ""}, "parent": update[_SEEN], **update}
        return _with(current, {**_OF_0_2, SESSION: _session_after(current, looked, current)})
    merged = branches.merge_plans(current, update)
    if merged is current:  # a subgraph returned the plan unchanged
        same = current.get(SESSION) in (None, update.get(SESSION))
        return current if same else _with(current, {SESSION: update.get(SESSION)})
    if _LINE in update:
        session = _session_after(current, update, merged)
        lines = [merged.get(_LINE, update[_LINE])]
        if _LINE in merged and not _entry_in(update, merged).events:
            lines = []  # each change of the step would have closed a cycle
    else:
        session, lines = _joined_session(current, update, merged), update.get(_JOURNAL, ())
    kept = {_JOURNAL: with_lines(current.get(_JOURNAL), lines), SESSION: session, _LINE: None}
    return _with(merged, kept)


def merge_agent_plans(current: Mapping[str, Any], update: Mapping[str, Any]) -> Mapping[str, Any]:
    """
    Reducer of an agent's state: merge like `merge_plans`, and keep the flag `INNER`.

    The flag says that an agent inside another graph wrote the value. So the outer graph ignores it.
    """
    merged = merge_plans(current, update)
    within = merged is not current and (update.get(INNER) or current.get(INNER))
    return {**merged, INNER: True} if within else merged


def _with(value: _Value, kept: dict[str, Any]) -> dict[str, Any]:
    """Return a value with the entries of `kept` in place of its own. Empty ones are left out."""
    return {key: entry for key, entry in {**value, **kept}.items() if entry or key not in kept}


def _entry_in(update: _Value, merged: _Value) -> Entry:
    """Return the journal entry of a step: of the events that the merge has applied, if it has."""
    return branches.entry_in_step(merged if _LINE in merged else update)


def _new_ids(update: _Value, merged: _Value) -> Mapping[str, str] | None:
    ids: Mapping[str, str] | None = merged.get("moved", {}).get(update.get("turn"))
    return ids


def base_of(value: _Value | None) -> Base | None:
    """
    Return the merge base in a value: the plan that the session has last seen, and the tasks that it
    has listed. `None` means that the session has listed the whole current plan.

    Raises:
        CodecError: the value is damaged.
    """
    if not value or (SESSION not in value and "base" not in value):
        return None
    plan = plan_in_value(value)
    record = _record_in(value, plan)
    behind = record.behind or Base(plan)
    return attrs.evolve(record.base(behind.plan), actors=behind.actors)


def _record_in(value: _Value, plan: Plan) -> Record:
    if (data := value.get(SESSION)) is not None:
        return _record(data, plan)
    # 0.2.0 kept the whole plan as the model saw it last; all its tasks count as listed.
    base = None if (old := value.get("base")) is None else base_of_0_2(old)
    return Record("", (plan if base is None else base.plan).revision, behind=base)


def session_data(base: Base | None, plan: Plan) -> dict[str, Any] | None:
    """Return the session's data to save beside a plan; `None` if there is nothing to save."""
    if base is None or (base.is_alone and base.plan == plan):
        return None
    record = Record("").after_turn(base, Memory(), 0, None)
    return _record_data(attrs.evolve(record, behind=base), plan)


def _record(data: Any, plan: Plan | None = None) -> Record:
    return record_from_data({"id": uuid4().hex, **data} if isinstance(data, dict) else data, plan)


def _record_data(record: Record, plan: Plan | None = None) -> dict[str, Any]:
    data = record_to_data(record, plan)
    return {key: item for key, item in data.items() if key in _KEPT}


def _session_after(current: _Value, update: _Value, merged: _Value) -> dict[str, Any] | None:
    """
    Return the session's data to save after a write.

    `update` is a step, a whole plan, or a call that changed nothing; `merged` is the result of
    merging `update` into `current`.

    Raises:
        CodecError: a value is damaged.
    """
    if SESSION in update:  # a list becomes the first plan
        given: dict[str, Any] | None = update[SESSION]
        return given
    before = current or update.get(_UPON)
    base, was, after = base_of(before), plan_in_value(before), plan_in_value(merged)
    note_data = update.get(_NOTE)
    if _NOTE not in update and _SEEN not in update:  # a change by the application
        return session_data(unseen_by_model(base, was, _entry_in(update, merged)), after)
    if base is None and note_data is None:
        return None
    # The session had a merge base when the call began. If it has none now, another call of the turn
    # has read the whole plan in the meantime.
    base = base or Base(was)
    note = (
        Note() if note_data is None else note_from_data(note_data, _new_ids(update, merged) or {})
    )
    if note_data is not None and update["parent"] == head_of(current):
        return session_data(base.advanced(was, after, [note]), after)
    # Another branch wrote while this call was carried out, or the call was refused because of a
    # verifier's finding. The call's own changes are not news to the session, but changes by others
    # still are.
    if _LINE in update:
        base = base.with_own(_entry_in(update, merged).events)
    if base.listed is not None:
        lines = {task_id for task_id, _ in note.lines or ()}
        base = attrs.evolve(base, listed=base.listed | lines | {*note.named})
    return session_data(base, after)


def _joined_session(current: _Value, update: _Value, merged: _Value) -> dict[str, Any] | None:
    """Return the session's data to save after a subgraph returned a whole value."""
    mine, theirs, plan = base_of(current), base_of(update), plan_in_value(merged)
    # If the merge used the subgraph's value unchanged, its session data is used too, because it
    # says what the model has seen in the subgraph.
    if mine is None or merged["head"] == head_of(update):
        return session_data(theirs, plan)
    # The merge keeps the subgraph's ids and gives new tasks of this graph other ids, so a task is
    # found again by its subject and its creation time.
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
        PlanError: a store keeps the plan; the message says where.
    """
    if value and STORED in value:
        plan_id = value[STORED]
        msg = (
            "a store keeps the plan of this thread: read and change it with Planner(store,"
            f" {plan_id!r}) or edit_plan(agent, config, command); agents and tools for this thread"
            " need store="
        )
        raise PlanError(msg, plan_id=plan_id)


def stored_update(plan_id: str, was: Record, record: Record) -> dict[str, Any]:
    """
    Return the update for a thread whose plan is in a store: the session's record (which tasks it
    has listed, and what it has last seen). The update is empty if the record equals `was`, the
    saved one.
    """
    data, held, now = _record_data(record), was.fences, record.fences
    if data == _record_data(was):
        return {}
    # This graph's reducer accepts the update because it has `line`. The value that a subgraph
    # returns has no `line`, so the caller's reducer ignores it.
    update: dict[str, Any] = {STORED: plan_id, SESSION: data, _LINE: "", INNER: is_inner()}
    # Save only the changed fences, since parallel calls all begin with the same state.
    ended: dict[str, int | None] = {task_id: None for task_id in held if task_id not in now}
    if changed := ended | {key: fence for key, fence in now.items() if held.get(key) != fence}:
        update[_FENCES] = changed
    return {PLAN: update}


def stored_record(value: _Value | None, plan_id: str) -> Record:
    """
    Return the record of a thread's session with a stored plan; a new record if none is saved.

    Raises:
        CodecError: the saved record is damaged.
    """
    if value is None or value.get(STORED) != plan_id:
        return Record()
    if SESSION in value:
        return _record(value[SESSION])
    # 0.2.0 saved only a revision: all tasks up to that revision count as listed.
    fences = {task_id: fence for task_id, fence in value.get(_FENCES, {}).items() if fence}
    return _record({"version": 1, "revision": value.get(_SEEN), "fences": fences})


def _merged_stored(current: _Value, update: _Value) -> _Value:
    """
    Merge two writes if a store keeps the plan: the record with the later revision wins.

    Raises:
        PlanError: a plan was written into the state of a thread whose plan is in a store.
    """
    if STORED not in update:
        refuse_stored(current)
    plan_id, old = update[STORED], stored_record(current, update[STORED])
    new = stored_record(update, plan_id)
    # Two records cannot be merged field by field, so the record with the later revision is used.
    # Fences can be merged, since each call changes only its own.
    later = new if (new.revision or 0) >= (old.revision or 0) else old
    changed = update.get(_FENCES, {})
    fences = {task_id: fence for task_id, fence in {**old.fences, **changed}.items() if fence}
    return {STORED: plan_id, SESSION: _record_data(attrs.evolve(later, fences=fences))}


class PlanChannel(BinaryOperatorAggregate[Any]):
    """
    The channel of the plan in a graph's state, which compresses the plan in checkpoints.

    Each checkpoint of a thread contains the whole plan and its journal, nearly all of it unchanged
    since the previous checkpoint. Compression leaves a tenth of the bytes.
    """

    __slots__ = ("_packed",)

    def checkpoint(self) -> Any:
        """
        Return the value to save; LangGraph calls this after each step, even if nothing changed.
        """
        value, packed = getattr(self, "_packed", (None, None))
        if value is not self.value:
            kind, data = _SERDE.dumps_typed(self.value)
            packs = kind == _MSGPACK and len(data) > _SMALL
            packed = zlib.compress(data, 1) if packs else self.value
            self._packed = self.value, packed
        return packed

    def from_checkpoint(self, checkpoint: Any) -> PlanChannel:
        """
        Return a channel with a saved value, which may be compressed.

        Raises:
            CodecError: the value is damaged.
        """
        value = _unpacked(checkpoint)
        channel = super().from_checkpoint(value)
        if value is not checkpoint:
            channel._packed = value, checkpoint  # noqa: SLF001 - its own kind
        return channel


def _unpacked(value: Any) -> Any:
    """
    Return a value from a checkpoint, decompressed if necessary.

    Raises:
        CodecError: the value is damaged.
    """
    if not isinstance(value, bytes):
        return value
    try:
        return _SERDE.loads_typed((_MSGPACK, zlib.decompress(value)))
    except zlib.error as error:
        msg = f"the plan in this checkpoint is damaged: {error}"
        raise CodecError(msg, problem="damaged") from error


_SERDE, _MSGPACK, _SMALL = JsonPlusSerializer(), "msgpack", 1_024


class PlanState(MessagesState):
    """The state of a graph written by hand, with `messages`, and the plan under `todoplan`."""

    todoplan: Annotated[NotRequired[dict[str, Any]], PlanChannel(dict[str, Any], merge_plans)]


def value_in(state: Any, key: str = PLAN) -> Any:
    """
    Return the value of a key in a state, or `None`. A state is a mapping or an object with
    attributes.
    """
    value = state.get(key) if isinstance(state, Mapping) else getattr(state, key, None)
    return _unpacked(value)  # a graph without `PlanChannel` may have read the checkpoint


def messages_in(state: Any) -> Sequence[BaseMessage]:
    """Return the messages of a state: a mapping, an object with attributes, or the list itself."""
    return state if isinstance(state, list) else value_in(state, "messages") or ()


def value_of(state: Any) -> _Value:
    """
    Return the value of the key `todoplan` in a state. Before the first write, return a value made
    from the list under `todos`.

    Raises:
        CodecError: the state has something else in place of a plan.
        PlanError: a store keeps the plan.
    """
    value, todos = value_in(state), value_in(state, TODOS)
    refuse_stored(value)
    # A channel with a reducer begins as an empty dict, not as `None`.
    if value or not isinstance(todos, list | tuple):
        return value or {}
    plan = plan_of_todos(todos)
    if not plan.revision:
        return {}
    # An entry of the list counts as listed if the model wrote it in this conversation, with
    # LangChain's own planner or another one; the calls in the messages show this. Entries written
    # by a program do not count as listed.
    answers = [message for message in messages_in(state) if isinstance(message, AIMessage)]
    lists = (call["args"].get(TODOS) for message in answers for call in message.tool_calls)
    written = {
        todo.content for entries in lists if isinstance(entries, list) for todo in _todos(entries)
    }
    listed = frozenset(task.id for task in plan if task.subject in written)
    base = Base(plan, listed=None if len(listed) == len(plan) else listed)
    session = session_data(base, plan)
    return {"plan": write_document(plan), **({SESSION: session} if session else {})}


def plan_of_state(state: Any) -> Plan:
    """
    Return the plan in a result of `invoke`, `get_state` or `stream` (stream_mode="values"), or in
    the state that a node receives.

    Before the first write, the plan is made from the list under `todos`; later that list is not
    read.

    Raises:
        CodecError: the state has something else in place of a plan.
        PlanError: the argument is not a state, its graph keeps no plan, or a store keeps the plan.
    """
    return plan_in_value(value_of(_values(state)))


def history_of(state: Any) -> tuple[Entry, ...]:
    """
    Return the journal, oldest entry first. An entry says when, by whom (`actor`, `None` if no name
    was given) and by which tool or command (`cause`) the plan was changed. The state keeps the
    latest 50 entries, fewer if they are long.

    Raises:
        CodecError, PlanError: see `plan_of_state`.
    """
    values = _values(state)
    refuse_stored(value_in(values))
    return journal_in(values)


def journal_in(state: Any) -> tuple[Entry, ...]:
    """Return the latest entries of the journal in a state."""
    return read_recent((value_in(state) or {}).get(_JOURNAL))


def _values(state: Any) -> Any:
    values = state.values if isinstance(state, StateSnapshot) else state
    # The values of a new thread are empty. Later each state of its graph has the key, at first with
    # an empty dict, since the channel has a reducer.
    if isinstance(state, StateSnapshot) and not values:
        return values
    if value_in(values) is None and not isinstance(value_in(values, TODOS), list | tuple):
        msg = (
            f"{short_repr(state)} has no plan: give the result of invoke, agent.get_state(config)"
            ' or a chunk of stream_mode="values", of an agent with PlanMiddleware or of a graph'
            " over PlanState"
        )
        raise PlanError(msg, seen=state)
    return values


def plan_update(plan: Plan, *, actor: str | None = None) -> dict[str, Any]:
    """
    Return the state update that replaces the plan with `plan`, for a node or a `Command`.

    If tools change the plan in the same superstep, their changes are applied to `plan`. `actor` is
    the author of the change, for the journal.

    Raises:
        PlanError: the argument is not a plan.
    """
    entry = whole_entry(require(plan, Plan), "plan_update", at=utc_now(), actor=actor)
    # The id is not derived from the plan: branches of one superstep may write the same plan.
    made = {_LINE: entry_line(entry), INNER: is_inner()}
    return {PLAN: {**whole(plan, uuid4().hex), **made}, TODOS: _listed(plan)}


def step_update(step: Step, before: _Value) -> dict[str, Any]:
    """Return the update for a step (the result of one call or command) that follows `before`."""
    value: dict[str, Any] = {**step.value(before), INNER: is_inner()}
    if before and "head" not in before:
        value[_UPON] = {**before}
    return {PLAN: value, TODOS: _listed(value["plan"].plan)}


def look_update(parent: str, note: Note) -> dict[str, Any]:
    """
    Return the update for a call that changed nothing. `parent` is the id of the write that the call
    saw, and `note` says which tasks the call has read.
    """
    return {PLAN: {_SEEN: parent, _NOTE: note_to_data(note)}}


def todos_of(plan: Plan) -> list[dict[str, Any]]:
    """
    Return the plan as a list for user interfaces. Each task has LangChain's `content` and `status`;
    cancelled tasks are left out. If set, a task also has `activeForm`, `priority`, `failed` and
    `waiting` (see `to_langchain`) and `owner`; tasks with edges, a parent or subtasks have `id`,
    `blockedBy` and `parent`.

    Raises:
        CodecError: a `waiting` value cannot be represented in JSON.
    """
    return _listed(require(plan, Plan))


def _listed(tasks: Iterable[Task]) -> list[dict[str, Any]]:
    # User interfaces read certain keys only: deep-agents-ui and readers of `useStream` read
    # `content` and `status`. So a plan without other values is published as LangChain would publish
    # it.
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


def published(state: Any, plan: Plan) -> dict[str, Any]:
    """
    Return the update that publishes a plan; the update is empty if the state's list is the same.
    """
    # Another middleware may have written the list, or answered a call in place of the tool.
    todos = todos_of(plan)
    return {} if (state.get(TODOS) or []) == todos else {TODOS: todos}


def plan_of_todos(todos: Sequence[Any]) -> Plan:
    """
    Make a plan from a list that another program wrote, without checking rules.

    An entry that cannot be read becomes a task whose text is the entry in JSON; empty entries are
    left out.
    """
    return decide_with_change(Plan(), WriteTodos(tuple(_todos(todos))), Policy(), None)[1].after


def _todos(todos: Sequence[Any]) -> Iterator[Todo]:
    for entry in todos:
        # The ids in the list are not used: a plan's ids come from its counter (law 6).
        own = isinstance(entry, dict) and "parent" in entry
        alone = {key: entry[key] for key in entry if key != "parent"} if own else entry
        intake = read({TODOS: [alone]}, _FIELDS)
        if not intake.problems:
            yield from (attrs.evolve(todo, id=None) for todo in intake.values[TODOS])
        elif entry:
            text = json.dumps(entry, default=str, skipkeys=True, ensure_ascii=False)
            yield Todo(clean(text, TODOS)[0])


# -------- plans --------
# An agent's plan is in the state of its graph (`StatePlans`) or in a store (`StoredPlans`). This is
# decided once, when the middleware or the tools are made; both classes have the same methods.
#
# Their methods are generators, called steps: each yields functions to call, and receives the
# results. The synchronous methods for LangGraph call these functions; the asynchronous methods
# await them.
#
# All calls of a turn start at once, on the state before the turn. By law 13, each is answered as if
# the calls before it had been carried out. With a plan in the state, each call repeats the calls
# before it on its own copy. Calls that a guard or a person has already answered with a refusal are
# left out. With a plan in a store, one of the calls carries out all of them once.

T = TypeVar("T")
P = ParamSpec("P")
Steps = Generator[Callable[[], Any], Any, T]
logger = logging.getLogger("todoplan")


class _OnePlan:
    """A read-only store that contains the plan of a state, for a session."""

    never_waits = True

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def load(self, _: str) -> Plan:
        """Return the plan."""
        return self._plan

    def entries(self, _: str) -> tuple[Entry, ...]:
        """Return no entries: the session finds the changes by others in the graph's state."""
        return ()

    append = load  # not called: a session's requests write nothing


@attrs.frozen
class Turn:
    """
    One call of a turn. `calls` are the planning calls of the turn that have no answer yet, and
    `place` is the index of this call in them. All these calls see the same `state`. `thread` is the
    `configurable` of the run; `message` is the id of the model's message, "" if it has none.
    """

    state: Any
    calls: Sequence[Call]
    place: int
    thread: Mapping[str, Any]
    message: str

    @property
    def own(self) -> Call:
        """The call that is to be answered."""
        return self.calls[self.place]

    @property
    def name(self) -> str:
        """The name of the turn in its thread."""
        # `add_messages` gives every message an id; a state without that reducer may not.
        return self.message or " ".join(call.call_id for call in self.calls)


class _Plans(BasePlanning):
    """
    The base class of `StatePlans` and `StoredPlans`, with the settings. `is_agents` is true for an
    agent of `create_agent`, and false for a graph written by hand.
    """

    is_awaited = True  # whether a call awaits anything

    def __init__(self, *given: Any, is_agents: bool = False, **more: Any) -> None:
        self.is_agents = is_agents
        super().__init__(*given, **more)

    def _planner(
        self, store: Any, plan_id: str, verify: Verifier | None = None, *, awaits: bool
    ) -> Any:
        kind: Any = AsyncPlanner if awaits else Planner
        return kind(store, plan_id, toolbox=self.toolbox, clock=self.clock, verify=verify)

    def _session(self, planner: Any, record: Record) -> Any:
        kind: Any = Session if isinstance(planner, Planner) else AsyncSession
        thread = run_config().get("configurable", {}).get("thread_id")
        actor = self.actor_of(None if thread is None else str(thread))
        if actor is None and self.toolbox.toolset.team and self.store is not None:
            msg = (
                "the config has no thread_id, which names the agent in its claims: run the graph"
                ' with a config {"configurable": {"thread_id": ...}}, or give actor='
            )
            raise PlanError(msg)
        return kind(planner, record, settings=self.settings, actor=actor)


class StatePlans(_Plans):
    """Plans in the states of their graphs."""

    def prepare(self) -> None:
        """
        Make the object that verifies completed tasks; each task is verified once for all calls of a
        turn.
        """
        self.verifying = Verifying.of(self.toolbox, self._verify)
        self.is_awaited = self.verifying is not None

    def session(self, state: Any, *, awaits: bool) -> Steps[Any]:
        """Return the session for a request to the model, with the plan of the request's state."""
        yield from ()  # a generator, as in `StoredPlans`
        plan = plan_in_value(value := value_of(state))
        # Only this thread uses the plan, so all claims are the thread's own.
        fences = {task.id: task.claim.fence for task in plan.active() if task.claim}
        memory = Memory.of(value_in(state, MEMORY))
        record = attrs.evolve(_record_in(value, plan), fences=fences, memory=memory)
        return self._session(self._planner(_OnePlan(plan), PLAN, awaits=awaits), record)

    def kept(self, state: Any, session: Any) -> Steps[dict[str, Any]]:  # noqa: ARG002 - as in `StoredPlans`
        """Return the state update after a request to the model."""
        yield from ()  # same
        if not value_in(state):
            if not (listed := value_of(state)):
                return {}
            update = plan_update(plan_in_value(listed))
            update[PLAN][SESSION] = listed.get(SESSION)
            return update
        update = published(state, plan_in_value(value_in(state)))
        if update and state.get(TODOS) and not state.get(RUN):
            # User interfaces and other planners write this list too, so a difference is no error.
            # But an application that passes `todos` to `invoke` should learn why they have no
            # effect.
            logger.warning(
                "todos differ from the plan of this thread, and are overwritten: change the plan"
                " with edit_plan(agent, config, command), or set it with seed_plan(agent, config,"
                " plan)"
            )
        return update

    def answer(self, turn: Turn, *, awaits: bool) -> Steps[tuple[Reply, dict[str, Any]]]:
        """
        Answer one call of a turn as if the calls before it had been carried out. Return the reply
        and the state update.
        """
        value = value_of(turn.state)
        plan, base, began = plan_in_value(value), base_of(value), start(self.toolbox)

        def attempt(box: Toolbox) -> tuple[tuple[Reply, ...], Any]:
            upon: dict[str, Any] = {"at": (at := in_utc(self.clock())), "base": base}
            return answered_beside(box, plan, turn.calls, turn.place, actor=self.actor, **upon), at

        if self.verifying is None:
            replies, at = attempt(self.toolbox)
        else:
            looking = self.verifying
            if not awaits:
                looking.verifier.refuse_awaited("ainvoke or astream")
            # A turn without a name gets a unique key, since another run could have the same values.
            where = turn.thread.get("thread_id"), _graph_of(turn.thread), turn.name
            ids = [call.call_id for call in turn.calls]
            with looking.of_turn(where if turn.name else object(), ids, turn.own.call_id) as shared:
                look = looking.aanswer if awaits else looking.answer
                replies, at = yield partial(look, attempt, shared)
        tell_called(self.toolbox, replies[-1:], self.actor, began)
        *earlier, reply = replies
        # The call follows the write of the last call before it that changed the plan.
        parent = head_of(value)
        for before, call in zip(earlier, turn.calls, strict=False):
            if before.events:
                parent = f"{before.plan.revision}:{_name(call)}"
        # A refusal that records a verifier's finding reports no changes by others.
        note = None if base is None or reply.is_error else reply.note
        if not reply.events:
            return reply, {} if note is None else look_update(parent, note)
        name = _name(turn.own) if len(turn.calls) > 1 else turn.own.call_id
        entry = Entry(reply.plan.revision, reply.events, at, self.actor, reply.name)
        update = step_update(Step(reply.plan, entry, name, parent, turn.name), value)
        update[PLAN][_NOTE] = None if note is None else note_to_data(note)
        return reply, update


def _name(call: Call) -> str:
    """
    Return a name for a call, with a checksum of its arguments.

    A later call of the turn names this call's write as its parent. If the later call was computed
    with other arguments for this call, the two names differ. Then the reducer does not treat the
    later call as computed from this write.
    """
    # Not `hash`: it is salted for each process, and a turn may be resumed in another one.
    return f"{zlib.crc32(repr((call.name, call.arguments)).encode()):x}:{call.call_id}"


def _graph_of(thread: Mapping[str, Any]) -> str:
    """Return the namespace of the graph that runs; "" for an outermost graph."""
    # In a run the namespace ends with the node: "node:id", or "graph:id|node:id".
    namespace: str = thread.get("checkpoint_ns", "")
    return namespace.rpartition("|")[0]


@attrs.frozen
class _Answered:
    """The replies to a group of calls, and their session."""

    replies: tuple[Reply, ...]
    session: Any


class StoredPlans(_Plans):
    """
    Plans in a store, under `plan_id` or, by default, the thread's id. By default, an agent inside
    another graph has a plan of its own.

    When a thread first runs with a store, its state may already have a plan, or a list under
    `todos`. That plan or list becomes the first plan in the store. If the store already has a plan,
    `begun` raises, unless the state's plan has no tasks or is the caller's list.
    """

    def prepare(self) -> None:
        """Make the list of turns whose calls are carried out together."""
        self._calls = ParallelCalls[_Answered]()

    def id_of(self, thread: Mapping[str, Any], namespace: str | None = None) -> str:
        """
        Return the id of a thread's plan. `thread` is the `configurable` of a run or of a config;
        outside a run, `namespace` is the namespace of the graph.

        Raises:
            PlanError: there is neither a plan id nor a thread id.
        """
        if self.plan_id is not None:
            return self.plan_id
        if (name := thread.get("thread_id")) is None:
            msg = (
                "the config has no thread_id, which names the plan in the store: run the graph with"
                ' a config {"configurable": {"thread_id": ...}}, or give plan_id='
            )
            raise PlanError(msg)
        inner = _graph_of(thread) if namespace is None else namespace
        # A graph written by hand shares its caller's plan, as it does without a store.
        return f"{name}|{inner}" if inner and self.is_agents else str(name)

    def begun(self, state: Any, plan_id: str, *, awaits: bool) -> Steps[tuple[Any, Record]]:
        """
        Return a planner for a thread's plan, and the record of the thread's session. A plan in the
        state is moved to the store.

        Raises:
            PlanError: the state has a plan, and the store has another one; or the store is
                asynchronous, and `awaits` is false.
        """
        store, verify = cast("Any", self.store), self._verify
        if not awaits and iscoroutinefunction(store.load):
            msg = (
                "this store is asynchronous: run the graph with ainvoke or astream, and change the"
                " plan with aedit_plan"
            )
            raise PlanError(msg)
        if verify is not None and verify.is_awaited and not awaits:
            verify = None  # edits by a person are not verified
        planner = self._planner(store, plan_id, verify, awaits=awaits)
        if STORED in (value_in(state) or {}):
            return planner, stored_record(value_in(state), plan_id)
        value = value_of(state)
        plan, base = plan_in_value(value), base_of(value)
        if plan == Plan():
            return planner, Record()
        known = Base(plan) if base is None else base
        plans = (plan,) if known.plan == plan else (known.plan, plan)
        if (yield partial(planner.begin, *plans)):
            # The session has last seen the first of `plans`, which is revision 1 in the store.
            return planner, attrs.evolve(Record().after_turn(known, Memory(), 0, None), revision=1)
        if not len(plan):  # the state's plan was cleared, so nothing is lost
            return planner, Record()
        if not value_in(state) and is_inner():  # the caller's list, which stays with the caller
            logger.warning("todos of the outer graph are ignored: a store has the agent's plan")
            return planner, Record()
        msg = (
            f"this thread has a {'plan' if value_in(state) else 'list of todos'} in its state, but"
            f" the store has another plan under {plan_id!r}: give the plan_id= of a new plan, or"
            " drop the one in the state (a list with todos=[] in the input; a plan with ClearPlan()"
            " through an agent without store=)"
        )
        raise PlanError(msg, plan_id=plan_id)

    def session(self, state: Any, *, awaits: bool) -> Steps[Any]:
        """Return the session for a request to the model."""
        plan_id = self.id_of(run_config().get("configurable", {}))
        planner, record = yield from self.begun(state, plan_id, awaits=awaits)
        memory = Memory.of(value_in(state, MEMORY))
        return self._session(planner, attrs.evolve(record, memory=memory))

    def kept(self, state: Any, session: Any) -> Steps[dict[str, Any]]:
        """Return the state update after a request to the model."""
        plan_id = self.id_of(run_config().get("configurable", {}))
        was = stored_record(value_in(state), plan_id)
        plan, _ = yield session.unseen
        return stored_update(plan_id, was, session.state) | published(state, plan)

    def answer(self, turn: Turn, *, awaits: bool) -> Steps[tuple[Reply, dict[str, Any]]]:
        """
        Answer one call of a turn. The calls that start together are carried out together.

        A call that is started twice is carried out once: always in one process, and in several
        processes if the store supports idempotency keys.
        """
        names = [call.name for call in turn.calls]
        clashing = self.toolbox.clashing(names)
        if turn.place in clashing:
            return answered_after(self.toolbox, Plan(), turn.own, names), {}
        if self._verify is not None and not awaits:
            self._verify.refuse_awaited("ainvoke or astream")
        plan_id = self.id_of(turn.thread)
        planner, record = yield from self.begun(turn.state, plan_id, awaits=awaits)
        thread = str(turn.thread.get("thread_id", ""))

        def carry_out(calls: Sequence[Call], earlier: Sequence[_Answered]) -> Steps[_Answered]:
            session = earlier[-1].session if earlier else self._session(planner, record)
            # After a crash between the commit and LangGraph's checkpoint the node runs again, with
            # the same message and the same known revision.
            response = (thread, turn.message, record.revision) if turn.message else None
            if len(calls) == len(names) - len(clashing):
                return _Answered((yield partial(session.answer, calls, response)).replies, session)
            replies: tuple[Reply, ...] = ()
            for call in calls:
                replies += ((yield partial(session.answer_one, call, turn.calls, response)),)
            return _Answered(replies, session)

        ids = [call.call_id for at, call in enumerate(turn.calls) if at not in clashing]
        most = run_config().get("max_concurrency")
        if most is not None and most < len(turn.calls):
            ids = [turn.own.call_id]  # no call may wait for another that cannot run yet
        # A message without an id may have the same calls as an earlier one, so its calls count as
        # new.
        key = (plan_id, thread, turn.message) if turn.message else object()
        group = self._calls.aanswer if awaits else self._calls.answer
        drive: Any = done_awaited if awaits else done_at_once
        reply, done = yield partial(
            group, key, ids, turn.own, lambda *given: drive(carry_out(*given))
        )
        update = stored_update(plan_id, record, done.session.state)
        if not all(one.is_error for one in done.replies) or update:
            update[TODOS] = _listed(done.replies[-1].plan)
        return reply, update


AnyPlans = StatePlans | StoredPlans


def plans_for(*given: Any, store: AnyStore | None, **more: Any) -> AnyPlans:
    """
    Return `StoredPlans` if a store is given, otherwise `StatePlans`.

    Raises:
        PlanError: an argument has the wrong type; or a plan id is given without a store.
    """
    kind = StatePlans if store is None else StoredPlans
    return kind(*given, store=store, **more)


# -------- tools --------
# The planning tools for `ToolNode`, with or without `create_agent`, and how they answer a call.

# A private key of HumanInTheLoopMiddleware: the calls that a person has edited, by id.
_EDITS = "hitl_edited_tool_calls"


class PlanTool(StructuredTool):
    """
    A planning tool. `plans` has the agent's plans: in its graph's state, or in a store.

    Without callbacks, the tool's function is called directly, which is faster.
    """

    # A tool is a pydantic model, so this is a field; as `Any` it is neither checked nor copied.
    plans: Any = None

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002 - LangChain's name
        """Answer a call, without LangChain's machinery for callbacks if there are no callbacks."""
        function: Any = self.func
        if arguments := self._without_callbacks(input, config, kwargs):
            return function(*arguments)
        return super().invoke(input, config, **kwargs)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002 - LangChain's name
        """Answer a call. A tool without a coroutine awaits nothing, so that calls stay in order."""
        function: Any = self.coroutine or self.func
        if arguments := self._without_callbacks(input, config, kwargs):
            answer = function(*arguments)
            return await answer if self.coroutine else answer
        # With callbacks, LangChain runs a tool without a coroutine in a worker thread.
        return await super().ainvoke(input, config, **kwargs)

    # The callback machinery takes most of a call's time even without callbacks: 242 us with it, 77
    # without (in `ToolNode`: 2.02 and 1.74 ms).
    def _without_callbacks(
        self, call: Any, config: RunnableConfig | None, kwargs: dict[str, Any]
    ) -> tuple[Any, ...]:
        """Return the function's arguments for a graph's call without callbacks, otherwise `()`."""
        if kwargs or not isinstance(call, Mapping) or "runtime" not in call.get("args", ()):
            return ()
        manager = (config or {}).get("callbacks")
        if not isinstance(manager, BaseCallbackManager):
            # This adds the tracers of the environment (LangSmith), which the config lacks.
            manager = CallbackManager.configure(manager)
        if manager.handlers or self.callbacks or self.verbose:
            return ()
        return self._to_args_and_kwargs(call["args"], call["id"])[0]

    def _to_args_and_kwargs(
        self, tool_input: str | dict[str, Any], tool_call_id: str | None
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """
        Pass the model's arguments as one dict, so that none of them is taken for a parameter of
        this tool.

        Outside a graph there is no runtime, and the plan is empty: LangChain's own tests call
        `write_todos.invoke(tool_call)` that way.
        """
        given = dict(tool_input) if isinstance(tool_input, dict) else {}
        # A model may send its own argument `runtime`, which is not a `ToolRuntime`.
        runtime = given.get("runtime")
        if isinstance(runtime, ToolRuntime):
            del given["runtime"]
        else:
            runtime = None
        return (runtime, given, tool_call_id or ""), {}


def make_tools(  # noqa: PLR0913 - settings of every adapter
    toolbox: Toolbox | None = None,
    *,
    store: AnyStore | None = None,
    clock: Clock = utc_now,
    verify: Verify | None = None,
    plan_id: str | None = None,
    actor: str | None = None,
    emit_events: bool = False,
) -> list[BaseTool]:
    """
    Return the tools of a toolbox, for `bind_tools` and `ToolNode` over a state such as `PlanState`.

    With a `store`, the plan is kept there under `plan_id`, by default the thread's id, and not in
    the state. `clock` returns the current time with its time zone, `verify` checks whether a task
    is done (see `Planner`), and `actor` is this agent's name in the journal.

    With `emit_events`, each call that changes the plan writes {"todoplan": ...} to the stream mode
    "custom". The value has the journal entry, the tool's name and the call's id. The calls of one
    turn run at once, so their events come in any order; `revision` gives the right order.

    Raises:
        PlanError: an argument has the wrong type.
    """
    given: dict[str, Any] = {"clock": clock, "verify": verify, "plan_id": plan_id, "actor": actor}
    return tools_of(plans_for(toolbox, store=store, **given), emit_events=emit_events)


def tools_of(plans: AnyPlans, *, emit_events: bool) -> list[BaseTool]:
    """Return the planning tools of an agent."""
    return [
        _tool(plans, definition, emit_events=emit_events)
        for definition in plans.toolbox.toolset.definitions()
    ]


def _tool(plans: AnyPlans, definition: Definition, *, emit_events: bool) -> BaseTool:
    def steps(
        runtime: ToolRuntime | None, arguments: dict[str, Any], call_id: str, *, awaits: bool
    ) -> Steps[GraphCommand[Any]]:
        state: Any = runtime.state if runtime else {}
        thread: Mapping[str, Any] = runtime.config.get("configurable", {}) if runtime else {}
        own = Call(definition.name, arguments, (runtime.tool_call_id or "") if runtime else call_id)
        turn = _turn(plans.toolbox, state, own, thread)
        reply, update = yield from plans.answer(turn, awaits=awaits)
        if emit_events and runtime and reply.events:
            entry = entry_to_data(Entry(reply.revision, reply.events))
            runtime.stream_writer({PLAN: {**entry, "tool": reply.name, "call_id": own.call_id}})
        status = "error" if reply.is_error else "success"
        message = ToolMessage(reply.text, name=reply.name, tool_call_id=own.call_id, status=status)
        return _Fresh(update={**update, "messages": [message]})

    # ToolNode finds the parameter for the runtime by its annotation.
    def answer(runtime: ToolRuntime, arguments: dict[str, Any], call_id: str) -> GraphCommand[Any]:
        return done_at_once(steps(runtime, arguments, call_id, awaits=False))

    async def aanswer(runtime: ToolRuntime, arguments: Any, call_id: str) -> GraphCommand[Any]:
        return await done_awaited(steps(runtime, arguments, call_id, awaits=True))

    return PlanTool.from_function(
        answer,
        # Without a coroutine nothing is awaited, and the calls of a turn stay in order.
        aanswer if plans.is_awaited else None,
        name=definition.name,
        description=definition.description,
        # LangChain does not validate arguments against a dict, so intake gets what the model sent
        # and reports what is wrong. A dict is also cheaper: 143 us a call, 179 with a pydantic
        # model (empty tool).
        args_schema=definition.schema,
        infer_schema=False,
        plans=plans,
    )


class _Fresh(GraphCommand[Any]):
    """A command that nobody else refers to, so `ToolNode` need not make a deep copy."""

    def __deepcopy__(self, memo: object) -> _Fresh:
        return self


def _turn(toolbox: Toolbox, state: Any, own: Call, thread: Mapping[str, Any]) -> Turn:
    """Return the turn that a call is part of, with its planning calls that have no answer yet."""
    messages = messages_in(state)
    tail = [*takewhile(lambda message: not isinstance(message, AIMessage), reversed(messages))]
    if len(tail) == len(messages):
        return Turn(state, [own], 0, thread, "")
    message: Any = messages[-1 - len(tail)]
    answered = {answer.tool_call_id for answer in tail if isinstance(answer, ToolMessage)}
    # If a person has edited a call, the message still has the call as the model wrote it.
    edits = value_in(state, _EDITS) or {}
    calls = []
    for call in message.tool_calls:
        action = edits.get(call["id"], call)
        # An answered call may have been refused by a guard or a person: it must not be carried out.
        if call["id"] not in answered and toolbox.toolset.find(action["name"]):
            calls.append(Call(action["name"], action["args"], call["id"] or ""))
    # A `wrap_tool_call` may have changed the arguments, so the arguments of `own` are used. If two
    # calls have the same id, `own` is the one with the same arguments.
    same = [place for place, call in enumerate(calls) if call.call_id == own.call_id]
    place = same[0] if len(same) == 1 else next((at for at in same if calls[at] == own), -1)
    if place < 0:  # a call of the application, which is in no message
        calls, place = [own], 0
    calls[place] = own
    return Turn(state, calls, place, thread, message.id or "")


# -------- threads --------
# The functions with which an application seeds and changes the plan of a thread, and undoes
# changes. They take a compiled graph and a config.
#
# A plan in a store can be changed at any time. A plan in the state can be changed only between two
# runs: a run reads its thread's checkpoint when it starts, works in memory, and overwrites whatever
# is written meanwhile. An edit during a run would be accepted and then lost (law 16), so it is
# refused. LangGraph does not say whether a thread is running. It only shows that the thread is
# between two steps, and whether an interrupt, an error or an edit is the cause. If none of these is
# the cause, the thread counts as running. A killed process leaves a thread in the same condition;
# `stopped=True` is for that case.
#
# Each function is written once, as steps; `_twins` makes a synchronous and an asynchronous one.

Graph = Pregel[Any, Any, Any, Any]
_GRAPH = "a compiled graph, such as create_agent(...) returns"
_CONFIG = 'a config, such as {"configurable": {"thread_id": "1"}}'


def _twins(
    steps: Callable[Concatenate[str, P], Steps[T]],
) -> tuple[Callable[P, T], Callable[P, Coroutine[Any, Any, T]]]:
    """
    Return a synchronous and an asynchronous function that carry out steps. The first argument of
    the steps is the prefix of the graph's methods: "" or "a".
    """

    def carried_out(*args: P.args, **kwargs: P.kwargs) -> T:
        return done_at_once(steps("", *args, **kwargs))

    async def waited_for(*args: P.args, **kwargs: P.kwargs) -> T:
        return await done_awaited(steps("a", *args, **kwargs))

    described(carried_out, steps, without=1)
    described(waited_for, steps, prefix="a", without=1)
    return carried_out, waited_for


def _seed_plan(  # noqa: PLR0913 - as `edit_plan`
    prefix: str,
    graph: Graph,
    config: RunnableConfig,
    plan: Plan,
    *,
    actor: str | None = None,
    as_node: str | None = None,
    stopped: bool = False,
) -> Steps[RunnableConfig]:
    """
    Replace the plan of the config's thread, which may be new. Without a store, the graph needs a
    checkpointer. The model has not listed the new tasks, so they are kept even if the model's next
    list leaves them out. Return the config of the new checkpoint; with a store, return `config`.

    `actor` is the author of the change, for the journal. `as_node` is the node that the change is
    attributed to: by default the last node that ran, or the start. In an agent in which no node has
    run yet, the default is "model", since LangGraph would drop the plan from an input. Pass
    `stopped=True` if you know that no run is active, but the thread looks as if one were.

    Raises:
        PlanError: see `edit_plan`.
    """
    thread = _Thread(graph, config, as_node, stopped, prefix)
    if planner := (yield from thread.planner()):
        yield partial(planner.restore, require(plan, Plan), actor=actor)
        return config
    _, node = yield from thread.values()
    update = plan_update(plan, actor=actor)
    saved: RunnableConfig = yield thread.do("update_state", config, update, node)
    return saved


def _edit_plan(  # noqa: PLR0913 - each a keyword, two of them LangGraph's own
    prefix: str,
    graph: Graph,
    config: RunnableConfig,
    command: Command,
    *,
    actor: str | None = None,
    policy: Policy | None = None,
    as_node: str | None = None,
    stopped: bool = False,
) -> Steps[Decision]:
    """
    Apply a command to the plan of a thread, and return the decision; `ClearPlan()` clears the plan.

    `config` names the thread; if it names an old checkpoint, the edit starts a fork there. The
    default policy is that of the graph's own tools. `actor` is the author of the change, for the
    journal. `as_node` is the node that the change is attributed to (see `seed_plan`).

    A plan in a store can be edited at any time. A plan in the state cannot be edited during a run;
    inside the run, let a tool or a node return the update of `command_update`. After a process died
    or a `stream` was not read to its end, a thread looks as if it were still running. If you know
    that no run is active, pass `stopped=True`. An active run that saves nothing before its end
    (durability="exit") cannot be detected.

    Raises:
        PlanError: the thread is running; the graph keeps no plan or has no checkpointer; the thread
            is in the middle of a step, whose finished part LangGraph would forget and repeat; or no
            node ran yet, and the graph's input cannot contain a plan.
    """
    thread = _Thread(graph, config, as_node, stopped, prefix)
    # By default an edit follows the same rules as the model, so that it breaks none by accident.
    own = DEFAULT if thread.plans is None else thread.plans.toolbox.policy
    chosen = own if policy is None else policy
    decision: Decision
    if planner := (yield from thread.planner()):
        decision = yield partial(planner.apply, command, actor=actor, policy=chosen)
        return decision
    values, node = yield from thread.values()
    decision, update = command_update(values, command, actor=actor, policy=chosen)
    if update:
        yield thread.do("update_state", config, update, node)
    return decision


def _undo_plan(  # noqa: PLR0913 - as `edit_plan`
    prefix: str,
    graph: Graph,
    config: RunnableConfig,
    *,
    actor: str | None = None,
    as_node: str | None = None,
    stopped: bool = False,
) -> Steps[Decision]:
    """
    Undo the last change of a thread's plan that is not undone yet, whoever made it. Repeated calls
    undo earlier changes.

    The plan before the change is reconstructed from the journal and the thread's earlier
    checkpoints. `edit_plan` explains the arguments, and when a plan can be changed.

    Raises:
        PlanError: see `edit_plan`; or the plan before the change cannot be reconstructed.
    """
    thread = _Thread(graph, config, as_node, stopped, prefix)
    decision: Decision
    if planner := (yield from thread.planner()):
        decision = yield partial(planner.undo, actor=actor)
        return decision
    values, node = yield from thread.values()
    value, journal = value_of(values), journal_in(values)
    plan = plan_in_value(value)
    change, known = last_change(journal), starts(journal)
    # The state has the latest entries of the journal, and the thread's checkpoints have earlier
    # plans. Together they usually lead to the plan before the change.
    history: Any = thread.do("get_state_history", config)()
    following: Any = anext if prefix else next
    before = None
    while change is not None and (before := plan_before(change, plan, journal, known)) is None:
        earlier = yield partial(following, history, None)
        then = journal_in(earlier.values) if earlier else ()
        if not then or then[-1] not in journal:
            break  # the entries between it and the journal are lost
        known = (Start(plan_in_value(value_in(earlier.values)), journal.index(then[-1]) + 1),)
    decision, entry = undone(plan, change, before, at=utc_now(), actor=actor)
    if update := _update(value, decision, entry):
        yield thread.do("update_state", config, update, node)
    return decision


seed_plan, aseed_plan = _twins(_seed_plan)
edit_plan, aedit_plan = _twins(_edit_plan)
undo_plan, aundo_plan = _twins(_undo_plan)


def command_update(
    state: Any, command: Command, *, actor: str | None = None, policy: Policy = DEFAULT
) -> tuple[Decision, dict[str, Any]]:
    """
    Apply a command to the plan of a state, inside a node or a tool of your own.

    Return the decision, and the update that the node or tool must return. The update is empty if
    the command was refused or changed nothing.

    `policy` decides whether the command is accepted. `actor` is the author of the change, for the
    journal.

    Raises:
        CodecError: the state has something else in place of a plan.
        PlanError: an argument has the wrong type.
    """
    if state is None or isinstance(state, str | int):
        msg = f"{short_repr(state)} was given; give the state that the node or tool received"
        raise PlanError(msg, seen=state)
    value = value_of(state)
    decision, entry = edited(plan_in_value(value), command, policy, at=utc_now(), actor=actor)
    return decision, _update(value, decision, entry)


def _update(value: _Value, decision: Decision, entry: Entry | None) -> dict[str, Any]:
    if entry is None:
        return {}
    name = uuid4().hex
    return step_update(Step(decision.unwrap(), entry, name, head_of(value), turn=name), value)


@attrs.frozen
class _Thread:
    """
    The thread whose plan is to be changed. With the prefix "a", the graph's asynchronous methods
    are used.
    """

    graph: Graph
    config: RunnableConfig
    as_node: str | None
    stopped: bool
    prefix: str

    def do(self, name: str, *given: Any) -> Callable[[], Any]:
        """Return a function that calls a method of the graph."""
        return partial(getattr(self.graph, self.prefix + name), *given)

    @property
    def plans(self) -> AnyPlans | None:
        """
        Where the graph's planning tools keep their plans; `None` if the graph has no such tools.

        Raises:
            PlanError: `graph` is not a graph.
        """
        nodes = require(self.graph, Pregel, _GRAPH).nodes.values()
        nodes_of_tools = (node.bound for node in nodes if isinstance(node.bound, ToolNode))
        tools = (tool for node in nodes_of_tools for tool in node.tools_by_name.values())
        return next((tool.plans for tool in tools if isinstance(tool, PlanTool)), None)

    def planner(self) -> Steps[Any]:
        """
        Return the planner of a thread whose plan is in a store; `None` if it is in the state.

        Raises:
            PlanError: the graph or config has the wrong type; or the state has a plan, and the
                store has another one.
        """
        plans = self.plans
        if not isinstance(plans, StoredPlans):
            return None
        thread = require(self.config, dict, _CONFIG).get("configurable", {})
        plan_id = plans.id_of(thread, thread.get("checkpoint_ns", ""))
        # A plan that the thread already had in its state is moved to the store first.
        saved = (yield self.do("get_state", self.config)) if self.graph.checkpointer else None
        values = saved.values if saved else {}
        planner, _ = yield from plans.begun(values, plan_id, awaits=bool(self.prefix))
        return planner

    def values(self) -> Steps[tuple[Any, str | None]]:
        """
        Return the state of the thread, and the node that an edit is attributed to; `None` means
        that LangGraph chooses the node.

        Raises:
            PlanError: see `edit_plan`.
        """
        graph = self.graph
        thread = require(self.config, dict, _CONFIG).get("configurable", {})
        if PLAN not in graph.channels:
            # LangGraph drops keys that are not in its state: an accepted edit would be lost.
            msg = (
                f"the state of this graph has no {PLAN!r}, so it cannot keep a plan: give"
                " create_agent a PlanMiddleware, or use PlanState as the state of the graph"
            )
            raise PlanError(msg, channels=tuple(graph.channels))
        if graph.checkpointer is None or graph.checkpointer is False:
            msg = "this graph has no checkpointer, so it keeps no plan: give it one"
            raise PlanError(msg)
        state = yield self.do("get_state", self.config)
        here = run_config().get("configurable", {}).get("thread_id")
        if here is not None and here == thread.get("thread_id"):
            raise PlanError(_running("this code is part of it"))
        # An edit of an old checkpoint starts a new branch, on which no run is active.
        if "checkpoint_id" not in thread:
            says_why = state.interrupts or any(task.error for task in state.tasks)
            # After an edit with `stopped=True` the thread still has tasks: further edits need no
            # flag.
            is_edit = (state.metadata or {}).get("source") in {"update", "fork"}
            # `state.next` would leave out tasks that have run in this step and are about to be
            # saved.
            if state.tasks and not (self.stopped or says_why or is_edit):
                names = ", ".join(task.name for task in state.tasks)
                raise PlanError(_running(f"it is at {names}"))
            done = [task.name for task in state.tasks if task.result is not None]
            if done:
                # An edit makes a new checkpoint, which lacks what the step's finished tasks have
                # written.
                msg = (
                    f"this thread is in the middle of a step: an edit would make it repeat what has"
                    f" finished ({', '.join(done)}). Continue first, with"
                    " invoke(Command(resume=...)) if it waits for an answer, else with invoke(None)"
                )
                raise PlanError(msg, finished=tuple(done))
        messages = messages_in(state.values)
        is_answered = bool(messages) and isinstance(messages[-1], AIMessage | ToolMessage)
        is_input = bool(state.tasks) and not is_answered
        # A graph over PlanState takes a plan as input; an agent's input leaves it out.
        builder = graph.builder if isinstance(graph, CompiledStateGraph) else None
        takes_plans = builder is not None and PLAN in builder.schemas[builder.input_schema]
        if self.as_node or takes_plans or (messages and not is_input):
            return state.values, self.as_node
        if "model" not in graph.nodes:
            msg = (
                f'the input of this graph has no "{PLAN}": give as_node=, the node that the edit is'
                " attributed to"
            )
            raise PlanError(msg, nodes=tuple(graph.nodes))
        if is_input and state.interrupts:
            msg = (
                "this thread waits for an answer before its first step, and LangGraph would drop"
                " the edit: answer first, with invoke(Command(resume=...)), or give as_node=, the"
                " node after which the thread continues"
            )
            raise PlanError(msg, nodes=tuple(graph.nodes))
        # LangGraph treats an edit as an input if it is the thread's first or follows an unanswered
        # input, and then drops the keys that OmitFromInput marks.
        return state.values, "model"


def _running(seen: str) -> str:
    return (
        f"this thread seems to be running ({seen}), and the run would overwrite the edit: edit the"
        " plan after the run; within the run, return command_update(...) from a tool or node; if"
        " the run stopped between two steps, finish it with invoke(None), or pass stopped=True"
    )


# -------- middleware --------
# `PlanMiddleware` for `create_agent` replaces LangChain's `TodoListMiddleware`.
#
# The plan is read before each request to the model. The memory of guidance is saved in the state;
# the key `todoplan_run` is not, so that the limits of guidance are reset with each run. A reminder
# is added to one request only. If the model answers while tasks are open, it is asked again, and
# the next request also contains the early answer. Neither the reminder nor the early answer is in
# the state or in a checkpoint, but the answer may have been streamed. A reminder does not change
# the session's merge base.
#
# LangChain does not mark the end of a run, and jumps from `after_agent` conflict with other
# middleware. So `wrap_model_call` decides whether a final answer is accepted, and asks the model
# again within the same step.

# ContextEditingMiddleware skips results that it has cleared; `strategy` distinguishes the flag that
# is set here from its own.
_SPARED = {"cleared": True, "strategy": "todoplan"}
_ROLES: dict[str, Any] = {"system": "system", "ai": "assistant", "tool": "tool"}

_Request = ModelRequest[Any]
_Response = ModelResponse[Any]


def later(_: Any, update: Any) -> Any:
    """Reducer: return the later of two writes."""
    return update


class PlanAgentState(AgentState[Any]):
    """
    The keys that the middleware adds to the agent's state: the plan, the list for user interfaces,
    the memory of guidance, and `todoplan_run`, which is set after the first request of a run.
    """

    # Not in the input, since deepagents passes the caller's state, including the plan, to a
    # subagent.
    todoplan: Annotated[
        NotRequired[dict[str, Any]], OmitFromInput, PlanChannel(dict[str, Any], merge_agent_plans)
    ]
    # LangChain's own key has no reducer, so two branches that write it in one step are an error
    # (InvalidUpdateError). The key is part of the input: a list from outside becomes the first
    # plan.
    todos: Annotated[NotRequired[list[dict[str, Any]] | None], later]
    # The memory is kept in the thread, not in the process: DeerFlow counts reminders in the
    # process, under a default key, so one user's reminders use up those of another user.
    # deepagents' `task` passes no private keys on.
    todoplan_memory: Annotated[NotRequired[dict[str, int]], PrivateStateAttr]
    # Not saved, and so absent when a run begins.
    todoplan_run: Annotated[NotRequired[bool], UntrackedValue, PrivateStateAttr]


class PlanMiddleware(AgentMiddleware[PlanAgentState, Any, Any]):
    """
    Planning for an agent. It has no state of its own, and may serve any number of agents and
    threads.

    `toolbox` has the tools and their policy, by default LangChain's `write_todos` under `DEFAULT`.
    `settings` configure the reminders to the model. The default is `Settings(unfinished=0)`: a
    final answer is accepted even while tasks are open, as by LangChain's own middleware. `clock`
    returns the current time with its time zone, and `verify` checks whether a task is done (see
    `Planner`).

    With a `store` the plan is kept there under `plan_id`, by default the thread's id, and not in
    the state. Other programs may then change the plan at any time. `actor` is this agent's name in
    the journal: if several agents share a plan, give each its own.

    As in LangChain's middleware, `system_prompt` is appended to the agent's prompt ("" adds none),
    and `tool_description` replaces the description of the tool that writes the plan. `emit_events`
    streams each change (see `make_tools`). `reminder_names` maps a kind of reminder, such as
    "unfinished", to the name of its messages, by which user interfaces can hide them.

    Raises:
        PlanError: an argument has the wrong type; or a plan id is given without a store.
    """

    state_schema = PlanAgentState

    def __init__(  # noqa: PLR0913 - two names of LangChain's, and ours
        self,
        toolbox: Toolbox | None = None,
        *,
        settings: Settings | None = None,
        store: AnyStore | None = None,
        clock: Clock = utc_now,
        verify: Verify | None = None,
        system_prompt: str | None = None,
        plan_id: str | None = None,
        actor: str | None = None,
        tool_description: str | None = None,
        emit_events: bool = False,
        reminder_names: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__()
        given: dict[str, Any] = {"clock": clock, "verify": verify, "plan_id": plan_id}
        given |= {"actor": actor, "system_prompt": system_prompt}
        chosen = Toolbox(WRITE_TODOS) if toolbox is None else toolbox
        # This replaces LangChain's middleware, which accepts every answer, so by default every
        # answer is accepted here too.
        wanted = Settings(unfinished=0) if settings is None else settings
        self.plans = plans_for(chosen, wanted, store=store, is_agents=True, **given)
        self.system_prompt, toolset = self.plans.system_prompt, self.plans.toolbox.toolset
        self._tool_names, writer = toolset.tool_names, toolset.shown(toolset.writer)
        self.tools = tools_of(self.plans, emit_events=emit_events)
        for tool in self.tools:
            if tool.name == writer:
                tool.description = tool_description or tool.description
                self.tool_description = tool.description
        self._names = dict(reminder_names or {})

    @property
    def name(self) -> str:
        """The same name as LangChain's planner has, so that this planner replaces LangChain's."""
        # LangChain and deepagents compare middleware by name, not by the names of their tools.
        # deepagents up to 0.6 always adds its own, and raises because of this name.
        return "TodoListMiddleware"

    def wrap_model_call(
        self, request: _Request, handler: Callable[[_Request], _Response]
    ) -> ExtendedModelResponse[Any]:
        """
        Call the model, with a reminder at the end of the request if one is due. If the model
        answers while tasks are open, call the model again.
        """
        return done_at_once(self._steps(request, handler, awaits=False))

    async def awrap_model_call(
        self, request: _Request, handler: Callable[[_Request], Awaitable[_Response]]
    ) -> ExtendedModelResponse[Any]:
        """Call the model with the due reminder, and again if it answers while tasks are open."""
        return await done_awaited(self._steps(request, handler, awaits=True))

    def _steps(
        self, request: _Request, handler: Callable[[_Request], Any], *, awaits: bool
    ) -> Steps[ExtendedModelResponse[Any]]:
        state: Any = request.state
        session = yield from self.plans.session(state, awaits=awaits)
        if session.state.memory.revision < 0:
            plan, base = yield session.unseen
            # The session may have seen the list of another planner. Otherwise the whole plan is new
            # to the session.
            if not len(base.plan):
                session.state = attrs.evolve(session.state, revision=None)
            elif base.has_news(plan):
                memory = attrs.evolve(session.state.memory, revision=base.plan.revision)
                session.state = attrs.evolve(session.state, memory=memory)
        # Another middleware may have removed the planning tools from this request. Tools of a
        # provider are dicts, flat or nested as in OpenAI's chat API.
        names = (
            tool.get("name") or tool.get("function", {}).get("name")
            if isinstance(tool, Mapping)
            else tool.name
            for tool in request.tools
        )
        has_tools = any(name in self._tool_names for name in names)
        given = {"silent": not has_tools}
        messages, is_new = Conversation(request.messages, neutral), not state.get(RUN)
        reminder = yield partial(session.before_model, messages, is_new=is_new, **given)
        # `asked` never contains a reminder, so no request contains more than one.
        asked, stands = request, list[AnyMessage]()
        if has_tools:
            changes: Any = {"messages": protected(request.messages, self._tool_names)}
            if self.system_prompt:
                # After the agent's own prompt, and always the same text, so that the provider's
                # prompt cache stays valid.
                old = request.system_message
                text = f"\n\n{self.system_prompt}" if old else self.system_prompt
                blocks = [*(old.content_blocks if old else ()), {"type": "text", "text": text}]
                changes["system_message"] = SystemMessage(content=blocks)
            asked = request.override(**changes)
        response: _Response = yield partial(handler, self._reminded(asked, reminder))
        # After a structured answer, the model is not asked again, because LangChain would not read
        # a second answer.
        given["structured"] = request.response_format is not None
        while True:
            answer = cast("AnyMessage", response.result[-1])
            message = neutral(answer)
            advice = yield partial(session.after_model, message, request=reminder, **given)
            if advice.verdict != "again":
                break
            stands = [answer] if advice.keeps(message) else []
            asked = asked.override(messages=[*asked.messages, answer])
            reminder = reminder.again(advice)
            response = yield partial(handler, self._reminded(asked, reminder))
        if stands and is_final_answer(message):
            response = ModelResponse([*stands, *response.result], response.structured_response)
        kept = yield from self.plans.kept(state, session)
        update = {MEMORY: advice.memory.to_data(), RUN: True, **kept}
        return ExtendedModelResponse(response, GraphCommand(update=update))

    def _reminded(self, request: _Request, reminder: Request) -> _Request:
        if not reminder.text:
            return request
        message = HumanMessage(reminder.text, name=self._names.get(reminder.kind))
        return request.override(messages=[*request.messages, message])


def neutral(message: BaseMessage) -> Message:
    """Convert a message of LangChain to the neutral form that guidance reads."""
    role = _ROLES.get(message.type, "user")
    metadata = message.response_metadata
    if isinstance(message, ToolMessage):
        # ContextEditingMiddleware leaves the name and puts a placeholder in place of the content.
        edited = metadata.get("context_editing")
        was_cleared = edited and edited.get("cleared") and edited != _SPARED
        ok = message.status != "error" and not was_cleared
        return Message(role, results=(ToolResult(message.name or "", ok, message.tool_call_id),))
    if isinstance(message, AIMessage):
        # Anthropic uses the second key, others the first.
        finish = metadata.get("finish_reason") or metadata.get("stop_reason")
        return Message(
            role,
            text_of(message.content),
            tuple(call["name"] for call in message.tool_calls),
            invalid_calls=len(message.invalid_tool_calls),
            finish=finish if isinstance(finish, str) else "",
        )
    return Message(role, text_of(message.content))


def protected(messages: Sequence[AnyMessage], names: Sequence[str]) -> list[AnyMessage]:
    """
    Return the messages of a request. The latest successful planning result gets a flag that marks
    the result as already edited.

    Because of the flag, a `ContextEditingMiddleware` nearer to the model keeps the result, instead
    of removing it after this middleware has seen the request.
    """
    for place, message in reversed([*enumerate(messages)]):
        if not isinstance(message, ToolMessage) or message.name not in names:
            continue
        if neutral(message).results[0].ok:
            mark = {**message.response_metadata, "context_editing": _SPARED}
            flagged = message.model_copy(update={"response_metadata": mark})
            return [*messages[:place], flagged, *messages[place + 1 :]]
    return [*messages]


# -------- approval --------
# `PlanApproval` stops a run before the next request to the model until a person has agreed.
#
# It uses LangGraph's interrupt: the thread waits in its checkpoint, for days if need be, and any
# process can resume it. Meanwhile the plan can be read, and changed with `edit_plan`, as usual; the
# person agrees to the plan as it is when the run is resumed. The node that stopped then runs again
# from its beginning, so it reads the plan anew.
#
# If an answer cannot be read, the person is told what is wrong and asked again. No error is raised,
# because a node that raises keeps its answer and would raise again at every resume.

_LEGAL = '{"approved": True, "by": "ann"}, or {"approved": False, "message": "what to change"}'
_REFUSED = "todoplan_refused"
# A person's approval is not subject to the rules for a model's commands.
_ANYTHING_GOES = Policy()


@attrs.frozen
class Answer:
    """
    A person's answer: whether they agree, their name, their words, and the revision to which they
    agree.
    """

    approved: bool
    by: str | None = None
    message: str | None = None
    revision: int | None = None


def request_of(plan: Plan, problem: str = "") -> dict[str, Any]:
    """
    Return the value of the interrupt, as plain JSON values. `problem` is what was wrong in the
    previous answer.
    """
    shown = {
        "kind": "plan_approval",
        "plan": list_text(plan),
        "todos": todos_of(plan),
        "revision": plan.revision,
        "answer": _LEGAL,
    }
    return {**shown, "problem": problem} if problem else shown


def read_answer(given: object, plan: Plan) -> Answer | str:
    """
    Return the answer; if it is not valid, return a text that says what is wrong in it.

    `True` and `False` are answers too. An answer with a `revision` agrees to that revision only.
    """
    if isinstance(given, bool):
        return Answer(given)
    kinds = {"approved": bool, "by": str, "message": str, "revision": int}
    if not isinstance(given, Mapping) or not isinstance(given.get("approved"), bool):
        return f"{short_repr(given)} is no answer; resume with {_LEGAL}"
    wrong = [
        key
        for key, value in given.items()
        if key not in kinds or not (value is None or type(value) is kinds[key])
    ]
    if wrong:
        return f"{short_repr(given)} has {', '.join(map(short_repr, wrong))}; resume with {_LEGAL}"
    answer = Answer(**given)
    if answer.approved and answer.revision not in {None, plan.revision}:
        return f"the plan is at revision {plan.revision} now, and {answer.revision} was agreed to"
    return answer


class ApprovalState(PlanAgentState):
    """The state of an agent, with the revision of the plan that a person has refused last."""

    todoplan_refused: Annotated[NotRequired[int], PrivateStateAttr]


class PlanApproval(AgentMiddleware[PlanAgentState, Any, Any]):
    """
    Stops a run before a request to the model while the plan has open tasks and nobody has agreed to
    it.

    The agent needs a checkpointer, and the `PlanMiddleware` that is passed here. The policy's rule
    `approval_required` forbids the model to start a task before the approval.

        box = Toolbox(WRITE_TODOS, DEFAULT.but(approval_required="error"))
        planning = PlanMiddleware(box)
        agent = create_agent(model, middleware=[planning, PlanApproval(planning)], ...)
        shown = agent.invoke(request, config)["__interrupt__"][0].value
        edit_plan(agent, config, CreateTask("Ask Bo first"), actor="ann")
        agent.invoke(Command(resume={"approved": True, "by": "ann"}), config)

    An answer that does not agree, `{"approved": False, "message": "leave out the tests"}`, is
    passed to the model, which changes the plan; then the run stops again.

    Raises:
        PlanError: the argument is not a `PlanMiddleware`.
    """

    state_schema = ApprovalState

    def __init__(self, planning: PlanMiddleware) -> None:
        super().__init__()
        remedy = "the agent's PlanMiddleware: PlanApproval(planning)"
        self._plans = require(planning, PlanMiddleware, remedy).plans

    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:  # noqa: ARG002 - LangChain's signature
        """
        Stop until a person has answered, if approval is needed; then add the answer as a message.
        """
        return done_at_once(self._steps(state, awaits=False))

    async def abefore_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:  # noqa: ARG002 - LangChain's signature
        """Stop as `before_model` does: until a person has answered, if approval is needed."""
        return await done_awaited(self._steps(state, awaits=True))

    def _steps(self, state: Any, *, awaits: bool) -> Steps[dict[str, Any] | None]:
        session = yield from self._plans.session(state, awaits=awaits)
        plan, _ = yield session.unseen
        # After an answer that does not agree, the person is asked again once the plan has changed.
        if not plan.counts.open or plan.approved or state.get(_REFUSED) == plan.revision:
            return None
        answer: Answer | str = ""
        while isinstance(answer, str):
            # LangGraph returns the answers in the order of the questions when the node runs again.
            answer = read_answer(interrupt(request_of(plan, answer)), plan)
        if not answer.approved:
            kind = "plan_not_agreed" if answer.message else "plan_not_agreed_to"
            return {_REFUSED: plan.revision, **_said(kind, message=answer.message)}
        command = ApprovePlan(answer.by)
        given: dict[str, Any] = {"actor": answer.by, "policy": _ANYTHING_GOES}
        update: dict[str, Any] = {}
        if isinstance(self._plans, StoredPlans):
            yield partial(session.edit, command, **given)
        else:
            _, update = command_update(state, command, **given)
        return {**update, **_said("plan_agreed")}


def _said(name: str, **values: object) -> dict[str, Any]:
    # This message stays in the conversation, since a person has said it.
    return {"messages": [HumanMessage(say("replies", name, **values))]}


# -------- presets --------
# Ready-made planners: three that imitate those of other projects, and one for `create_deep_agent`.

_OFTEN = 100
Subagent = Mapping[str, Any]  # as `create_deep_agent` takes them
Maker = Callable[..., PlanMiddleware]


def langchain_like(*, policy: Policy = LANGCHAIN, **changes: Any) -> PlanMiddleware:
    """
    Return a planner like LangChain's `TodoListMiddleware`: it accepts any list, replies with the
    whole list, and never reminds the model. `changes` are further arguments of `PlanMiddleware`.
    """
    toolbox = Toolbox(WRITE_TODOS, policy, show_list=True)
    silent = Settings(plan_lost=False, unfinished=0, changed=False)
    return PlanMiddleware(**{"toolbox": toolbox, "settings": silent, **changes})


def claude_like(
    tool: str = "TodoWrite",
    *,
    policy: Policy = CLAUDE,
    on_ignored: Literal["let_go", "raise"] = "let_go",
    confirm: bool = False,
    show_list: bool = False,
    **changes: Any,
) -> PlanMiddleware:
    """
    Return a planner like Claude's TodoWrite with a stop check: one task in progress, a reminder
    while the list is empty, a request to go on if the model answers while tasks are open, a note
    when all is done.

    `tool` is the name of the tool. The policy `CLAUDE` requires an active form for each item,
    `CLAUDE_STRICT` also a priority. The model is asked to go on at most three times (see
    `Settings`). Then its answer is accepted or, with `on_ignored="raise"`, `PlanError` is raised.
    `confirm` asks the model once, when all is done, whether its answer is complete. `show_list`
    adds the whole list to the reply to each change. `changes` are further arguments of
    `PlanMiddleware`.
    """
    toolset = WRITE_TODOS.renamed(write_todos=tool)
    toolbox = Toolbox(toolset, policy, show_list=show_list, say_done=True)
    asks = Settings(
        empty=_OFTEN, unfinished=3, on_ignored=on_ignored, all_done="always" if confirm else "off"
    )
    return PlanMiddleware(**{"toolbox": toolbox, "settings": asks, **changes})


def deerflow_like(*, policy: Policy = DEFAULT, **changes: Any) -> PlanMiddleware:
    """
    Return a planner like DeerFlow's `TodoMiddleware`.

    It shows the plan again if no message of the request shows it, and reminds the model at most
    twice of open tasks. User interfaces can hide these messages by their names. `changes` are
    further arguments of `PlanMiddleware`.
    """
    # DeerFlow's interface hides messages with these names; two is DeerFlow's own limit.
    names = {"plan_lost": "todo_reminder", "unfinished": "todo_completion_reminder"}
    wanted = {"settings": Settings(unfinished=2), "reminder_names": names}
    return PlanMiddleware(**{"toolbox": Toolbox(WRITE_TODOS, policy), **wanted, **changes})


def deep_planning(
    *,
    subagents: Sequence[Subagent] = (),
    middleware: Sequence[Any] = (),
    make: Maker = PlanMiddleware,
    general_purpose: bool | Subagent = True,
    actor: str | None = None,
) -> dict[str, Any]:
    """
    Return the arguments `middleware` and `subagents` of `create_deep_agent` that give the main
    agent and each subagent its own planning.

        create_deep_agent(model=model, **deep_planning(subagents=[...]))

    For each agent, `make` is called and returns its `PlanMiddleware`. An agent whose `middleware`
    already contains a `PlanMiddleware` keeps it, so it can have another policy or store than the
    others. Compiled or remote subagents are not changed. A `TodoListMiddleware` that a profile adds
    is replaced in place.

    `actor` is the main agent's name in the journal; subagents have their own names there. With
    `actor`, `make` is called with each agent's name:

        make=lambda actor: PlanMiddleware(store=store, plan_id="release", actor=actor)

    If your subagents do not include the general-purpose subagent, this function adds it, since
    deepagents gives its own version none of the agent's middleware. The added subagent gets neither
    the agent's `skills` nor a profile's settings for it; `general_purpose` may be a mapping that
    adds or changes its fields, such as `{"skills": [...]}`. With `False`, deepagents adds its own
    general-purpose subagent, which has a planner only if a profile adds one.

    Raises:
        MissingExtraError: deepagents is not installed.
    """
    named = [*subagents]
    if general_purpose is not False and not any(s["name"] == "general-purpose" for s in named):
        try:
            from deepagents.middleware.subagents import GENERAL_PURPOSE_SUBAGENT  # noqa: PLC0415 - it may be missing
        except ModuleNotFoundError as error:
            msg = "deepagents is not installed; run: pip install 'todoplan[langgraph]' deepagents"
            raise MissingExtraError(msg, missing="deepagents") from error
        changes = general_purpose if isinstance(general_purpose, Mapping) else {}
        named.insert(0, {**GENERAL_PURPOSE_SUBAGENT, **changes})
    chosen = []
    for spec in map(dict, named):
        if "runnable" not in spec and "graph_id" not in spec:
            # deepagents gives declared subagents none of the main agent's middleware.
            name = None if actor is None else spec["name"]
            spec["middleware"] = _planned(spec.get("middleware", ()), make, name)
        chosen.append(spec)
    return {"middleware": _planned(middleware, make, actor), "subagents": chosen}


def _planned(given: Sequence[Any], make: Maker, actor: str | None) -> list[Any]:
    # LangChain refuses two middleware of one name: "Please remove duplicate middleware instances".
    if any(isinstance(middleware, PlanMiddleware) for middleware in given):
        return [*given]
    return [*given, make() if actor is None else make(actor=actor)]
