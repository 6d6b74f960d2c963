"""`Planning`: the plan of one session, and what guidance remembers of it."""

from collections.abc import Callable, Mapping
from typing import Any

from todoplan.adapters.openai_agents.turns import Turns
from todoplan.codec import plan_from_data, plan_to_data
from todoplan.core.plan import Plan
from todoplan.dialogue.clock import Clock, utc_now
from todoplan.dialogue.guidance import Memory
from todoplan.dialogue.toolbox import Call, Reply, Toolbox, Turn
from todoplan.errors import PlanError
from todoplan.planner import AsyncPlanner, Planner, Subscriber
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
        CodecError: what was saved is no plan.
        PlanError: the plan would have two owners, or none.
    """

    def __init__(
        self,
        toolbox: Toolbox | None = None,
        *,
        planner: Planner | AsyncPlanner | None = None,
        saved: Mapping[str, Any] | None = None,
        clock: Clock = utc_now,
    ) -> None:
        kept = saved or {}
        self._owns = planner is None
        if planner and (toolbox or _PLAN in kept):
            msg = "a planner has its own toolbox and plan: leave toolbox= and a saved plan out"
            raise PlanError(msg)
        plan = plan_of_state(kept) if self._owns and kept else Plan()
        own = Planner(holding(_KEY, plan), _KEY, toolbox=toolbox, clock=clock)
        self.planner = planner or own
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
        if isinstance(self.planner, Planner):
            return self.planner.plan
        return await self.planner.plan()

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """
        Have every accepted call told to a function, with its journal entry and the plan, as for a
        user interface that also streams; call what is returned to stop that.
        """
        return self.planner.subscribe(subscriber)

    def to_data(self) -> dict[str, Any]:
        """
        Return what is to be saved, as plain JSON values.
        """
        kept = {"memory": self.memory.to_data(), "calls": self.turns.to_data()}
        if self._owns and isinstance(self.planner, Planner):
            return {_PLAN: plan_to_data(self.planner.plan), **kept}
        return kept

    async def answer(self, call: Call) -> Reply:
        """
        Answer a call, with those of its turn that it belongs together with.
        """
        group = self.turns.group(call)
        async with group.lock:
            group.replies = group.replies or await self._replies(group.calls)
        return group.replies[call.call_id]

    async def _replies(self, calls: tuple[Call, ...]) -> dict[str, Reply]:
        turn = await self._turn(calls)
        before = turn.plan.revision - len(turn.events)
        if turn.events and before == self.memory.revision:
            self.memory = self.memory.saw(turn.plan)
        return {reply.call_id: reply for reply in turn.replies}

    async def _turn(self, calls: tuple[Call, ...]) -> Turn:
        if isinstance(self.planner, Planner):
            return self.planner.turn(calls)
        return await self.planner.turn(calls)


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
