"""
The plan of a session in a store: found by the session's id, written by the tools and by
`edit_plan`, at any time.

The state keeps AgentScope's list, which is published at each look at the plan: its interfaces read
it. Beside it stands a mark: which plan it is, and the revision that this session's model saw last
(law 15), since other sessions and programs may work on the same plan. A turn is remembered while it
goes on: all of its calls were written upon what was seen before the first.

A list that a session has when it is first run with a store is handed over, once: if nothing was
ever written there. An empty one gives way to what is there. Later changes to the list itself are
written over, and the log says so.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from inspect import iscoroutinefunction
from typing import Any, cast

import attrs
from agentscope.state import AgentState
from agentscope.state import Task as TheirTask

from todoplan.adapters.agentscope.state import (
    KEY,
    STORED,
    WRITTEN,
    load,
    names_in,
    stored_id,
    sum_of,
)
from todoplan.codec.foreign.agentscope import task_to_agentscope
from todoplan.core.events.base import Base
from todoplan.core.plan.plan import Plan
from todoplan.dialogue.clock import Clock
from todoplan.dialogue.held_claims import NO_FENCES, fences_after
from todoplan.dialogue.last_seen import told_once
from todoplan.dialogue.parallel_calls import answered_after
from todoplan.dialogue.toolbox import Call, Reply, Toolbox
from todoplan.errors import PlanError
from todoplan.planner import AnyStore, AsyncPlanner, Planner
from todoplan.planner.arguments import store_of_plans
from todoplan.planner.verifying.verifier import Verify

__all__ = ["PlanStore", "plans_of"]

_SEEN = "seen"
_SHOWN = "shown"
_SEAL = "seal"
_UNTOLD = "untold"
_TURN = "turn"
_FENCES = "fences"
logger = logging.getLogger("todoplan")


@attrs.frozen
class PlanStore:
    """
    A store, and which of its plans is that of a session: the one under `plan_id`, or under the id
    of the session. `actor` is whose calls they are.
    """

    store: AnyStore
    plan_id: str | None
    toolbox: Toolbox
    clock: Clock
    verify: Verify | None = None
    actor: str | None = None

    @classmethod
    def of(  # noqa: PLR0913, PLR0917 - what the tools were given
        cls,
        store: AnyStore | None,
        plan_id: str | None,
        toolbox: Toolbox,
        clock: Clock,
        verify: Verify | None = None,
        actor: str | None = None,
    ) -> PlanStore | None:
        """
        Return where plans are kept, `None` without a store.

        Raises:
            PlanError: this is no store; or there is none, and an id is given.
        """
        kept = store_of_plans(store, plan_id)
        return None if kept is None else cls(kept, plan_id, toolbox, clock, verify, actor)

    def id_of(self, state: AgentState) -> str:
        """
        Return the id of a session's plan.
        """
        return state.session_id if self.plan_id is None else self.plan_id

    def opened(self, state: AgentState) -> Planner:
        """
        Return a planner for the plan of a session; a list that it had is handed over.

        Raises:
            PlanError: the store is an asynchronous one; the session had a list, and the store has
                another plan.
            CodecError: a task of the list holds what no plan can.
        """
        plan_id = self.id_of(state)
        if iscoroutinefunction(self.store.load):
            msg = f"this store is awaited: use AsyncPlanner(store, {plan_id!r})"
            raise PlanError(msg, plan_id=plan_id)
        planner = Planner(cast("Any", self.store), plan_id, toolbox=self.toolbox, clock=self.clock)
        if plans := self._plans_in(state):
            self._handed_over(state, begun=planner.begin(*plans))
        return planner

    async def aopened(self, state: AgentState) -> AsyncPlanner:
        """
        As `opened`, awaited.
        """
        plan_id = self.id_of(state)
        given: dict[str, Any] = {"clock": self.clock, "verify": self.verify}
        planner = AsyncPlanner(self.store, plan_id, toolbox=self.toolbox, **given)
        if plans := self._plans_in(state):
            self._handed_over(state, begun=await planner.begin(*plans))
        return planner

    async def look(self, state: AgentState) -> tuple[Plan, Base | None]:
        """
        Return the plan of a session, and what of it the model has not seen, if others have changed
        it since; publish the list.
        """
        planner = await self.aopened(state)
        plan, base = await planner.look(self._mark(state)[_SEEN], actor=self.hand_of(state))
        self.publish(state, plan)
        return plan, base if base and base.has_news(plan) else None

    async def answer(
        self, state: AgentState, call: Call, turn: Sequence[Call]
    ) -> tuple[Reply, list[str]]:
        """
        Answer one call of a turn; also return what was repaired in a list that was handed over.
        """
        names = [one.name for one in turn]
        if call.name in {names[place] for place in self.toolbox.clashing(names)}:
            return answered_after(self.toolbox, Plan(), call, names), []
        planner, mark = await self.aopened(state), self._mark(state)
        ids = [one.call_id for one in turn]
        begun, name = mark.get(_TURN), self.hand_of(state)
        if not isinstance(begun, dict) or begun["ids"] != ids:
            begun = {"ids": ids, "upon": mark[_SEEN], "own": [], _SHOWN: mark.get(_SHOWN)}
        given: dict[str, Any] = {"shown": begun.get(_SHOWN), "actor": name}
        plan, base = await planner.look(begun["upon"], begun["own"], **given)
        # A session that is resumed from what was saved before the answer makes the call again.
        message = state.context[-1].id if state.context else None
        scope = state.session_id, message, begun["upon"]
        keys = planner.keys_of([call], *scope) if message and call.call_id else None
        held = mark.get(_FENCES, NO_FENCES)
        done = await planner.turn([call], actor=name, base=base, key=keys, fences=held)
        reply = done.replies[0]
        if base and mark[_SEEN] == plan.revision:
            reply = told_once(reply, base, plan)  # by an earlier answer of this turn
        if self.toolbox.toolset.team:
            mark[_FENCES] = fences_after(held, done.events)
        if not reply.is_error or reply.events:
            own = [reply.revision] if reply.events else []
            mark[_TURN] = {**begun, "own": [*begun["own"], *own]}
        if done.shows_all_to(mark[_SEEN]):
            self.saw(state, done.plan)
        self.publish(state, done.plan)
        return reply, mark.pop(_UNTOLD, [])

    def hand_of(self, state: AgentState) -> str | None:
        """
        Return the name under which the calls of a session stand in the journal, if it has one.
        """
        # In a team a session is a hand of its own, and keeps the fences that its calls got.
        own = state.session_id if self.toolbox.toolset.team else None
        return own if self.actor is None else self.actor

    def names_in(self, state: AgentState) -> dict[str, str]:
        """
        Return the names that tasks had before they got their ids, by the list as it was published.
        """
        if stored_id(state) is None:
            return load(state).names
        return names_in(state.tasks_context.tasks)

    def knows(self, state: AgentState) -> int | None:
        """
        Return the revision that the session's model saw last, `None` for none.
        """
        seen: int | None = self._mark(state)[_SEEN]
        return seen

    def saw(self, state: AgentState, plan: Plan) -> None:
        """
        Note that the session's model has seen this plan.
        """
        mark = self._mark(state)
        mark[_SEEN] = max(mark[_SEEN] or 0, plan.revision)

    def asked(self, state: AgentState, shown: Plan | None) -> None:
        """
        Note that the model has answered a request, with the plan that a reminder showed in it.
        """
        mark = self._mark(state)
        mark.pop(_SHOWN, None)
        if shown is not None:
            mark[_SHOWN] = shown.revision

    def publish(self, state: AgentState, plan: Plan) -> None:
        """
        Make AgentScope's list that of the plan: in place, and only where it differs.
        """
        theirs, mark = state.tasks_context.tasks, self._mark(state)
        if _SEAL in mark and mark[_SEAL] != sum_of(theirs):
            logger.warning(
                "the list of tasks was changed from outside, and is written over: a store keeps the"
                " plan; change it by edit_plan(agent, command)"
            )
        by_id = {task.id: task for task in theirs}
        listed = []
        for data in map(task_to_agentscope, plan):
            their = by_id.get(data["id"])
            if their is None:
                given = {name: value for name, value in data.items() if value is not None}
                their = TheirTask(**given)
            for name in WRITTEN:
                # AgentScope's app tells a change by the dump: no write where nothing differs.
                if getattr(their, name) != data[name]:
                    setattr(their, name, data[name])
            listed.append(their)
        theirs[:] = listed
        mark[_SEAL] = sum_of(theirs)

    def _mark(self, state: AgentState) -> dict[str, Any]:
        plan_id = self.id_of(state)
        if stored_id(state) == plan_id:
            return cast("dict[str, Any]", state.middle_context[KEY])
        state.middle_context[KEY] = made = {STORED: plan_id, _SEEN: None}
        return made

    def _plans_in(self, state: AgentState) -> tuple[Plan, ...]:
        """
        Return what a state holds that no store has yet: the plan as the model saw it, then as it
        is.
        """
        if stored_id(state) is not None:
            return ()
        held = load(state)
        base = held.seen.base
        plans = (held.plan,) if base is None else (base.plan, held.plan)
        return plans if held.plan != Plan() else ()

    def _handed_over(self, state: AgentState, *, begun: bool) -> None:
        plan_id, held = self.id_of(state), load(state)
        if not begun and not len(held.plan):
            self._mark(state)  # a list that was cleared is given up: the plan is that of the store
            return
        if not begun:
            msg = (
                f"this session has a list of tasks, and the store another plan under {plan_id!r}:"
                " give plan_id= of a plan that is new, or give the list up"
                " (agent.state.tasks_context.tasks.clear())"
            )
            raise PlanError(msg, plan_id=plan_id)
        untold = held.repairs()
        # The first that was handed over is the plan as the model saw it.
        mark = {STORED: plan_id, _SEEN: 1, **({_UNTOLD: untold} if untold else {})}
        state.middle_context[KEY] = mark


def plans_of(tools: Sequence[object]) -> PlanStore | None:
    """
    Return where the planning tools among these keep their plans, if a store does.
    """
    found = (getattr(tool, "plans", None) for tool in tools)
    return next((plans for plans in found if isinstance(plans, PlanStore)), None)
