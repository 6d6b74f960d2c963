"""
One conversation with one plan: what its calls were written upon, what it is told, what it keeps.

Written once, as steps; `Session` carries them out at once, `AsyncSession` awaits. A framework's
state is a store of one plan (`stores.slot`), so that "state or store?" is asked once, in `opened`.
"""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from typing import Any, TypeVar
from uuid import uuid4

import attrs

from todoplan.codec.sessions import Record, record_from_data, record_to_data
from todoplan.codec.states import base_from_data
from todoplan.core.commands import Command
from todoplan.core.decide.decide import Decision
from todoplan.core.events.base import NOBODYS, Base
from todoplan.core.events.journal import Entry
from todoplan.core.plan.plan import Plan
from todoplan.core.rules.policy import Policy
from todoplan.dialogue.application import require
from todoplan.dialogue.guidance.conversation import Message
from todoplan.dialogue.guidance.guidance import Advice, Guidance, Settings, before_partial
from todoplan.dialogue.guidance.memory import Memory
from todoplan.dialogue.held_claims import fences_after
from todoplan.dialogue.last_seen import base_at
from todoplan.dialogue.observed import guidance_of
from todoplan.dialogue.toolbox import Call, Turn
from todoplan.errors import PlanError
from todoplan.planner.async_planner import AsyncPlanner
from todoplan.planner.planner import Planner
from todoplan.planner.steps import Steps
from todoplan.stores.hold import ALL
from todoplan.stores.slot import SLOT, SlotStore

__all__ = ["AsyncSession", "Session", "opened"]

T = TypeVar("T")
SESSION = "session"
WHAT = "what was saved of a session"


class _Upon:
    """
    What a session knows of a plan, asked for within the transaction that answers its calls.
    """

    def __init__(self, session: _Session) -> None:
        self._session = session

    @property
    def since(self) -> Any:
        """
        What says behind which revision the journal has to be seen.
        """

        def since(plan: Plan, _: Entry | None) -> int | None:
            known = self._session.kept.revision
            return None if known in {None, plan.revision} else ALL

        since.for_repeats = True  # type: ignore[attr-defined]  # prototype
        return since

    def __call__(self, plan: Plan, journal: Sequence[Entry]) -> Base | None:
        """
        Return the base of the calls; `None` if all that there is was listed by this session.
        """
        return self._session.base(plan, journal)


class _Session:
    """
    The steps, and what both drivers share.
    """

    def __init__(
        self,
        planner: Planner | AsyncPlanner,
        settings: Settings,
        record: Record,
        actor: str | None = None,
        slot: SlotStore | None = None,
    ) -> None:
        self.planner, self.kept, self.actor, self.slot = planner, record, actor, slot
        self.guidance = guidance_of(planner.toolbox, settings)
        self._asked = record.asked

    @property
    def record(self) -> dict[str, Any]:
        """
        The JSON value to keep.
        """
        if self.slot is None:
            return record_to_data(self.kept)
        plan, known = self.slot.load(SLOT), self.kept.revision
        if known is not None and known != plan.revision:
            _, base = Planner(self.slot, SLOT).look(known, actor=self.actor)
            if base is not None:
                earlier = self.kept.behind.actors if self.kept.behind else {}
                self.kept.behind = attrs.evolve(base, actors={**earlier, **base.actors})
        return record_to_data(self.kept, plan)

    def base(self, plan: Plan, journal: Sequence[Entry]) -> Base | None:
        """
        Return what the session knows of a plan.
        """
        kept = self.kept
        if kept.revision is None:  # it has never looked, and so listed nothing
            return None if plan.next_id == 1 else Base(plan, listed=NOBODYS)
        if kept.revision == plan.revision:
            base = kept.base(plan)
            return None if base.is_alone else base
        then = base_at(journal, kept.revision, actor=self.actor)
        actors = {**(kept.behind.actors if kept.behind else {}), **then.actors}
        return attrs.evolve(kept.base(then.plan), actors=actors)

    def _sight(self) -> Steps[tuple[Plan, Base]]:
        kept = self.kept
        plan, base = yield from self.planner._look(kept.revision, (), None, self.actor)  # noqa: SLF001
        if base is None:  # it has never looked, and so listed nothing
            return plan, Base(plan, listed=None if plan.next_id == 1 else NOBODYS)
        actors = {**(kept.behind.actors if kept.behind else {}), **base.actors}
        return plan, attrs.evolve(kept.base(base.plan), actors=actors)

    def require_asked(self) -> None:
        """
        Raise PlanError if no request was made that could have been answered.
        """
        if self._asked is None:
            msg = "no request was made for this response: call before_model in front of each"
            raise PlanError(msg)

    def _before(
        self,
        messages: Sequence[Message],
        *,
        partial: bool = False,
        silent: bool = False,
        guidance: Guidance | None = None,
        is_new: bool = False,
    ) -> Steps[Advice]:
        plan, base = yield from self._sight()
        known = self.kept.revision
        unseen = base if base.plan.revision != plan.revision and base.has_news(plan) else None
        if silent:  # an answer that was sent back, and its reminder, end this request
            self.kept.asked = self._asked = (self.kept.memory, plan.revision)
            return Advice(self.kept.memory)
        memory = self.kept.memory.new_run(plan) if is_new else self.kept.memory
        memory = memory.at(plan, unseen, known)
        judge = guidance or self.guidance
        if partial:
            advice = before_partial(judge, plan, memory, base=unseen)
        else:
            advice = judge.before_model(plan, messages, memory, base=unseen)
        self.kept.asked = self._asked = (advice.memory, plan.revision)
        return advice

    def _new_run(self) -> Steps[None]:
        plan = yield from self.planner._plan()  # noqa: SLF001
        self.kept.memory = self.kept.memory.new_run(plan)

    def _after(
        self,
        message: Message,
        *,
        structured: bool,
        silent: bool = False,
        guidance: Guidance | None = None,
        asked: tuple[Memory, int] | None = None,
    ) -> Steps[tuple[Plan, Advice]]:
        self._asked = asked or self._asked  # several requests of one session may be under way
        self.require_asked()
        plan = yield from self.planner._plan()  # noqa: SLF001 - the steps of one of us
        (memory, revision), self._asked = self._asked, None
        if self.kept.revision is None:
            # The first request is a look: what came while the model answered it is unseen.
            self.kept.looked(revision)
        advice, judge = Advice(memory), guidance or self.guidance
        if not silent:  # the provider let the model say nothing: there is nothing to judge
            advice = judge.after_model(plan, message, memory, structured=structured)
        self.kept.memory = advice.memory
        if advice.verdict == "again":
            self.kept.asked = None
            self._asked = (advice.memory, revision) if asked else None
        return plan, advice

    def _answer(self, calls: Sequence[Call], response: object = "") -> Steps[Turn]:
        kept = self.kept
        if not calls:
            kept.answered, kept.asked = kept.answered + 1, None
            return Turn(Plan(), ())
        plan, base = yield from self._sight()
        # Made again, after a crash or a store that did not say if it had kept it.
        # Some servers give a response no id; then its place tells, counted over the conversation.
        named = response or (kept.id, kept.answered)
        keys = None if self.slot else self.planner.keys_of(calls, named)
        turn = yield from self.planner._turn(calls, self.actor, _Upon(self), keys, kept.fences)  # noqa: SLF001
        before = turn.plan.revision - len(turn.events)
        known = turn.known
        if known is not None:
            told = kept.revision is not None and kept.revision != before
            kept.memory = (
                kept.memory.saw(turn.plan) if told else kept.memory.saw_own(before, turn.plan)
            )
            kept.knows(known)
        else:
            kept.memory = kept.memory.saw_own(before, turn.plan, refused=True)
        kept.fences = dict(fences_after(kept.fences, turn.events))
        kept.answered += 1
        kept.asked = None
        return turn

    def _edit(
        self, command: Command, actor: str | None, policy: Policy | None, key: str | None
    ) -> Steps[Decision]:
        return self.planner._apply(command, actor, policy, key)  # noqa: SLF001

    def _undo(self, actor: str | None) -> Steps[Decision]:
        return self.planner._undo(actor, None)  # noqa: SLF001

    def _seed(self, plan: Plan, actor: str | None) -> Steps[Decision]:
        return self.planner._restore(require(plan, Plan), actor)  # noqa: SLF001

    def _history(self) -> Steps[tuple[Entry, ...]]:
        if self.slot is not None:
            return self.slot.history()
        return (yield from self.planner._history())  # noqa: SLF001


def _driven(name: str) -> Any:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return self.drive(getattr(self, name)(*args, **kwargs))

    return method


class Session(_Session):
    """
    One session, carried out at once. (In the real thing each method is spelled out, with its type.)
    """

    @property
    def drive(self) -> Any:
        """
        What carries steps out: `Planner._run`, or `AsyncPlanner._await`, whose result is awaited.
        """
        planner = self.planner
        return planner._run if isinstance(planner, Planner) else planner._await  # noqa: SLF001

    before_model = _driven("_before")
    after_model = _driven("_after")
    answer = _driven("_answer")
    edit = _driven("_edit")
    new_run = _driven("_new_run")
    undo = _driven("_undo")
    seed = _driven("_seed")
    history = _driven("_history")


AsyncSession = Session


def from_0_2(kept: MutableMapping[str, Any]) -> Any:
    """
    Return the record in what was saved; what 0.2.0 saved of a run becomes one.
    """
    if SESSION in kept or not {"memory", "seen", "base"} & kept.keys():
        return kept.get(SESSION)
    base = kept.pop("base", None)
    was = None if base is None else base_from_data(base)
    seen = kept.pop("seen", None)
    record = Record(kept.pop("id", None) or uuid4().hex, seen if was is None else was.plan.revision)
    record.memory, record.behind = Memory.of(kept.pop("memory", None)), was
    if record.revision is None and SLOT not in kept and record.memory.revision >= 0:
        record.revision = record.memory.revision
    record.answered = kept.pop("answered", 0)
    return record


def opened(  # noqa: PLR0913 - the settings of every adapter
    kept: MutableMapping[str, Any],
    kind: type[Planner | AsyncPlanner],
    *,
    toolbox: Any,
    settings: Settings,
    store: Any,
    plan_id: str | None,
    clock: Any,
    verify: Any,
    actor: str | None = None,
) -> Session:
    """
    Return the session that was saved in a mapping, or a new one: state or store, asked here alone.
    """
    slot = None
    if store is None:
        slot = SlotStore(kept)
        store, plan_id = slot, SLOT
    data = from_0_2(kept)
    plan = slot.load(SLOT) if slot else None
    if isinstance(data, Record):
        record = data
        if record.revision is None and plan is not None and plan.revision:
            record.revision = plan.revision
    else:
        record = Record(uuid4().hex) if data is None else record_from_data(data, plan)
    if slot and record.behind is not None:
        slot.goes_on_from(record.behind)
    planner = kind(store, plan_id, toolbox=toolbox, clock=clock, verify=verify)
    return Session(planner, settings, record, actor, slot)
