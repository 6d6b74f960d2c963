"""
A session: one conversation with one plan (laws 13, 15 and 16).

It knows what it has listed and what it was shown (`Record`), gives the reminder that is due, judges
answers, and answers calls upon the base that they were written upon. A framework's state is a store
of one plan (`SlotStore`), so "state or store?" is asked in `opened` and nowhere else.

What a session does is written once, as steps: `Session` carries them out at once, `AsyncSession`
awaits them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, MutableMapping, Sequence
from datetime import datetime
from threading import Lock
from typing import Any, Generic, TypeVar, cast

import attrs

from todoplan.core.commands import Command
from todoplan.core.decide.decide import Decision
from todoplan.core.events.base import NOTHING_LISTED, Base, Note
from todoplan.core.events.journal import Entry
from todoplan.core.events.types import Event
from todoplan.core.plan.frozen import EMPTY
from todoplan.core.plan.plan import Plan
from todoplan.core.rules.policy import Policy
from todoplan.dialogue.application import require, require_actor, require_clock
from todoplan.dialogue.clock import Clock, utc_now
from todoplan.dialogue.guidance.conversation import Message
from todoplan.dialogue.guidance.guidance import (
    Advice,
    Guidance,
    Settings,
    before_partial,
    unfinished_error,
)
from todoplan.dialogue.held_claims import fences_after
from todoplan.dialogue.observed import guidance_of
from todoplan.dialogue.parallel_calls import answered_after
from todoplan.dialogue.toolbox import Call, Reply, Toolbox, Turn
from todoplan.errors import CodecError, PlanError
from todoplan.planner.actors import caught_up, plan_at
from todoplan.planner.arguments import store_of_plans
from todoplan.planner.async_planner import AsyncPlanner
from todoplan.planner.commits import Journal, Outcome
from todoplan.planner.planner import Planner
from todoplan.planner.record import (
    SAVED_BY_0_2,
    SIGHT,
    OpenTurn,
    Record,
    Request,
    record_from_data,
    record_of_0_2,
    record_to_data,
)
from todoplan.planner.steps import Steps
from todoplan.planner.threads import Lane, running_loop
from todoplan.planner.transactions import Transactions
from todoplan.planner.verifying.verifier import Verify
from todoplan.stores.base import AnyStore
from todoplan.stores.hold import ALL
from todoplan.stores.slot import SLOT, SlotStore

__all__ = ["SESSION", "AsyncSession", "Session", "opened", "opened_async"]

P = TypeVar("P", bound=Transactions)
T = TypeVar("T")
_PLAIN = Settings()
SESSION = "session"
"""The key under which `to_data` saves the record."""


class _Sight:
    """
    What a session knows of a plan at a revision, found within the transaction that asks for it.

    `plan` is the plan of that revision, if it is remembered. Where calls of a turn come one by one,
    `own` are the revisions that those before this one have made, `notes` what they say of the
    session, and `heard` what it knows by their answers.
    """

    def __init__(
        self,
        record: Record,
        plan: Plan | None,
        actor: str | None,
        did: Callable[[Sequence[Event]], None],
    ) -> None:
        self.record, self.plan, self.actor, self.did = record, plan, actor, did
        self.listed: frozenset[str] | None = NOTHING_LISTED  # by a session that is new
        self.own: Collection[int] = ()
        self.heard: Record | None = None
        self.heard_plan: Plan | None = None
        self.notes: tuple[Note, ...] = ()

    def since(self, plan: Plan, _: Entry | None) -> int | None:
        """
        Return the revision after which the journal has to be read; `None` if it need not be.
        """
        known = self.record.revision
        if known is None or known >= plan.revision:
            return None
        return ALL if self.plan is None else known

    def base(self, plan: Plan, journal: Journal) -> Base | None:
        """
        Return the base of the session's calls; `None` if it has listed all that there is.
        """
        record = self.record
        # The common case: an agent alone, and nobody has written since its last call.
        if (
            record.revision == plan.revision
            and record.listed is None
            and not record.order
            and (record.mine is EMPTY or not record.mine)
            and (self.plan is None or self.plan is plan)
        ):
            return None
        base = self.known(plan, journal)
        return None if base.is_alone and base.plan is plan else base

    def known(self, plan: Plan, journal: Journal) -> Base:
        """
        Return what the session knows of a plan.
        """
        record = self.record
        if record.revision is None:
            self.listed = None if plan.next_id == 1 else NOTHING_LISTED
            # A newcomer reopens nothing by a list: it does not know who has closed what.
            return Base(plan, listed=self.listed, overflow=self.listed is not None)
        if record.revision == plan.revision:
            return record.base(self.plan or plan)
        then = self.plan or plan_at(journal, record.revision)
        if then is None:
            # The journal was cut behind this record, or the store was put back to before it: who
            # has changed what since is not known, so each task counts as changed by others.
            return Base(plan, listed=NOTHING_LISTED, told=record.told, overflow=True)
        earlier = record.behind.actors if record.behind else EMPTY
        base = caught_up(record.base(then), journal, self.actor, self.own, earlier)
        if self.heard is not None and self.heard.revision is not None:
            heard = _Sight(self.heard, self.heard_plan, self.actor, self.did).known(plan, journal)
            base = attrs.evolve(base, heard=heard.plan)
        return base


class _Session(Generic[P]):
    """
    The steps of a session, and what both drivers share.
    """

    def __init__(
        self,
        planner: P,
        record: Record | None = None,
        *,
        settings: Settings = _PLAIN,
        actor: str | None = None,
        slot: SlotStore | None = None,
    ) -> None:
        self.planner = planner
        self.state = Record() if record is None else record
        self.actor = require_actor(actor)
        self.slot = slot
        self.guidance = guidance_of(planner.toolbox, require(settings, Settings))
        # The plan of the record's revision: a value, so that it costs little to keep. Without it
        # the journal says what it was.
        self._plan = self.state.behind.plan if self.state.behind else None
        turn = self.state.turn  # the same of a turn that is open
        self._turn_plan = turn.behind.plan if turn and turn.behind else None
        self._asked = self.state.asked

    @property
    def toolbox(self) -> Toolbox:
        """
        The tool set and the policy.
        """
        return self.planner.toolbox

    @property
    def record(self) -> dict[str, Any]:
        """
        The record as a JSON value: what is to be kept of the session.
        """
        if self.slot is None:
            return record_to_data(self.state)
        # The journal of a slot is cut short, so what others changed is written beside it.
        state, plan, journal = self.state, self.slot.load(SLOT), self.slot.entries(SLOT)
        turn = state.turn
        if turn is not None and turn.revision is not None:
            upon = self._sight_of_turn(turn).known(plan, journal)
            turn = attrs.evolve(turn, own=(), behind=attrs.evolve(upon, heard=None))
        behind = None if state.revision is None else self._sight().known(plan, journal)
        return record_to_data(attrs.evolve(state, turn=turn, behind=behind), plan)

    def to_data(self) -> dict[str, Any]:
        """
        Return what is to be saved, as plain JSON values: the record under "session", and the plan
        and its latest entries where no store keeps them. `opened` goes on from it.
        """
        return {**({} if self.slot is None else self.slot.slot), SESSION: self.record}

    @property
    def request(self) -> Request | None:
        """
        The request that is not answered yet, if there is one.
        """
        return self.state.asked

    def _sight(self) -> _Sight:
        return _Sight(self.state, self._plan, self.actor, self._did)

    def _sight_of_turn(self, turn: OpenTurn) -> _Sight:
        upon = attrs.evolve(
            self.state,
            revision=turn.revision,
            behind=turn.behind,
            **{name: getattr(turn, name) for name in SIGHT},
        )
        sight = _Sight(upon, self._turn_plan, self.actor, self._did)
        sight.own, sight.notes = turn.own, turn.notes
        if turn.notes:  # an answer of this turn has told what was new by then
            sight.heard, sight.heard_plan = self.state, self._plan
        return sight

    def _known(self) -> Steps[tuple[Plan, Base]]:
        sight = self._sight()

        def attempt(plan: Plan, journal: Journal, _: datetime) -> Outcome:
            return Outcome((plan, sight.known(plan, journal)), plan)

        return self.planner._commits.look(attempt, sight.since)

    def _before(
        self,
        messages: Sequence[Message],
        *,
        partial: bool,
        silent: bool,
        is_new: bool,
        guidance: Guidance | None,
    ) -> Steps[Request]:
        plan, base = yield from self._known()
        state, judge = self.state, guidance or self.guidance
        memory = state.memory.new_run(plan) if is_new else state.memory
        if silent:
            advice = Advice(memory)
        else:
            news = base if base.plan is not plan and base.has_news(plan) else None
            memory = memory.at(plan, news, state.revision)
            claimed = self.planner.claimed_by_others(plan, fences=state.fences)
            if partial:
                advice = before_partial(judge, plan, memory, base=news, claimed=claimed)
            else:
                advice = judge.before_model(plan, messages, memory, base=news, claimed=claimed)
        request = Request(advice.memory, plan.revision, advice.text)
        self._asked = request
        self.state = attrs.evolve(self.state, asked=request)
        return request

    def _after(
        self,
        message: Message,
        *,
        structured: bool,
        silent: bool,
        request: Request | None,
        guidance: Guidance | None,
    ) -> Steps[Advice]:
        asked = request or self._asked
        if asked is None:
            msg = "no request was made for this response: call before_model in front of each"
            raise PlanError(msg)
        # Read anew: others may have changed the plan while the model was answering.
        plan = yield from self.planner._plan()
        state, self._asked = self.state, None
        if state.revision is None:
            # The first request is a look: what came while the model answered it is news.
            # A plan that a program put in place may stand at revision 0.
            is_new = not asked.revision and (plan.revision > 0 or plan.next_id == 1)
            listed = None if is_new else NOTHING_LISTED
            state = attrs.evolve(state, revision=asked.revision, listed=listed)
        advice, judge = Advice(asked.memory), guidance or self.guidance
        claimed = self.planner.claimed_by_others(plan, fences=state.fences)
        if not silent:
            advice = judge.after_model(
                plan, message, asked.memory, structured=structured, claimed=claimed
            )
        kept = None if request is not None or advice.verdict == "again" else state.asked
        self.state = attrs.evolve(state, memory=advice.memory, asked=kept, turn=None)
        if advice.verdict == "raise":
            raise unfinished_error(plan, claimed)
        return advice

    def _answer(self, calls: Sequence[Call], response: object) -> Steps[Turn]:
        state = self.state
        if not calls:
            self.state = attrs.evolve(state, answered=state.answered + 1, asked=None, turn=None)
            return Turn((yield from self.planner._plan()), ())
        turn = yield from self.planner._turn(
            calls, self.actor, self._sight(), self._keys(calls, response), state.fences
        )
        self._note_turn(turn, 1, None)
        return turn

    def _answer_one(self, call: Call, turn: Sequence[Call], response: object) -> Steps[Reply]:
        if len(turn) <= 1:  # nothing to keep for the calls that follow
            return (yield from self._answer([call], response)).replies[0]
        names = [one.name for one in turn]
        if call.name in {names[place] for place in self.toolbox.clashing(names)}:
            plan = yield from self.planner._plan()
            return answered_after(self.toolbox, plan, call, names)
        state, ids = self.state, tuple(one.call_id for one in turn)
        open_turn = state.turn
        if open_turn is None or open_turn.calls != ids:
            sight_then = {name: getattr(state, name) for name in SIGHT}
            # Behind it stands who has changed what, also before it was loaded.
            open_turn = OpenTurn(ids, state.revision, behind=state.behind, **sight_then)
            state = attrs.evolve(state, answered=state.answered + 1)
            self._turn_plan = self._plan
        sight = self._sight_of_turn(open_turn)
        keys = self._keys([call], response)
        self.state = state
        done = yield from self.planner._turn([call], self.actor, sight, keys, state.fences)
        reply = done.replies[0]
        notes = open_turn.notes if reply.is_error else (*open_turn.notes, reply.note)
        own = (*open_turn.own, *([reply.revision] if reply.events else ()))
        if open_turn.revision is None:
            before = done.plan.revision - len(done.events)
            open_turn = attrs.evolve(open_turn, revision=before, listed=sight.listed)
        self._note_turn(done, 0, attrs.evolve(open_turn, own=own, notes=notes))
        return reply

    def _keys(self, calls: Sequence[Call], response: object) -> Sequence[str] | None:
        # In a slot, plan and record are saved together, so that no call is made again.
        if self.slot is not None or response is None:
            return None
        # Some servers give a response no id; then its place tells, counted over the conversation.
        return self.planner.keys_of(calls, response or (self.state.id, self.state.answered))

    def _note_turn(self, turn: Turn, turns: int, open_turn: OpenTurn | None) -> None:
        """
        Take in what the calls of a turn have shown the session, and what they have done.
        """
        state, before = self.state, turn.plan.revision - len(turn.events)
        if turn.known is None:
            memory = state.memory.saw_own(before, turn.plan, refused=True)
        else:
            told = state.revision is not None and state.revision != before
            memory = (
                state.memory.saw(turn.plan) if told else state.memory.saw_own(before, turn.plan)
            )
            self._plan = turn.known.plan
        self.state = state.after_turn(turn.known, memory, turns, open_turn)

    def _did(self, events: Sequence[Event]) -> None:
        if self.toolbox.toolset.team or self.state.fences:
            fences = fences_after(self.state.fences, events)
            self.state = attrs.evolve(self.state, fences=fences)

    def _edit(
        self, command: Command, actor: str | None, policy: Policy | None, key: str | None
    ) -> Steps[Decision]:
        chosen = self.toolbox.policy if policy is None else require(policy, Policy)
        return self.planner._apply(command, actor, chosen, key)

    def _seed(self, plan: Plan, actor: str | None) -> Steps[Decision]:
        return self.planner._restore(require(plan, Plan), actor)

    def _history(self) -> Steps[tuple[Entry, ...]]:
        if self.slot is not None:
            return self.slot.history()
        return (yield from self.planner._history())


class Session(_Session[Planner]):
    """
    A session whose plan is in a store that does not wait, or in a slot. Safe between threads.
    """

    def __init__(self, planner: Planner, record: Record | None = None, **given: Any) -> None:
        super().__init__(planner, record, **given)
        self._lock = Lock()

    @property
    def plan(self) -> Plan:
        """
        The plan as it stands.
        """
        return self.planner.plan

    def unseen(self) -> tuple[Plan, Base]:
        """
        Return the plan, and what the session knows of it: its news are `base.unseen(plan)`.
        """
        with self._lock:
            return self.planner._run(self._known())

    def before_model(
        self,
        messages: Sequence[Message] = (),
        *,
        partial: bool = False,
        silent: bool = False,
        is_new: bool = False,
        guidance: Guidance | None = None,
    ) -> Request:
        """
        Begin a request to the model, and return it with the reminder that is due at its tail.

        `messages` are those of the request, after any summarising; `partial` says that the provider
        keeps the conversation and they are only the new ones, `silent` that no reminder is wanted,
        since the adapter has one of its own (an answer that was sent back), `is_new` that the user
        has asked for something new. `guidance` takes the place of the session's own.
        """
        with self._lock:
            return self.planner._run(
                self._before(
                    messages, partial=partial, silent=silent, is_new=is_new, guidance=guidance
                )
            )

    def after_model(
        self,
        message: Message,
        *,
        structured: bool = False,
        silent: bool = False,
        request: Request | None = None,
        guidance: Guidance | None = None,
    ) -> Advice:
        """
        Judge what the model has answered: its verdict is "accept", or "again" with a reminder.

        `request` is the one that it answers, where several of a session are under way at once;
        otherwise the last one. `structured` is that of `Guidance.after_model`; `silent` says that
        the provider blocked the answer, so that there is nothing to judge.

        Raises:
            PlanError: no request was made; or the model goes on answering over open tasks, and the
                settings say to raise.
        """
        with self._lock:
            return self.planner._run(
                self._after(
                    message,
                    structured=structured,
                    silent=silent,
                    request=request,
                    guidance=guidance,
                )
            )

    def answer(self, calls: Sequence[Call], response: object = "") -> Turn:
        """
        Answer all planning calls of one turn of the model, in order as one (law 13). `response` is
        the id of the model's message, if it has one that lasts: the same calls of the same response
        are carried out once, and get the same replies, where the store keeps keys. "" counts the
        turns of the conversation in its place; `None` says that no call is ever made again.

        Without calls, the turn is answered by others, and the request is over.
        """
        with self._lock:
            return self.planner._run(self._answer(calls, response))

    def answer_one(self, call: Call, turn: Sequence[Call], response: object = "") -> Reply:
        """
        Answer one call of a turn, whose calls come here one by one, in order: the replies are those
        of `answer`. All calls need ids.
        """
        with self._lock:
            return self.planner._run(self._answer_one(call, turn, response))

    def edit(
        self,
        command: Command,
        *,
        actor: str | None = None,
        policy: Policy | None = None,
        key: str | None = None,
    ) -> Decision:
        """
        Carry out a command of somebody else's: a person's, or the program's. The session is told.
        """
        return self.planner._run(self._edit(command, actor, policy, key))

    def undo(self, *, actor: str | None = None, seen: int | None = None) -> Decision:
        """
        Take the last accepted command back that still stands. See `Planner.undo`.
        """
        return self.planner.undo(actor=actor, seen=seen)

    def seed(self, plan: Plan, *, actor: str | None = None) -> Decision:
        """
        Make the tasks those of another plan. The session has listed none of them.
        """
        return self.planner._run(self._seed(plan, actor))

    def history(self) -> tuple[Entry, ...]:
        """
        Return what happened, oldest first; of a slot, the latest 50 entries.
        """
        return self.planner._run(self._history())


class AsyncSession(_Session[AsyncPlanner]):
    """
    A session whose plan is in any store, or in a slot. Its methods are those of `Session`, awaited;
    of tasks that ask at once, each is answered after the other.
    """

    def __init__(self, planner: AsyncPlanner, record: Record | None = None, **given: Any) -> None:
        super().__init__(planner, record, **given)
        self._lane = Lane(1)

    async def _locked(self, steps: Steps[T]) -> T:
        loop = running_loop()
        if loop is None:
            return await self.planner._await(steps)
        async with self._lane.within(loop):
            return await self.planner._await(steps)

    async def plan(self) -> Plan:
        """
        Return the plan as it stands.
        """
        return await self.planner.plan()

    async def unseen(self) -> tuple[Plan, Base]:
        """
        As `Session.unseen`.
        """
        return await self._locked(self._known())

    async def before_model(
        self,
        messages: Sequence[Message] = (),
        *,
        partial: bool = False,
        silent: bool = False,
        is_new: bool = False,
        guidance: Guidance | None = None,
    ) -> Request:
        """
        As `Session.before_model`.
        """
        return await self._locked(
            self._before(messages, partial=partial, silent=silent, is_new=is_new, guidance=guidance)
        )

    async def after_model(
        self,
        message: Message,
        *,
        structured: bool = False,
        silent: bool = False,
        request: Request | None = None,
        guidance: Guidance | None = None,
    ) -> Advice:
        """
        As `Session.after_model`.
        """
        return await self._locked(
            self._after(
                message, structured=structured, silent=silent, request=request, guidance=guidance
            )
        )

    async def answer(self, calls: Sequence[Call], response: object = "") -> Turn:
        """
        As `Session.answer`.
        """
        return await self._locked(self._answer(calls, response))

    async def answer_one(self, call: Call, turn: Sequence[Call], response: object = "") -> Reply:
        """
        As `Session.answer_one`.
        """
        return await self._locked(self._answer_one(call, turn, response))

    async def edit(
        self,
        command: Command,
        *,
        actor: str | None = None,
        policy: Policy | None = None,
        key: str | None = None,
    ) -> Decision:
        """
        As `Session.edit`.
        """
        return await self.planner._await(self._edit(command, actor, policy, key))

    async def undo(self, *, actor: str | None = None, seen: int | None = None) -> Decision:
        """
        As `Session.undo`.
        """
        return await self.planner.undo(actor=actor, seen=seen)

    async def seed(self, plan: Plan, *, actor: str | None = None) -> Decision:
        """
        As `Session.seed`.
        """
        return await self.planner._await(self._seed(plan, actor))

    async def history(self) -> tuple[Entry, ...]:
        """
        As `Session.history`.
        """
        return await self.planner._await(self._history())


def opened(  # noqa: PLR0913 - what a session is made of
    kept: MutableMapping[str, Any],
    *,
    toolbox: Toolbox | None = None,
    settings: Settings = _PLAIN,
    store: AnyStore | None = None,
    plan_id: str | None = None,
    clock: Clock = utc_now,
    verify: Verify | None = None,
    actor: str | None = None,
    owns: bool = False,
) -> Session:
    """
    Return the session that was saved in a mapping, or a new one. State or store is asked here only:
    without a `store`, the mapping itself is the slot that keeps the plan, and is written to.

    `owns` says that a plan which stands there without a record was written by this conversation,
    such as with another planner: it has listed that. What 0.2.0 saved is read.

    Raises:
        CodecError: what was saved is damaged, or of a version that is not known here.
        PlanError: the plan would have two owners, or none.
    """
    store, plan_id, record, slot = _read(kept, store, plan_id, owns=owns)
    planner = Planner(
        cast("Any", store),
        plan_id,
        toolbox=toolbox,
        clock=require_clock(clock),
        verify=verify,
    )
    return Session(planner, record, settings=settings, actor=actor, slot=slot)


def opened_async(  # noqa: PLR0913 - same
    kept: MutableMapping[str, Any],
    *,
    toolbox: Toolbox | None = None,
    settings: Settings = _PLAIN,
    store: AnyStore | None = None,
    plan_id: str | None = None,
    clock: Clock = utc_now,
    verify: Verify | None = None,
    actor: str | None = None,
    owns: bool = False,
) -> AsyncSession:
    """
    As `opened`, for a session that is awaited.
    """
    store, plan_id, record, slot = _read(kept, store, plan_id, owns=owns)
    planner = AsyncPlanner(
        store, plan_id, toolbox=toolbox, clock=require_clock(clock), verify=verify
    )
    return AsyncSession(planner, record, settings=settings, actor=actor, slot=slot)


def _read(
    kept: MutableMapping[str, Any], store: AnyStore | None, plan_id: str | None, *, owns: bool
) -> tuple[AnyStore, str | None, Record, SlotStore | None]:
    given = store_of_plans(store, plan_id)
    if given is not None and SLOT in kept:
        msg = "a plan was saved here, and a store is given: leave store= out, or the saved plan"
        raise PlanError(msg)
    slot = None
    if given is None:
        if SLOT not in kept and (SESSION in kept or record_of_0_2(kept)):
            msg = (
                "this session's plan is in a store: give store= and plan_id=, or leave out what was"
                " saved to begin a new plan"
            )
            raise PlanError(msg)
        slot = SlotStore(kept, lazily=True)
    plan = None if slot is None else slot.load(SLOT)
    if SESSION in kept:
        if stray := sorted(kept.keys() & {*SAVED_BY_0_2}):
            msg = f"beside a session's record stands what 0.2 saved: {stray}; leave one of them out"
            raise CodecError(msg, problem="damaged")
        record = record_from_data(kept[SESSION], plan)
    elif (old := record_of_0_2(kept, plan)) is not None:
        record = old
        for name in SAVED_BY_0_2:
            kept.pop(name, None)
    else:
        record = Record()
        if owns and plan is not None and plan.revision:
            record = attrs.evolve(record, revision=plan.revision)
    return (slot, SLOT, record, slot) if given is None else (given, plan_id, record, None)  # type: ignore[return-value]  # a slot is one
