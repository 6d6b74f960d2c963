"""
`Planning`: the plan of one session, and the grouping of calls by turn.

The SDK stores messages in its sessions and a run in `RunState`, but has no place for a plan. So the
plan is kept in this object, or in a store, and `to_data` returns the data to save beside the SDK's
own. The tools, `edit_plan` and `seed_plan` may write the plan at any time, even during a run. All
writes go through one planner, so no accepted change is lost.

Law 13 is about the calls of one turn, but the SDK starts each call separately, all at once. So the
calls of a turn are recorded when the model's response arrives, and the first call that starts
carries out all calls that are sure to run. A call that needs a person's approval is carried out on
its own when it starts.
"""

from __future__ import annotations

from asyncio import Lock
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import attrs

from todoplan.adapters.openai_agents.conversation import portable
from todoplan.codec import plan_from_data
from todoplan.codec.documents import read_recent
from todoplan.core.commands import Command
from todoplan.core.decide import Decision
from todoplan.core.events.apply import Entry
from todoplan.core.plan.model import short_repr
from todoplan.core.plan.plan import Plan
from todoplan.core.rules import Policy
from todoplan.dialogue.calls import Call, Clock, Reply, utc_now
from todoplan.dialogue.guidance import Settings
from todoplan.dialogue.toolbox import Toolbox, require
from todoplan.errors import CodecError, PlanError
from todoplan.planner import AnyStore, AsyncPlanner, Subscriber
from todoplan.planner.session import opened_async
from todoplan.planner.verifying import Verify
from todoplan.stores.slot import JOURNAL, SLOT

_CALLS = "calls"
_MOST = 256


# Compared by identity: several call ids refer to the same group, and `to_data` saves it once.
@attrs.define(eq=False)
class CallGroup:
    """Calls that are carried out together, in order, when the first of them starts."""

    calls: tuple[Call, ...]
    replies: Mapping[str, Reply] = attrs.field(factory=dict)
    lock: Lock = attrs.field(factory=Lock)

    def has(self, call: Call) -> bool:
        """Return whether a call, in the SDK's form, is one of these."""
        return any(
            # Not by id alone: ids are unique only within a run, and a session may have many runs.
            (one.call_id, one.name, portable(one.arguments))
            == (call.call_id, call.name, call.arguments)
            for one in self.calls
        )


class PendingCalls:
    """
    The calls whose results the model has not seen yet, by call id.

    Raises:
        CodecError: the saved data is damaged.
    """

    def __init__(self, toolbox: Toolbox, saved: Iterable[Iterable[Mapping[str, Any]]] = ()) -> None:
        self._toolbox = toolbox
        self._groups: dict[str, CallGroup] = {}
        for calls in _restored(saved):
            self._keep(calls)

    def made(self, calls: Sequence[Call], sure: Collection[str]) -> None:
        """
        Record the calls of a turn.

        Calls of the tools in `sure` will run in any case, so they form one group. Other calls may
        wait for approval, so each is a group of its own. Contradicting whole-list writes always
        form one group.
        """
        clashing = self._toolbox.clashing([call.name for call in calls])
        at_once = []
        for place, call in enumerate(calls):
            if place not in clashing and call.name in sure:
                at_once.append(call)
            elif place not in clashing:
                self._keep([call])
        # Law 13: these are refused in any case, approved or not, so they are decided together.
        self._keep([calls[place] for place in sorted(clashing)])
        self._keep(at_once)

    def _keep(self, calls: Sequence[Call]) -> None:
        # The SDK carries out exact duplicates once, so they are removed here too.
        group = CallGroup(tuple(dict.fromkeys(calls)))
        for call in calls:
            self._groups[call.call_id] = group
        while len(self._groups) > _MOST:  # drop the oldest calls, which no run has answered
            del self._groups[next(iter(self._groups))]

    def group(self, call: Call) -> CallGroup:
        """Return the group of a call; an unrecorded call is a group of its own."""
        group = self._groups.get(call.call_id)
        return group if group and group.has(call) else CallGroup((call,))

    def awaits(self, call_ids: Iterable[str]) -> bool:
        """Return whether any of these calls was recorded and is still unanswered."""
        return any(call_id in self._groups for call_id in call_ids)

    def answered(self, call_ids: Iterable[str]) -> None:
        """Forget calls whose results the model has seen."""
        for call_id in call_ids:
            self._groups.pop(call_id, None)

    def to_data(self) -> list[list[dict[str, Any]]]:
        """Return the calls as JSON values by group; calls already carried out are saved singly."""
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
    The plan of one session. Make one per session, and pass it to every agent that shares the plan.

    `toolbox` has the tools and their policy, `settings` are those of guidance, `clock` returns the
    aware time of a change, and `verify` checks whether a task is done (see `AsyncPlanner`). Without
    a `store`, save `to_data()` beside the SDK's session, and continue with `Planning(saved=...)`.
    With a store, the plan is kept there under `plan_id`, and `to_data` has only session state.

    Raises:
        CodecError: the saved data is damaged.
        PlanError: the plan would be both in the store and in the saved data, or in neither; or an
            argument has the wrong type.
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
        """The planner through which others use the plan: `apply`, `undo`, `watch`."""
        return self.session.planner

    @property
    def toolbox(self) -> Toolbox:
        """The tool set and the policy."""
        return self.planner.toolbox

    async def plan(self) -> Plan:
        """Return the current plan."""
        return await self.planner.plan()

    async def history(self) -> tuple[Entry, ...]:
        """
        Return the journal of the plan, oldest entry first.

        An entry has its time, its `actor` (`None` for the model) and its `cause`, the name of the
        tool or command. A store has the whole journal. Saved data has at most the latest 50
        entries, fewer if they are long.
        """
        return await self.session.history()

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """
        Call a subscriber with the journal entry and the plan after every accepted change.

        The subscriber may be a plain or a coroutine function. Call the returned function to stop.
        """
        return self.planner.subscribe(subscriber)

    def to_data(self) -> dict[str, Any]:
        """Return the data to save, as plain JSON values."""
        return {**self.session.to_data(), _CALLS: self.pending.to_data()}

    async def answer(self, call: Call) -> Reply:
        """Answer a call, together with the other calls of its group."""
        group = self.pending.group(call)
        # A run that continues from a state without the results repeats the calls in the same turn.
        # Call ids alone do not identify them, since some providers number the calls of each turn
        # from the start. Without a guided model there is no count of turns, so the session counts
        # its answers.
        state, is_noted = self.session.state, self.pending.awaits([call.call_id])
        response = f"{state.id}:{state.memory.turn}" if is_noted else ""
        # The SDK starts a turn's calls concurrently: the first carries out all, the others wait.
        async with group.lock:
            group.replies = group.replies or await self._replies(group.calls, response)
        return group.replies[call.call_id]

    async def _replies(self, calls: tuple[Call, ...], response: str) -> dict[str, Reply]:
        turn = await self.session.answer(calls, response)
        return {reply.call_id: reply for reply in turn.replies}


def plan_of_state(saved: Mapping[str, Any]) -> Plan:
    """
    Return the plan in the data of `Planning.to_data`.

    For a `Planning`, use `await planning.plan()`.

    Raises:
        CodecError: the saved plan is damaged.
        PlanError: the data has no plan: a store keeps it, or the data is not from `to_data`.
    """
    return plan_from_data(_saved(saved)[SLOT])


def history_of(saved: Mapping[str, Any]) -> tuple[Entry, ...]:
    """
    Return the journal in the data of `Planning.to_data`.

    It has at most the latest 50 entries, fewer if they are long. For a `Planning`, use
    `await planning.history()`.

    Raises:
        CodecError: as in `plan_of_state`.
        PlanError: as in `plan_of_state`.
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
    Replace the tasks of a session's plan by those of `plan`; ids that were used are not reused.

    Raises:
        PlanError: an argument has the wrong type.
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
    Apply a command to the plan of a session, and return the decision; `ClearPlan()` clears it.

    The default policy is that of the session's toolbox. `actor` is the author of the change, for
    the journal.

    Raises:
        PlanError: an argument has the wrong type.
    """
    planner = require(planning, Planning).planner
    chosen = planner.toolbox.policy if policy is None else require(policy, Policy)
    return await planner.apply(command, actor=actor, policy=chosen)


async def undo_plan(planning: Planning, *, actor: str | None = None) -> Decision:
    """
    Undo the last change of a session's plan that is not undone yet, by any actor.

    Repeated calls undo earlier changes. Without a store, changes from before the plan was saved
    cannot be undone.

    Raises:
        PlanError: `planning` is not a `Planning`.

    """
    return await require(planning, Planning).planner.undo(actor=actor)
