"""
The planning tools for AgentScope's `Toolkit`, of any tool set and under any policy.

They are not safe to run at once, and say so: AgentScope then runs the calls of a turn in order, so
that each sees what the one before it has done. Only whole-list writes must be looked at together
(law 13): `on_acting` sees one call at a time, but the context shows all of the turn.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from copy import deepcopy
from datetime import datetime
from typing import Any

import attrs
from agentscope.exception import DeveloperOrientedException
from agentscope.message import TextBlock, ToolResultState
from agentscope.permission import PermissionBehavior, PermissionContext, PermissionDecision
from agentscope.state import AgentState
from agentscope.tool import ToolBase, ToolChunk, ToolMiddlewareBase

from todoplan.adapters.agentscope.conversation import as_sent, call_id_of, calls_in_turn
from todoplan.adapters.agentscope.plan_store import PlanStore
from todoplan.adapters.agentscope.state import KEY, Held, load, save
from todoplan.codec import entry_to_data
from todoplan.core.events.journal import Entry
from todoplan.core.events.touched import touched
from todoplan.core.plan.validation import in_utc
from todoplan.core.problems import Problem
from todoplan.core.rules.policy import Policy
from todoplan.core.rules.presets import AGENTSCOPE
from todoplan.dialogue.application import require, require_actor, require_clock
from todoplan.dialogue.clock import Clock, utc_now
from todoplan.dialogue.intake.fields import Field, Kind, meant_by
from todoplan.dialogue.observed import start, tell_called
from todoplan.dialogue.replies.error_texts import error_text
from todoplan.dialogue.toolbox import Call, Reply, Toolbox
from todoplan.dialogue.tools.tasks import tasks
from todoplan.dialogue.tools.toolset import Definition
from todoplan.errors import CodecError, PlanError
from todoplan.planner import AnyStore
from todoplan.planner.verifying.looking import Verifying
from todoplan.planner.verifying.verifier import Verify

__all__ = [
    "PlanTool",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskUpdate",
    "default_toolbox",
    "make_tools",
]

_Wrappers = list[ToolMiddlewareBase] | None
_IDS = frozenset({Kind.ID, Kind.ID_HINT, Kind.IDS, Kind.REF, Kind.REFS})


class _Shown(dict[str, Any]):
    """
    A schema that lets every argument pass, and whose copy, which models are shown, is the real one.

    AgentScope changes arguments to fit the schema, and says so to nobody; ours are read by intake.
    A reference to `true` spares it a validator for each call.
    """

    def __init__(self, schema: dict[str, Any]) -> None:
        free = {"$ref": "#/$defs/any", "$defs": {"any": True}}
        super().__init__(type="object", properties={}, **free)
        self._schema = schema

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[str, Any]:
        return deepcopy(self._schema, memo)


class PlanTool(ToolBase):
    """
    One planning tool. Always allowed, as AgentScope's own are; calls of one turn run in order.
    """

    is_state_injected = True  # AgentScope then passes its state as `_agent_state`

    def __init__(  # noqa: PLR0913, PLR0917 - what `make_tools` was given
        self,
        toolbox: Toolbox,
        definition: Definition,
        middlewares: _Wrappers = None,
        clock: Clock = utc_now,
        plans: PlanStore | None = None,
        verifying: Verifying | None = None,
        actor: str | None = None,
    ) -> None:
        super().__init__(middlewares)
        self.plans, self.actor = plans, actor
        self.name, self.description = definition.name, definition.description
        self.input_schema = _Shown(definition.schema)
        # AgentScope's own say the opposite: reads count as writes, creates may run at once.
        self.is_read_only = self.is_concurrency_safe = definition.read_only
        self.toolbox = toolbox
        self._verifying = verifying
        tool = toolbox.toolset.find(definition.name)
        self._is_whole_list = tool is not None and tool.whole_list
        self._fields = tool.fields if tool else ()
        self._clock = require_clock(clock)

    async def check_permissions(
        self,
        tool_input: dict[str, Any],  # noqa: ARG002 - AgentScope's signature
        context: PermissionContext,  # noqa: ARG002 - AgentScope's signature
    ) -> PermissionDecision:
        """
        Allow every call.
        """
        # Anything else parks the reply until a person says yes to a note in a list.
        message = f"{self.name} is always allowed to be called."
        return PermissionDecision(behavior=PermissionBehavior.ALLOW, message=message)

    async def call(self, _agent_state: Any, **arguments: Any) -> ToolChunk:
        """
        Answer one call upon the agent's state, or the plan in a store. Upon the state nothing is
        awaited, so that no other call comes between reading and writing.

        Raises:
            DeveloperOrientedException: there is no state.
        """
        # The application's mistake, not the model's: of all exceptions only this kind passes the
        # toolkit, others become results.
        if not isinstance(_agent_state, AgentState):
            msg = f"{self.name} needs the AgentState, and was given {_agent_state!r}"
            raise DeveloperOrientedException(msg)
        try:
            if self.plans is not None:
                return await self._answer_in(self.plans, _agent_state, arguments)
            return await self._answer(_agent_state, arguments)
        except (CodecError, PlanError) as error:
            return _chunk(error_text((Problem("broken_list", seen=str(error)),)), is_error=True)

    async def _answer(self, state: AgentState, given: dict[str, Any]) -> ToolChunk:
        call = Call(self.name, as_sent(state.context, self.name, given))

        def attempt(box: Toolbox) -> tuple[Held, Reply, tuple[Call, ...], datetime]:
            at = self._clock()
            held, reply, turn = self._decided(box, state, call, at, whole=self.is_read_only)
            # A part of a long list was looked at, and what this call rests on is not all in it.
            if not held.mirror.is_sure(state.tasks_context.tasks, held.plan, touched(reply.events)):
                held, reply, turn = self._decided(box, state, call, at)
            return held, reply, turn, at

        asked, began = self._verifying, start(self.toolbox)
        held, reply, turn, at = await asked.aanswer(attempt) if asked else attempt(self.toolbox)
        tell_called(self.toolbox, (reply,), self.actor, began)
        if held.seen.answered(reply, turn) or reply.events:
            held.keep_base()
        entry = Entry(reply.plan.revision, reply.events, in_utc(at), self.actor, reply.name)
        if reply.events:
            save(state, held, reply.plan, touched(reply.events))
            held.record(entry)
        return _told(reply, entry, held.repairs())

    async def _answer_in(
        self, plans: PlanStore, state: AgentState, given: dict[str, Any]
    ) -> ToolChunk:
        sent = as_sent(state.context, self.name, given)
        call = Call(self.name, sent, call_id_of(state.context, self.name))
        if names := plans.names_in(state):
            call = attrs.evolve(call, arguments=_with_ids(call.arguments, self._fields, names))
        reply, repairs = await plans.answer(state, call, calls_in_turn(state.context))
        at = in_utc(self._clock())  # the store's entry has the time at which it was appended
        name = plans.hand_of(state)
        return _told(reply, Entry(reply.revision, reply.events, at, name, reply.name), repairs)

    def _decided(
        self,
        box: Toolbox,
        state: AgentState,
        call: Call,
        at: datetime,
        *,
        whole: bool = True,
    ) -> tuple[Held, Reply, tuple[Call, ...]]:
        held = load(state, whole=whole)
        if held.names:
            call = attrs.evolve(call, arguments=_with_ids(call.arguments, self._fields, held.names))
        # The turn is another walk over the context, and of no matter to most calls.
        is_asked = self._is_whole_list or held.seen.is_of_interest
        turn = calls_in_turn(state.context) if is_asked else ()
        reply = held.seen.answer(box, held.plan, call, turn, at=at, actor=self.actor)
        return held, reply, turn


def _with_ids(value: Any, fields: tuple[Field, ...], names: Mapping[str, str]) -> Any:
    """
    Return a call's arguments with the ids of tasks that are called by their earlier names.
    """
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return value  # intake reads what is no JSON; the names in it are not known here
    found = dict(value)
    for key, part in value.items():
        field = meant_by(key, fields)[0]
        many = part if isinstance(part, list) else [part]
        if field is None:
            continue
        if field.kind is Kind.ITEMS:
            new = [_with_ids(one, field.items, names) for one in many if isinstance(one, dict)]
            found[key] = new if len(new) == len(many) else part
        elif field.kind in _IDS:
            new = [names.get(one, one) if isinstance(one, str) else one for one in many]
            found[key] = new if isinstance(part, list) else new[0]
    return found


def _told(reply: Reply, entry: Entry, repairs: Sequence[str]) -> ToolChunk:
    news = {KEY: entry_to_data(entry)} if reply.events else {}
    text = "\n".join((reply.text, *repairs))
    return _chunk(text, is_error=reply.is_error, metadata=news)


def _chunk(text: str, *, is_error: bool, metadata: dict[str, Any] | None = None) -> ToolChunk:
    state = ToolResultState.ERROR if is_error else ToolResultState.SUCCESS
    block = TextBlock(text=text)
    return ToolChunk(content=[block], state=state, metadata=metadata or {}, id=block.id)


def make_tools(  # noqa: PLR0913 - settings of every adapter
    toolbox: Toolbox | None = None,
    *,
    store: AnyStore | None = None,
    clock: Clock = utc_now,
    verify: Verify | None = None,
    plan_id: str | None = None,
    actor: str | None = None,
) -> list[ToolBase]:
    """
    Return the tools of a tool set for `Toolkit(tools=...)`; AgentScope's own four by default.

    With a `store` the plan is kept there under `plan_id`, or else under the session's id. `clock`
    gives aware times, `verify` looks whether a task is done (see `AsyncPlanner`), `actor` is this
    agent's name in the history.

    Raises:
        PlanError: what was given is no toolbox, no store, no clock, no verifier or no name.
    """
    toolbox = default_toolbox() if toolbox is None else require(toolbox, Toolbox)
    verifying = Verifying.of(toolbox, verify)
    plans = PlanStore.of(store, plan_id, toolbox, clock, verify, require_actor(actor))
    return [
        PlanTool(toolbox, definition, None, clock, plans, verifying, actor)
        for definition in toolbox.toolset.definitions()
    ]


def default_toolbox(policy: Policy = AGENTSCOPE) -> Toolbox:
    """
    Return the toolbox of AgentScope's four tools: statuses free, edges a signal.
    """
    return Toolbox(tasks("snake"), require(policy, Policy))


class _DropIn(PlanTool):
    def __init__(self, middlewares: _Wrappers = None, *, policy: Policy = AGENTSCOPE) -> None:
        toolbox = default_toolbox(policy)
        found = {each.name: each for each in toolbox.toolset.definitions()}
        super().__init__(toolbox, found[type(self).name], middlewares)


class TaskCreate(_DropIn):
    """
    In place of `agentscope.tool.TaskCreate`.
    """

    name = "TaskCreate"


class TaskGet(_DropIn):
    """
    In place of `agentscope.tool.TaskGet`.
    """

    name = "TaskGet"


class TaskList(_DropIn):
    """
    In place of `agentscope.tool.TaskList`.
    """

    name = "TaskList"


class TaskUpdate(_DropIn):
    """
    In place of `agentscope.tool.TaskUpdate`.
    """

    name = "TaskUpdate"
