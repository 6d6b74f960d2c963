"""
`Planning`: the plan of one session, what guidance remembers of it, and how both are saved.

The SDK keeps messages in its sessions and a run in `RunState`, neither of them a plan. So the plan
lives in this object, or in a store that it is given, and `to_data` returns what is to be saved
beside the SDK's own. Its tools write it, and so do `edit_plan` and `seed_plan`, at any time, also
while a run goes on: both go through one planner, so that nothing that was accepted is lost. What
the model saw last is found in the journal, and saved beside the plan while others have changed it
(law 15); in a store, the planner finds it.

Nothing of guidance is saved by the SDK: reminders, and answers that were sent back, are part of a
model's request alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from uuid import uuid4

import attrs

from todoplan.adapters.openai_agents.pending_calls import PendingCalls
from todoplan.codec import plan_from_data, plan_to_data
from todoplan.codec.states import base_from_data, base_to_data, entry_line, read_recent, with_lines
from todoplan.core.commands import Command
from todoplan.core.decide.decide import Decision
from todoplan.core.events.base import Base
from todoplan.core.events.journal import Entry
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.validation import short_repr
from todoplan.core.rules.policy import Policy
from todoplan.dialogue.application import require, require_clock
from todoplan.dialogue.clock import Clock, utc_now
from todoplan.dialogue.guidance.guidance import Memory, Settings
from todoplan.dialogue.last_seen import base_at, is_refused_check
from todoplan.dialogue.toolbox import Call, Reply, Toolbox
from todoplan.errors import PlanError
from todoplan.planner import AnyStore, AsyncPlanner, Subscriber
from todoplan.planner.arguments import holding, store_of_plans
from todoplan.planner.verifying.verifier import Verify

__all__ = [
    "Planning",
    "edit_plan",
    "history_of",
    "plan_of_state",
    "seed_plan",
    "undo_plan",
]

_KEY = "todoplan"
_PLAN = "plan"
_JOURNAL = "journal"
_BASE = "base"
_ID = "id"
_HELD = "held"


class Planning:
    """
    The plan of one session. Make one for each, and give it to every agent that shares the plan.

    `toolbox` is the tools and their policy, `settings` are those of guidance, `clock` gives the
    aware time of every change, `verify` looks whether a task is done (see `AsyncPlanner`). Without
    a `store`, save `to_data()` beside the SDK's session, and go on with `Planning(saved=...)`. With
    one, the plan is kept there under `plan_id`, and `to_data` holds only what guidance remembers.

    Raises:
        CodecError: what was saved is damaged.
        PlanError: the plan would have two owners, or none; what was given is no toolbox, no
            settings, no clock or no verifier.
    """

    def __init__(  # noqa: PLR0913 - four settings of every adapter, and what was saved
        self,
        toolbox: Toolbox | None = None,
        *,
        settings: Settings = Settings(),  # noqa: B008 - a frozen value
        store: AnyStore | None = None,
        clock: Clock = utc_now,
        verify: Verify | None = None,
        plan_id: str | None = None,
        saved: Mapping[str, Any] | None = None,
    ) -> None:
        kept = saved or {}
        if store is not None and _PLAN in kept:
            msg = "a plan was saved here, and a store is given: leave store= out, or the saved plan"
            raise PlanError(msg)
        store = store_of_plans(store, plan_id)
        self.settings = require(settings, Settings)
        plan = plan_of_state(kept) if kept and store is None else Plan()
        self._own = holding(_KEY, plan) if store is None else None
        base = kept.get(_BASE)
        # Without a base all was seen: it is saved only while others have changed the plan.
        self._seen = Base(plan) if base is None else base_from_data(base)
        self._shown: Plan | None = None
        self._earlier = read_recent(kept.get(_JOURNAL))
        self.planner = AsyncPlanner(
            # One planner for both: tools and edits take turns there, in memory as in a database.
            store if self._own is None else self._own,
            plan_id if self._own is None else _KEY,
            toolbox=toolbox,
            clock=require_clock(clock),
            verify=verify,
        )
        self._id = require(kept.get(_ID) or uuid4().hex, str, "what planning.to_data() returned")
        self.memory = Memory.of(kept.get("memory"))
        self.pending = PendingCalls(self.toolbox, kept.get("calls", ()))

    @property
    def toolbox(self) -> Toolbox:
        """
        The tool set and the policy.
        """
        return self.planner.toolbox

    async def plan(self) -> Plan:
        """
        Return the plan as it stands.
        """
        return await self.planner.plan()

    async def history(self) -> tuple[Entry, ...]:
        """
        Return what happened to the plan, oldest first: when, by whom (`actor`; `None` for the
        model) and by which tool or command (`cause`). A store has all of it; what was saved has
        the latest 50 entries, fewer if long.
        """
        return await self.planner.history() if self._own is None else self._entries(self._own)

    def _entries(self, own: Any) -> tuple[Entry, ...]:
        # The first entry may be the plan as it was handed over, which is nobody's doing.
        return (*self._earlier, *(entry for entry in own.entries(_KEY) if entry.cause != _HELD))

    async def unseen(self, plan: Plan) -> Base | None:
        """
        Return the plan as the model last saw it, if this one has been changed by others since.
        """
        if self._own is not None:
            base = self._base(self._own)
            return base if base.has_news(plan) else None
        known = self.memory.revision
        # -1: the model was never shown this plan, so that nothing in it is news.
        return None if known in {-1, plan.revision} else base_at(await self.history(), known)

    def _base(self, own: Any) -> Base:
        base = self._seen
        for entry in own.entries(_KEY):
            if entry.revision > self._seen.plan.revision:
                events, is_own = entry.events, is_refused_check(entry)
                base = base.with_own(events) if is_own else base.after(events, entry.actor)
        return base

    def asked(self, shown: Plan | None) -> None:
        """
        Note that the model has answered a request, with the plan that a reminder showed in it.
        """
        self._shown = shown

    def saw(self, plan: Plan) -> None:
        """
        Note that the model has seen this plan for good: it stands in the conversation.
        """
        self._seen, self._shown = Base(plan), None

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
        kept: dict[str, Any] = {"memory": self.memory.to_data(), "calls": self.pending.to_data()}
        if self._own is None:
            return {**kept, _ID: self._id}
        # Bounded: this is written at every save, and a plan's whole history would grow for ever.
        journal = with_lines(None, map(entry_line, self._entries(self._own)))
        plan, base = self._own.load(_KEY), self._base(self._own)
        if base.has_news(plan):
            kept[_BASE] = base_to_data(base)
        return {_PLAN: plan_to_data(plan), _JOURNAL: journal, **kept}

    async def answer(self, call: Call) -> Reply:
        """
        Answer a call, with those of its turn that it belongs together with.
        """
        group = self.pending.group(call)
        # The SDK starts a turn's calls at once: the first carries all out, the others wait.
        async with group.lock:
            group.replies = group.replies or await self._replies(group.calls)
        return group.replies[call.call_id]

    async def _replies(self, calls: tuple[Call, ...]) -> dict[str, Reply]:
        # Held here, the plan is read and written without waiting: nobody comes between the two.
        memory = self.memory
        if self._own is not None:
            base: Base | None = attrs.evolve(self._base(self._own), shown=self._shown)
            known = self._seen.plan.revision
        else:
            # What this session's model has seen: others may work on the plan without a name.
            known = memory.revision
            shown = None if self._shown is None else self._shown.revision
            _, base = await self.planner.look(None if known < 0 else known, shown=shown)
        # A run that goes on from a state without the answers makes the calls again, in the same
        # turn; some providers number the calls of each turn anew.
        keys = None if self._own else self.planner.keys_of(calls, self._id, memory.turn)
        turn = await self.planner.turn(calls, base=base, key=keys)
        before = turn.plan.revision - len(turn.events)
        is_look = turn.shows_all_to(known)
        if is_look:
            self.saw(turn.plan)
        # An answer to one who is behind tells what others did since; with a store, the planner's.
        told = is_look and known not in {-1, before}
        saw_own = memory.saw_own(before, turn.plan, refused=not is_look)
        self.memory = memory.saw(turn.plan) if told else saw_own
        return {reply.call_id: reply for reply in turn.replies}


def plan_of_state(saved: Mapping[str, Any]) -> Plan:
    """
    Return the plan in what `Planning.to_data` saved. That of a `Planning` is
    `await planning.plan()`.

    Raises:
        CodecError: what stands there is no plan.
        PlanError: there is none: a store keeps it, or `to_data` did not save this.
    """
    return plan_from_data(_saved(saved)[_PLAN])


def history_of(saved: Mapping[str, Any]) -> tuple[Entry, ...]:
    """
    Return the journal in what `Planning.to_data` saved: the latest 50 entries, fewer if long. That
    of a `Planning` is `await planning.history()`.

    Raises:
        CodecError, PlanError: as of `plan_of_state`.
    """
    return read_recent(_saved(saved).get(_JOURNAL))


def _saved(given: object) -> Mapping[str, Any]:
    if isinstance(given, Mapping) and _PLAN in given:
        return given
    msg = (
        f"{short_repr(given)} holds no plan: give what planning.to_data() returned, or ask"
        " `await planning.plan()`; if a store keeps the plan, go on with store="
    )
    raise PlanError(msg, seen=given)


async def seed_plan(planning: Planning, plan: Plan, *, actor: str | None = None) -> None:
    """
    Make the tasks of a session those of a plan, whatever was there. Ids in use go on.

    Raises:
        PlanError: this is no `Planning`, or no plan.
    """
    await require(planning, Planning).planner.restore(require(plan, Plan), actor=actor)


async def edit_plan(
    planning: Planning,
    command: Command,
    *,
    actor: str | None = None,
    policy: Policy | None = None,
) -> Decision:
    """
    Carry out a command on the plan of a session, or say why not; `ClearPlan()` clears it.

    It is judged by the policy of the session's toolbox unless another is given. `actor` is who does
    it, for the journal.

    Raises:
        PlanError: this is no `Planning`, or no policy.
    """
    planner = require(planning, Planning).planner
    chosen = planner.toolbox.policy if policy is None else require(policy, Policy)
    return await planner.apply(command, actor=actor, policy=chosen)


async def undo_plan(planning: Planning, *, actor: str | None = None) -> Decision:
    """
    Take the last change of a session's plan back that still stands, whoever made it; again, the one
    before it. Without a store, what came before the plan was saved stays.

    Raises:
        PlanError: this is no `Planning`.
    """
    return await require(planning, Planning).planner.undo(actor=actor)
