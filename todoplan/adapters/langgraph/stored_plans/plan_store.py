"""
The plan of a thread in a store: found by the thread's id, read before each request, written by the
tools and by `edit_plan`, at any time.

The state holds a mark (see `mark`) and `todos`. A plan that a thread has in its state when it is
first run with a store, or a list under `todos`, is handed over to the store, once: if nothing was
ever written there. One that was cleared gives way to what is there.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from inspect import iscoroutinefunction
from typing import Any, cast

import attrs

from todoplan.adapters.langgraph.runs import is_inner, run_config, run_room
from todoplan.adapters.langgraph.state import value_in
from todoplan.adapters.langgraph.stored_plans.look import Look, look_of_state, stored_look
from todoplan.adapters.langgraph.stored_plans.mark import fences_in, is_stored, seen_in, shown_in
from todoplan.core.plan.plan import Plan
from todoplan.dialogue.clock import Clock
from todoplan.dialogue.parallel_calls import answered_after
from todoplan.dialogue.toolbox import Call, Reply, Toolbox, Turn
from todoplan.errors import PlanError
from todoplan.planner import AnyStore, AsyncPlanner, Planner
from todoplan.planner.arguments import store_of_plans
from todoplan.planner.parallel_calls import ParallelCalls
from todoplan.planner.verifying.verifier import Verifier, Verify, verifier_of

__all__ = ["PlanStore"]

_Config = Mapping[str, Any]
_Message = tuple[str, str] | None
logger = logging.getLogger("todoplan")


def _plans_in(state: Any) -> tuple[Plan, ...]:
    """
    Return what a state holds that no store has yet: the plan as the model saw it, then as it is.
    """
    if is_stored(value_in(state)):
        return ()
    look = look_of_state(state)
    plans = (look.plan,) if look.base is None else (look.base.plan, look.plan)
    return plans if look.plan != Plan() else ()


@attrs.frozen
class PlanStore:
    """
    A store, and which of its plans is that of a thread: the one under `plan_id`, or under the id of
    the thread. An agent's plan is its own: within a graph of its own it has another id. `actor` is
    whose calls they are.
    """

    store: AnyStore
    plan_id: str | None
    toolbox: Toolbox
    clock: Clock
    is_agents: bool
    verify: Verifier | None = None
    actor: str | None = None
    _calls: ParallelCalls = attrs.field(factory=ParallelCalls)

    @classmethod
    def of(  # noqa: PLR0913, PLR0917 - what the tools were given
        cls,
        store: AnyStore | None,
        plan_id: str | None,
        toolbox: Toolbox,
        clock: Clock,
        verify: Verify | None = None,
        actor: str | None = None,
        *,
        is_agents: bool = False,
    ) -> PlanStore | None:
        """
        Return where plans are kept, `None` without a store.

        Raises:
            PlanError: this is no store; or there is none, and an id is given.
        """
        kept = store_of_plans(store, plan_id)
        given = toolbox, clock, is_agents, verifier_of(verify), actor
        return None if kept is None else cls(kept, plan_id, *given)

    def id_of(self, config: _Config, namespace: str | None = None) -> str:
        """
        Return the id of the plan of a thread, by the `configurable` of a run or of a config;
        `namespace` is that of the graph itself, if this is no run.

        Raises:
            PlanError: there is no thread.
        """
        if self.plan_id is not None:
            return self.plan_id
        thread = config.get("thread_id")
        if thread is None:
            msg = (
                "a store is given, and nothing says which of its plans this is: run the graph with"
                ' a config {"configurable": {"thread_id": ...}}, or give plan_id='
            )
            raise PlanError(msg)
        if namespace is None:  # in a run it ends with the node: "node:id", or "graph:id|node:id"
            namespace = config.get("checkpoint_ns", "").rpartition("|")[0]
        # A graph by hand shares its caller's plan, as it does where the state keeps it.
        return f"{thread}|{namespace}" if namespace and self.is_agents else str(thread)

    def planner(self, plan_id: str) -> Planner:
        """
        Return a planner for a plan.

        Raises:
            PlanError: the store is an asynchronous one.
        """
        if iscoroutinefunction(self.store.load):
            msg = (
                "this store is awaited: run the graph by ainvoke or astream, and change the plan"
                " by aedit_plan"
            )
            raise PlanError(msg)
        # A person's edits are not looked at: they need no verifier that could be awaited.
        verify = None if self.verify is None or self.verify.is_awaited else self.verify
        return Planner(cast("Any", self.store), plan_id, **self._given(verify))

    def aplanner(self, plan_id: str) -> AsyncPlanner:
        """
        Return an asynchronous planner for a plan.
        """
        return AsyncPlanner(self.store, plan_id, **self._given(self.verify))

    def _given(self, verify: Verifier | None) -> dict[str, Any]:
        return {"toolbox": self.toolbox, "clock": self.clock, "verify": verify}

    def opened(self, state: Any, plan_id: str) -> tuple[Planner, int | None]:
        """
        Return a planner for the plan of a thread, and the revision that its model has seen; what
        the state held is handed over.

        Raises:
            PlanError: the state holds a plan, and the store another.
        """
        planner, plans = self.planner(plan_id), _plans_in(state)
        if plans:
            return planner, _handed_over(state, plan_id, plans[-1], begun=planner.begin(*plans))
        return planner, seen_in(value_in(state), plan_id)

    async def aopened(self, state: Any, plan_id: str) -> tuple[AsyncPlanner, int | None]:
        """
        As `opened`, awaited.
        """
        planner, plans = self.aplanner(plan_id), _plans_in(state)
        if plans:
            begun = await planner.begin(*plans)
            return planner, _handed_over(state, plan_id, plans[-1], begun=begun)
        return planner, seen_in(value_in(state), plan_id)

    def look(self, state: Any) -> Look:
        """
        Return the plan of the run that this code is part of, and what its model has not seen.
        """
        plan_id = self.id_of(run_config())
        planner, known = self.opened(state, plan_id)
        return stored_look(plan_id, known, planner.look(known, actor=self._hand()))

    async def alook(self, state: Any) -> Look:
        """
        As `look`, awaited.
        """
        plan_id = self.id_of(run_config())
        planner, known = await self.aopened(state, plan_id)
        return stored_look(plan_id, known, await planner.look(known, actor=self._hand()))

    def answer(
        self, state: Any, plan_id: str, turn: _Message, calls: Sequence[Call], own: Call
    ) -> tuple[Reply, Turn | None]:
        """
        Answer one call of a turn, and return that turn if the model has seen the plan by it.

        `turn` names the model's message: a call that is started again is not carried out again, by
        this process or, where the store keeps keys, by another one.
        """
        if refusal := self._clash(calls, own):
            return refusal, None
        if self.verify is not None:
            self.verify.refuse_awaited("ainvoke or astream")
        planner, known = self.opened(state, plan_id)
        name, fences = self._hand(), fences_in(value_in(state), plan_id)
        given: dict[str, Any] = {"shown": shown_in(value_in(state), plan_id), "actor": name}

        def carry_out(started: tuple[Call, ...], revisions: Sequence[int]) -> Turn:
            _, base = planner.look(known, revisions, **given)
            keys = _keys(planner, turn, known, started)
            return planner.turn(started, actor=name, base=base, key=keys, fences=fences)

        key, ids = _key(plan_id, turn), self._started(calls, own)
        return _seen(known, *self._calls.answer(key, ids, own, carry_out))

    async def aanswer(
        self, state: Any, plan_id: str, turn: _Message, calls: Sequence[Call], own: Call
    ) -> tuple[Reply, Turn | None]:
        """
        As `answer`, awaited.
        """
        if refusal := self._clash(calls, own):
            return refusal, None
        planner, known = await self.aopened(state, plan_id)
        name, fences = self._hand(), fences_in(value_in(state), plan_id)
        given: dict[str, Any] = {"shown": shown_in(value_in(state), plan_id), "actor": name}

        async def carry_out(started: tuple[Call, ...], revisions: Sequence[int]) -> Turn:
            _, base = await planner.look(known, revisions, **given)
            keys = _keys(planner, turn, known, started)
            return await planner.turn(started, actor=name, base=base, key=keys, fences=fences)

        key, ids = _key(plan_id, turn), self._started(calls, own)
        return _seen(known, *await self._calls.aanswer(key, ids, own, carry_out))

    def _hand(self) -> str | None:
        # In a team a thread is a hand, and its id a name.
        own = str(run_config().get("thread_id")) if self.toolbox.toolset.team else None
        return own if self.actor is None else self.actor

    def _clash(self, calls: Sequence[Call], own: Call) -> Reply | None:
        names = [call.name for call in calls]
        if calls.index(own) not in self.toolbox.clashing(names):
            return None
        return answered_after(self.toolbox, Plan(), own, names)

    def _started(self, calls: Sequence[Call], own: Call) -> list[str]:
        """
        Return the ids of the calls that LangGraph starts together with one.
        """
        clashing = self.toolbox.clashing([call.name for call in calls])
        ids = [call.call_id for at, call in enumerate(calls) if at not in clashing]
        # Where there is no room for all at once, none can wait for the others.
        room = run_room()
        return ids if room is None or room >= len(calls) else [own.call_id]


def _key(plan_id: str, turn: _Message) -> object:
    # A message without an id may have the same calls as one before: nothing is kept of it.
    return (plan_id, turn) if turn else object()


def _keys(
    planner: Planner | AsyncPlanner, turn: _Message, known: int | None, calls: Sequence[Call]
) -> Sequence[str] | None:
    # A node that runs again, after a crash between our commit and LangGraph's checkpoint, finds
    # the state as it was: the same message, and the same revision known.
    return None if turn is None else planner.keys_of(calls, *turn, known)


def _seen(known: int | None, reply: Reply, turn: Turn) -> tuple[Reply, Turn | None]:
    return reply, turn if turn.shows_all_to(known) else None


def _handed_over(state: Any, plan_id: str, plan: Plan, *, begun: bool) -> int | None:
    """
    Return the revision in the store that the model has seen, of what the state held until now.
    """
    if begun:
        return 1  # the first that was handed over is the plan as the model saw it
    if not len(plan):  # it was cleared, and so given up
        return None
    if not value_in(state) and is_inner():  # its caller's list, which stays where it is
        logger.warning("todos of the graph around an agent are none of its plan, which a store has")
        return None
    msg = (
        f"this thread has a {'plan' if value_in(state) else 'list of todos'} in its state, and the"
        f" store another under {plan_id!r}: give plan_id= of a plan that is new, or give one up (a"
        " list by todos=[] in the input; a plan by ClearPlan() through an agent without store=)"
    )
    raise PlanError(msg, plan_id=plan_id)
