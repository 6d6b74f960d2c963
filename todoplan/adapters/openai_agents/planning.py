"""`Planning`: the plan of one session, and what guidance remembers of it."""

from collections.abc import Callable, Mapping
from typing import Any

from todoplan.adapters.openai_agents.turns import Turns
from todoplan.codec import plan_from_data, plan_to_data
from todoplan.core.plan.plan import Plan
from todoplan.dialogue.clock import Clock, utc_now
from todoplan.dialogue.guidance.guidance import Memory
from todoplan.dialogue.toolbox import Call, Reply, Toolbox
from todoplan.errors import PlanError
from todoplan.planner import AsyncPlanner, Subscriber
from todoplan.planner.holding import holding

__all__ = ["Planning", "plan_of_state"]

_KEY = "todoplan"
_PLAN = "plan"


class Planning:
    """
    The plan of one session. Make one for each, and give it to every agent that shares the plan.

    The SDK's sessions keep messages, and `RunState.to_json` keeps the run, neither of them the
    plan: save `to_data()` beside them, and go on with `Planning(saved=...)`. A `planner` that is
    given keeps the plan where its store does, and has a toolbox and a clock of its own; `to_data`
    then holds only what guidance remembers.

    Raises:
        CodecError: what was saved is damaged.
        PlanError: the plan would have two owners, or none; or the planner awaits nothing.
    """

    def __init__(
        self,
        toolbox: Toolbox | None = None,
        *,
        planner: AsyncPlanner | None = None,
        saved: Mapping[str, Any] | None = None,
        clock: Clock = utc_now,
    ) -> None:
        kept = saved or {}
        if planner:
            _check(planner, is_sole=not toolbox and _PLAN not in kept)
        plan = Plan() if planner or not kept else plan_of_state(kept)
        self._own = None if planner else holding(_KEY, plan)
        self.planner = planner or AsyncPlanner(self._own, _KEY, toolbox=toolbox, clock=clock)
        self.memory = Memory.of(kept.get("memory"))
        self.turns = Turns(self.toolbox, kept.get("calls", ()))

    @property
    def toolbox(self) -> Toolbox:
        """
        The planner's toolbox: tool set and policy.
        """
        return self.planner.toolbox

    async def plan(self) -> Plan:
        """
        Return the plan as it stands.
        """
        return await self.planner.plan()

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """
        Have every accepted call told to a function, plain or a coroutine's, with its journal entry
        and the plan, as for a user interface that also streams; call what is returned to stop that.
        """
        return self.planner.subscribe(subscriber)

    def to_data(self) -> dict[str, Any]:
        """
        Return what is to be saved, as plain JSON values.
        """
        kept = {"memory": self.memory.to_data(), "calls": self.turns.to_data()}
        return {_PLAN: plan_to_data(self._own.load(_KEY)), **kept} if self._own else kept

    async def answer(self, call: Call) -> Reply:
        """
        Answer a call, with those of its turn that it belongs together with.
        """
        group = self.turns.group(call)
        async with group.lock:
            group.replies = group.replies or await self._replies(group.calls)
        return group.replies[call.call_id]

    async def _replies(self, calls: tuple[Call, ...]) -> dict[str, Reply]:
        turn = await self.planner.turn(calls)
        before = turn.plan.revision - len(turn.events)
        self.memory = self.memory.saw_own(before, turn.plan)
        return {reply.call_id: reply for reply in turn.replies}


def _check(planner: object, *, is_sole: bool) -> None:
    if not isinstance(planner, AsyncPlanner):
        msg = "a Planner awaits nothing, subscribers neither: give AsyncPlanner(store, plan_id)"
        raise PlanError(msg)
    if not is_sole:
        msg = "a planner has its own toolbox and plan: leave toolbox= and a saved plan out"
        raise PlanError(msg)


def plan_of_state(saved: Mapping[str, Any]) -> Plan:
    """
    Return the plan in what `Planning.to_data` saved.

    Raises:
        CodecError: what stands there is no plan.
        PlanError: there is none: a store keeps it.
    """
    if _PLAN not in saved:
        msg = "no plan was saved here: a store keeps it; go on with planner="
        raise PlanError(msg)
    return plan_from_data(saved[_PLAN])
