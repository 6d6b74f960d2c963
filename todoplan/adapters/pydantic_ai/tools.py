"""
The planning tools as a toolset, of any tool set and under any policy.

A run works on a copy of the toolset with a plan of its own (`RunPlan`): read from the messages when
the run begins, and written back with each answer. Every tool is a barrier (`sequential`), so that
the calls of a turn are carried out in order. What a model has sent badly must not reach Pydantic
AI's validators: they would count it as a retry, and end the run at the second.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import attrs
from pydantic_ai.exceptions import ToolFailed
from pydantic_ai.messages import ToolReturn
from pydantic_ai.tools import RunContext, ToolDefinition
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool

from todoplan.adapters.pydantic_ai.conversation import calls_of_turn, response_of
from todoplan.adapters.pydantic_ai.history import KEY, base_of, memory_of, news, plan_of_state
from todoplan.core.events.base import Base
from todoplan.core.plan.plan import Plan
from todoplan.dialogue.application import require, require_clock
from todoplan.dialogue.clock import Clock, utc_now
from todoplan.dialogue.guidance.guidance import Memory
from todoplan.dialogue.last_seen import LastSeen, base_at
from todoplan.dialogue.toolbox import Call, Reply, Toolbox
from todoplan.errors import PlanError
from todoplan.planner import AnyStore, AsyncPlanner
from todoplan.planner.verifying.looking import Verifying
from todoplan.planner.verifying.verifier import Verify, verifier_of

__all__ = ["PlanToolset", "RunPlan", "make_tools"]

_Context = RunContext[Any]
_AS_SENT = "the arguments as sent"  # no parameter of a tool has this name


@attrs.define
class RunPlan:
    """
    What one run works on: the plan and what guidance remembers. With a `planner` the plan is in a
    store, under the conversation's id; without one in the messages, `held` here, and `seen` is what
    the model has seen of it. `times`: of the latest change; `shown`: what a reminder just showed.
    """

    toolbox: Toolbox
    clock: Clock
    planner: AsyncPlanner | None
    memory: Memory
    verifying: Verifying | None = None
    held: Plan = attrs.field(factory=Plan)
    seen: LastSeen = attrs.field(factory=LastSeen)
    times: list[datetime] = attrs.field(factory=list)
    shown: int | None = None

    @classmethod
    async def of(
        cls,
        ctx: _Context,
        toolbox: Toolbox,
        store: AnyStore | None,
        clock: Clock,
        verify: Verify | None = None,
    ) -> RunPlan:
        """
        Return the plan of a run, from the messages that the run goes on from.

        Raises:
            CodecError: what stands in the messages is no plan.
            PlanError: a store is given, and the conversation has no id; or none is, and a store
                keeps the plan.
        """
        own = cls(toolbox, clock, None, memory_of(ctx.messages))
        if store is None:
            own.held, own.seen = plan_of_state(ctx.messages), LastSeen(base_of(ctx.messages))
            own.verifying = Verifying.of(toolbox, verify)
        else:
            # Law 19: without a clock that was meant it is the store's that judges claims.
            times = clock if clock is utc_now else own._now
            given: dict[str, Any] = {"toolbox": toolbox, "clock": times, "verify": verify}
            own.planner = AsyncPlanner(store, ctx.conversation_id, **given)
        own.memory = own.memory.new_run(await own.plan())
        return own

    def _now(self) -> datetime:
        # A store's planner takes the time itself; `news` is to tell the same one.
        self.times[:] = [self.clock()]
        return self.times[0]

    @property
    def in_history(self) -> bool:
        """
        Say whether the message history is where the plan is kept.
        """
        return self.planner is None

    async def plan(self) -> Plan:
        """
        Return the plan as it stands.
        """
        return self.held if self.planner is None else await self.planner.plan()

    async def unseen(self, plan: Plan) -> Base | None:
        """
        Return the plan as the model last saw it, if this one has been changed by others since.
        """
        known = self.memory.revision
        if self.planner is None or known in {-1, plan.revision}:
            return self.seen.base
        return base_at(await self.planner.history(), known)

    def asked(self, shown: Plan | None) -> None:
        """
        As `LastSeen.asked`, also in a store.
        """
        self.seen.asked(shown)
        self.shown = None if shown is None else shown.revision

    async def answer(
        self, call: Call, turn: tuple[Call, ...], response: tuple[str, ...] = ()
    ) -> tuple[Reply, bool]:
        """
        Answer a call of a turn, and note what the model made of the plan by it. Also say whether
        the model sees by the answer what others did. `response` names what the call is a part of.
        """
        if self.planner is None:

            def attempt(box: Toolbox) -> Reply:
                return self.seen.answer(box, self.held, call, turn, at=self._now())

            looks = self.verifying
            reply = await looks.aanswer(attempt) if looks else attempt(self.toolbox)
            self.held = reply.plan
        else:
            self._now()
            # Law 13: whole-list writes that contradict each other are refused together.
            clash = self.toolbox.clashing([one.name for one in turn])
            calls = [turn[at] for at in sorted(clash)]
            clashes = any(one.call_id == call.call_id for one in calls)
            # What this conversation's model has seen: others may work on the plan without a name.
            known = None if self.memory.revision < 0 else self.memory.revision
            _, base = await self.planner.look(known, shown=self.shown)
            # Clashing calls are all refused in the same words, so that the first reply serves each.
            asked = calls if clashes else [call]
            # A run that is resumed from messages without the answer makes the call again.
            keys = self.planner.keys_of(asked, *response) if response else None
            made = await self.planner.turn(asked, base=base, key=keys)
            reply = made.replies[0]
        told = self.seen.answered(reply, turn)
        before, memory = reply.plan.revision - len(reply.events), self.memory
        # With a store it is the planner whose answer tells what others did since.
        behind = self.planner is not None and memory.revision not in {-1, before}
        is_look = told or (behind and not reply.is_error)
        self.shown = self.shown if reply.is_error else None
        saw_own = memory.saw_own(before, reply.plan, refused=reply.is_error)
        self.memory = memory.saw(reply.plan) if is_look else saw_own
        return reply, told


# Arguments that Pydantic AI refuses count as a retry, of which a tool has one by default.
class _Lenient:
    """
    A validator that lets every argument pass: ours are read by intake, which says what is wrong.
    """

    def validate_json(self, input: Any, **_: Any) -> dict[str, Any]:  # noqa: A002 - Pydantic's name
        """
        Return the object that a text is, or else the text itself.
        """
        try:
            # NaN as a text: as a number it equals nothing, and `_as_sent` would find it changed.
            found = json.loads(input, parse_constant=str)
        except (ValueError, RecursionError):
            found = None
        return self.validate_python(found if isinstance(found, dict) else input)

    def validate_python(self, input: Any, **_: Any) -> dict[str, Any]:  # noqa: A002 - same
        """
        Return the arguments under their names; what has no names stands under one of ours.
        """
        return input if isinstance(input, dict) else {_AS_SENT: input}


_LENIENT = _Lenient()


def _as_sent(given: dict[str, Any], sent: Any) -> Any:
    """
    Return a call's arguments as the model sent them, for intake, unless a hook has changed them.
    """
    # The text shows what an object has lost, such as a key that stood twice.
    unchanged = isinstance(sent, str) and _LENIENT.validate_json(sent or "{}") == given
    return sent if unchanged else given.get(_AS_SENT, given)


class PlanToolset(AbstractToolset[Any]):
    """
    The tools of a toolbox. It holds no plan: every run gets a copy of its own, with its own plan.
    """

    def __init__(
        self,
        toolbox: Toolbox | None = None,
        *,
        store: AnyStore | None = None,
        clock: Clock = utc_now,
        verify: Verify | None = None,
        run_plan: RunPlan | None = None,
    ) -> None:
        self.toolbox = Toolbox() if toolbox is None else require(toolbox, Toolbox)
        self.verify = verifier_of(verify)
        self.store = store
        self.clock = require_clock(clock)
        self._run_plan = run_plan

    @property
    def id(self) -> str:
        """
        One name for all: an agent has one plan.
        """
        return KEY

    async def for_run(self, ctx: _Context) -> PlanToolset:
        """
        Return the toolset for one run, with the plan of its conversation.
        """
        if self._run_plan:  # the capability's, which has read the plan already
            return self
        own = await RunPlan.of(ctx, self.toolbox, self.store, self.clock, self.verify)
        return PlanToolset(self.toolbox, store=self.store, clock=self.clock, run_plan=own)

    async def get_tools(self, ctx: _Context) -> dict[str, ToolsetTool[Any]]:
        """
        Return the tools; each is a barrier, so that calls of one turn are carried out in order.
        """
        tools: dict[str, ToolsetTool[Any]] = {}
        for definition in self.toolbox.toolset.definitions():
            shown = ToolDefinition(
                name=definition.name,
                description=definition.description,
                parameters_json_schema=definition.schema,
                # Pydantic AI runs the calls of a turn at once; law 13 wants them in order.
                sequential=True,
            )
            tools[definition.name] = ToolsetTool(
                toolset=self, tool_def=shown, max_retries=ctx.max_retries, args_validator=_LENIENT
            )
        return tools

    async def call_tool(
        self,
        name: str,
        tool_args: dict[str, Any],
        ctx: _Context,
        tool: ToolsetTool[Any],  # noqa: ARG002 - Pydantic AI's signature
    ) -> ToolReturn[str]:
        """
        Answer one call.

        Raises:
            ToolFailed: the reply is an error: told to the model, and no retry is counted.
            PlanError: it is called outside a run.
        """
        own = self._run_plan
        if own is None:
            msg = f"{name} needs the plan of a run: give the toolset to an agent"
            raise PlanError(msg, tool=name)
        turn = {call.call_id: call for call in calls_of_turn(ctx.messages, ctx.tool_call_id)}
        call_id = ctx.tool_call_id or ""
        sent = turn[call_id].arguments if call_id in turn else None
        call = Call(name, _as_sent(tool_args, sent), call_id)
        response = response_of(ctx.messages, ctx.tool_call_id)
        reply, told = await own.answer(call, tuple(turn.values()), response)
        if reply.is_error:
            raise ToolFailed(reply.text)  # an answer; ModelRetry would count against the run
        metadata = news(reply, at=own.times[-1], whole=own.in_history, told=told)
        return ToolReturn(reply.text, metadata=metadata)


def make_tools(
    toolbox: Toolbox | None = None,
    *,
    store: AnyStore | None = None,
    clock: Clock = utc_now,
    verify: Verify | None = None,
) -> PlanToolset:
    """
    Return the tools of a toolbox for `Agent(toolsets=[...])`: without prompt and guidance.

    With a store, the plan is kept there under `conversation_id`, and not in the message history.
    `clock` gives aware times, `verify` looks whether a task is done (see `AsyncPlanner`).

    Raises:
        PlanError: what was given is no toolbox, no clock or no verifier.
    """
    return PlanToolset(toolbox, store=store, clock=clock, verify=verify)
