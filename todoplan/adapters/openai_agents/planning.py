"""
`Planning`: the plan of one session, and which calls belong together.

The SDK keeps messages in its sessions and a run in `RunState`, neither of them a plan. So the plan
lives in this object, or in a store that it is given, and `to_data` returns what is to be saved
beside the SDK's own. Its tools write it, and so do `edit_plan` and `seed_plan`, at any time, also
while a run goes on: all go through one planner, so that nothing that was accepted is lost.

Law 13 is about the calls of one turn, and the SDK starts each of them by itself, all at once. So
the calls of a turn are noted when the model has made them, and the first that is started carries
out all that are sure to come; a call that waits for a person's approval counts when it comes.
"""

from __future__ import annotations

from asyncio import Lock
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import attrs

from todoplan.adapters.openai_agents.conversation import portable
from todoplan.codec import plan_from_data
from todoplan.codec.states import read_recent
from todoplan.core.commands import Command
from todoplan.core.decide.decide import Decision
from todoplan.core.events.journal import Entry
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.validation import short_repr
from todoplan.core.rules.policy import Policy
from todoplan.dialogue.application import require
from todoplan.dialogue.clock import Clock, utc_now
from todoplan.dialogue.guidance.guidance import Settings
from todoplan.dialogue.toolbox import Call, Reply, Toolbox
from todoplan.errors import CodecError, PlanError
from todoplan.planner import AnyStore, AsyncPlanner, Subscriber
from todoplan.planner.session import opened_async
from todoplan.planner.verifying.verifier import Verify
from todoplan.stores.slot import JOURNAL, SLOT

_CALLS = "calls"
_MOST = 256


# Compared by identity: each of its calls leads to the same group, and `to_data` keeps it once.
@attrs.define(eq=False)
class CallGroup:
    """
    Calls that are carried out as one, in order, when the first of them is started.
    """

    calls: tuple[Call, ...]
    replies: Mapping[str, Reply] = attrs.field(factory=dict)
    lock: Lock = attrs.field(factory=Lock)

    def has(self, call: Call) -> bool:
        """
        Say whether a call is one of these, as the SDK carries it.
        """
        return any(
            # Not by the id alone: ids are unique only within a run, and a session may have several.
            (one.call_id, one.name, portable(one.arguments))
            == (call.call_id, call.name, call.arguments)
            for one in self.calls
        )


class PendingCalls:
    """
    The calls that models have made and whose answers they have not seen yet, by their ids.

    Raises:
        CodecError: what was saved is damaged.
    """

    def __init__(self, toolbox: Toolbox, saved: Iterable[Iterable[Mapping[str, Any]]] = ()) -> None:
        self._toolbox = toolbox
        self._groups: dict[str, CallGroup] = {}
        for calls in _restored(saved):
            self._keep(calls)

    def made(self, calls: Sequence[Call], sure: Collection[str]) -> None:
        """
        Note the calls of a turn. Those of the tools `sure` are carried out whatever happens; others
        may be waiting for approval, and count when they come.

        Whole-list writes that contradict each other belong together in any case.
        """
        clashing = self._toolbox.clashing([call.name for call in calls])
        at_once = []
        for place, call in enumerate(calls):
            if place not in clashing and call.name in sure:
                at_once.append(call)
            elif place not in clashing:
                self._keep([call])
        # Law 13: these are refused in any case, and so decided together, approved or not.
        self._keep([calls[place] for place in sorted(clashing)])
        self._keep(at_once)

    def _keep(self, calls: Sequence[Call]) -> None:
        # The SDK carries out an exact repetition once, and so must this.
        group = CallGroup(tuple(dict.fromkeys(calls)))
        for call in calls:
            self._groups[call.call_id] = group
        while len(self._groups) > _MOST:  # calls that no run has ever answered
            del self._groups[next(iter(self._groups))]

    def group(self, call: Call) -> CallGroup:
        """
        Return the group of a call; a call that was not noted is one of its own.
        """
        group = self._groups.get(call.call_id)
        return group if group and group.has(call) else CallGroup((call,))

    def awaits(self, call_ids: Iterable[str]) -> bool:
        """
        Say whether any of these calls has been made and not been answered.
        """
        return any(call_id in self._groups for call_id in call_ids)

    def answered(self, call_ids: Iterable[str]) -> None:
        """
        Forget calls whose answers the model has seen.
        """
        for call_id in call_ids:
            self._groups.pop(call_id, None)

    def to_data(self) -> list[list[dict[str, Any]]]:
        """
        Return them as JSON values, by group; calls that were carried out are no longer a group.
        """
        data = []
        for group in dict.fromkeys(self._groups.values()):
            calls = [attrs.asdict(call) for call in group.calls]
            data += [[call] for call in calls] if group.replies else [calls]
        return data


def _restored(saved: Iterable[Iterable[Mapping[str, Any]]]) -> list[list[Call]]:
    with suppress(TypeError):
        groups = [[Call(**call) for call in calls] for calls in saved]
        parts = (part for calls in groups for call in calls for part in attrs.astuple(call))
        if all(isinstance(part, str) for part in parts):
            return groups
    msg = "the calls that were saved are damaged; without `calls` each counts when it comes"
    raise CodecError(msg)


class Planning:
    """
    The plan of one session. Make one for each, and give it to every agent that shares the plan.

    `toolbox` is the tools and their policy, `settings` are those of guidance, `clock` gives the
    aware time of every change, `verify` checks whether a task is done (see `AsyncPlanner`). Without
    a `store`, save `to_data()` beside the SDK's session, and go on with `Planning(saved=...)`. With
    one, the plan is kept there under `plan_id`, and `to_data` holds only what the session knows.

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
        kept = dict(saved or {})
        calls = kept.pop(_CALLS, ())
        self.settings = settings
        self.session = opened_async(
            kept,
            toolbox=toolbox,
            settings=settings,
            store=store,
            clock=clock,
            verify=verify,
            plan_id=plan_id,
        )
        self.pending = PendingCalls(self.toolbox, calls)

    @property
    def planner(self) -> AsyncPlanner:
        """
        The plan for everyone else: `apply`, `undo`, `watch`.
        """
        return self.session.planner

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
        return await self.session.history()

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """
        Call a function, plain or a coroutine's, with the journal entry and the plan of every
        accepted change, as for a user interface that also streams. Call what is returned to stop.
        """
        return self.planner.subscribe(subscriber)

    def to_data(self) -> dict[str, Any]:
        """
        Return what is to be saved, as plain JSON values.
        """
        return {**self.session.to_data(), _CALLS: self.pending.to_data()}

    async def answer(self, call: Call) -> Reply:
        """
        Answer a call, with those of its turn that it belongs together with.
        """
        group = self.pending.group(call)
        # A run that goes on from a state without the answers makes the calls again, in the same
        # turn; some providers number the calls of each turn anew. Without a guided model nobody
        # counts turns here, so the session counts its answers.
        state, is_noted = self.session.state, self.pending.awaits([call.call_id])
        response = f"{state.id}:{state.memory.turn}" if is_noted else ""
        # The SDK starts a turn's calls at once: the first carries all out, the others wait.
        async with group.lock:
            group.replies = group.replies or await self._replies(group.calls, response)
        return group.replies[call.call_id]

    async def _replies(self, calls: tuple[Call, ...], response: str) -> dict[str, Reply]:
        turn = await self.session.answer(calls, response)
        return {reply.call_id: reply for reply in turn.replies}


def plan_of_state(saved: Mapping[str, Any]) -> Plan:
    """
    Return the plan in what `Planning.to_data` saved. That of a `Planning` is
    `await planning.plan()`.

    Raises:
        CodecError: what stands there is no plan.
        PlanError: there is none: a store keeps it, or `to_data` did not save this.
    """
    return plan_from_data(_saved(saved)[SLOT])


def history_of(saved: Mapping[str, Any]) -> tuple[Entry, ...]:
    """
    Return the journal in what `Planning.to_data` saved: the latest 50 entries, fewer if long. That
    of a `Planning` is `await planning.history()`.

    Raises:
        CodecError, PlanError: as of `plan_of_state`.
    """
    return read_recent(_saved(saved).get(JOURNAL))


def _saved(given: object) -> Mapping[str, Any]:
    if isinstance(given, Mapping) and SLOT in given:
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
