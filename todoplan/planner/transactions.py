"""
What a planner does with a plan in a store: calls, commands, undo, restore, history.

Each is an attempt: a function of the plan, of what it asked to see of the journal, and of the time.
How it comes into the store, whoever else writes there, is the matter of `commits`.

Transactions are generators that yield what is to be done with the store and with subscribers, and
are sent what came of it. So this file says once what `Planner` does at once and `AsyncPlanner`
awaits, and neither waits for a lock of ours while the store is at work.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from datetime import datetime
from functools import partial
from typing import Protocol, Self

from todoplan.core.commands import Command
from todoplan.core.decide.decide import Decision, Rejected, decide
from todoplan.core.events.base import Base, Note, base_alone
from todoplan.core.events.journal import Entry
from todoplan.core.events.types import Event
from todoplan.core.plan.plan import Plan
from todoplan.core.plan.validation import tuple_of
from todoplan.core.rules.policy import Policy
from todoplan.dialogue.clock import Clock, utc_now
from todoplan.dialogue.held_claims import Fences, claimed_by_others
from todoplan.dialogue.last_seen import base_at
from todoplan.dialogue.observed import start, tell_called, tell_decided
from todoplan.dialogue.toolbox import Call, Reply, Toolbox, Turn
from todoplan.errors import PlanError
from todoplan.planner.actors import Actors
from todoplan.planner.arguments import checked_store, unfit
from todoplan.planner.commits import Commits, Journal, Outcome, Signed, Since, nothing
from todoplan.planner.entries import entries_of, signed_entries
from todoplan.planner.receipts import (
    accepted_again,
    accepted_text,
    joined,
    key_of_command,
    keys_of_calls,
    parts_of_turn,
    replies_again,
    with_kept,
    with_own,
)
from todoplan.planner.restoring import begun, put_back, undone
from todoplan.planner.steps import Steps, nothing_to_do
from todoplan.planner.telling import Subscriber
from todoplan.planner.verifying.looking import Verifying
from todoplan.planner.verifying.verifier import Verify
from todoplan.stores.base import AnyStore, checked_id
from todoplan.stores.hold import ALL, Receipt
from todoplan.stores.memory import MemoryStore

__all__ = ["Sight", "Transactions"]


_NO_REPLIES: Mapping[int, Reply] = {}


class Sight(Protocol):
    """
    What a session knows of a plan, found within the transaction that answers its calls. `notes` are
    those of calls of the same turn that were answered before.
    """

    notes: tuple[Note, ...]

    def since(self, plan: Plan, newest: Entry | None, /) -> int | None:
        """
        Return the revision after which the journal has to be read; `None` if it need not be.
        """
        ...

    def base(self, plan: Plan, journal: Journal, /) -> Base | None:
        """
        Return the base of the session's calls; `None` if it has listed all that there is.
        """
        ...

    def did(self, events: Sequence[Event], /) -> None:
        """
        Note what the session's calls have brought about: claims that they got or ended.
        """
        ...


class Transactions:
    """
    What both planners do, and what they share.
    """

    _awaits = False

    def __init__(
        self,
        store: AnyStore | None = None,
        plan_id: str | None = None,
        *,
        toolbox: Toolbox | None = None,
        clock: Clock = utc_now,
        verify: Verify | None = None,
    ) -> None:
        # Compared with None: a store may have a length, and an empty one would be false.
        self._store = MemoryStore() if store is None else checked_store(store)
        # No default key in a shared store: DeerFlow's gave one user's reminders to another.
        if store is not None and plan_id is None:
            msg = "a store that is given may hold many plans; say which one with plan_id="
            raise PlanError(msg)
        self._plan_id = "plan" if plan_id is None else checked_id(plan_id)
        self.toolbox = Toolbox() if toolbox is None else toolbox
        if not isinstance(self.toolbox, Toolbox):
            raise unfit(toolbox, "give a toolbox: Toolbox(toolset, policy)")
        if not callable(clock):
            raise unfit(clock, "give a function: clock=lambda: datetime.now(UTC)")
        self._commits = Commits(self._store, self._plan_id, clock)
        self._feed = self._commits.feed
        self._actors = Actors(self.toolbox.toolset)
        self._verifying = Verifying.of(self.toolbox, verify)

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """
        Have every command that is accepted from now on told to a function; call what is returned to
        stop that.

        It is told by whoever carries out the command, and so should not take long: hand what takes
        long to a queue. What it raises is logged and stops nobody: the command has happened.
        """
        if not callable(subscriber):
            raise unfit(subscriber, "give a function of an entry and a plan")
        return self._feed.add(subscriber)

    def for_another_hand(self) -> Self:
        """
        Return this planner, subscribers and all, for a session apart whose actor may be the same.
        """
        other = copy(self)
        other._actors = Actors(self.toolbox.toolset)  # noqa: SLF001 - it is one of us
        return other

    def claimed_by_others(
        self, plan: Plan, *, actor: str | None = None, fences: Fences | None = None
    ) -> frozenset[str]:
        """
        Return the ids of the tasks that others work on, for guidance in a loop of one's own:

            claimed = planner.claimed_by_others(plan, actor="bot")
            advice = guidance.after_model(plan, message, memory, claimed=claimed)

        Its own are those whose fencing tokens are given, or else that this planner's own calls got
        for the actor.
        """
        own = self._actors.fences(actor) if fences is None else fences
        return claimed_by_others(plan, own, self._commits.now())

    def _plan(self) -> Steps[Plan]:
        return self._commits.plan()

    def _history(self) -> Steps[Journal]:
        return self._commits.history()

    def keys_of(self, calls: Sequence[Call], *scope: object) -> Sequence[str] | None:
        """
        Return keys for the calls of a framework that may make them again, for `turn`; `None` if the
        store keeps none.

        `scope` tells these calls from others with the same ids (some providers number the calls of
        each response anew): the conversation, and the model's message or the revision that it was
        written upon. A call that somebody has edited under its old id is another call.
        """
        return keys_of_calls(calls, *scope) if self._commits.holds else None

    def _apply(
        self, command: Command, actor: str | None, policy: Policy | None, key: str | None
    ) -> Steps[Decision]:
        chosen = self.toolbox.policy if policy is None else policy
        keys = () if key is None else (key_of_command(key, command, actor),)

        again = False

        def attempt(
            plan: Plan, _: Journal, at: datetime, kept: Sequence[Receipt | None] = (None,)
        ) -> Outcome:
            nonlocal again
            again = kept[0] is not None
            if kept[0] is not None:
                return Outcome(accepted_again(plan, kept[0]), plan)
            decision = decide(plan, command, chosen, at=at, actor=actor)
            if isinstance(decision, Rejected):
                return Outcome(decision, plan)
            entries = entries_of(plan, [(type(command).__name__, decision.events)], at, actor)
            signed = (
                (Signed(entries, decision.plan, keys[0], accepted_text(decision)),)
                if keys and entries
                else ()
            )
            return Outcome(decision, decision.plan, entries, signed)

        decision: Decision = yield from self._commits.commit(attempt, keys=keys)
        if not again:
            tell_decided(self.toolbox, decision, actor)
        return decision

    def _turn(
        self,
        calls: Sequence[Call],
        actor: str | None,
        base: Base | Sight | None = None,
        key: str | Sequence[str] | None = None,
        fences: Fences | None = None,
    ) -> Steps[Turn]:
        began = start(self.toolbox)
        turn = yield from self._carry_out(calls, actor, base, key, fences)
        tell_called(self.toolbox, turn.replies, actor, began)
        return turn

    def _carry_out(
        self,
        calls: Sequence[Call],
        actor: str | None,
        base: Base | Sight | None,
        key: str | Sequence[str] | None,
        fences: Fences | None,
    ) -> Steps[Turn]:
        sight = None if base is None or isinstance(base, Base) else base
        given = base if isinstance(base, Base) else None
        decided = was_behind = False
        upon: Base | None = None
        before = Plan()
        own_fences = self._actors.fences(actor) if fences is None else fences
        looks = None if self._verifying is None else self._verifying.looks()
        box = self.toolbox if looks is None else looks.toolbox

        def attempt(
            plan: Plan, journal: Journal, at: datetime, kept: Sequence[Receipt | None] = ()
        ) -> Outcome:
            nonlocal decided, was_behind, upon, before
            again = replies_again(plan, calls, parts, kept) if kept else _NO_REPLIES
            anew = [one for at, one in enumerate(calls) if at not in again] if again else calls
            decided = bool(anew)
            if sight is not None:
                seen = sight.base(plan, journal)
                decided = True  # what a repeat does not tell anew, `joined` tells in front of it
            else:
                seen = self._actors.base(actor, plan, journal) if given is None and anew else given
            fences = own_fences
            if kept:
                seen = None if seen is None else with_own(seen, kept)
                fences = with_kept(own_fences, kept)
            was_behind = seen is not None and seen.plan.revision != plan.revision
            upon, before = seen, plan
            # One append for all calls of a turn (law 13): pydantic-ai-harness writes each change
            # of a batch by itself and without a version, and parallel calls come in between.
            turn = box.turn(plan, anew, at=at, base=seen, actor=actor, fences=fences)
            if looks is not None and looks.are_missing:
                return Outcome(turn, plan)
            signed = signed_entries(plan, parts, again, turn.replies, at, actor)
            if again:
                turn = joined(turn, again, seen)
            if len(signed) == 1:  # nearly always
                return Outcome(turn, turn.plan, signed[0].entries, signed)
            entries = tuple(entry for each in signed for entry in each.entries)
            return Outcome(turn, turn.plan, entries, signed)

        calls = tuple_of(calls, Call, 'the calls of a turn, such as [Call("TaskList", {})]')
        parts = parts_of_turn(key, calls, actor)
        since: Since = nothing
        if sight is not None:
            since = sight.since
        elif given is None:
            since = partial(self._actors.since, actor)
        find, only_reads = self.toolbox.toolset.find, not own_fences
        for call in calls:
            tool = find(call.name)
            if tool is not None and not tool.read_only:
                only_reads = False
        # A read by who holds a claim is written: it extends the claim.
        if only_reads:
            turn: Turn = yield from self._commits.look(attempt, since)
        else:
            keys = [part.key for part in parts if part.key is not None]
            commit = partial(self._commits.commit, attempt, since, keys, with_repeats=bool(sight))
            turn = yield from commit()
            while looks is not None and looks.are_missing:
                # A look may take minutes: it holds neither the plan nor a lock of the store's.
                yield looks.alook if self._awaits else looks.look
                turn = yield from commit()
        if sight is None:
            self._actors.did(actor, turn.events)
        else:
            sight.did(turn.events)
        # A caller that was cancelled has done this, and does not see the answer (`AsyncPlanner`).
        if self._awaits:
            yield nothing_to_do
        # Only now: an attempt that was not kept has shown nobody anything, nor has a refusal. A
        # result that is given again has shown what it did then, and not the plan as it is.
        at_revision = None if was_behind else turn.plan.revision - len(turn.events)
        if decided and turn.shows_all_to(at_revision):
            if upon is None:
                known = base_alone(turn.plan)
            else:
                notes = [*(sight.notes if sight else ()), *(reply.note for reply in turn.replies)]
                known = upon.advanced(before, turn.plan, notes)
            if sight is None:
                self._actors.knows(actor, known)
            turn = Turn(turn.plan, turn.replies, known)
        return turn

    def _base_of(self, actor: str | None) -> Steps[Base | None]:
        def unseen(plan: Plan, journal: Journal, _: datetime) -> Outcome:
            base = self._actors.base(actor, plan, journal)
            behind = base is not None and base.plan.revision != plan.revision
            return Outcome(base if behind else None, plan)

        return self._commits.look(
            unseen,
            partial(self._actors.since, actor),
        )

    def _look(
        self, known: int | None, own: Collection[int], actor: str | None
    ) -> Steps[tuple[Plan, Base | None]]:
        def attempt(plan: Plan, journal: Journal, _: datetime) -> Outcome:
            if known is None:
                return Outcome((plan, None), plan)
            base = base_at(journal, known, own, actor=actor) if journal else Base(plan)
            return Outcome((plan, base), plan)

        # Also a revision that the store does not have yet, or no more, is looked up.
        return self._commits.look(
            attempt, lambda plan, _: None if known in {None, plan.revision} else ALL
        )

    def _begin(self, plans: Sequence[Plan]) -> Steps[bool]:
        attempt = partial(begun, plans)
        return self._commits.commit(attempt, lambda plan, _: ALL if plan.revision else None)

    def _call(
        self, name: str, arguments: object, actor: str | None, key: str | None
    ) -> Steps[Reply]:
        turn = yield from self._turn((Call(name, arguments),), actor, key=key)
        return turn.replies[0]

    def _restore(
        self, earlier: Plan, actor: str | None, fences: Fences | None = None
    ) -> Steps[Decision]:
        own = self._actors.fences(actor) if fences is None else fences

        def attempt(plan: Plan, _: Journal, at: datetime) -> Outcome:
            return put_back(plan, earlier, Entry(0, (), at, actor, cause="restore"), own)

        return self._commits.commit(attempt)

    def _undo(
        self, actor: str | None, seen: int | None, fences: Fences | None = None
    ) -> Steps[Decision]:
        own = self._actors.fences(actor) if fences is None else fences
        return self._commits.commit(partial(undone, actor, seen, own), lambda *_: ALL)
