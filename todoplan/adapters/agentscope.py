"""
Plans in AgentScope 2: `pip install 'todoplan[agentscope]'`.

`TaskCreate`, `TaskGet`, `TaskList` and `TaskUpdate` replace AgentScope's own tools; only the import
line changes. `make_tools` returns the tools of any tool set with any policy. `attach` returns the
arguments of `Agent` for both tools and guidance (reminders to the model).

The plan is kept in the agent's state as AgentScope's own tasks. `plan_of_state` and `history_of`
read it, `seed_plan`, `edit_plan` and `undo_plan` set and change it, and `repair` checks and
corrects a list that was written by hand.

AgentScope's interfaces watch `state.tasks_context`, so the plan's tasks are stored there. Values
for which these tasks have no field (next id, revision, approval, the latest journal entries) are
stored in `state.middle_context` under one key, together with the session's record: which tasks the
session has listed, and what it has last seen of the plan. AgentScope saves both with the state.
`TaskStore` presents the tasks and these values as a store with one plan. If a `store` is given,
that store keeps the plan: the state then has the session's record and the plan's id, and
AgentScope's list is updated after each step.

Anyone may change AgentScope's list in place at any time. So each time the plan is read, the tasks
are compared with the tasks that todoplan wrote last, and a difference becomes a journal entry
without an actor. Tasks are written in place, and only where they differ. A task whose id is not a
number gets a number, and its old id is kept in its metadata (`original_id`): a host can still find
the task, and the model may continue to use the old id.

The tools that write are marked as not safe for concurrent calls. So AgentScope runs the calls of a
turn in order, and each call sees the changes of the previous one. The context contains all calls of
the turn. They are needed to refuse two whole lists in one turn (law 13 of the guide `architecture`)
and for the merge base (the plan with which a list is compared).

Reminders are added to a single request (`on_model_call`), whereas AgentScope saves its own
injections with the conversation. The end of a reply is an event. If the model answers while tasks
are open, this event is dropped, and AgentScope asks the model again. The early answer has been
streamed by then and stays in the message. The session's record and a reminder for the next request
are kept in the agent's state.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import contextmanager, suppress
from copy import deepcopy
from functools import partial
from hashlib import sha256
from itertools import chain, takewhile
from threading import Lock
from typing import Any, cast

import attrs

from todoplan.errors import CodecError, MissingExtraError, PlanError

try:
    from agentscope.agent import Agent, InjectionConfig
    from agentscope.event import EventBase, ReplyEndEvent, ReplyFinishedReason
    from agentscope.exception import DeveloperOrientedException
    from agentscope.message import ContentBlock as Block
    from agentscope.message import (
        HintBlock,
        Msg,
        TextBlock,
        ToolCallBlock,
        ToolResultBlock,
        UserMsg,
    )
    from agentscope.message import ToolResultState as State
    from agentscope.middleware import MiddlewareBase
    from agentscope.permission import PermissionBehavior, PermissionContext, PermissionDecision
    from agentscope.state import AgentState
    from agentscope.state import Task as TheirTask
    from agentscope.tool import ToolBase, ToolChunk, Toolkit, ToolMiddlewareBase
except ModuleNotFoundError as error:
    raise MissingExtraError.of(error.name, "agentscope") from error

from todoplan.codec import entry_to_data
from todoplan.codec.documents import read_recent, with_lines
from todoplan.codec.engine import to_text, write_fields
from todoplan.codec.foreign.agentscope import Mirror, read_agentscope, task_to_agentscope
from todoplan.core.commands import Command
from todoplan.core.decide import Decision, plan_of
from todoplan.core.events.apply import Entry, touched
from todoplan.core.events.merge import changes_between
from todoplan.core.plan.model import Task, in_utc
from todoplan.core.plan.plan import Plan, number_of
from todoplan.core.problems import Problem
from todoplan.core.rules import AGENTSCOPE, Policy
from todoplan.dialogue.calls import Call, Clock, utc_now
from todoplan.dialogue.guidance import Conversation, Message, Settings, ToolResult
from todoplan.dialogue.intake import Field, Kind, meant_by, repaired_list
from todoplan.dialogue.replies import error_text, repairs_text
from todoplan.dialogue.toolbox import Toolbox, require, starts
from todoplan.dialogue.tools import Definition
from todoplan.dialogue.tools import tasks as task_tools
from todoplan.lazy import listing
from todoplan.planner import AnyStore, AsyncPlanner, Planner
from todoplan.planner.session import (
    RECORD_VERSION,
    SESSION,
    AsyncSession,
    BasePlanning,
    Record,
    Request,
    Session,
    record_from_data,
    record_of_0_2,
    record_to_data,
)
from todoplan.planner.steps import done_at_once, done_awaited
from todoplan.planner.verifying import Verify
from todoplan.stores.base import beginning, follow
from todoplan.stores.slot import JOURNAL, LOADED, SLOT

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

KEY, STORED, PENDING, SEAL = "todoplan", "stored", "pending", "seal"
OUTSIDE = "tasks_context"
"""The cause of an entry for changes that others made directly in AgentScope's list."""

_REPAIRS, _ORIGINAL = "untold", "original_id"
_GUIDANCE_OF_0_2 = "todoplan_guidance"
_EMPTY = {"version": RECORD_VERSION, "id": "", "revision": None}
_HEAD = ("next_id", "revision", "approved")
_NAMES = tuple(TheirTask.model_fields)
logger = logging.getLogger("todoplan")


class Kept(dict[str, Any]):
    """
    The data that is saved beside the tasks. In memory, this object also has the session, the plan
    that the list shows, a copy of the tasks that were written last (`mirror`), and the ids of tasks
    by their original ids (`names`).

    A copy, a dump or a pickle of this object is a plain dict without these attributes. So after a
    state was copied, they are made again from the dict.
    """

    planning: Planning | None = None
    session: AsyncSession
    slot: TaskStore | None = None
    latest: dict[str, Any] | None = None  # the data of the entry for the list's last change
    is_new_run = False

    def __init__(self, saved: dict[str, Any]) -> None:
        super().__init__(saved)
        # The host sets the time when a task was created. This time is read, and never overwritten.
        self.plan, self.names = Plan(), dict[str, str]()
        self.mirror = Mirror(
            lambda data: TheirTask(**{k: v for k, v in data.items() if v or k != "created_at"}),
            "created_at",
        )

    def __reduce__(self) -> tuple[type[dict[str, Any]], tuple[dict[str, Any]]]:
        return dict, (dict(self),)

    def write(self, theirs: list[TheirTask], plan: Plan, ids: Sequence[str] | None = None) -> None:
        """
        Write a plan to the list. If `ids` are given, write only these tasks.

        Raises:
            CodecError: a task has a value that JSON cannot represent. The list is not changed.
        """
        changed = plan if ids is None else map(plan.__getitem__, ids)
        items = list(map(task_to_agentscope, changed))
        self.mirror.write(theirs, items, whole=ids is None)
        self.plan = plan
        # The checksum of the old tasks is no longer valid. The end of the reply sets a new one.
        self.pop(SEAL, None)

    def save(self, state: AgentState, plan: Plan) -> None:
        """
        Save the session's current record; if a store keeps the plan, also write the plan to
        AgentScope's list.
        """
        theirs = state.tasks_context.tasks
        if self.slot is None:
            is_current, is_known = self.mirror.is_current(theirs), SEAL in self or len(self.plan)
            if not is_current and is_known and self.get(SEAL) != sum_of(theirs):
                logger.warning(
                    "the list of tasks was changed from outside, and is overwritten: a store keeps"
                    " the plan; change it with edit_plan(agent, command)"
                )
            before, ids = [task.id for task in self.plan], [task.id for task in plan]
            changed = [task.id for task in plan if self.plan.get(task.id) is not task]
            if not is_current or ids[: len(before)] != before:
                self.write(theirs, plan)
            elif changed:
                self.write(theirs, plan, changed)
        # If others have changed the plan since the session last saw it, the session's own `record`
        # is saved, because it also contains these changes.
        is_behind = self.slot and self.session.state.revision not in {None, self.plan.revision}
        self[SESSION] = self.session.record if is_behind else record_to_data(self.session.state)

    def repairs(self) -> list[str]:
        """Return the repairs that were not reported yet, one line each, and forget them."""
        lines = self.pop(_REPAIRS, [])
        return list(map(str, lines)) if isinstance(lines, list) else []


def sum_of(theirs: Sequence[TheirTask]) -> str:
    """Return a checksum of the tasks."""
    text = json.dumps(list(map(_plain, theirs)), sort_keys=True, default=str)
    return sha256(text.encode()).hexdigest()[:16]


def _plain(task: TheirTask) -> dict[str, Any]:
    # An application's subclass of `Task` may have fields of its own, which are ignored.
    return {name: value for name, value in task.__dict__.items() if name in _NAMES}


class TaskStore:
    """
    AgentScope's tasks as a store of one plan.

    Raises:
        PlanError: the tasks are not a valid plan and can be repaired in more than one way.
        CodecError: a task has a value that no plan can have, or the data beside the tasks is
            damaged.
    """

    never_waits, plan_id = True, SLOT

    def __init__(self, state: AgentState, kept: Kept) -> None:
        self.state, self._kept, self._lock = state, kept, Lock()
        self._journal = [*read_recent(kept.get(JOURNAL))]
        saved = kept.get("revision"), kept.get("next_id")
        theirs = state.tasks_context.tasks
        is_edited = kept[SEAL] != sum_of(theirs) if SEAL in kept else saved[0] is None
        plan = self._read()
        left, self._entries = _as_left(self._journal, *saved)
        self.loaded = left
        if left is None and plan != Plan():
            # The journal does not lead to the plan that was written last. If somebody has edited
            # the list since, the edit is unknown, so it counts as one revision that no session has
            # seen.
            left = attrs.evolve(plan, revision=plan.revision + is_edited)
            self.loaded, self._entries = None if is_edited else plan, [beginning(left, LOADED)]
        kept.plan = plan if left is None else left
        self._settle(plan)

    def load(self, plan_id: str) -> Plan:  # noqa: ARG002 - there is one plan
        """Return the plan that the list represents."""
        if not self._kept.mirror.is_current(self.state.tasks_context.tasks):
            self._settle(self._read())
        return self._kept.plan

    def entries(self, plan_id: str) -> tuple[Entry, ...]:  # noqa: ARG002 - same
        """
        Return the entries that lead to the plan; the first entry makes the plan that was loaded.
        """
        return tuple(self._entries)

    def history(self) -> tuple[Entry, ...]:
        """Return the latest entries, oldest first, including the loaded ones."""
        return tuple(self._journal)

    def append(
        self,
        plan_id: str,  # noqa: ARG002 - same
        expected: int,
        entries: Sequence[Entry],
        plan: Plan,
    ) -> bool:
        """Add entries if the plan is at revision `expected`; return whether they were added."""
        ids = touched(chain.from_iterable(entry.events for entry in entries))
        # Another thread may edit the plan meanwhile (`edit_plan`).
        with self._lock:
            theirs = self.state.tasks_context.tasks
            # Changes that others made to these tasks since `load` must not be overwritten. The next
            # `load` finds their changes to other tasks.
            if not self._kept.mirror.is_current(theirs, ids):
                self._settle(self._read())
            if self._kept.plan.revision != expected:
                return False
            # Converted before anything is written, because an entry that JSON cannot represent
            # raises an error.
            written = [*map(entry_to_data, entries)]
            self._kept.write(theirs, plan, ids)
            self._note(entries, written)
            return True

    def _read(self) -> Plan:
        """
        Return the plan that the tasks represent, repaired where there is only one way to do so.
        """
        kept, theirs = self._kept, self.state.tasks_context.tasks
        beside = {name: kept[name] for name in _HEAD if name in kept}
        read = read_agentscope({"tasks": list(map(_plain, theirs)), KEY: beside})
        tasks, repairs = repaired_list(read.tasks, read.next_id)
        named = [
            # If a number occurs twice, the first task keeps it. Only an id that is not a number is
            # kept as the original id, because a host gave it.
            task
            if task.id == old.id or number_of(old.id)
            else task.but(metadata={_ORIGINAL: old.id, **task.metadata})
            for task, old in zip(tasks, read.tasks, strict=True)
        ]
        plan = plan_of(named, next_id=read.next_id, revision=read.revision, approved=read.approved)
        for their, task in zip(theirs, named, strict=True):
            if their.id != task.id:
                their.id = task.id
        if repairs:
            kept[_REPAIRS] = [*kept.repairs(), *(repairs_text((repair,)) for repair in repairs)]
        return plan

    def _settle(self, plan: Plan) -> None:
        """Record the changes that others made to the list as an entry, and write the repairs."""
        # AgentScope's task keeps its time of creation, even if another task was restored under its
        # id. So a time that differs from the plan's is no change by others.
        was = self._kept.plan
        created = {task.id: was[task.id].created_at for task in plan if task.id in was}
        tasks = [
            task.but(created_at=created[task.id])
            if created.get(task.id, task.created_at) != task.created_at
            else task
            for task in plan
        ]
        now = plan_of(tasks, next_id=plan.next_id, revision=plan.revision, approved=plan.approved)
        events, after = changes_between(was, now)
        self._kept.write(self.state.tasks_context.tasks, after)
        self._kept.names = names_in(after)
        entries = [Entry(after.revision, events, utc_now(), cause=OUTSIDE)] if events else []
        self._note(entries, [*map(entry_to_data, entries)])

    def _note(self, entries: Sequence[Entry], written: list[dict[str, Any]]) -> None:
        """
        Save new journal entries, and the plan's values for which the tasks have no field. `written`
        are the same entries as data.
        """
        kept = self._kept
        self._journal += entries
        self._entries += entries
        kept[JOURNAL] = with_lines(kept.get(JOURNAL), map(to_text, written))
        kept.latest = written[-1] if written else None
        kept |= {"next_id": kept.plan.next_id, "revision": kept.plan.revision}
        if kept.plan.approved is None:
            kept.pop("approved", None)
        else:
            kept["approved"] = write_fields(kept.plan.approved)


def _as_left(
    journal: Sequence[Entry], revision: object, next_id: object
) -> tuple[Plan | None, list[Entry]]:
    """
    Return the plan that was written last to a saved list, and the entries that lead to it. The plan
    is `None` if the journal does not lead to the saved revision.
    """
    for start in starts(journal):
        entries = [*journal[start.entries :]]
        if start.entries:
            then = attrs.evolve(start.plan, revision=journal[start.entries - 1].revision)
            entries.insert(0, beginning(then, LOADED))
        # 0.2 made no entries for changes that others made directly in the list, so the revisions of
        # these changes are missing.
        with suppress(CodecError):
            left = follow(Plan(), entries)
            if (left.revision, left.next_id) == (revision, next_id):
                return left, entries
    return None, []


def names_in(tasks: Iterable[Task] | Iterable[TheirTask]) -> dict[str, str]:
    """Return the ids of tasks by their original ids."""
    originals = ((task.metadata.get(_ORIGINAL), task.id) for task in tasks)
    return {name: task_id for name, task_id in originals if isinstance(name, str)}


class Planning(BasePlanning):
    """
    The plans of all sessions: in the agents' states, or in `store`, under `plan_id` or the
    session's id. The arguments are those of `attach`.

    Raises:
        PlanError: an argument has the wrong type.
    """

    async def session(self, state: AgentState) -> AsyncSession:
        """
        Return the session of a state. If a store is used for the first time, the state's list is
        moved to the store.

        Raises:
            PlanError: the session had a list, and the store has another plan; or a store keeps the
                plan, and this `Planning` has no store; or see `TaskStore`.
            CodecError: see `TaskStore`.
        """
        kept = kept_in(state)
        if kept.planning is self and kept.slot is not None:  # the usual case
            kept.slot.state = state
            return kept.session
        await done_awaited(self._handed_over(state, AsyncPlanner))
        return self.session_in(state)

    def planner(self, state: AgentState) -> Planner:
        """
        Return a planner with which the application reads and changes the plan of a state.

        Raises:
            PlanError, CodecError: see `session`; or the store is asynchronous.
        """
        done_at_once(self._handed_over(state, Planner))
        if self.store is not None or kept_in(state).slot is None:
            self.session_in(state)
        slot: Any = kept_in(state).slot
        where: Any = (self.store, self._id_of(state)) if slot is None else (slot, SLOT)
        return Planner(*where, toolbox=self.toolbox, clock=self.clock)

    def _id_of(self, state: AgentState) -> str:
        return state.session_id if self.plan_id is None else self.plan_id

    def session_in(self, state: AgentState) -> AsyncSession:
        """
        Return the session of a state from which no list has to be moved to a store.

        Raises:
            PlanError, CodecError: see `session`.
        """
        kept, store, plan_id = kept_in(state), cast("Any", self.store), self._id_of(state)
        if store is not None and kept.get(STORED) != plan_id:
            state.middle_context[KEY] = kept = Kept({STORED: plan_id})
        seen_in_0_2 = kept.get("seen", kept.get("revision"))
        if store is None:
            refuse_stored(state)
            kept.slot = store = kept.slot or TaskStore(state, kept)
            kept.slot.state, plan_id = state, SLOT
        elif kept.planning is None:
            kept.names = names_in(state.tasks_context.tasks)
        if kept.planning is self:
            return kept.session
        record = kept.session.state if kept.planning else _record_in(state, kept, seen_in_0_2)
        given: dict[str, Any] = {"clock": self.clock, "verify": self._verify}
        planner = AsyncPlanner(store, plan_id, toolbox=self.toolbox, **given)
        actor = self.actor_of(state.session_id)
        given = {"settings": self.settings, "actor": actor, "slot": kept.slot}
        kept.planning, kept.session = self, AsyncSession(planner, record, **given)
        return kept.session

    def _handed_over(
        self, state: AgentState, planner: Callable[..., Any]
    ) -> Generator[Callable[[], Any], bool, None]:
        """
        Move the session's list to the store: first the plan that the session has last seen, then
        the current plan.
        """
        if self.store is None or STORED in kept_in(state):
            return
        record, before, plan_id = PLAIN.session_in(state).state, kept_in(state), self._id_of(state)
        slot: Any = before.slot
        plan, base = Session(Planner(slot, SLOT), record, slot=slot).unseen()
        if plan == Plan():
            return
        plans = (plan,) if base.plan is plan else (base.plan, plan)
        begun = yield partial(planner(self.store, plan_id).begin, *plans)
        if not begun and len(before.plan):
            msg = (
                f"this session has a list of tasks, but the store has another plan under"
                f" {plan_id!r}: give the plan_id= of a new plan, or drop the list"
                " (agent.state.tasks_context.tasks.clear())"
            )
            raise PlanError(msg, plan_id=plan_id)
        state.middle_context[KEY] = after = Kept({STORED: plan_id})
        if begun:  # otherwise the list is empty, and is dropped
            record, after[_REPAIRS] = before.session.state, before.repairs()
            # The session has last seen the first of `plans`, which is revision 1 in the store.
            revision = None if record.revision is None else 1
            record = attrs.evolve(record, revision=revision, turn=None, asked=None, behind=None)
            after[SESSION] = record_to_data(record)
            after.names, after.plan, after.mirror = before.names, before.plan, before.mirror


def _record_in(state: AgentState, kept: Kept, seen_in_0_2: object) -> Record:
    """Return the saved record of a session, or a new one if none is saved."""
    if SESSION in kept:
        return record_from_data(kept[SESSION], None if kept.slot is None else kept.slot.loaded)
    if seen_in_0_2 is None and _GUIDANCE_OF_0_2 not in state.middle_context:
        # Tasks that the model wrote with AgentScope's own tools count as listed.
        own = set()
        for message in state.context:
            for call in message.get_content_blocks("tool_call"):
                with suppress(ValueError, AttributeError):
                    if call.name == "TaskCreate":
                        own.add(str(json.loads(call.input).get("subject")))
        listed = frozenset(task.id for task in kept.plan if task.subject in own)
        return Record(revision=kept.plan.revision, listed=listed) if listed else Record()
    # 0.2 saved a session in another form. All tasks that it has seen count as listed.
    memory = dict(state.middle_context.get(_GUIDANCE_OF_0_2, {}))
    if PENDING in memory:
        kept[PENDING] = memory.pop(PENDING)
    fences = record_from_data({**_EMPTY, "fences": kept.get("fences", {})}).fences
    old = {"memory": memory, "seen": seen_in_0_2, "base": kept.get("base")}
    record = attrs.evolve(cast("Record", record_of_0_2(old)), fences=fences)
    for name in ("base", "seen", "shown", "turn", "fences"):
        kept.pop(name, None)
    state.middle_context.pop(_GUIDANCE_OF_0_2, None)
    return record


def kept_in(state: AgentState) -> Kept:
    """Return the data beside the tasks of a state."""
    kept = state.middle_context.get(KEY)
    if not isinstance(kept, Kept):
        state.middle_context[KEY] = kept = Kept(kept if isinstance(kept, dict) else {})
    return kept


def refuse_stored(state: AgentState) -> None:
    """
    Raise if a store keeps the plan of a state.

    Raises:
        PlanError: a store keeps the plan; the message says where.
    """
    if (plan_id := kept_in(state).get(STORED)) is not None:
        msg = (
            "a store keeps the plan of this session: give the agent, or use"
            f" Planner(store, {plan_id!r}); agents and tools for this session need store="
        )
        raise PlanError(msg, plan_id=plan_id)


PLAIN = Planning(Toolbox(task_tools("snake"), AGENTSCOPE))
"""The `Planning` for a state without an agent, and for tools that are made without arguments."""


# -------- tools --------


_Wrappers = list[ToolMiddlewareBase] | None
_IDS = frozenset({Kind.ID, Kind.ID_HINT, Kind.IDS, Kind.REF, Kind.REFS})


class _Shown(dict[str, Any]):
    """
    A schema that accepts any arguments. Its deep copy, which AgentScope shows to models, is the
    real schema.

    AgentScope silently changes arguments to fit the schema, but intake must read them unchanged.
    The reference to `true` makes AgentScope's check short.
    """

    def __init__(self, schema: dict[str, Any]) -> None:
        super().__init__({"type": "object", "properties": {}, "$ref": "#/any", "any": True})
        self._schema = schema

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[str, Any]:
        return deepcopy(self._schema, memo)


class PlanTool(ToolBase):
    """
    One planning tool; `make_tools` and `attach` make it.

    Like AgentScope's own tools, it needs no permission. In each turn, the calls that write run in
    order. `middlewares` are AgentScope's middlewares of this tool.
    """

    is_state_injected = True  # AgentScope then passes its state as `_agent_state`

    def __init__(
        self, planning: Planning, definition: Definition, middlewares: _Wrappers = None
    ) -> None:
        super().__init__(middlewares)
        self.planning = planning
        self.name, self.description = definition.name, definition.description
        self.input_schema = _Shown(definition.schema)
        # AgentScope's own tools have the opposite flags: its reading tools count as writing, and
        # its creating tool as safe for concurrent calls.
        self.is_read_only = self.is_concurrency_safe = definition.read_only
        tool = planning.toolbox.toolset.find(definition.name)
        self._fields = tool.fields if tool else ()

    async def check_permissions(
        self,
        tool_input: dict[str, Any],  # noqa: ARG002 - AgentScope gives it
        context: PermissionContext,  # noqa: ARG002 - same
    ) -> PermissionDecision:
        """Allow every call."""
        # With any other result, the reply would wait until a person approves the planning call.
        message = f"{self.name} is always allowed to be called."
        return PermissionDecision(behavior=PermissionBehavior.ALLOW, message=message)

    async def call(self, _agent_state: Any, **arguments: Any) -> ToolChunk:
        """
        Answer one call.

        If the plan is in the agent's state, this method awaits only the verifier. After the
        verifier, the call is computed again from the current plan and saved without awaiting
        anything, so no other call can come between reading and writing.

        Raises:
            DeveloperOrientedException: AgentScope passed no state.
        """
        # This is the application's mistake, not the model's. The toolkit raises only this kind of
        # exception; others become results.
        if not isinstance(_agent_state, AgentState):
            msg = f"{self.name} needs the AgentState, and was given {_agent_state!r}"
            raise DeveloperOrientedException(msg)
        state = _agent_state
        calls, waiting = calls_in_turn(state.context)
        # AgentScope passes no call id to a tool, but runs the calls of planning tools in order.
        block = next((call for call in waiting if call.name == self.name), None)
        sent: Any = arguments if block is None else as_sent(block.input, arguments)
        turn = [Call(call.name, None, call.id) for call in calls] if waiting else []
        try:
            session = await self.planning.session(state)
            kept, message = kept_in(state), state.context[-1].id if state.context else None
            if kept.names:
                sent = _with_ids(sent, self._fields, kept.names)
            call = Call(self.name, sent, block.id if block else "")
            # If a session is resumed from data that was saved before the answer, the call is
            # repeated, and must be recognised. Call ids alone do not identify it: some providers
            # number the calls of each response from the start, and one message contains all
            # responses.
            scope = (state.session_id, message, session.state.answered) if call.call_id else None
            reply = await session.answer_one(call, turn, scope)
            kept.save(state, reply.plan)
        except (CodecError, PlanError) as error:
            return _chunk(error_text((Problem("broken_list", seen=str(error)),)), is_error=True)
        text, news = "\n".join((reply.text, *kept.repairs())), {}
        if reply.events and kept.slot is not None:
            news = {KEY: kept.latest}
        elif reply.events:
            at = in_utc(self.planning.clock())
            entry = Entry(reply.revision, reply.events, at, session.actor, reply.name)
            news = {KEY: entry_to_data(entry)}
        return _chunk(text, is_error=reply.is_error, metadata=news)


def calls_in_turn(context: Sequence[Msg]) -> tuple[list[ToolCallBlock], list[ToolCallBlock]]:
    """Return the calls of the model's last turn, and those calls that have no answer yet."""
    # One message contains all turns of a reply. The last turn is at its end, after the results of
    # earlier turns.
    calls: list[ToolCallBlock] = []
    answered: set[str] = set()
    for block in reversed(context[-1].content if context else ()):
        if isinstance(block, ToolCallBlock):
            calls.insert(0, block)
        elif isinstance(block, ToolResultBlock | HintBlock):
            if calls:
                break
            answered.add(block.id)
    return calls, [call for call in calls if call.id not in answered]


def as_sent(sent: str, given: dict[str, Any]) -> str | dict[str, Any]:
    """
    Return the arguments as the model sent them. If a middleware has changed them, return `given`.

    AgentScope silently completes truncated arguments and keeps the last value of a repeated key.
    """
    try:
        return sent if sent and json.loads(sent) == given else given
    except ValueError:
        return sent


def _with_ids(value: Any, fields: tuple[Field, ...], names: Mapping[str, str]) -> Any:
    """Return a call's arguments with the original ids of tasks replaced by their current ids."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return value  # intake handles text that is not JSON; ids in it are not replaced
    renamed = dict(value)
    for key, part in value.items():
        field = meant_by(key, fields)[0]
        many = part if isinstance(part, list) else [part]
        if field is None:
            continue
        if field.kind is Kind.ITEMS:
            new = [_with_ids(item, field.items, names) for item in many if isinstance(item, dict)]
            renamed[key] = new if len(new) == len(many) else part
        elif field.kind in _IDS:
            new = [
                names.get(task_id, task_id) if isinstance(task_id, str) else task_id
                for task_id in many
            ]
            renamed[key] = new if isinstance(part, list) else new[0]
    return renamed


def _chunk(text: str, *, is_error: bool, metadata: dict[str, Any] | None = None) -> ToolChunk:
    state = State.ERROR if is_error else State.SUCCESS
    block = TextBlock(text=text)
    return ToolChunk(content=[block], state=state, metadata=metadata or {}, id=block.id)


def tools_of(planning: Planning) -> list[ToolBase]:
    """Return the tools for a `Planning`."""
    return [PlanTool(planning, definition) for definition in planning.toolbox.toolset.definitions()]


def make_tools(  # noqa: PLR0913 - one keyword for each of its settings
    toolbox: Toolbox | None = None,
    *,
    store: AnyStore | None = None,
    clock: Clock = utc_now,
    verify: Verify | None = None,
    plan_id: str | None = None,
    actor: str | None = None,
) -> list[ToolBase]:
    """
    Return the tools of a tool set for `Toolkit(tools=...)`; by default AgentScope's four.

    With a `store`, the plan is kept there under `plan_id`, by default the session's id. `clock`
    returns the current time with its time zone, `verify` checks whether a task is done (see
    `AsyncPlanner`), and `actor` is this agent's name in the journal.

    Raises:
        PlanError: an argument has the wrong type.
    """
    box = PLAIN.toolbox if toolbox is None else toolbox
    given: dict[str, Any] = {"store": store, "clock": clock, "verify": verify, "plan_id": plan_id}
    return tools_of(Planning(box, actor=actor, **given))


class _DropIn(PlanTool):
    def __init__(self, middlewares: _Wrappers = None, *, policy: Policy = AGENTSCOPE) -> None:
        planning, toolset = PLAIN, PLAIN.toolbox.toolset
        if policy is not AGENTSCOPE:
            planning = Planning(Toolbox(toolset, require(policy, Policy)))
        definition = next(
            definition for definition in toolset.definitions() if definition.name == self.name
        )
        super().__init__(planning, definition, middlewares)


class TaskCreate(_DropIn):
    """The tool that creates tasks; it replaces `agentscope.tool.TaskCreate`."""

    name = "TaskCreate"


class TaskGet(_DropIn):
    """The tool that shows one task; it replaces `agentscope.tool.TaskGet`."""

    name = "TaskGet"


class TaskList(_DropIn):
    """The tool that shows the whole plan; it replaces `agentscope.tool.TaskList`."""

    name = "TaskList"


class TaskUpdate(_DropIn):
    """The tool that changes a task; it replaces `agentscope.tool.TaskUpdate`."""

    name = "TaskUpdate"


# AgentScope's own lines about tasks, in a hint that may also contain the time.
_TASKS = re.compile(r"<tasks>.*?</tasks>\n?", re.DOTALL)
_NATIVE = "TaskList"
# Changing an import must not change what the user sees. An early answer would be streamed before
# the model is asked again, so by default every answer is accepted.
_DROP_IN = Settings(unfinished=0)
_Next = Callable[..., AsyncGenerator[Any, None]]


class PlanMiddleware(MiddlewareBase):
    """
    Guidance for an agent: reminders at the end of a request, which are not saved.

    `settings` configure the reminders. By default, a final answer is accepted even while tasks are
    open; with `Settings(unfinished=2)`, the model is then asked to go on, at most twice. AgentScope
    itself adds lines about tasks, which name `TaskList`. They are removed from each request if this
    middleware shows the plan again when no message shows it (`plan_lost`), or if the model has no
    tool `TaskList`. `system_prompt` is appended to the agent's prompt; the default is the tool
    set's prompt, and "" adds none. `toolbox`, `store`, `plan_id`, `clock`, `verify` and `actor`
    must be those of the tools.
    """

    def __init__(  # noqa: PLR0913 - a constructor of keyword arguments
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
    ) -> None:
        box = PLAIN.toolbox if toolbox is None else toolbox
        given: dict[str, Any] = {"store": store, "clock": clock, "verify": verify}
        given |= {"system_prompt": system_prompt, "plan_id": plan_id, "actor": actor}
        self.planning = Planning(box, _DROP_IN if settings is None else settings, **given)

    async def on_system_prompt(
        self,
        agent: Agent,  # noqa: ARG002 - AgentScope gives it
        current_prompt: str,
    ) -> str:
        """Append the planning prompt, which is the same in every request."""
        return "\n\n".join(filter(None, (current_prompt, self.planning.system_prompt)))

    async def on_reply(
        self, agent: Agent, input_kwargs: dict[str, Any], next_handler: _Next
    ) -> AsyncGenerator[Any, None]:
        """
        If the model answers while tasks are open, drop the event of the reply's end, so that the
        reply continues. The limits of guidance apply to one reply.
        """
        # An event resumes a reply that waited for a person, so the limits are not reset.
        is_new = not isinstance(input_kwargs["inputs"], EventBase)
        if await self._sight(agent.state):
            kept_in(agent.state).is_new_run = is_new
        async for event in next_handler(**input_kwargs):
            if isinstance(event, ReplyEndEvent):
                # Without the event of its end, the reply continues, and the model is asked again.
                if await self._goes_on(agent, event):
                    continue
                # With this checksum, an edit of the saved list is detected when the list is loaded.
                kept_in(agent.state)[SEAL] = sum_of(agent.state.tasks_context.tasks)
            yield event

    async def _goes_on(self, agent: Agent, event: ReplyEndEvent) -> bool:
        state, sight = agent.state, await self._sight(agent.state)
        # Only the end of a completed reply is dropped. If an end by the reply's own limit is
        # dropped twice, AgentScope raises.
        if sight is None or event.finished_reason != ReplyFinishedReason.COMPLETED:
            return False
        session, plan = sight
        advice = await session.after_model(
            last_answer(state.context),
            structured=state.reply_context.structured_schema is not None,
            request=Request(session.state.memory, plan.revision),
        )
        # Another hook sends the reminder with the next request. The two hooks share only the state.
        kept = kept_in(state)
        kept.update({PENDING: advice.text} if advice.verdict == "again" else {})
        kept.save(state, plan)
        return advice.verdict == "again"

    async def on_model_call(
        self,
        agent: Agent,
        input_kwargs: dict[str, Any],
        next_handler: Callable[..., Awaitable[Any]],
    ) -> Any:
        """Append the due reminder, if any, to the messages of this request."""
        messages, state, request = [*input_kwargs["messages"]], agent.state, None
        names = {tool["function"]["name"] for tool in input_kwargs["tools"] or ()}
        # Either AgentScope or this middleware reminds of a lost plan, but not both. No reminder may
        # name a tool that the model does not have.
        if self.planning.settings.plan_lost or _NATIVE not in names:
            messages = _without_native(messages, agent.injection_config)
        if sight := await self._sight(state):
            kept, (session, _) = kept_in(state), sight
            conversation, pending = Conversation(messages, neutral), kept.get(PENDING)
            # A request has only one reminder. Another reminder that is due is sent with the next
            # request.
            request = await session.before_model(
                conversation, silent=bool(pending), is_new=kept.is_new_run
            )
            kept.is_new_run = False
            if text := pending or request.text:
                messages.append(UserMsg(name="user", content=text))
        answer = await next_handler(**{**input_kwargs, "messages": messages})
        if request and (now := await self._sight(state)):
            session, plan = now
            kept = kept_in(state)
            kept.pop(PENDING, None)
            # The answer may be a stream that has not started, so it is judged at the end of the
            # reply.
            await session.after_model(Message("assistant"), silent=True, request=request)
            kept.save(state, plan)
        return answer

    async def _sight(self, state: AgentState) -> tuple[AsyncSession, Plan] | None:
        """
        Update AgentScope's list, and return the session and its plan; if there is no valid plan,
        return `None`.
        """
        try:
            session = await self.planning.session(state)
            plan = await session.plan()
        except (CodecError, PlanError):
            if self.planning.store is not None:
                raise
            return None  # the next planning call reports the error
        kept_in(state).save(state, plan)
        return session, plan


def neutral(message: Msg) -> Message:
    """Convert a message, which may contain a whole reply, to the form that guidance reads."""
    return _message(message.role, message.content)


def _message(role: str, blocks: Sequence[object]) -> Message:
    return Message(
        role,  # type: ignore[arg-type]  # AgentScope's three roles are three of ours
        "".join(block.text for block in blocks if isinstance(block, TextBlock)),
        tuple(block.name for block in blocks if isinstance(block, ToolCallBlock)),
        tuple(
            ToolResult(block.name, block.state == State.SUCCESS, block.id)
            for block in blocks
            if isinstance(block, ToolResultBlock)
        ),
    )


def last_answer(context: Sequence[Msg]) -> Message:
    """Return the model's last answer: the blocks after the last tool result or hint."""
    blocks = context[-1].content if context else []
    tail = takewhile(lambda b: not isinstance(b, ToolResultBlock | HintBlock), reversed(blocks))
    return _message("assistant", tuple(tail)[::-1])


def _without_native(messages: Sequence[Msg], config: InjectionConfig) -> list[Msg]:
    """Return the messages without AgentScope's own lines about tasks, and without empty hints."""
    empty = config.template.replace("{runtime_state}", "").split()
    cleaned = []
    for message in messages:
        content: list[Block] = []
        for block in message.content:
            is_injected = isinstance(block, HintBlock) and block.source == config.injection_source
            hint: Any = getattr(block, "hint", None) if is_injected else None
            if not isinstance(hint, str) or not _TASKS.search(hint):
                content.append(block)
            elif (rest := _TASKS.sub("", hint)).split() != empty:
                content.append(block.model_copy(update={"hint": rest}))
        is_same = content == message.content
        cleaned.append(message if is_same else message.model_copy(update={"content": content}))
    return cleaned


def attach(  # noqa: PLR0913 - one keyword for each of its settings
    toolbox: Toolbox | None = None,
    *,
    settings: Settings | None = None,
    store: AnyStore | None = None,
    clock: Clock = utc_now,
    verify: Verify | None = None,
    system_prompt: str | None = None,
    plan_id: str | None = None,
    actor: str | None = None,
    toolkit: Toolkit | None = None,
    middlewares: Sequence[MiddlewareBase] = (),
    injection_config: InjectionConfig | None = None,
) -> dict[str, Any]:
    """
    Return arguments for tools and reminders: `Agent(name, prompt, model, **attach())`.

    The tools of `toolbox` are added to `toolkit`. Guidance comes after your `middlewares`, nearest
    to the model, so guidance sees the request that is sent. `settings` and `system_prompt` are
    those of `PlanMiddleware`. `injection_config` is AgentScope's; the returned copy names these
    tools. `clock` returns the current time with its time zone, `verify` checks whether a task is
    done (see `AsyncPlanner`), and `actor` is this agent's name in the journal. Agents that share a
    plan should have different names.

    With a `store`, the plan is kept there under `plan_id`, by default the session's id, and anyone
    may change it at any time. AgentScope's list is then a copy of the stored plan.

    Raises:
        PlanError: the toolkit already has tools of these names, or an argument has the wrong type.
    """
    given: dict[str, Any] = {"store": store, "clock": clock, "verify": verify}
    given |= {"system_prompt": system_prompt, "plan_id": plan_id, "actor": actor}
    guidance = PlanMiddleware(toolbox, settings=settings, **given)
    planning = guidance.planning
    toolkit = toolkit or Toolkit()
    # `Toolkit` always creates the first group, "basic".
    basic, names = toolkit.tool_groups[0].tools, list(planning.toolbox.toolset.tool_names)
    # `Toolkit` silently accepts two tools of the same name, and offers both to the model.
    remedy = "leave out AgentScope's own task tools"
    planning.refuse_taken("the toolkit", (tool.name for tool in basic), remedy)
    basic.extend(tools_of(planning))
    config = injection_config or InjectionConfig()
    return {
        "toolkit": toolkit,
        "middlewares": [*middlewares, guidance],
        # Without these names, AgentScope names `TaskList` to the model, which may not exist.
        "injection_config": config.model_copy(update={"task_tool_names": names}),
    }


# -------- applications --------


def _reached(given: object) -> tuple[AgentState, Planning]:
    """Return the given state or the agent's state, and the `Planning` of the agent's tools."""
    if not isinstance(given, Agent):
        return require(given, AgentState, "an AgentState, or the agent that has it"), PLAIN
    tools = [tool for group in given.toolkit.tool_groups for tool in group.tools]
    plannings = (getattr(tool, "planning", None) for tool in tools)
    ours = (planning for planning in plannings if isinstance(planning, Planning))
    return given.state, next(ours, PLAIN)


@contextmanager
def _opened(given: object) -> Iterator[tuple[TaskStore | None, Planner]]:
    """Yield a planner for the plan of a state or an agent, and then save the plan."""
    state, planning = _reached(given)
    planner = planning.planner(state)
    kept, _ = kept_in(state), planner.plan
    yield kept.slot, planner
    kept.save(state, planner.plan)


def plan_of_state(state: AgentState | Agent) -> Plan:
    """
    Return the plan that a state's tasks represent, repaired if necessary. For an agent whose tools
    have a store, return the plan in the store.

    Raises:
        PlanError: the tasks are not a valid plan and can be repaired in more than one way; the
            argument has the wrong type; or a store keeps the plan, and a state was given.
        CodecError: a task has a value that no plan can have.
    """
    with _opened(state) as (_, planner):
        return planner.plan


def history_of(state: AgentState | Agent) -> tuple[Entry, ...]:
    """
    Return the journal, oldest entry first. An entry says when, by whom (`actor`, `None` if no name
    was given) and by which tool or command (`cause`) the plan was changed. The cause
    "tasks_context" means that somebody changed AgentScope's list itself. The state keeps the latest
    50 entries, fewer if they are long; a store keeps all.

    Raises:
        PlanError, CodecError: see `plan_of_state`.
    """
    with _opened(state) as (slot, planner):
        return planner.history() if slot is None else slot.history()


def seed_plan(state: AgentState | Agent, plan: Plan, *, actor: str | None = None) -> None:
    """
    Replace the state's tasks by those of `plan`. Tasks created later get unused ids. If a store
    keeps the plan, pass the agent. `actor` is the author of the change, for the journal.

    Raises:
        PlanError: an argument has the wrong type; or a store keeps the plan, and a state was given.
    """
    own, planning = _reached(state)
    require(plan, Plan)
    if planning.store is None:
        refuse_stored(own)
        try:
            plan_of_state(own)
        except (CodecError, PlanError):
            own.tasks_context.tasks.clear()  # a list that cannot be read as a plan
    with _opened(state) as (_, planner):
        planner.restore(plan, actor=actor)


def edit_plan(
    state: AgentState | Agent,
    command: Command,
    *,
    actor: str | None = None,
    policy: Policy | None = None,
) -> Decision:
    """
    Apply a command to the plan, and return the decision; `ClearPlan()` clears the plan.

    The default policy is that of the agent's tools, or `AGENTSCOPE` if a state is given. If a store
    keeps the plan, pass the agent, because a state does not have the store. `actor` is the author
    of the change, for the journal.

    Raises:
        PlanError, CodecError: see `plan_of_state`; or the policy has the wrong type.
    """
    with _opened(state) as (_, planner):
        return planner.apply(command, actor=actor, policy=policy)


def undo_plan(state: AgentState | Agent, *, actor: str | None = None) -> Decision:
    """
    Undo the last change of the plan that is not undone yet, whoever made it. Repeated calls undo
    earlier changes. Without a store, a change can be undone only if the plan before it can be
    reconstructed from the state's journal.

    Raises:
        PlanError, CodecError: see `edit_plan`.
    """
    with _opened(state) as (_, planner):
        return planner.undo(actor=actor)


def repair(state: AgentState | Agent) -> tuple[str, ...]:
    """
    Repair the state's task list in place, and return a text for each repair. Use it for lists that
    were seeded or imported, before an agent runs.

    Ids that are not numbers or occur twice are replaced, edges are entered at both of their tasks,
    edges to missing tasks are dropped, and a task without a subject gets one.

    Raises:
        PlanError: a fault can be repaired in more than one way: a cycle, or edges to an id that
            occurs twice. `data["problems"]` has every fault. The list is not changed.
        CodecError: a task has a value that no plan can have. The list is not changed.
    """
    own = _reached(state)[0]
    plan_of_state(own)
    return tuple(kept_in(own).repairs())
